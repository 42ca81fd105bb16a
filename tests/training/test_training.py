"""The settings of a fit: what they stand for, and the rows that are held out."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, QUICK, automatic, data, folds_of, labelled, ridge, run, scaled, settings

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import AdaptiveWalk, AnnealedWalk, RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training import training
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.followed import Followed
from fourierwalk.training.policy import Policy
from fourierwalk.training.training import Data


def held_out(x, seed):
    """The rows that a fit from this seed does not show to its walk."""
    return folds_of(x, seed).mask(0)


# The rows that are held out


def test_a_look_is_at_rows_that_the_walk_does_not_see(xp):
    """One look at fixed frequencies: solved on the other rows, measured on these."""
    fit = run(xp, seed=3, sampler="fixed", early_stopping=True)
    x, y = data()[:2]
    mask = held_out(x, seed=3)
    assert 10 < mask.sum() < 60
    kind, omega = FEATURES["cos-sin"], xp.host(fit.model.frequencies)
    design, targets = kind.design(scaled(x), omega), scaled(y)
    unknowns = ridge(design[~mask], targets[~mask], np.ones(np.sum(~mask)), 0.1)
    expected = np.mean((design[mask] @ unknowns - targets[mask]) ** 2)
    assert_allclose(fit.history.validation, [[0, expected]], rtol=1e-8)
    assert f"{mask.sum()} rows held out to choose by" in fit.history.decisions


def test_the_walk_sees_the_other_rows_only():
    """Its losses are those of a walk on these rows, and with the same random numbers."""
    changed = data()
    mask = held_out(changed.x, seed=0)
    changed.y[mask] = changed.y[mask][::-1]  # keeps the scaling
    whole, other = (settings(early_stopping=True).run(one, np.random.default_rng(0)) for one in (data(), changed))
    assert_allclose(whole.history.loss, other.history.loss, rtol=1e-10)
    errors, others = (fit.history.validation[1:, 1] for fit in (whole, other))  # at ω = 0 nothing is predicted yet
    assert np.all(np.abs(errors - others) > 0.01)


def test_holding_rows_out_leaves_the_random_numbers_of_the_walk_alone(monkeypatch):
    monkeypatch.setattr(training, "folds", lambda *_: None)
    split, plain = (run(early_stopping=stopping).resume.state for stopping in (True, False))
    assert_array_equal(split.frequencies, plain.frequencies)


@pytest.mark.parametrize(
    ("sampler", "early_stopping", "split"),
    [
        ("auto", "auto", True),
        ("auto", True, True),
        ("auto", False, False),
        ("metropolis", "auto", False),
        ("metropolis", True, True),
        ("resampling", "auto", False),
        ("descent", "auto", False),
        (Automatic(QUICK), "auto", True),
    ],
)
def test_when_rows_are_held_out(sampler, early_stopping, split):
    fit = run(sampler=sampler, early_stopping=early_stopping)
    seen = {look.phase for look in fit.history.looks}
    assert bool(seen - {"leave-one-out"}) == split
    assert any("to choose by" in words for words in fit.history.decisions) == split
    assert ("no rows held out" in fit.history.decisions) == (not split)


def test_few_rows_are_not_split():
    """A spread and λ by leave-one-out, and no steps."""
    fit = settings(sampler="auto", n_steps=None, regularization="auto").run(data(n_rows=39), np.random.default_rng(0))
    assert "no rows held out" in fit.history.decisions
    assert any(words.endswith("without steps, by leave-one-out") for words in fit.history.decisions)
    assert fit.resume.state.step == len(fit.history.infos) == 0
    assert [look.phase for look in fit.history.looks] == ["leave-one-out"]
    assert fit.regularization == fit.history.looks[0].regularization
    drawn = np.random.default_rng(0).standard_normal((6, 2))
    powers = np.log2(fit.model.frequencies / drawn * math.sqrt(2))
    assert_allclose(powers, np.round(powers[0, 0]), atol=1e-12)


def test_a_given_regularization_counts_where_one_is_left_out():
    """The spread is the best one at this λ, not at its own."""
    for regularization in (1e-6, 10.0):
        fit = settings(sampler="auto", regularization=regularization).run(data(n_rows=60), np.random.default_rng(0))
        assert fit.history.looks[0].regularization == fit.regularization == regularization


def test_given_rows_are_looked_at_instead():
    x_val, y_val = (part[:20] + 0.5 for part in data()[:2])
    given = Data(*data()[:3], x_val, y_val)
    fit = settings(n_steps=0).run(given, np.random.default_rng(0))
    x, y = data()[:2]
    kind, omega = FEATURES["cos-sin"], fit.model.frequencies
    design, targets = kind.design(scaled(x), omega), scaled(y)
    unknowns = ridge(design, targets, np.ones(len(x)), 0.1)
    new = kind.design((x_val - x.mean(axis=0)) / x.std(axis=0), omega)
    expected = np.mean((new @ unknowns - (y_val - y.mean()) / y.std()) ** 2)
    assert_allclose(fit.history.validation, [[0, expected]], rtol=1e-8)
    assert "states chosen on X_val, y_val" in fit.history.decisions
    assert len(settings().run(given, np.random.default_rng(0)).history.looks) == 5
    with pytest.raises(ValueError, match="X_val and y_val need early_stopping 'auto' or True, got False"):
        settings(early_stopping=False).run(given, np.random.default_rng(0))


@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_validation_rows_become_as_sparse_as_the_others(form):
    dense = np.arange(6.0).reshape(3, 2)
    sparse = form(dense)
    assert training._as_kept(dense, dense + 1) is dense
    assert training._as_kept(sparse, scipy.sparse.csr_array(dense)) is sparse
    made_dense, made_sparse = training._as_kept(sparse, dense), training._as_kept(dense, sparse)
    assert type(made_dense) is np.ndarray
    assert isinstance(made_sparse, scipy.sparse.csr_array)
    assert_array_equal(made_dense, dense)
    assert_array_equal(made_sparse.toarray(), dense)


@pytest.mark.parametrize("one", [settings(), automatic()], ids=["followed", "automatic"])
@pytest.mark.parametrize("n_inputs", [3, 90], ids=["narrow", "wide"])
def test_sparse_and_dense_rows_may_choose_for_each_other(n_inputs, one):
    rng = np.random.default_rng(0)
    y = rng.standard_normal((80, 1))
    x = rng.poisson(np.exp(y), (80, n_inputs)).astype(float)

    def fit(*forms):
        seen, val = (form(part) for form, part in zip(forms, (x[:60], x[60:]), strict=True))
        return one.run(Data(seen, y[:60], x_val=val, y_val=y[60:]), np.random.default_rng(0))

    kept, sparse = np.asarray, scipy.sparse.csr_array
    for forms in ((kept, sparse), (sparse, kept)):
        expected, found = fit(forms[0], forms[0]), fit(*forms)
        assert len(expected.history.looks) > 1
        assert_array_equal(found.history.validation, expected.history.validation)
        assert_array_equal(found.model(x), expected.model(x))


# What settings stand for


def resolved(d, **changes):
    return settings(**changes).resolve(Data(np.zeros((3, d)), np.zeros((3, 1))))


def sampler_of(d, **changes):
    return resolved(d, **changes).sampler


@pytest.mark.parametrize("d", [1, 2, 5, 784])
def test_the_settings_of_the_paper(d):
    walk = sampler_of(d, step_size="paper", exponent="paper")
    assert walk.proposal == RandomWalk(2.4**2 / d)
    assert walk.exponent == 3 * d - 2
    assert walk.max_norm == math.inf


@pytest.mark.parametrize(("d", "exponent"), [(1, 1.0), (4, 10.0), (5, 10.0), (784, 10.0)])
def test_the_settings_of_none(d, exponent):
    walk = sampler_of(d, step_size=None, exponent=None)
    assert walk.exponent == exponent
    assert walk.proposal == RandomWalk(2.4**2 / d)


def test_a_start_of_adaptation_makes_algorithm_2():
    walk = sampler_of(2, adapt_after=7, max_norm=9.0)
    assert walk == Metropolis(AdaptiveWalk(0.8, 7), 4.0, 3, 9.0)
    assert sampler_of(2, adapt_after=7, step_size=None).proposal == AdaptiveWalk(0.1, 7)
    assert sampler_of(2, adapt_after=7, step_size="paper").proposal == AdaptiveWalk(2.4**2 / 2, 7)


def test_the_samplers_of_the_other_names():
    plain = {"step_size": None, "exponent": None}
    annealed = AnnealedWalk(ScaledWalk(ShapedWalk(Policy().wander)), training.LAST_STEP, 12)
    assert sampler_of(2, sampler="resampling", **plain) == Resampling(annealed)
    assert sampler_of(2, sampler="resampling", max_norm=9.0) == Resampling(RandomWalk(0.8), 1.0, 4.0, 9.0)
    assert sampler_of(2, sampler="resampling", exponent="paper").exponent == 4.0
    assert sampler_of(2, sampler="descent", **plain) == Descent()
    assert sampler_of(2, sampler="descent", max_norm=9.0) == Descent(max_norm=9.0)


def test_the_automatic_search_gets_the_settings_that_it_has_a_use_for():
    plain = {"sampler": "auto", "step_size": None, "exponent": None}
    assert resolved(2, **plain, n_steps=None, patience=None) == Automatic()
    assert resolved(2, **plain) == Automatic(n_steps=12, patience=100)
    assert resolved(2, **{**plain, "step_size": 0.8}, max_norm=9.0) == Automatic(
        proposal=RandomWalk(0.8), max_norm=9.0, n_steps=12, patience=100
    )
    assert resolved(2, **plain, adapt_after=3).proposal == AdaptiveWalk(0.1, 3)


def test_every_other_sampler_is_followed():
    walk = Metropolis(RandomWalk(0.8), 4.0, 3)
    assert resolved(2) == Followed(walk, 12, 3, 100, starts_at_zero=True)
    assert resolved(2, patience=None, n_steps=None) == Followed(walk, 1000, 3, 30, starts_at_zero=True)
    assert resolved(2, sampler="fixed") == Followed(walk, 0, 3, 100)
    assert resolved(2, sampler=walk) == resolved(2)
    assert resolved(2, sampler="descent") == resolved(2, sampler=Descent()) == Followed(Descent(), 12, 3, 100)
    resume = run().resume
    assert settings().resolve(data(), resume).resume is resume


def test_an_object_that_searches_is_used_as_it_is():
    mine = Automatic(QUICK)
    assert resolved(2, sampler=mine) is mine


def test_a_sampler_object_is_used_as_it_is():
    mine = Metropolis(RandomWalk(0.8), 4.0, 3)
    assert sampler_of(2, sampler=mine) is mine
    assert_array_equal(run(sampler=mine).model.frequencies, run().model.frequencies)
    for name, mine in (("resampling", Resampling(RandomWalk(0.8), exponent=4.0)), ("descent", Descent())):
        assert_array_equal(run(sampler=mine).model.frequencies, run(sampler=name).model.frequencies)


@pytest.mark.parametrize(
    ("sampler", "n_steps", "expected"), [("fixed", 50, 0), ("metropolis", None, 1000), ("descent", 7, 7)]
)
def test_the_number_of_steps(sampler, n_steps, expected):
    assert resolved(2, sampler=sampler, n_steps=n_steps).n_steps == expected


def test_starts():
    def first(**changes):
        return run(**changes, n_steps=0).model.frequencies

    mine = np.random.default_rng(9).standard_normal((6, 2))
    drawn = np.random.default_rng(0).standard_normal((6, 2))
    assert_array_equal(first(), np.zeros((6, 2)))
    assert_array_equal(first(sampler="fixed"), drawn)
    assert_array_equal(first(sampler="fixed", initial=0.5), 0.5 * drawn)
    assert_array_equal(first(sampler="resampling"), drawn)
    assert_array_equal(first(sampler="descent"), drawn)
    assert_array_equal(first(sampler="auto", initial=0.5, early_stopping=False), 0.5 * drawn)
    assert_array_equal(first(sampler="auto", initial=mine, early_stopping=False), mine)
    assert_array_equal(first(sampler=Metropolis(RandomWalk(1.0), 1.0)), np.zeros((6, 2)))
    assert_array_equal(first(initial=2), 2 * drawn)
    assert_array_equal(first(initial=mine), mine)
    assert_array_equal(first(initial=mine.tolist()), mine)
    assert_array_equal(first(initial=mine, n_frequencies="auto"), mine)
    assert_array_equal(first(initial=mine, n_frequencies="auto", sampler="auto", early_stopping=False), mine)
    assert first(n_frequencies="auto").shape == (Policy().usual, 2)
    assert first(n_frequencies="auto", initial=1.0).shape == (Policy().usual, 2)
    assert first(features="sigmoid").shape == (6, 3)


def test_a_start_of_another_library_is_taken(xp):
    mine = np.random.default_rng(9).standard_normal((6, 2))
    assert_array_equal(run(initial=xp.asarray(mine), n_steps=0).model.frequencies, mine)
    assert_array_equal(xp.host(run(xp, initial=mine, n_steps=0).model.frequencies), mine)


@pytest.mark.parametrize(
    ("initial", "sentence"),
    [
        (np.zeros((6, 3)), r"initial must be a number or an array of shape \(6, 2\), got shape \(6, 3\)"),
        (np.zeros(6), r"initial must .*got shape \(6,\)"),
        (np.full((6, 2), np.nan), "initial must be finite, got NaN or infinity"),
    ],
)
def test_starts_that_do_not_fit(initial, sentence):
    with pytest.raises(ValueError, match=sentence):
        run(initial=initial)


def test_the_kind_of_scaling_is_recorded():
    assert "inputs scaled: columns" in run().history.decisions
    assert "inputs scaled: none" in run(standardize=False).history.decisions


def test_targets_are_scaled_only_where_wanted():
    one_hot = Data(data().x, np.eye(3)[np.arange(150) % 3])
    fit = settings(scale_targets=False).run(one_hot, np.random.default_rng(0))
    kind = FEATURES["cos-sin"]
    design, targets = kind.design(scaled(one_hot.x), fit.model.frequencies), one_hot.y - one_hot.y.mean(axis=0)
    unknowns = ridge(design, targets, np.ones(150), 0.1)
    assert_allclose(fit.model.amplitudes, kind.amplitudes(unknowns), atol=1e-9)
    assert_allclose(fit.model.offset, [1 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize(("solver", "taken"), [("direct", {"direct"}), ("dual", {"dual"}), ("auto", {"direct"})])
def test_the_solver_is_the_one_asked_for(solver, taken, monkeypatch):
    paths, solve = set(), LeastSquares.__call__

    def recorded(self, frequencies):
        solution = solve(self, frequencies)
        paths.add(solution.info.path)
        return solution

    monkeypatch.setattr(LeastSquares, "__call__", recorded)
    run(solver=solver)
    assert paths == taken


def test_the_defaults_of_a_check_pass():
    settings().check()
    settings(sampler=Metropolis(RandomWalk(1.0), 1.0), max_norm=math.inf, initial=np.zeros((6, 2))).check()


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


def test_a_warm_start_keeps_the_clip_of_heavy_tails():
    """Its frequencies are of inputs that were clipped. A tail that matters is not clipped."""
    rng = np.random.default_rng(0)
    heavy = rng.standard_cauchy((300, 2))
    needed = np.where(rng.random((300, 2)) < 0.85, 0.01 * rng.standard_normal((300, 2)), rng.uniform(1, 2, (300, 2)))
    noise = 0.1 * rng.standard_normal((300, 1))
    tables = {"robust": (heavy, np.sin(4 * np.arctan(heavy[:, :1]))), "columns": (needed, np.sin(6 * needed[:, :1]))}
    for kind, (x, y) in tables.items():
        one, seeded = automatic(standardize="auto"), np.random.default_rng(0)
        first = one.run(Data(x, y + noise), seeded)
        second = one.run(Data(x, y + noise), seeded, first.resume)
        for fit in (first, second):
            assert fit.model.scaling.kind == kind
            assert f"inputs scaled: {kind}" in fit.history.decisions
        assert first.resume.scaling == second.resume.scaling == kind
    fixed = automatic(standardize=True).run(Data(heavy, tables["robust"][1]), np.random.default_rng(0))
    assert fixed.model.scaling.kind == "columns"


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        (Solver("qr"), r"solver.path must be one of .* got 'qr'"),
        (Solver(precision="half"), r"solver.precision must be one of .* got 'half'"),
        (Solver(batch_size=0), "solver.batch_size must be a whole number of at least 1, got 0"),
        (Solver(max_memory=-1), "solver.max_memory must be a finite number above 0 or None, got -1"),
    ],
)
def test_bad_solvers(solver, words):
    with pytest.raises(ValueError, match=words):
        settings(solver=solver).check()


# The range of predictions


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


# Checks


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_frequencies": 0}, "n_frequencies must be"),
        ({"n_frequencies": "many"}, "n_frequencies must be"),
        ({"clamp": "sometimes"}, "clamp must be one of"),
        ({"max_seconds": 0}, "max_seconds must be a finite number above 0 or None, got 0"),
        ({"sampler": "auto"}, "exponent must be None for sampler='auto', which has no Metropolis test, got 4.0"),
        ({"verbose": -1}, "verbose must be"),
        ({"standardize": "often"}, "standardize must be one of"),
    ],
    ids=str,
)
def test_bad_settings(changes, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        settings(**changes).check()


def test_settings_that_are_good():
    for changes in (
        {"n_frequencies": "auto", "sampler": "auto", "exponent": None},
        {"clamp": True},
        {"clamp": "auto"},
        {"max_seconds": 0.5},
        {"verbose": True},
        {"standardize": "robust"},
        {"sampler": Automatic(QUICK)},
    ):
        settings(**changes).check()


def test_a_warm_start_keeps_the_common_scale_of_sparse_rows():
    rng = np.random.default_rng(0)
    x = rng.poisson(np.linspace(0.02, 3.0, 12), (400, 12)).astype(np.float64)
    y = np.sin(x[:, -2:].sum(axis=1, keepdims=True))  # rare columns, which their own scale would blow up, say nothing
    one, seeded = automatic(standardize="auto"), np.random.default_rng(0)
    first = one.run(Data(scipy.sparse.csr_array(x), y), seeded)
    assert first.model.scaling.kind == "common"
    second = one.run(Data(scipy.sparse.csr_array(x), y), seeded, first.resume)
    assert second.model.scaling.kind == "common"


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [({}, "robust"), ({"heavy_tail": 1e6}, "columns"), ({"other_scaling": 1.0}, "columns")],
)
def test_the_policy_of_the_search_decides_on_a_clip(numbers, expected):
    x = np.random.default_rng(0).standard_cauchy((300, 2))
    one = automatic(replace(QUICK, **numbers), standardize="auto")
    fit = one.run(Data(x, np.sin(4 * np.arctan(x[:, :1]))), np.random.default_rng(0))
    assert fit.model.scaling.kind == expected


def test_the_policy_of_the_search_bounds_predictions_and_splits_rows():
    x = np.random.default_rng(0).standard_normal((300, 2))
    one = automatic(replace(QUICK, margin=0.5, folds=3, few_rows=1000))
    fit = one.run(Data(x, np.sin(x[:, :1])), np.random.default_rng(0))
    low, high = np.min(np.sin(x[:, 0])), np.max(np.sin(x[:, 0]))
    assert_allclose(fit.model.bounds[:, 0], [low - 0.5 * (high - low), high + 0.5 * (high - low)])
    assert any(decision.startswith("3 folds") for decision in fit.history.decisions)


def test_inputs_that_do_not_help_are_left_out():
    """Their frequency components and importances are zero, and the history says so."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1500, 12))
    y = np.sin(2 * x[:, 3]) + x[:, 7] * x[:, 9] + 0.1 * rng.standard_normal(1500)
    model = AdaptiveFourierRegressor(32, random_state=0).fit(x, y)
    used = np.flatnonzero(np.any(model.frequencies_ != 0, axis=0))
    assert {3, 7, 9} <= set(used)
    assert used.size <= 6
    assert f"{used.size} of 12 inputs kept: the others do not help" in model.history_.decisions
    assert_array_equal(np.flatnonzero(model.feature_importances_), used)
    assert model.score(x, y) > 0.98
