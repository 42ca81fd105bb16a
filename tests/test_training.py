import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_kind, ridge

from fourierwalk import training
from fourierwalk.least_squares import LeastSquares
from fourierwalk.proposals import AdaptiveWalk, RandomWalk, TargetedWalk
from fourierwalk.sampler import Metropolis
from fourierwalk.selection import held_out_mask
from fourierwalk.solver import Solver
from fourierwalk.training import Data, Training

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
    "verbose": 0,
}


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


def held_out(x, seed, fraction=0.2):
    """The rows that a fit from this seed does not show to its walk."""
    return held_out_mask(x, fraction, int(np.random.default_rng(seed).spawn(1)[0].integers(2**63)))


def run(backend=Plain, seed=0, **changes):
    return settings(**changes).run(data(backend), np.random.default_rng(seed))


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


def test_a_check_is_on_rows_that_the_walk_does_not_see(xp):
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
    assert f"{mask.sum()} rows held out to choose states by" in fit.history.decisions


def test_the_walk_sees_the_other_rows_only():
    """Its losses are those of a walk on these rows, and with the same random numbers."""
    changed = data()
    mask = held_out(changed.x, seed=0)
    changed.y[mask] = changed.y[mask][::-1]  # keeps the scaling
    whole, other = (settings(early_stopping=True).run(one, np.random.default_rng(0)) for one in (data(), changed))
    assert_allclose(whole.history.loss, other.history.loss, rtol=1e-10)
    assert np.all(whole.history.validation[:, 1] != other.history.validation[:, 1])


def test_holding_rows_out_leaves_the_random_numbers_of_the_walk_alone(monkeypatch):
    monkeypatch.setattr(training, "held_out_mask", lambda x, fraction, seed: None)
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
        ("fixed", "auto", False),
    ],
)
def test_when_rows_are_held_out(sampler, early_stopping, split):
    fit = run(sampler=sampler, early_stopping=early_stopping)
    assert (len(fit.history.checks) > 0) == split
    assert any("rows held out to choose" in words for words in fit.history.decisions) == split


def test_few_rows_are_not_split():
    fit = settings(sampler="auto", n_steps=None).run(data(n_rows=60), np.random.default_rng(0))
    assert "no rows held out: too few distinct ones" in fit.history.decisions
    assert fit.resume.state.step == training.FEW_ROWS_STEPS


def test_given_rows_are_checked_instead():
    x_val, y_val = (part[:20] + 0.5 for part in data()[:2])
    fit = settings().run(Data(*data()[:3], x_val, y_val), np.random.default_rng(0))
    x, y = data()[:2]
    kind, check = FEATURES["cos-sin"], fit.history.checks[-1]
    design, targets = kind.design(scaled(x), check.frequencies), scaled(y)
    unknowns = ridge(design, targets, np.ones(len(x)), 0.1)
    new = kind.design((x_val - x.mean(axis=0)) / x.std(axis=0), check.frequencies)
    expected = np.mean((new @ unknowns - (y_val - y.mean()) / y.std()) ** 2)
    assert check.error == pytest.approx(expected, rel=1e-8)
    assert "states chosen on X_val, y_val" in fit.history.decisions
    with pytest.raises(ValueError, match="X_val and y_val need early_stopping 'auto' or True, got False"):
        settings(early_stopping=False).run(Data(*data()[:3], x_val, y_val), np.random.default_rng(0))


# The state that is kept


def test_the_best_state_is_kept():
    fit = run(seed=1, sampler="auto", n_steps=60, step_size=2.0)
    errors = fit.history.validation[:, 1]
    best = fit.history.checks[int(np.argmin(errors))]
    assert 0 < np.argmin(errors) < len(errors) - 1  # else the test shows nothing
    assert_array_equal(fit.model.frequencies, best.frequencies)
    assert np.any(fit.model.frequencies != fit.resume.state.frequencies)
    assert f"the state of step {best.step} was kept" in fit.history.decisions[-1]


def test_the_last_state_is_kept_where_there_is_no_choice():
    fit = run()
    assert_array_equal(fit.model.frequencies, fit.resume.state.frequencies)
    assert not any("was kept" in words for words in fit.history.decisions)


def test_states_are_looked_at_when_amplitudes_are_fresh_and_at_the_end():
    fit = run(sampler="auto", n_steps=10, refit_every=4)
    assert_array_equal(fit.history.validation[:, 0], [0, 4, 8, 10])


def test_patience_ends_the_walk():
    fit = run(seed=1, sampler="auto", n_steps=300, step_size=2.0, patience=3)
    errors = fit.history.validation[:, 1]
    assert len(errors) - 1 - np.argmin(errors) == 3
    assert fit.resume.state.step == fit.history.step[-1] == fit.history.validation[-1, 0] < 300


def test_verbose_prints_a_line_at_each_look(capsys):
    fit = run(sampler="auto", n_steps=6, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(fit.history.checks) - 1 == 2
    assert lines[0].startswith("step 3: acceptance ")
    assert f"held-out error {fit.history.checks[1].error:.4g}" in lines[0]
    run(sampler="auto", n_steps=6)
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


def walk_of(d, **changes):
    return settings(**changes)._walk(d)


@pytest.mark.parametrize("d", [1, 2, 5, 784])
def test_the_settings_of_the_paper(d):
    walk = walk_of(d, step_size="paper", exponent="paper")
    assert walk.proposal == RandomWalk(2.4**2 / d)
    assert walk.exponent == 3 * d - 2
    assert walk.max_norm == math.inf


@pytest.mark.parametrize(("d", "exponent"), [(1, 1.0), (4, 10.0), (5, 10.0), (784, 10.0)])
def test_the_settings_of_none(d, exponent):
    walk = walk_of(d, step_size=None, exponent=None)
    assert walk.exponent == exponent
    assert walk.proposal == TargetedWalk(RandomWalk(0.3 / math.sqrt(d)), 0.5)


def test_a_start_of_adaptation_makes_algorithm_2():
    walk = walk_of(2, adapt_after=7, max_norm=9.0)
    assert walk == Metropolis(AdaptiveWalk(0.8, 7), 4.0, 3, 9.0)
    assert walk_of(2, adapt_after=7, step_size=None).proposal.walk == AdaptiveWalk(0.3 / math.sqrt(2), 7)


def test_a_sampler_object_is_used_as_it_is():
    mine = Metropolis(RandomWalk(0.8), 4.0, 3)
    assert walk_of(2, sampler=mine) is mine
    assert_array_equal(run(sampler=mine).model.frequencies, run().model.frequencies)


@pytest.mark.parametrize(
    ("sampler", "n_steps", "n_rows", "expected"),
    [
        ("fixed", 50, 1e6, 0),
        ("metropolis", None, 1e6, 1000),
        ("auto", None, 1e6, training.AUTO_STEPS),
        ("auto", None, 203, 50),
        ("auto", None, 0, training.FEW_ROWS_STEPS),
        ("auto", 7, 1e6, 7),
    ],
)
def test_the_number_of_steps(sampler, n_steps, n_rows, expected):
    assert settings(sampler=sampler, n_steps=n_steps)._n_steps(n_rows) == expected


def test_starts():
    def first(**changes):
        return run(**changes, n_steps=0).model.frequencies

    mine = np.random.default_rng(9).standard_normal((6, 2))
    drawn = np.random.default_rng(0).standard_normal((6, 2))
    assert_array_equal(first(), np.zeros((6, 2)))
    assert_array_equal(first(sampler="fixed"), drawn)
    assert_array_equal(first(sampler="fixed", initial=0.5), 0.5 * drawn)
    assert_array_equal(first(initial=2), 2 * drawn)
    assert_array_equal(first(initial=mine), mine)
    assert_array_equal(first(initial=mine.tolist()), mine)
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
    best = min(check.error for check in first.history.checks)
    assert second.history.checks[0].error == best
    assert second.history.checks[0].step == first.resume.best_step
    assert first.resume.best_step in [check.step for check in first.history.checks if check.error == best]
    assert min(check.error for check in second.history.checks) <= best


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
