import math
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, OnlyCosines, Plain, drained, every_kind, ridge

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor, training
from fourierwalk.automatic import Automatic, Found, Start
from fourierwalk.descent import Descent
from fourierwalk.features import CosineSine
from fourierwalk.folds import folds
from fourierwalk.history import Decision
from fourierwalk.least_squares import LeastSquares, Minibatch
from fourierwalk.policy import Policy
from fourierwalk.progress import Progress
from fourierwalk.proposals import AdaptiveWalk, AnnealedWalk, RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.resampling import Resampling
from fourierwalk.sampler import Info, Metropolis
from fourierwalk.selection import Look, left_out_values
from fourierwalk.solver import Solver
from fourierwalk.starts import Shape
from fourierwalk.training import Data, Followed, Training

SETTINGS = {
    "n_frequencies": 6,
    "sampler": "metropolis",
    "n_steps": 12,
    "step_size": 0.8,
    "exponent": 4.0,
    "refit_every": 3,
    "adapt_after": None,
    "max_norm": None,
    "initial": None,
    "regularization": 0.1,
    "features": "cos-sin",
    "standardize": True,
    "early_stopping": "auto",
    "validation_fraction": 0.2,
    "patience": 100,
    "solver": "auto",
    "clamp": "auto",
    "max_seconds": None,
    "verbose": 0,
}

QUICK = replace(
    Policy(),
    least_width=4,
    most_frequencies=48,
    widening=0.02,
    misses=1,
    operations=1e18,
    rows_per_frequency=1000,
    usual=1,
    steps=5,
    last_steps=5,
    patience=4,
    look_every=5,
    few_rows=1000,
    members=3,
    most_members=8,
    sample=200,
    iterations=2,
    sure=2.0,
)


def settings(**changes):
    return Training(**{**SETTINGS, **changes})


def data(backend=Plain, n_rows=150, weighted=False):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, 2)) * [1.0, 5.0] + [0.0, 10.0]
    y = 4 * np.sin(3 * x[:, :1]) + 0.2 * x[:, 1:] + 50 + 0.1 * rng.standard_normal((n_rows, 1))
    weight = rng.integers(1, 4, n_rows).astype(float) if weighted else None
    return Data(backend.asarray(x), backend.asarray(y), None if weight is None else backend.asarray(weight))


def scaled(values, weight=None):
    mean = np.average(values, axis=0, weights=weight)
    return (values - mean) / np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight))


def folds_of(x, seed, labels=None, few=0):
    """The folds of a fit from this seed."""
    return folds(x, 0.2, int(np.random.default_rng(seed).spawn(1)[0].integers(2**63)), labels, None, few)


def held_out(x, seed):
    """The rows that a fit from this seed does not show to its walk."""
    return folds_of(x, seed).mask(0)


def run(backend=Plain, seed=0, **changes):
    return settings(**changes).run(data(backend), np.random.default_rng(seed))


def automatic(policy=QUICK, **changes):
    """Settings of a quick automatic search that chooses everything itself."""
    free = {"n_steps": None, "patience": None, "regularization": "auto", "step_size": None, "exponent": None}
    return settings(**{"sampler": Automatic(policy), "n_frequencies": "auto", **free, **changes})


# The final solve


@pytest.mark.parametrize("early_stopping", [True, False], ids=["rows held out", "all rows"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
@every_kind
def test_the_model_is_a_ridge_on_all_scaled_rows(kind, weighted, early_stopping, xp):
    """Rows that the walk did not see count here."""
    fit = settings(features=kind.features, early_stopping=early_stopping).run(
        data(xp, weighted=weighted), np.random.default_rng(0)
    )
    x, y, weight = data(weighted=weighted)[:3]
    omega = xp.host(fit.model.frequencies)
    design = kind.design(scaled(x, weight), omega)
    ones = np.ones(len(x)) if weight is None else weight
    mean = np.average(y, axis=0, weights=weight)
    spread = np.sqrt(np.average((y - mean) ** 2, axis=0, weights=weight))
    unknowns = ridge(design, scaled(y, weight), ones, 0.1)
    assert_allclose(xp.host(fit.model.amplitudes), kind.amplitudes(unknowns) * spread, atol=1e-9)
    assert_allclose(xp.host(fit.model(xp.asarray(x))), mean + spread * (design @ unknowns).real, atol=1e-8)
    assert fit.regularization == 0.1
    assert fit.total_weight == np.sum(ones)
    assert fit.resume.state.step == 12
    assert_array_equal(fit.history.step, np.arange(1, 13))


def test_the_regularization_is_chosen_at_the_final_frequencies(monkeypatch):
    seen = []
    monkeypatch.setattr(training, "choose_regularization", lambda eigensystem: seen.append(eigensystem) or 0.25)
    fit = run(regularization="auto")
    assert fit.regularization == 0.25
    assert len(seen) == 1
    x, y = data()[:2]
    kind = FEATURES["cos-sin"]
    unknowns = ridge(kind.design(scaled(x), fit.model.frequencies), scaled(y), np.ones(len(x)), 0.25)
    assert_allclose(fit.model.amplitudes, kind.amplitudes(unknowns) * y.std(), atol=1e-9)
    assert any("regularization 0.25 by generalised cross-validation" in words for words in fit.history.decisions)


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
    assert np.all(whole.history.validation[:, 1] != other.history.validation[:, 1])


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
    fit = settings(sampler="auto", n_steps=None, regularization="auto").run(data(n_rows=60), np.random.default_rng(0))
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


# The state that is kept


def test_the_best_state_is_kept():
    fit = run(seed=1, early_stopping=True, n_steps=60, step_size=2.0)
    errors = fit.history.validation[:, 1]
    best = fit.history.looks[int(np.argmin(errors))]
    assert 0 < np.argmin(errors) < len(errors) - 1  # else the test shows nothing
    short = run(seed=1, early_stopping=True, n_steps=best.step, step_size=2.0)
    assert_array_equal(fit.model.frequencies, short.resume.state.frequencies)
    assert np.any(fit.model.frequencies != fit.resume.state.frequencies)
    assert fit.resume.best_step == best.step
    kept = f"the state of step {best.step} was kept, with held-out error {best.error:.4g}"
    assert kept in fit.history.decisions


def test_the_regularization_of_the_best_state_is_kept():
    fit = run(seed=1, early_stopping=True, n_steps=30, regularization="auto")
    best = min(fit.history.looks, key=lambda look: look.error)
    assert best.regularization / 10 < fit.regularization < 10 * best.regularization
    x, y = data()[:2]
    kind = FEATURES["cos-sin"]
    unknowns = ridge(kind.design(scaled(x), fit.model.frequencies), scaled(y), np.ones(len(x)), fit.regularization)
    assert_allclose(fit.model.amplitudes, kind.amplitudes(unknowns) * y.std(), atol=1e-6)


def test_the_last_state_is_kept_where_there_is_no_choice():
    fit = run()
    assert_array_equal(fit.model.frequencies, fit.resume.state.frequencies)
    assert not any("was kept" in words for words in fit.history.decisions)


def test_states_are_looked_at_when_amplitudes_are_fresh_and_at_the_end():
    fit = run(early_stopping=True, n_steps=10, refit_every=4)
    assert_array_equal(fit.history.validation[:, 0], [0, 4, 8, 10])
    assert [look.phase for look in fit.history.looks] == ["walk"] * 4


def test_patience_ends_the_walk():
    fit = run(seed=1, early_stopping=True, n_steps=300, step_size=2.0, patience=3)
    errors = fit.history.validation[:, 1]
    assert len(errors) - 1 - np.argmin(errors) == 3
    assert fit.resume.state.step == fit.history.step[-1] == fit.history.validation[-1, 0] < 300


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


def test_a_resumed_walk_is_unbroken(xp):
    first = settings(n_steps=7)
    rng = np.random.default_rng(0)
    part = first.run(data(xp), rng)
    whole, resumed = run(xp), settings(n_steps=5).run(data(xp), rng, part.resume)
    assert_array_equal(xp.host(resumed.model.frequencies), xp.host(whole.model.frequencies))
    assert_array_equal(xp.host(resumed.model.amplitudes), xp.host(whole.model.amplitudes))
    assert resumed.resume.state.step == 12


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


@pytest.mark.parametrize("sampler", ["resampling", "descent"])
def test_other_samplers_lower_the_loss_and_keep_their_last_state(sampler):
    fit = run(sampler=sampler, n_steps=40, step_size=None, exponent=None)
    assert fit.history.loss[-1] < 0.9 * fit.history.loss[0]
    assert_array_equal(fit.model.frequencies, fit.resume.state.frequencies)
    assert set(fit.history.phase) == {sampler}


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


def test_a_warm_start_keeps_its_held_out_rows_and_its_best_state():
    rng = np.random.default_rng(0)
    first = settings(early_stopping=True).run(data(), rng)
    second = settings(early_stopping=True, n_steps=3).run(data(), rng, first.resume)
    assert second.resume.split_seed == first.resume.split_seed
    best = min(first.history.looks, key=lambda look: look.error)
    assert second.history.looks[0] == best
    assert first.resume.best_step == best.step
    assert second.history.looks[1].step == first.resume.state.step
    assert min(look.error for look in second.history.looks) <= best.error


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
        assert first.resume.is_robust == second.resume.is_robust == (kind == "robust")
    fixed = automatic(standardize=True).run(Data(heavy, tables["robust"][1]), np.random.default_rng(0))
    assert fixed.model.scaling.kind == "columns"


def test_a_warm_start_of_an_average_with_another_sampler_keeps_all_frequencies():
    rng = np.random.default_rng(0)
    first = automatic(n_frequencies=23).run(data(n_rows=300), rng)
    assert len(first.resume.state.frequencies) < 23  # of one member
    second = settings(sampler="descent", n_frequencies=23, n_steps=0).run(data(n_rows=300), rng, first.resume)
    assert_array_equal(second.model.frequencies, first.model.frequencies)


def test_a_warm_start_with_another_sampler_walks_on_from_its_frequencies():
    rng = np.random.default_rng(0)
    first = settings(sampler="resampling").run(data(), rng)
    second = settings(sampler="descent").run(data(), rng, first.resume)
    problem = LeastSquares(
        training.Scaling.fit(*data()[:3]).rows(*data()[:3]), training.feature_kinds.named("cos-sin"), 0.1
    )
    state = Descent().init(problem, first.resume.state.frequencies)._replace(step=12)
    *_, (descended, _) = Descent().sample(problem, state, None, 12)
    assert second.resume.state.step == descended.step == 24
    assert_allclose(second.model.frequencies, descended.frequencies, atol=1e-9)


@pytest.mark.parametrize("changes", [{"adapt_after": 2}, {"step_size": None}, {"step_size": 0.1}], ids=str)
def test_a_warm_start_with_another_proposal_walks_on_from_its_frequencies(changes):
    rng = np.random.default_rng(0)
    first = settings(early_stopping=False).run(data(), rng)
    stayed = settings(early_stopping=False, n_steps=0, **changes).run(data(), rng, first.resume)
    assert_array_equal(stayed.model.frequencies, first.resume.state.frequencies)
    moved = settings(early_stopping=False, n_steps=4, **changes).run(data(), rng, first.resume)
    assert moved.resume.state.step == first.resume.state.step + 4
    assert np.any(moved.model.frequencies != stayed.model.frequencies)


def test_the_history_says_how_amplitudes_were_solved_for():
    words = settings(solver=Solver("direct", "single")).run(data(), np.random.default_rng(0)).history.decisions
    assert any("12 steps solved on the direct path in single precision" in word for word in words)


def test_the_final_fit_is_in_double_precision_on_all_rows():
    exact = settings(solver="direct", n_steps=0).run(data(), np.random.default_rng(0))
    for solver in (Solver("direct", "single"), Solver("direct", batch_size=20)):
        fit = settings(solver=solver, n_steps=0).run(data(), np.random.default_rng(0))
        assert_array_equal(fit.model.amplitudes, exact.model.amplitudes)


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


def test_batches_are_drawn_in_every_walk(monkeypatch):
    drawn = []
    monkeypatch.setattr(Minibatch, "__call__", lambda self, omega: drawn.append(1) or self.problem(omega))
    batches = {"solver": Solver("direct", batch_size=20)}
    for sampler in ("metropolis", "resampling"):
        run(sampler=sampler, exponent=None, step_size=None, **batches)
        assert len(drawn) >= 12, sampler
        drawn.clear()
    run(sampler="descent", **batches)  # on all rows: its line search compares losses
    automatic(**batches).run(data(), np.random.default_rng(0))
    assert drawn == []


# Calibration


def labelled(n_rows=150):
    x, y = data(n_rows=n_rows)[:2]
    return Data(x, np.eye(3)[np.digitize(y[:, 0], np.quantile(y, [0.3, 0.6]))])


def test_numbers_have_no_calibration():
    assert run().calibration is None


def test_calibration_is_on_held_out_rows_by_amplitudes_of_the_others():
    given = labelled()
    one = settings(sampler="fixed", early_stopping=True, scale_targets=False)
    fit = one.run(given, np.random.default_rng(3))
    labels = np.argmax(given.y, axis=1)
    parts = folds_of(given.x, 3, labels)
    mask, order = parts.mask(0), parts.shuffled(np.flatnonzero(parts.mask(0)))
    shares = given.y.mean(axis=0)
    design = FEATURES["cos-sin"].design(scaled(given.x), fit.model.frequencies)
    unknowns = ridge(design[~mask], (given.y - shares)[~mask], np.ones(np.sum(~mask)), 0.1)
    values, targets, weight = fit.calibration
    assert_allclose(values, design[order] @ unknowns + shares, atol=1e-9)
    assert_allclose(targets, given.y[order], atol=1e-12)
    assert weight is None


def test_calibration_without_held_out_rows_is_by_leave_one_out(monkeypatch):
    fit = settings(scale_targets=False).run(labelled(), np.random.default_rng(0))
    shares = labelled().y.mean(axis=0)
    rows = training.Rows(scaled(labelled().x), labelled().y - shares)
    problem = LeastSquares(rows, FEATURES["cos-sin"].features, 0.1)
    expected = left_out_values(problem, fit.model.frequencies, 0.1) + shares
    assert_allclose(fit.calibration.values, expected, atol=1e-9)
    monkeypatch.setattr(training, "MOST_LEFT_OUT", 50)  # too many rows: on those of the fit
    fit = settings(scale_targets=False).run(labelled(), np.random.default_rng(0))
    assert_allclose(fit.calibration.values, fit.model(labelled().x), atol=1e-9)


def test_calibration_of_many_rows_is_on_rows_from_all_over(monkeypatch):
    """Also where they come sorted by class."""
    monkeypatch.setattr(training, "MOST_LEFT_OUT", 3)
    given = labelled()
    order = np.argsort(np.argmax(given.y, axis=1))
    fit = settings(scale_targets=False).run(Data(given.x[order], given.y[order]), np.random.default_rng(0))
    assert fit.calibration.values.shape == (30, 3)
    assert fit.calibration.targets.sum(axis=0).min() >= 9


def test_whole_weights_calibrate_like_repetitions(monkeypatch):
    monkeypatch.setattr(training, "MOST_LEFT_OUT", 200)
    given = labelled(80)
    weight = np.full(80, 3.0)
    weight[::2] = 2.0
    again = np.repeat(np.arange(80), weight.astype(int))
    weighted = settings(scale_targets=False).run(given._replace(weight=weight), np.random.default_rng(0))
    repeated = settings(scale_targets=False).run(Data(given.x[again], given.y[again]), np.random.default_rng(0))
    assert weighted.total_weight == repeated.total_weight == 200
    assert_allclose(weighted.calibration.values[again], repeated.calibration.values, atol=1e-7)


def test_the_calibration_of_an_average_has_not_seen_its_rows():
    """Each row is held out from one member, and valued by that."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    labels = (np.sin(3 * x[:, 0]) + 0.3 * rng.standard_normal(300) > 0).astype(int)
    given = Data(x, np.eye(2)[labels])
    fit = automatic(scale_targets=False, n_frequencies=20).run(given, np.random.default_rng(3))
    parts, shares = folds_of(x, 3, labels, few=1000), given.y.mean(axis=0)
    order = [parts.shuffled(np.flatnonzero(parts.mask(member))) for member in range(len(parts))]
    assert_array_equal(np.sort(np.concatenate(order)), np.arange(300))
    assert_allclose(fit.calibration.targets, given.y[np.concatenate(order)], atol=1e-12)
    omega = fit.model.frequencies
    assert len(omega) == 4 * len(parts) == 20
    expected = []
    for member, rows in enumerate(order):  # amplitudes of the other rows: any λ's, so fitted to the values themselves
        design = FEATURES["cos-sin"].design(scaled(x), omega[4 * member : 4 * member + 4])[rows]
        begin = sum(len(one) for one in order[:member])
        values = fit.calibration.values[begin : begin + len(rows)] - shares
        expected.append(design @ np.linalg.lstsq(design, values, rcond=None)[0] - values)
    assert_allclose(np.concatenate(expected), 0, atol=1e-8)
    whole = fit.model(x[np.concatenate(order)])
    assert np.max(np.abs(whole - fit.calibration.values)) > 0.01


# Folds, panels, and the order of rows


def panel_of(given, policy=QUICK, **changes):
    """The panel of a quick automatic search."""
    one = automatic(policy, **changes)
    start = one._start(CosineSine(), given, None)
    return one._prepared(one.sampler, start, given, CosineSine(), Solver(), 7, None)[1]


def rows_as_set(*parts):
    return sorted(map(tuple, np.concatenate([part.x for part in parts])))


def test_every_member_of_a_panel_learns_from_the_rows_that_it_does_not_hold_out():
    given = data()
    panel = panel_of(given)
    assert panel.n_together == Policy().folds
    assert panel.n_rows == 150
    assert panel.holds_out
    everything = rows_as_set(panel.rows)
    held = [panel.parts(member)[1] for member in range(panel.n_together)]
    assert rows_as_set(*held) == everything  # each row once
    for member in range(panel.n_together):
        seen, held_out = panel.parts(member)
        assert rows_as_set(seen, held_out) == everything
        split = panel.split(member)
        assert_array_equal(split.problem.rows.x, seen.x)
        assert_array_equal(split.selection.held_out.x, held_out.x)
        assert split.problem.regularization == training.WALK_REGULARIZATION
        assert split.selection.regularization is None
    assert_array_equal(panel.parts(0)[1].x, panel.parts(panel.n_together)[1].x)  # and round again
    assert panel_of(given, regularization=0.3).split(0).selection.regularization == 0.3


def test_many_rows_hold_out_a_share():
    panel = panel_of(data(), replace(QUICK, few_rows=0))
    assert panel.n_together == 1
    assert len(panel.parts(0)[1]) == 30
    assert not set(rows_as_set(panel.parts(0)[1])) & set(rows_as_set(panel.parts(1)[1]))


@pytest.mark.parametrize("with_validation", [True, False])
def test_rows_come_in_a_random_order(with_validation):
    """The first of them are a sample: of sorted rows too."""
    x = np.linspace(0, 1, 400)[:, None] * [[1.0, 2.0]]
    y = np.sin(9 * x[:, :1])
    given = Data(x, y, x_val=x[::7] + 0.001, y_val=y[::7]) if with_validation else Data(x, y)
    panel = panel_of(given, replace(QUICK, few_rows=0))
    seen, held_out = panel.parts(0)
    assert len(seen) == (400 if with_validation else 320)
    half = seen.x[: len(seen) // 2, 0]
    assert abs(np.mean(half)) < 0.3  # of unit spread; in their own order −0.87
    assert np.std(half) == pytest.approx(1.0, abs=0.15)
    assert_allclose(np.sin(9 * panel_raw(given, seen)), seen.y * y.std() + y.mean(), atol=1e-9)  # with their targets
    if with_validation:
        assert_allclose(held_out.x, (given.x_val - x.mean(axis=0)) / x.std(axis=0))


def panel_raw(given, rows):
    return rows.x[:, :1] * given.x[:, 0].std() + given.x[:, 0].mean()


def test_each_member_that_decides_has_a_shape_of_its_own():
    panel = panel_of(data())
    assert len(panel.shapes) == panel.n_together
    assert [panel.split(member).shape for member in range(3)] == list(panel.shapes[:3])
    assert panel.split(panel.n_together).shape is panel.shapes[0]
    assert panel.shapes[0].relevance[0] > panel.shapes[0].relevance[1]  # sin(3x) of the first
    assert replace(panel, shapes=()).split(0).shape is None


def test_a_spread_of_the_users_own_is_not_explored():
    panel = panel_of(data(), initial=0.5)
    (shape,) = panel.shapes
    assert isinstance(shape, Shape)
    assert shape.width == 2.0
    assert shape.root.shape == (0, 2)
    assert panel_of(data(), initial=np.ones((5, 2))).shapes == ()


# A sampler that is followed


def test_what_is_followed_yields_its_steps_and_looks():
    one = settings(early_stopping=True)
    search = one.resolve(data())
    panel = one._prepared(search, one._start(CosineSine(), data(), None), data(), CosineSine(), Solver(), 7, None)[1]
    yielded, found = drained(search.search(panel, Start(6, 2, 2), np.random.default_rng(0)))
    assert [type(each) for each in yielded if not isinstance(each, Decision)] == [Look, *[*[Info] * 3, Look] * 4]
    assert found.state.step == 12
    best = min((each for each in yielded if isinstance(each, Look)), key=lambda look: look.error)
    assert found.members[0].look.step == best.step
    assert found.judges[0].held_out.x.shape == (30, 2)
    assert Decision("1 start, 12 steps: all steps done") in yielded


def test_frequencies_that_run_away_end_the_walk_with_advice():
    """Steps of a million, and a test that accepts all of them."""
    wild = Metropolis(RandomWalk(1e6), 1e-9, 3)
    with pytest.warns(RuntimeWarning, match="a smaller step_size, a max_norm, or a larger regularization"):
        fit = run(sampler=wild, n_steps=100)
    assert fit.resume.state.step == 3
    assert any("the frequencies grew without end" in words for words in fit.history.decisions)
    assert np.all(np.isfinite(fit.model(data().x)))
    assert run(sampler=replace(wild, max_norm=10.0), n_steps=9).resume.state.step == 9  # and no warning


# Interruptions and deadlines


def search_of(*yields, ends=None):
    """A search that yields these, and then returns or raises."""
    yield from yields
    if isinstance(ends, BaseException):
        raise ends
    return ends


def watched(search, deadline=math.inf):
    return training._watched(search, [Decision("first")], deadline, Progress(0))


def found_of(step):
    return Found((step,), (None,), None)


def test_a_search_that_ends_by_itself_has_the_last_word():
    look = Look(3, 0.5, 0.1)
    seen = watched(search_of(look, found_of(1), ends=found_of(2)))
    assert seen == ((found_of(2)), [Decision("first"), look], False)


def test_an_interrupted_search_has_the_best_model_so_far():
    look = Look(3, 0.5, 0.1)
    seen = watched(search_of(found_of(1), found_of(2), look, ends=KeyboardInterrupt()))
    assert seen.found == found_of(2)
    assert seen.interrupted
    assert seen.events == [Decision("first"), look, Decision("interrupted: the best model so far")]
    with pytest.raises(KeyboardInterrupt):  # there is nothing yet
        watched(search_of(look, ends=KeyboardInterrupt()))


def test_a_deadline_waits_for_the_first_model():
    search = search_of(Look(1, 0.5, 0.1), found_of(1), found_of(2), ends=found_of(3))
    seen = watched(search, time.monotonic() - 1)
    assert seen.found == found_of(1)
    assert not seen.interrupted
    assert seen.events[-1] == Decision("max_seconds have passed: the best model so far")
    assert next(search, "closed") == "closed"


def test_max_seconds_end_a_fit_with_a_model():
    whole, short = (automatic(max_seconds=most).run(data(), np.random.default_rng(0)) for most in (None, 1e-9))
    assert len(short.history.infos) < len(whole.history.infos)
    assert short.model.frequencies.shape == (4, 2)
    assert "max_seconds have passed: the best model so far" in short.history.decisions
    assert not short.interrupted
    x, y = data()[:2]
    assert np.mean((short.model(x) - y) ** 2) < np.var(y)
    assert automatic(max_seconds=1e9).run(data(), np.random.default_rng(0)).history.decisions == whole.history.decisions


class Interrupted(CosineSine):
    """Features of a user who loses patience at the n-th gradient."""

    def __init__(self, n):
        object.__setattr__(self, "left", [n])

    def gradient(self, block, frequencies, amplitudes):
        self.left[0] -= 1
        if self.left[0] == 0:
            raise KeyboardInterrupt
        return super().gradient(block, frequencies, amplitudes)


@pytest.mark.parametrize("estimator", [AdaptiveFourierRegressor, AdaptiveFourierClassifier])
def test_an_interrupted_fit_leaves_its_best_model_and_is_interrupted(estimator):
    x, y = data()[:2]
    y = y[:, 0] > y.mean() if estimator is AdaptiveFourierClassifier else y[:, 0]
    features = Interrupted(25)
    model = estimator(sampler=Automatic(QUICK), features=features, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y)
    assert features.left == [0]  # nothing was searched for after that
    assert model.score(x, y) > 0.2
    assert model.n_frequencies_ == len(model.frequencies_) == len(model.amplitudes_) > 0
    assert "interrupted: the best model so far" in model.history_.decisions
    early = estimator(sampler=Automatic(QUICK), features=Interrupted(1), random_state=0)
    with pytest.raises(KeyboardInterrupt):
        early.fit(x, y)
    assert not hasattr(early, "model_")


# What a model says beyond its values


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


def test_importances_are_mean_squared_slopes_along_scaled_inputs():
    fit = run(sampler="descent", n_steps=20)
    x = data().x
    squares = []
    for j in range(2):
        move = 1e-5 * x.std(axis=0) * np.eye(2)[j]
        squares.append(np.mean(((fit.model(x + move) - fit.model(x - move)) / 2e-5) ** 2))
    assert_allclose(fit.model.importances, squares / np.sum(squares), rtol=1e-5)
    assert fit.model.importances[0] > 0.5  # sin(3x) of the first input


def test_features_without_slopes_have_no_importances():
    fit = run(features=OnlyCosines())
    assert fit.model.importances is None
    with pytest.raises(ValueError, match="relevance needs a model with importances"):
        fit.model.relevance()


def test_a_constant_model_warns_and_has_no_favourite_input():
    rng = np.random.default_rng(1)
    noise = Data(rng.standard_normal((300, 2)), rng.standard_normal((300, 1)))
    with pytest.warns(UserWarning, match="the model is constant. More rows"):
        fit = automatic().run(noise, np.random.default_rng(0))
    assert_allclose(fit.model(noise.x), noise.y.mean())
    assert_allclose(fit.model.importances, [0.5, 0.5])
    assert fit.regularization == math.inf
    assert not np.any(fit.model.amplitudes)


def test_no_regularization_at_all_is_a_choice():
    for sampler in ("fixed", Automatic(QUICK)):
        assert run(sampler=sampler, regularization=0).regularization == 0.0


def test_the_regularization_of_an_average_is_the_geometric_mean(monkeypatch):
    given, found = iter([0.1, 0.001, 0.1, 0.001, 0.1]), []
    final = Training._final

    def changed(self, rows, features, solver, member, events):
        one = final(self, rows, features, solver, member, events)
        found.append(one)
        return one._replace(look=one.look._replace(regularization=next(given)))

    monkeypatch.setattr(Training, "_final", changed)
    fit = automatic(n_frequencies=20).run(data(), np.random.default_rng(0))
    assert len(found) == 5
    assert fit.regularization == pytest.approx(10 ** np.mean([-1, -3, -1, -3, -1]))


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
