"""A fit as a whole: warm starts, the range of predictions, and what is printed."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables import QUICK, automatic, data, labelled, run, settings

from fourierwalk.training.data import Data
from fourierwalk.training.panel import RowsPanel
from fourierwalk.training.policy import Policy


@pytest.mark.parametrize("n_frequencies", [16, 23, "auto"])
def test_a_warm_start_of_the_automatic_search_goes_on_from_its_best_frequencies(n_frequencies):
    """As one model with as many frequencies as all members had, its steps counted on."""
    rng, one = np.random.default_rng(0), automatic(n_frequencies=n_frequencies)
    first = one.run(data(n_rows=300), rng)
    n = n_frequencies if n_frequencies != "auto" else len(first.model.frequencies)
    assert first.resume.best.shape == (n, 2)
    second = one.run(data(n_rows=300), rng, first.resume)
    assert second.model.frequencies.shape == (n, 2)
    assert second.history.looks[0].phase == "given"
    assert second.history.looks[0].step == first.resume.state.step > 0
    assert second.history.infos[0].step == first.resume.state.step + 1
    assert second.resume.split_seed == first.resume.split_seed


def test_far_too_many_frequencies_are_refused_before_kernels_explore(monkeypatch):
    monkeypatch.setattr(RowsPanel, "explored", lambda *_: pytest.fail("the kernels explored"))
    with pytest.raises(MemoryError, match=r"n_frequencies=1000000000 needs at least .* GB, and max_memory allows"):
        automatic(n_frequencies=10**9).run(data(), np.random.default_rng(0))


def test_predictions_stay_near_the_targets():
    x, y = data()[:2]
    margin = Policy().margin * (y.max() - y.min())
    fit = run(sampler="fixed", initial=0.05, regularization=1e-9, clamp=True)
    free = run(sampler="fixed", initial=0.05, regularization=1e-9, clamp=False)
    far = 20 * (x - x.mean(axis=0)) + x.mean(axis=0)
    assert np.max(np.abs(free.model(far) - y.mean())) > 2 * (margin + np.ptp(y))  # else the test shows nothing
    assert_allclose(fit.model.bounds, [[y.min() - margin], [y.max() + margin]])
    assert_allclose(fit.model(far), np.clip(free.model(far), y.min() - margin, y.max() + margin))
    assert free.model.bounds is None


def test_which_models_have_bounds():
    def bounds(one, given=None):
        return one.run(data() if given is None else given, np.random.default_rng(0)).model.bounds

    assert bounds(automatic()) is not None
    assert bounds(automatic(clamp=False)) is None
    assert bounds(settings()) is None
    assert bounds(settings(clamp=True)) is not None
    assert bounds(settings(clamp=True, scale_targets=False), labelled()) is None


def test_the_policy_of_the_search_bounds_predictions_and_splits_rows():
    x = np.random.default_rng(0).standard_normal((300, 2))
    one = automatic(replace(QUICK, margin=0.5, folds=3, few_rows=1000))
    fit = one.run(Data(x, np.sin(x[:, :1])), np.random.default_rng(0))
    low, high = np.min(np.sin(x[:, 0])), np.max(np.sin(x[:, 0]))
    assert_allclose(fit.model.bounds[:, 0], [low - 0.5 * (high - low), high + 0.5 * (high - low)])
    assert any(decision.startswith("3 folds") for decision in fit.history.decisions)


def test_verbose_prints_decisions_and_looks(capsys):
    for verbose in (1, True, 2):
        fit = run(early_stopping=True, n_steps=6, verbose=verbose)
        lines = [line.split("] ")[1] for line in capsys.readouterr().out.splitlines()]
        looks = [f"walk, step {step}: held-out error {error:.4g}, λ 0.1" for step, error, *_ in fit.history.looks]
        told = [words for words in fit.history.decisions if " steps: " in words or "was kept" in words]
        assert [line for line in lines if line in told] == told
        assert [line for line in lines if "λ" in line] == (looks if verbose == 2 else [])
    run(early_stopping=True, n_steps=6)
    assert capsys.readouterr().out == ""
