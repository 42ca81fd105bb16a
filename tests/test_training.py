import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_kind, ridge

from fourierwalk import automatic, training
from fourierwalk.automatic import Automatic
from fourierwalk.descent import Descent
from fourierwalk.least_squares import LeastSquares, Minibatch
from fourierwalk.proposals import AdaptiveWalk, AnnealedWalk, RandomWalk, ScaledWalk, ShapedWalk, TargetedWalk
from fourierwalk.resampling import Resampling
from fourierwalk.sampler import Metropolis
from fourierwalk.selection import held_out_mask, left_out_values
from fourierwalk.solver import Solver
from fourierwalk.temperature import CERTAIN_SCALE, best_temperature
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
    monkeypatch.setattr(training, "held_out_mask", lambda *_: None)
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
        (Automatic(), "auto", True),
    ],
)
def test_when_rows_are_held_out(sampler, early_stopping, split):
    fit = run(sampler=sampler, early_stopping=early_stopping)
    seen = [look.phase for look in fit.history.looks]
    assert ("walk" in seen or "start" in seen) == split
    assert any("rows held out to choose" in words for words in fit.history.decisions) == split


def test_few_rows_are_not_split():
    """A spread and λ by leave-one-out, and no steps."""
    fit = settings(sampler="auto", n_steps=None, regularization="auto").run(data(n_rows=60), np.random.default_rng(0))
    assert "no rows held out: too few distinct ones" in fit.history.decisions
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


def test_verbose_prints_a_line_at_each_look(capsys):
    fit = run(early_stopping=True, n_steps=6, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(fit.history.looks) - 1 == 2
    error = fit.history.looks[1].error
    assert lines[0] == f"walk, step 3: held-out error {error:.4g}, λ 0.1"
    automatic = run(sampler="auto", n_steps=30, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(automatic.history.looks)
    assert [line.split(",")[0] for line in lines] == ["start", "resampling", *["descent"] * 5]
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


def sampler_of(d, **changes):
    return settings(**changes).sampler_object(Data(np.zeros((3, d)), np.zeros((3, 1))))


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
    assert walk.proposal == TargetedWalk(RandomWalk(0.3 / math.sqrt(d)), 0.5)


def test_a_start_of_adaptation_makes_algorithm_2():
    walk = sampler_of(2, adapt_after=7, max_norm=9.0)
    assert walk == Metropolis(AdaptiveWalk(0.8, 7), 4.0, 3, 9.0)
    assert sampler_of(2, adapt_after=7, step_size=None).proposal.walk == AdaptiveWalk(0.3 / math.sqrt(2), 7)


def test_the_samplers_of_the_other_names():
    plain = {"step_size": None, "exponent": None}
    annealed = AnnealedWalk(ScaledWalk(ShapedWalk(automatic.FIRST_STEP)), automatic.LAST_STEP, 12)
    assert sampler_of(2, sampler="resampling", **plain) == Resampling(annealed)
    assert sampler_of(2, sampler="resampling", max_norm=9.0) == Resampling(RandomWalk(0.8), 1.0, 4.0, 9.0)
    assert sampler_of(2, sampler="resampling", exponent="paper").exponent == 4.0
    assert sampler_of(2, sampler="descent", **plain) == Descent()
    assert sampler_of(2, sampler="descent", max_norm=9.0) == Descent(max_norm=9.0)
    assert sampler_of(2, sampler="auto", **plain, n_steps=None) == Automatic(patience=100)
    assert sampler_of(2, sampler="auto", **plain).n_steps == 12
    assert sampler_of(2, sampler="auto", max_norm=9.0) == Automatic(
        proposal=RandomWalk(0.8), exponent=4.0, max_norm=9.0, n_steps=12, patience=100
    )


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
    assert settings(sampler=sampler, n_steps=n_steps)._n_steps() == expected


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
    assert_array_equal(first(sampler="auto", initial=mine), mine)
    assert_array_equal(first(sampler=Metropolis(RandomWalk(1.0), 1.0)), np.zeros((6, 2)))
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
    best = min(first.history.looks, key=lambda look: look.error)
    assert second.history.looks[0] == best
    assert first.resume.best_step == best.step
    assert second.history.looks[1].step == first.resume.state.step
    assert min(look.error for look in second.history.looks) <= best.error


def test_a_warm_start_of_the_automatic_search_goes_on_from_its_best_frequencies():
    """As one model, its steps counted on."""
    rng = np.random.default_rng(0)
    auto = settings(sampler="auto", n_frequencies=16, step_size=None, exponent=None, regularization="auto", n_steps=12)
    large = data(n_rows=500)
    first = auto.run(large, rng)
    assert first.resume.best.shape == (16, 2)
    second = auto.run(large, rng, first.resume)
    assert second.model.frequencies.shape == (16, 2)
    assert second.history.looks[0].step == first.resume.state.step == 12
    assert second.resume.state.step == 24
    assert any("average of" in words for words in first.history.decisions)
    assert not any("average of" in words for words in second.history.decisions)


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
    for sampler, n_walk in (("metropolis", 12), ("resampling", 12), ("auto", 2)):
        run(sampler=sampler, solver=Solver("direct", batch_size=20), exponent=None, step_size=None)
        assert len(drawn) >= n_walk, sampler
        drawn.clear()
    run(sampler="descent", solver=Solver("direct", batch_size=20))  # on all rows: its line search compares losses
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
    mask = held_out_mask(given.x, 0.2, int(np.random.default_rng(3).spawn(1)[0].integers(2**63)), labels)
    shares = given.y.mean(axis=0)
    design = FEATURES["cos-sin"].design(scaled(given.x), fit.model.frequencies)
    unknowns = ridge(design[~mask], (given.y - shares)[~mask], np.ones(np.sum(~mask)), 0.1)
    values, targets, weight = fit.calibration
    assert_allclose(values, design[mask] @ unknowns + shares, atol=1e-9)
    assert_allclose(targets, given.y[mask], atol=1e-12)
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
    """Members were trained on all rows in turn; those to calibrate by are the ones that the average was judged by."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((600, 2))
    given = Data(x, np.eye(2)[(np.sin(3 * x[:, 0]) + rng.standard_normal(600) > 0).astype(int)])
    sampler = Automatic(n_steps=30, members=(4,))
    fit = settings(sampler=sampler, n_frequencies=64, regularization="auto", scale_targets=False).run(given, rng)
    assert any("trained once more" in words for words in fit.history.decisions)
    (judged,) = [words for words in fit.history.decisions if "average of 4" in words]
    assert f"held-out error {best_temperature(*fit.calibration, CERTAIN_SCALE)[1]:.4g} against" in judged
