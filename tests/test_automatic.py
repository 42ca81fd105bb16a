"""The search is its definition: plain loops over the same parts, with the same random numbers."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, OnlyCosines, Plain, drained, ridge

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor, automatic, following
from fourierwalk import selection as selection_module
from fourierwalk._arrays import to_host
from fourierwalk.automatic import (
    Automatic,
    Found,
    Split,
    Start,
    average_error,
    averaged,
    foreseen_error,
    spread_by_trial,
)
from fourierwalk.descent import Descent
from fourierwalk.following import Phase, follow, patience
from fourierwalk.least_squares import LeastSquares, Minibatch
from fourierwalk.proposals import AnnealedWalk, RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.resampling import Resampling
from fourierwalk.residual import Residual
from fourierwalk.rows import Rows
from fourierwalk.sampler import Metropolis, State
from fourierwalk.selection import Candidate, Look, Selection, by_leave_one_out
from fourierwalk.solver import Solver

KIND = FEATURES["cos-sin"]


# The spread


def bowl(best):
    """Looks whose error is the distance of the spread from a best one, in powers of two."""
    asked = []

    def look(frequencies):
        spread = math.sqrt(np.mean(to_host(frequencies) ** 2))
        asked.append(spread)
        return Candidate(Look(0, abs(math.log2(spread / best)), 0.1), frequencies, None)

    return look, asked


@pytest.mark.parametrize("power", [-6, -1, 0, 1, 2, 7])
def test_the_spread_is_the_best_power_of_two(power, xp):
    drawn = np.random.default_rng(0).standard_normal((50, 3))
    size = math.sqrt(np.mean(drawn**2)) / math.sqrt(3)
    look, asked = bowl(size * 2.0**power * 1.1)
    found = spread_by_trial(look, Start((50, 3)), xp.asarray(np.zeros(1)), np.random.default_rng(0))
    assert_allclose(xp.host(found.frequencies), 2.0**power / math.sqrt(3) * drawn, rtol=1e-12)
    tried = np.round(np.log2(np.array(asked) / size)).astype(int)
    assert {0, 1, power, power + (1 if power > 0 else -1)} <= set(tried)
    assert len(asked) <= abs(power) + 3


def test_the_spread_has_an_end():
    for best in (1e-300, 1e300):
        look, asked = bowl(best)
        spread_by_trial(look, Start((5, 2)), np.zeros(1), np.random.default_rng(0))
        assert automatic.MOST_DOUBLINGS < len(asked) <= automatic.MOST_DOUBLINGS + 2


def test_a_start_that_is_given():
    look, asked = bowl(1.0)
    mine = np.arange(6.0).reshape(3, 2)
    assert spread_by_trial(look, Start((3, 2), mine), np.zeros(1), np.random.default_rng(0)).frequencies is mine
    found = spread_by_trial(look, Start((3, 2), spread=7.0), np.zeros(1), np.random.default_rng(0)).frequencies
    assert_array_equal(found, 7 * np.random.default_rng(0).standard_normal((3, 2)))
    assert len(asked) == 2


# Averages


def test_an_average_predicts_the_mean_of_its_members(xp):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 2))
    models = [(rng.standard_normal((n, 2)), rng.standard_normal((2 * n, 3))) for n in (3, 4, 4)]
    models = [(omega, KIND.amplitudes(unknowns)) for omega, unknowns in models]
    omega, beta = averaged([(xp.asarray(one), xp.asarray(other)) for one, other in models])
    assert xp.host(omega).shape == (11, 2)

    def values(omega, beta):
        return (np.exp(1j * x @ omega.T) @ beta).real

    assert_allclose(
        values(xp.host(omega), xp.host(beta)), np.mean([values(*one) for one in models], axis=0), atol=1e-12
    )
    one = averaged([(xp.asarray(models[0][0]), xp.asarray(models[0][1]))])
    assert_array_equal(xp.host(one[1]), models[0][1])


def test_the_error_of_an_average_is_foreseen_from_its_first_members(monkeypatch):
    """It falls like b + v/m: here b = 0.2, v = 0.8."""
    monkeypatch.setattr(automatic, "average_error", lambda selection, members: 0.2 + 0.8 / len(members))
    member = Candidate(Look(0, 1.0, 0.1), None, None)
    assert foreseen_error(None, [member], 4) == pytest.approx(2 / 3)  # from one member nothing is known
    for m in (2, 3, 4):
        assert foreseen_error(None, [member] * m, 16) == pytest.approx(0.2 + 0.8 / 16)
    assert foreseen_error(None, [member] * 4, 4) == pytest.approx(0.2 + 0.8 / 4)


@pytest.mark.parametrize(("n", "n_parts"), [(16, 4), (17, 4), (67, 16), (4, 4), (5, 1)])
def test_members_share_all_frequencies(n, n_parts):
    shares = automatic._shares(n, n_parts)
    assert len(shares) == n_parts
    assert sum(shares) == n
    assert max(shares) - min(shares) <= 1


# The whole search, beside its transcription


def rows(n_rows=600, noise=0.5, d=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, d))
    y = np.sin(3 * x[:, :1]) + 0.5 * x[:, -1:] + noise * rng.standard_normal((n_rows, 1))
    return x, y - y.mean()


def splits_of(x, y, backend=Plain, solver=None, regularization=None, n_folds=10):
    """Folds of consecutive rows."""
    solver = Solver("direct") if solver is None else solver

    def split(fold):
        mask = np.arange(len(x)) % n_folds == fold
        seen, held_out = (Rows(backend.asarray(x[part]), backend.asarray(y[part])) for part in (~mask, mask))
        problem = LeastSquares(seen, KIND.features, automatic.WALK_REGULARIZATION, solver)
        exact = replace(problem, solver=Solver("direct"))
        return Split(problem, Selection(exact, held_out, regularization))

    found = {}
    return lambda fold: found.setdefault(fold, split(fold))


def plain_one(split, shape, rng, n_walk, n_descent, patience):
    """One model as it is written down: spread, walk, descent; and all looks."""
    problem, selection = split
    best = spread_by_trial(lambda omega: selection.look(0, omega, "start"), Start(shape), problem.rows.y, rng)
    looks = [best.look]
    proposal = AnnealedWalk(ScaledWalk(ShapedWalk(automatic.FIRST_STEP)), automatic.LAST_STEP, n_walk)
    walk = Resampling(proposal)
    state = walk.init(problem, best.frequencies)
    for i in range(1, n_walk + 1):
        state, _ = walk.step(rng, state, problem)
        if i % 5 == 0 or i == n_walk:
            candidate = selection.look_near(looks[-1], i, state.frequencies, "resampling")
            looks.append(candidate.look)
            best = min(best, candidate, key=lambda one: one.look.error)
    descent, waited = Descent(), 0
    minimize = replace(problem, regularization=max(best.look.regularization, 1e-7))
    state = descent.init(minimize, best.frequencies)._replace(step=n_walk)
    bar, last = best.look.error, best.look
    for i in range(n_walk + 1, n_walk + n_descent + 1):
        state, _ = descent.step(rng, state, minimize)
        if i % 5 == 0 or i == n_walk + n_descent:
            candidate = selection.look_near(last, i, state.frequencies, "descent")
            looks.append(last := candidate.look)
            gained = last.error < (1 - 1e-3) * bar
            waited, bar = (0, last.error) if gained else (waited + 1, bar)
            best = min(best, candidate, key=lambda one: one.look.error)
            before, minimize = minimize, replace(problem, regularization=max(last.regularization, 1e-7))
            if minimize.regularization != before.regularization:
                state, _ = descent.refit(state, minimize)
            if waited >= patience:
                break
    return selection.refined(best), looks, state


def test_one_model_is_a_spread_a_walk_and_a_descent():
    splits, shape = splits_of(*rows()), (8, 2)
    automatic_search = Automatic(members=(), n_steps=72, patience=2)
    yielded, found = drained(automatic_search.search(splits, Start(shape), np.random.default_rng(3)))
    best, looks, state = plain_one(splits(0), shape, np.random.default_rng(3), 12, 60, patience=2)
    assert yielded == found.looks
    assert [look[0] for look in found.looks] == [look[0] for look in looks]
    assert_allclose([look[1:3] for look in found.looks], [look[1:3] for look in looks], rtol=1e-9)
    assert [look.phase for look in found.looks] == [look.phase for look in looks]
    (member,) = found.members
    assert_allclose(member.frequencies, best.frequencies, atol=1e-9)
    assert_allclose(member.amplitudes, best.amplitudes, atol=1e-9)
    assert member.look.step == min(found.looks, key=lambda look: look.error).step
    assert member.look.error <= min(look.error for look in found.looks)
    assert found.state.step == state.step == len(found.infos)
    assert [info.phase for info in found.infos[:13]] == ["resampling"] * 12 + ["descent"]


def test_decisions_tell_each_phase():
    _, found = drained(Automatic(n_steps=72).search(splits_of(*rows()), Start((32, 2)), np.random.default_rng(3)))
    start, walk, descent, average = found.decisions[:4]
    first = found.looks[0].error
    assert start.startswith("start: spread ")
    assert start.endswith(f"held-out error {first:.4g}")
    assert walk.startswith(f"walk: 12 steps, held-out error {first:.4g} → ")
    assert walk.endswith("; all steps done")
    assert descent.startswith("descent: ")
    assert " models of 8 frequencies: held-out error " in average
    assert average.endswith(("kept", "not kept"))


@pytest.mark.parametrize(
    ("parts", "phases"),
    [
        ({}, {"resampling": 12, "descent": 60}),
        ({"walk": False}, {"descent": 72}),
        ({"descend": False}, {"resampling": 72}),
        ({"walk": False, "descend": False}, {}),
    ],
    ids=str,
)
def test_parts_can_be_left_out(parts, phases):
    search = Automatic(members=(), n_steps=72, patience=100, **parts)
    _, found = drained(search.search(splits_of(*rows(noise=0.3)), Start((8, 2)), np.random.default_rng(3)))
    counted = {name: [info.phase for info in found.infos].count(name) for name in ("resampling", "descent")}
    assert counted == {"resampling": 0, "descent": 0} | phases


@pytest.mark.parametrize(
    ("n_rows", "n_steps", "expected"),
    [
        (1e6, None, (automatic.WALK_STEPS, automatic.DESCENT_STEPS)),
        (1000, None, (automatic.WALK_STEPS, 250)),
        (400, None, (50, 100)),
        (399, None, (49, 49)),
        (1e6, 13, (2, 11)),
    ],
)
def test_the_numbers_of_steps(n_rows, n_steps, expected):
    assert Automatic(n_steps=n_steps)._budget(n_rows) == expected


def phases(search, problem, is_rich=False, is_crowded=False):
    walk = search._walk_phase(problem, is_rich, np.random.default_rng(0))
    return walk, search._descent_phase(problem, is_rich, is_crowded)


def test_what_walk_and_descent_are_made_of():
    problem, selection = splits_of(*rows())(0)
    walk, descent = phases(Automatic(max_norm=9.0, exponent=2.0), problem)
    n_walk = Automatic()._budget(problem.rows.total_weight)[0]
    annealed = AnnealedWalk(ScaledWalk(ShapedWalk(0.5)), 0.1, n_walk)
    assert walk.sampler == Resampling(annealed, exponent=2.0, max_norm=9.0)
    assert descent.sampler == Descent(max_norm=9.0)
    assert (walk.follows, descent.follows) == (False, True)
    assert walk.n_steps == n_walk
    assert walk.minimize is problem
    assert descent.minimize == selection.minimize
    assert descent.instead is None
    own, _ = phases(Automatic(proposal=RandomWalk(1.0)), problem)
    assert own.sampler.proposal == RandomWalk(1.0)
    walk, descent = phases(Automatic(), replace(problem, solver=Solver("direct", batch_size=50)))
    assert isinstance(walk.minimize, Minibatch)
    assert descent.minimize.solver == Solver("direct")
    assert phases(Automatic(walk=False, descend=False), problem) == (None, None)
    walk, descent = phases(Automatic(), replace(problem, features=OnlyCosines()))  # no gradient
    assert walk is not None
    assert descent is None


def test_crowded_frequencies_may_descend_on_the_residual():
    problem, _ = splits_of(*rows())(0)
    _, descent = phases(Automatic(), problem, is_crowded=True)
    assert isinstance(descent.instead, Residual)
    assert descent.instead == Residual.of(descent.minimize)
    assert not isinstance(descent.minimize, Residual)


@pytest.mark.parametrize(("n_frequencies", "is_crowded"), [(49, False), (50, True)])
def test_frequencies_are_crowded_from_a_fifth_as_many_components_as_targets(n_frequencies, is_crowded, monkeypatch):
    splits, asked = splits_of(*rows(555)), []  # of which a tenth is held out
    monkeypatch.setattr(Automatic, "_descent_phase", lambda self, *settings: asked.append(settings))
    drained(Automatic(walk=False)._one(splits(0), Start((n_frequencies, 2)), np.random.default_rng(0)))
    assert asked == [(splits(0).problem, False, is_crowded)]


@pytest.mark.parametrize(("precision", "descends_in"), [("single", "double"), ("auto", "auto"), ("double", "double")])
def test_descent_is_in_double_precision_unless_that_is_left_open(precision, descends_in):
    problem, _ = splits_of(*rows())(0)
    problem = replace(problem, solver=Solver("direct", precision))
    walk, descent = phases(Automatic(), problem)
    assert walk.minimize.solver.precision == precision
    assert descent.minimize.solver.precision == descends_in


def test_when_walk_and_descent_give_up():
    """By default a walk that is lost; descent sooner where it can follow anything; with a number of steps, neither."""
    problem, _ = splits_of(*rows())(0)
    lost, flat = [1.0] + [9.0] * 20, [1.0] * (following.LEAST_PATIENCE + 1)

    def ends(is_rich, **settings):
        walk, descent = phases(Automatic(**settings), problem, is_rich)
        return bool(walk.gives_up(lost)), bool(descent.gives_up(flat))

    assert ends(False) == (True, False)
    assert ends(True) == (True, True)
    assert ends(True, n_steps=300) == (False, False)


@pytest.mark.parametrize(
    ("n_frequencies", "quiet", "races"), [(249, False, True), (250, False, False), (250, True, True)]
)
def test_frequencies_of_more_components_than_targets_do_not_race(n_frequencies, quiet, races, monkeypatch):
    """They would follow any noise; without noise they race."""
    monkeypatch.setattr(Selection, "is_quiet", lambda self, error: quiet)
    x, y = rows(555)  # of which a tenth is held out
    (problem, selection), search = splits_of(x, y)(0), Automatic(members=(), walk=False)
    assert problem.rows.y.size == 499
    _, found = drained(search._one((problem, selection), Start((n_frequencies, 2)), np.random.default_rng(0)))
    assert ([look.phase for look in found.looks].count("start") > 1) == races


def test_a_fit_that_goes_on_descending_on_the_residual(monkeypatch):
    """The heat is tried and taken whatever λ and noise are; the model is none the worse, and says what it did."""
    for where, name, value in (
        (following, "LARGE_REGULARIZATION", 0.0),
        (following, "LIGHTER_IF_QUIET", math.inf),
        (selection_module, "QUIET", math.inf),
    ):
        monkeypatch.setattr(where, name, value)
    x, y = rows(500, noise=0.0)
    settings = {"sampler": Automatic(members=()), "random_state": 0}
    crowded, roomy = (AdaptiveFourierRegressor(n, **settings).fit(x, y) for n in (60, 40))
    assert any("on the residual alone" in words for words in crowded.history_.decisions)
    assert any("at a tenth of λ" in words for words in roomy.history_.decisions)
    assert crowded.score(x, y) > 0.99


@pytest.mark.parametrize("is_lost", [True, False])
def test_where_the_walk_of_the_whole_is_lost_members_do_not_walk(is_lost, monkeypatch):
    for name, value in (("FAR", 0.0), ("TOO_FAR", 0.0), ("COMING_BACK", 0.0 if is_lost else math.inf)):
        monkeypatch.setattr(following, name, value)
    splits = splits_of(*rows(noise=0.3))
    _, found = drained(Automatic(members=(4,)).search(splits, Start((32, 2)), np.random.default_rng(0)))
    assert found.is_lost == is_lost
    of_members = found.infos[next(i for i, info in enumerate(found.infos) if info.step < i) :]
    assert of_members
    assert any(info.phase == "resampling" for info in of_members) != is_lost


@pytest.mark.parametrize("n_frequencies", [64, 67])
def test_an_average_is_of_models_that_share_the_frequencies(n_frequencies):
    """Kept where its held-out error is lower; then its members are trained again with other rows held out."""
    splits, search = splits_of(*rows(noise=0.3)), Automatic(members=(4,), n_steps=12)
    _, found = drained(search.search(splits, Start((n_frequencies, 2)), np.random.default_rng(5)))
    rng = np.random.default_rng(5)
    single, looks, _ = plain_one(splits(0), (n_frequencies, 2), rng, 2, 10, 10)
    sizes = automatic._shares(n_frequencies, 4)
    judged = [plain_one(splits(0), (size, 2), rng, 2, 10, 10) for size in sizes]
    x, y = (np.asarray(part) for part in (splits(0).selection.held_out.x, splits(0).selection.held_out.y))
    values = np.mean([np.exp(1j * x @ one.frequencies.T) @ one.amplitudes for one, _, _ in judged], axis=0).real
    error = np.mean((values - y) ** 2)
    assert average_error(splits(0).selection, [one for one, _, _ in judged]) == pytest.approx(error, rel=1e-9)
    assert error < single.look.error  # else the test shows nothing
    told = f"average of 4 models of {n_frequencies // 4} frequencies: held-out error {error:.4g}"
    assert f"{told} against {single.look.error:.4g}; kept" in found.decisions
    assert_allclose(np.vstack([one.frequencies for one in found.judged]), np.vstack([j[0].frequencies for j in judged]))
    again = [plain_one(splits(fold), (size, 2), rng, 2, 10, 10) for fold, size in enumerate(sizes) if fold]
    expected = [judged[0][0], *(one for one, _, _ in again)]
    assert len(found.members) == 4
    assert sum(member.frequencies.shape[0] for member in found.members) == n_frequencies
    for member, one in zip(found.members, expected, strict=True):
        assert_allclose(member.frequencies, one.frequencies, atol=1e-9)
    assert len(found.looks) == len(looks) + sum(len(each) for _, each, _ in (*judged, *again))


def test_a_member_that_is_far_behind_does_not_descend():
    splits, search = splits_of(*rows(noise=0.3)), Automatic(n_steps=12)
    _, whole = drained(search._one(splits(0), Start((16, 2)), np.random.default_rng(0)))
    walked = min(look.error for look in whole.looks if look.phase != "descent")
    for error, descends in ((walked / 9.9, True), (walked / 10.1, False)):
        _, found = drained(search._one(splits(0), Start((16, 2)), np.random.default_rng(0), error))
        assert any(info.phase == "descent" for info in found.infos) == descends


def test_an_average_must_be_worth_its_members(monkeypatch):
    """A gain that is too small is none."""
    splits, search = splits_of(*rows(noise=0.3)), Automatic(members=(4,), n_steps=12)
    for least, n_members in ((0.98, 4), (0.9, 1)):
        monkeypatch.setattr(automatic, "AVERAGE", least)
        _, found = drained(search.search(splits, Start((64, 2)), np.random.default_rng(5)))
        assert len(found.members) == n_members


def test_an_average_that_is_no_better_is_not_kept():
    """And members that are too bad for any average of theirs are the last ones tried."""
    splits = splits_of(*rows(noise=0.0))
    _, found = drained(Automatic(members=(4, 16), n_steps=30).search(splits, Start((32, 2)), np.random.default_rng(0)))
    assert len(found.members) == 1
    assert found.members[0].frequencies.shape == (32, 2)
    assert found.judged == ()
    (told,) = [words for words in found.decisions if "average" in words]
    assert told.endswith("not kept")
    assert "average of 1 models of 8 frequencies" in told


def test_no_average_of_too_few_frequencies_or_rows_or_of_given_ones():
    for n_rows, start in ((600, Start((15, 2))), (300, Start((32, 2))), (600, Start((32, 2), np.ones((32, 2))))):
        splits = splits_of(*rows(n_rows, noise=0.3))
        _, found = drained(Automatic(n_steps=6).search(splits, start, np.random.default_rng(0)))
        assert not any("average" in words for words in found.decisions)
        assert found.members[0].frequencies.shape == start.shape


def test_where_rows_are_given_an_average_is_not_trained_again():
    splits = splits_of(*rows(noise=0.3))
    search = Automatic(members=(4,), n_steps=12)
    _, found = drained(search.search(lambda fold: splits(0), Start((64, 2)), np.random.default_rng(5)))
    assert len(found.members) == 4
    assert not any("trained once more" in words for words in found.decisions)


# Nothing found


@pytest.mark.parametrize("n_rows", [60, 240, 500])
def test_on_hopeless_data_the_model_is_next_to_constant(n_rows):
    """Where it is constant it says so."""
    constants, ratios = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((n_rows + 2000, 3)), rng.standard_normal(n_rows + 2000)
        model = AdaptiveFourierRegressor(32, n_steps=60, random_state=100 + seed).fit(X[:n_rows], y[:n_rows])
        told = any(words.startswith("nothing beats the mean of the targets") for words in model.history_.decisions)
        constants.append(told)
        if told:
            assert_allclose(model.predict(X), y[:n_rows].mean())
            assert model.regularization_ == np.inf
        assert model.frequencies_.shape == (32, 3)
        typical = (lambda e: np.mean(e**2)) if n_rows >= 200 else (lambda e: np.median(np.abs(e)))
        errors = [typical(values - y[n_rows:]) for values in (model.predict(X[n_rows:]), y[:n_rows].mean())]
        ratios.append(errors[0] / errors[1])
    assert any(constants)
    assert np.sum(np.array(ratios) > 1.05) <= (0 if n_rows >= 200 else 1)
    assert np.median(ratios) < 1.01


def test_a_constant_classifier_predicts_the_shares():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 4 == 0
    constant = None
    for seed in range(20):
        model = AdaptiveFourierClassifier(16, random_state=seed).fit(X, rng.permutation(y))
        if any("nothing beats the mean" in words for words in model.history_.decisions):
            constant = model
    assert constant is not None
    assert not np.any(constant.predict(X))
    assert_allclose(constant.predict_proba(X)[:, 1], 0.25, atol=0.03)


def test_a_constant_of_an_average_keeps_all_frequencies():
    members = tuple(
        Candidate(Look(0, 1.0, 0.1), np.full((n, 2), float(n)), np.ones((n, 1), dtype=complex)) for n in (3, 4)
    )
    nothing = automatic._constant(Found(members, State(0, None, None, None), [], [], ["first"]), "here")
    omega, beta = averaged([(each.frequencies, each.amplitudes) for each in nothing.members])
    assert omega.shape == (7, 2)
    assert_array_equal(beta, np.zeros((7, 1)))
    assert nothing.decisions == ["first", "nothing beats the mean of the targets here: the constant model"]


def test_an_average_is_judged_by_members_that_have_not_seen_the_rows(monkeypatch):
    """Before its members are trained again; where it fails, frequencies without steps are tried."""
    splits, asked = splits_of(*rows(noise=0.3)), []

    def never(self, frequencies, amplitudes):
        asked.append((frequencies, amplitudes))
        return False

    monkeypatch.setattr(Selection, "beats_the_mean", never)
    search = Automatic(members=(4,), n_steps=12)
    _, found = drained(search.search(splits, Start((64, 2)), np.random.default_rng(0)))
    assert len(asked) == 1
    assert not any("trained once more" in words for words in found.decisions)
    assert "no state surely beats the mean on held-out rows" in found.decisions
    (member,) = found.members
    assert member.look.phase == found.looks[-1].phase == "leave-one-out"
    expected = by_leave_one_out(splits(0).problem, member.frequencies)
    assert_allclose(member.amplitudes, expected.amplitudes, atol=1e-9)
    assert len(found.infos) > 12
    monkeypatch.setattr(automatic, "beats_the_mean_left_out", lambda *_: False)
    _, found = drained(search.search(splits, Start((64, 2)), np.random.default_rng(0)))
    assert found.decisions[-1] == "nothing beats the mean of the targets by leave-one-out: the constant model"
    given = Start((64, 2), np.random.default_rng(5).standard_normal((64, 2)))  # may be fitted to these rows
    repeated = splits_of(*(np.repeat(part, 2, axis=0) for part in rows(300)))  # a copy of what is left out is seen
    for one, start in ((splits, given), (repeated, Start((64, 2)))):
        _, found = drained(search.search(one, start, np.random.default_rng(0)))
        assert found.decisions[-1] == "nothing beats the mean of the targets on held-out rows: the constant model"
        assert not np.any(found.members[0].amplitudes)


# Few rows


def test_few_rows_have_a_spread_and_a_regularization_by_leave_one_out(xp):
    x, y = rows(60)
    problem = LeastSquares(Rows(xp.asarray(x), xp.asarray(y)), KIND.features, 0.01)
    search = Automatic().search(lambda fold: Split(problem, None), Start((20, 2)), np.random.default_rng(0))
    yielded, found = drained(search)
    drawn = np.random.default_rng(0).standard_normal((20, 2)) / math.sqrt(2)
    plain = LeastSquares(Rows(x, y), KIND.features, 0.01)
    tried = {power: by_leave_one_out(plain, 2.0**power * drawn).look for power in range(-6, 7)}
    way = 1 if tried[1].error < tried[0].error else -1
    best = max(0, way)
    while tried[best + way].error < tried[best].error:
        best += way
    assert_allclose(xp.host(found.members[0].frequencies), 2.0**best * drawn, rtol=1e-12)
    assert found.members[0].look.error == pytest.approx(tried[best].error, rel=1e-8)
    unknowns = ridge(KIND.design(x, 2.0**best * drawn), y, np.ones(60), tried[best].regularization)
    assert_allclose(xp.host(found.members[0].amplitudes), KIND.amplitudes(unknowns), atol=1e-6)
    assert yielded == found.infos == []
    assert found.looks == [found.members[0].look]
    spread = math.sqrt(np.mean(drawn**2)) * 2.0**best
    assert found.decisions == [f"frequencies of spread {spread:.3g} without steps, by leave-one-out"]


def test_a_given_regularization_is_that_of_leave_one_out():
    x, y = rows(60)
    problem = LeastSquares(Rows(x, y), KIND.features, 0.01)
    start = Start((20, 2), regularization=0.3)
    _, found = drained(Automatic().search(lambda fold: Split(problem, None), start, np.random.default_rng(0)))
    assert found.looks[0].regularization == 0.3


# All rows at last


def test_the_last_steps_of_descent_are_on_all_rows():
    x, y = rows(200)
    whole = LeastSquares(Rows(x, y), KIND.features, 0.0, Solver("direct"))
    omega = np.random.default_rng(1).standard_normal((6, 2))
    member = Candidate(Look(20, 0.5, 0.02, "descent"), omega, np.zeros((6, 1)))
    finished = Automatic().finish(whole, member, np.random.default_rng(0))
    minimize = replace(whole, regularization=0.02)
    *_, (state, _) = Descent().sample(minimize, Descent().init(minimize, omega), None, automatic.FINISHING_STEPS)
    assert_allclose(finished.frequencies, state.frequencies, atol=1e-9)
    assert minimize(finished.frequencies).loss < minimize(omega).loss
    assert finished.look == member.look
    for other in ("start", "resampling", "leave-one-out"):  # what descent has not moved stays
        moved = member._replace(look=member.look._replace(phase=other))
        assert Automatic().finish(whole, moved, np.random.default_rng(0)) is moved
    constant = member._replace(look=member.look._replace(regularization=math.inf))
    assert Automatic().finish(whole, constant, np.random.default_rng(0)) is constant
    assert Automatic(descend=False).finish(whole, member, np.random.default_rng(0)) is member


# As a whole


def test_a_signal_is_found_that_no_spread_alone_has():
    """Two directions of fast change: the walk and descent go there."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 3))
    y = np.sin(6 * X[:, 0]) + np.cos(3 * X[:, 1])
    fixed, found = (
        AdaptiveFourierRegressor(32, sampler=sampler, random_state=0).fit(X[:600], y[:600]).score(X[600:], y[600:])
        for sampler in (Automatic(walk=False, descend=False, members=()), "auto")
    )
    assert fixed < 0.5
    assert found > 0.95


def test_a_walk_by_any_name_has_the_same_looks():
    """`follow` serves the other samplers too."""
    x, y = rows(200)
    looks = Selection(LeastSquares(Rows(x[:150], y[:150]), KIND.features, 0.1), Rows(x[150:], y[150:]), 0.1)
    walk: Any = Metropolis(RandomWalk(0.5), 4.0, 10)
    first = walk.init(looks.minimize, np.zeros((6, 2)))
    _, trail = drained(
        follow(Phase(walk, looks.minimize, 40, 10, patience(99)), looks, None, first, np.random.default_rng(0))
    )
    state, rng = first, np.random.default_rng(0)
    for i in range(1, 41):
        ((state, _),) = walk.sample(looks.minimize, state, rng, 1)
        if i % 10 == 0:
            assert trail.looks[i // 10 - 1].error == pytest.approx(
                looks.look(i, state.frequencies).look.error, rel=1e-10
            )


def test_features_without_a_gradient_only_walk_and_that_is_said():
    x = np.linspace(-3, 3, 300)[:, None]
    model = AdaptiveFourierRegressor(4, features=OnlyCosines(), random_state=0).fit(x, np.cos(2 * x[:, 0]))
    assert set(model.history_.phase) == {"resampling"}
    assert any(decision.startswith("no descent: the features") for decision in model.history_.decisions)


# Wider starts


def of_step(n=600):
    """A step that is much narrower than the spread of its inputs, and its splits."""
    x = np.random.default_rng(0).standard_normal((n, 1))
    return splits_of(x, np.tanh(200 * x))


def raced(splits, seed=3, shape=(32, 1), **settings):
    search = Automatic(members=(), walk=False, **settings)
    return drained(search.search(splits, Start(shape), np.random.default_rng(seed)))[1]


def test_a_wider_start_is_kept_where_descent_makes_more_of_it(monkeypatch):
    splits = of_step()
    won = raced(splits)
    monkeypatch.setattr(following, "HEAT", 10**9)
    alone = raced(splits)
    told = [decision for decision in won.decisions if decision.startswith("a start of spread")]
    assert told
    assert all(decision.endswith("; kept") for decision in told)
    assert won.members[0].look.error < alone.members[0].look.error
    assert not [decision for decision in alone.decisions if decision.startswith("a start of spread")]


def test_a_race_is_its_definition(monkeypatch):
    """A heat from the best state, one from each wider start until one does not win, and the winner goes on."""
    monkeypatch.setattr(following, "HEAT", 10)
    monkeypatch.setattr(automatic, "DESCENT_STEPS", 20)
    splits = of_step()
    problem, selection = splits(0)
    found = raced(splits)
    drawn = np.random.default_rng(3)
    begin = automatic.spread_by_trial(
        lambda omega: selection.look(0, omega, "start"), Start((32, 1)), problem.rows.y, drawn
    )

    def descended(candidate, n_steps):
        descent, look = Descent(), candidate.look
        minimize = replace(selection.minimize, regularization=max(look.regularization, 1e-7))
        state, best = descent.init(minimize, candidate.frequencies), candidate
        for i in range(1, n_steps + 1):
            state, _ = descent.step(None, state, minimize)
            if i % 5 == 0:
                after = selection.look_near(look, i, state.frequencies, "descent")
                best, look = min(best, after, key=lambda one: one.look.error), after.look
                before, minimize = minimize, replace(minimize, regularization=max(look.regularization, 1e-7))
                if minimize.regularization != before.regularization:
                    state, _ = descent.refit(state, minimize)
        return best

    leader, wider, heats = begin, begin.frequencies, 0
    while heats < 3:
        wider, heats = 2 * wider, heats + 1
        rival = selection.look(0, wider, "start")
        if not descended(rival, 10).look.error < descended(leader, 10).look.error:
            break
        leader = rival
    expected = selection.refined(descended(leader, 20))
    assert heats > 1
    assert_allclose(found.members[0].frequencies, expected.frequencies, rtol=1e-6)
    assert len(found.infos) == 10 * (heats + 1) + 10
    assert found.looks[-1].step == found.state.step == len(found.infos)
    assert [info.step for info in found.infos if info.step > 10 * (heats + 1)] == list(
        range(10 * (heats + 1) + 1, 10 * (heats + 1) + 11)
    )
    assert [look.phase for look in found.looks].count("start") == heats + 1


def test_starts_that_are_given_and_steps_that_are_counted_run_no_race():
    splits = of_step()
    assert len(raced(splits, n_steps=40).infos) <= 40
    search = Automatic(members=(), walk=False)
    for start in (Start((32, 1), spread=20.0), Start((32, 1), frequencies=np.ones((32, 1)))):
        _, found = drained(search.search(splits, start, np.random.default_rng(3)))
        assert not [decision for decision in found.decisions if decision.startswith("a start of spread")]
