"""The search is its definition: plain loops over the same parts, with the same random numbers."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, OnlyCosines, Plain, drained, ridge

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.arrays.library import to_host
from fourierwalk.data.features import sigmoid
from fourierwalk.data.rows import Rows
from fourierwalk.data.waves import CosineSine, RoundedCosineSine
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.sampling.sampler import Info, State
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training import automatic
from fourierwalk.training.automatic import (
    Automatic,
    Ensemble,
    Grown,
    Split,
    Start,
    _shaped_by,
    averaged,
    beats_the_mean,
    shares,
    spread_by_trial,
)
from fourierwalk.training.history import Decision
from fourierwalk.training.policy import Policy
from fourierwalk.training.selection import Candidate, Look, Selection, by_leave_one_out
from fourierwalk.training.starts import Drawing, Shape, drawn

KIND = FEATURES["cos-sin"]

# A search of seconds' fractions whose numbers are all written down here.
QUICK = Policy(
    least_width=4,
    most_frequencies=64,
    widening=0.02,
    growth=2,
    rounded=1e300,
    operations=1e18,
    rows_per_input=1000,
    gain=1e-3,
    usual=1,
    inputs_together=2,
    wander=0.5,
    steps=10,
    last_steps=10,
    patience=4,
    look_every=5,
    members=3,
    most_members=8,
    sure=2.0,
)


def start(n_frequencies=None, d=2, **settings):
    return Start(n_frequencies, d, d, **settings)


def rows(n_rows=300, noise=0.5, d=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, d))
    y = np.sin(3 * x[:, :1]) + 0.5 * x[:, -1:] + noise * rng.standard_normal((n_rows, 1))
    return x, y - y.mean()


@dataclass
class Panel:
    """Folds of every so manieth row."""

    x: Any
    y: Any
    backend: Any = Plain
    n_together: int = 1
    n_folds: int = 10
    holds_out: bool = True
    features: Any = KIND.features
    regularization: float | None = None

    @property
    def n_rows(self):
        return len(self.x)

    @property
    def n_inputs(self):
        return self.x.shape[1]

    def mask(self, member):
        return np.arange(len(self.x)) % self.n_folds == member % self.n_folds

    def split(self, member):
        shape = Shape(np.diag(np.arange(1.0, self.x.shape[1] + 1)), 0.7)
        mask = self.mask(member) if self.holds_out else np.zeros(len(self.x), dtype=bool)
        seen, held_out = (
            Rows(self.backend.asarray(self.x[part]), self.backend.asarray(self.y[part])) for part in (~mask, mask)
        )
        problem = LeastSquares(seen, self.features, automatic.WALK_REGULARIZATION, Solver("direct"))
        selection = Selection(problem, held_out, self.regularization) if self.holds_out else None
        return Split(problem, selection, shape)


def panel(n_rows=300, noise=0.5, **settings):
    return Panel(*rows(n_rows, noise), **settings)


def searched(search, where, begin, seed=3):
    """What a search yields, without and with the snapshots, and what it returns."""
    yielded, found = drained(search.search(where, begin, np.random.default_rng(seed)))
    snapshots = [each for each in yielded if isinstance(each, Ensemble)]
    return [each for each in yielded if not isinstance(each, Ensemble)], snapshots, found


def words(events):
    return [event.text for event in events if isinstance(event, Decision)]


def widths(found):
    return [int(member.frequencies.shape[0]) for member in found.members]


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
    normal = np.random.default_rng(0).standard_normal((50, 3))
    size = math.sqrt(np.mean(normal**2)) / math.sqrt(3)
    look, asked = bowl(size * 2.0**power * 1.1)
    found = spread_by_trial(look, start(50, 3), xp.asarray(np.zeros(1)), np.random.default_rng(0))
    assert_allclose(xp.host(found.frequencies), 2.0**power / math.sqrt(3) * normal, rtol=1e-12)
    tried = np.round(np.log2(np.array(asked) / size)).astype(int)
    assert {0, 1, power, power + (1 if power > 0 else -1)} <= set(tried)
    assert len(asked) <= abs(power) + 3


def test_the_spread_has_an_end():
    for best in (1e-300, 1e300):
        look, asked = bowl(best)
        spread_by_trial(look, start(5), np.zeros(1), np.random.default_rng(0))
        assert automatic.MOST_DOUBLINGS < len(asked) <= automatic.MOST_DOUBLINGS + 2


def test_a_spread_or_frequencies_that_are_given_are_not_tried():
    look, asked = bowl(1.0)
    mine = np.arange(6.0).reshape(3, 2)
    begin = start(3, frequencies=mine)
    assert spread_by_trial(look, begin, np.zeros(1), np.random.default_rng(0)).frequencies is mine
    found = spread_by_trial(look, start(3, spread=7.0), np.zeros(1), np.random.default_rng(0)).frequencies
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


@given(st.integers(0, 10_000), st.integers(1, 64))
def test_shares_differ_by_one_at_most(n, n_parts):
    parts = shares(n, n_parts)
    assert len(parts) == n_parts
    assert sum(parts) == n
    assert max(parts) - min(parts) <= 1
    assert parts[0] == min(parts)


class Judge:
    """Gains that are given, in the place of a selection."""

    def __init__(self, *gains):
        self._gains = np.array(gains)

    def gains(self, member):
        return self._gains


def found_of(*judges):
    nothing = Candidate(Look(0, 1.0, 0.1), None, None)
    return Ensemble((nothing,) * len(judges), judges, State(0, None, None, None))


def sure_by(n):
    return replace(Policy(), sure=n)


def test_a_model_must_beat_the_mean_surely():
    """By so many standard errors of all held-out rows together."""
    gains = np.array([1.0, -1.0, 1.0, 1.0])
    ratio = np.mean(gains) / (np.std(gains) / math.sqrt(4))
    for judges in ((Judge(*gains),), (Judge(*gains[:2]), Judge(*gains[2:]))):
        assert beats_the_mean(found_of(*judges), sure_by(0.99 * ratio))
        assert not beats_the_mean(found_of(*judges), sure_by(1.01 * ratio))
    assert not beats_the_mean(found_of(Judge(0.0, 0.0)), sure_by(0.0))
    assert beats_the_mean(found_of(Judge(1.0, 2.0), None), sure_by(2.0))  # a member without held-out rows has no say


def test_a_model_that_wins_every_fold_beats_the_mean():
    unsure = Judge(-1.0, 1.4)  # a gain of 0.2 where the error is 1: a sixth of the mean's
    assert beats_the_mean(found_of(*[unsure] * 5), sure_by(10.0))
    assert not beats_the_mean(found_of(*[unsure] * 4), sure_by(10.0))
    assert not beats_the_mean(
        found_of(*[unsure] * 4, Judge(-1.0, 1.1)), sure_by(10.0)
    )  # one fold gains a twentieth only


def test_a_model_that_leaves_next_to_nothing_beats_the_mean_in_one_fold():
    heavy = Judge(*[0.01] * 30, 50.0)  # most of the gain is one row's
    for error, beats in ((0.01, True), (1.0, False)):
        member = Candidate(Look(0, error, 0.1), None, None)
        found = Ensemble((member,), (heavy,), State(0, None, None, None))
        assert beats_the_mean(found, sure_by(3.0)) is beats
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 2))
    model = AdaptiveFourierRegressor(16, random_state=0).fit(x[:160], x[:160, 0] ** 2)
    assert model.score(x[160:], x[160:, 0] ** 2) > 0.9


def test_the_gains_of_a_judge_are_those_over_the_constant_model():
    where = panel()
    split = where.split(0)
    member = split.selection.look(0, np.random.default_rng(0).standard_normal((20, 2)))
    targets, mask = where.y[where.mask(0)], where.mask(0)
    values = (np.exp(1j * where.x[mask] @ member.frequencies.T) @ member.amplitudes).real
    gains = (targets**2 - (values - targets) ** 2)[:, 0]
    expected = np.mean(gains) / (np.std(gains) / math.sqrt(len(gains)))
    found = Ensemble((member,), (split.selection,), State(0, None, None, None))
    assert beats_the_mean(found, sure_by(0.99 * expected))
    assert not beats_the_mean(found, sure_by(1.01 * expected))


# Widths


def levels(n_frequencies, n_together=1, n_rows=300, **numbers):
    where = Panel(np.zeros((n_rows, 2)), None, n_together=n_together)
    return Automatic(replace(QUICK, **numbers)).levels(where, start(n_frequencies))


@pytest.mark.parametrize(
    ("n_frequencies", "n_together", "expected"),
    [
        (3, 1, [(3,)]),
        (4, 1, [(4,)]),
        (5, 1, [(4,), (5,)]),
        (32, 1, [(4,), (8,), (16,), (32,)]),
        (33, 1, [(4,), (8,), (16,), (32,), (33,)]),
        (3, 5, [(3,)]),
        (7, 5, [(4,), (7,)]),
        (8, 5, [(4, 4)]),
        (20, 5, [(4,) * 5]),
        (21, 5, [(4,) * 5, (4, 4, 4, 4, 5)]),
        (40, 5, [(4,) * 5, (8,) * 5]),
    ],
)
def test_the_levels_of_a_number_of_frequencies(n_frequencies, n_together, expected):
    found = levels(n_frequencies, n_together)
    if n_frequencies == 21:  # the same width but for one: nothing to grow for
        expected = expected[1:]
    assert found == expected


@pytest.mark.parametrize("n_together", [1, 5])
def test_the_levels_without_a_number_end_at_the_most_frequencies(n_together):
    """Of all members, those that are trained later too."""
    for members in (1, 3, 8):
        for most in (7, 64, 65, 1000):
            found = levels(None, n_together, n_rows=10**5, members=members, most_frequencies=most, growth=4)
            n_members = max(members, n_together)
            reached = [level[0] for level in found]
            assert found[0] == (4,) * n_together  # one there is
            assert reached[:-1] == [4 * 4**i for i in range(len(found) - 1)]
            assert all(2 * narrow <= wide <= 4 * narrow for narrow, wide in pairwise(reached))
            assert len(found) == 1 or n_members * reached[-1] <= most
            assert n_members * 2 * reached[-1] > most


def test_the_levels_without_a_number_have_no_more_columns_than_rows():
    for n_rows, widest in ((63, 16), (64, 32), (128, 64), (130, 64)):
        assert levels(None, n_rows=n_rows, most_frequencies=10**6, growth=4)[-1] == (widest,)


def test_what_costs_more_must_be_worth_more():
    """At so many operations, 4 width² rows steps members, the share that a width must take off is doubled."""
    for n_rows, learnt_from in ((1000, 1000), (10**6, 10 * 50)):
        where = Panel(np.zeros((n_rows, 2)), None)
        cost = 4 * 64**2 * learnt_from * 10 * 3
        policy = replace(QUICK, widening=0.03, rows_per_input=10**6 if learnt_from == n_rows else 50, operations=cost)
        assert Automatic(policy)._worth(64, where) == pytest.approx(0.06)
        free = Automatic(replace(policy, operations=1e18))._worth(64, where)
        assert free == pytest.approx(0.03, rel=1e-4)


@pytest.mark.parametrize(("operations", "width"), [(1e18, 8), (1.0e6, 4)])
def test_growth_stops_where_it_costs_too_much(operations, width, monkeypatch):
    """A gain of a tenth; of a number of frequencies that was asked for the cost does not matter."""
    scripted(monkeypatch, {4: 1.0, 8: 0.9, 16: 0.9, 32: 0.9}.get)
    policy = replace(QUICK, widening=0.04, operations=operations)
    assert widths(searched(Automatic(policy), panel(), start())[2]) == [width] * 3
    assert widths(searched(Automatic(policy), panel(), start(8))[2]) == [8]


def test_given_frequencies_have_one_level():
    mine = np.ones((37, 2))
    for n in (None, 37):
        assert Automatic(QUICK).levels(panel(n_together=5), start(n, frequencies=mine)) == [(37,)]


@given(
    st.integers(1, 700),
    st.integers(1, 7),
    st.integers(1, 40),
    st.integers(1, 20),
    st.integers(0, 100),
)
def test_all_members_together_have_the_frequencies_that_were_asked_for(n, n_together, least, most_members, stop):
    """Wherever growth stops."""
    search = Automatic(replace(QUICK, least_width=least, most_members=most_members))
    begin = start(n)
    reached = search.levels(Panel(np.zeros((3, 2)), None, n_together=n_together), begin)
    assert sum(reached[-1]) == n
    assert search._sizes(begin, reached[-1]) == list(reached[-1])
    trained = reached[stop % len(reached)]
    sizes = search._sizes(begin, trained)
    assert sum(sizes) == n
    assert min(sizes) >= 1
    assert tuple(sizes[: len(trained)]) == tuple(trained)
    assert len(sizes) <= max(most_members, len(trained) + 1)


def test_members_without_a_number_are_as_many_as_the_policy_says():
    """More of them, where they are so narrow that all together have less than the usual number of frequencies."""
    search = Automatic(replace(QUICK, members=4, most_members=10, usual=50))
    assert search._sizes(start(None), (16,)) == [16] * 4
    assert search._sizes(start(None), (16,) * 5) == [16] * 5
    assert search._sizes(start(None), (8,) * 5) == [8] * 6
    assert search._sizes(start(None), (4,)) == [4] * 10
    assert search._sizes(start(None, frequencies=np.ones((9, 2))), (9,)) == [9]


def scripted(monkeypatch, errors):
    """Models whose held-out errors are given by their width."""

    def grown(self, split, before, width, begin, levels, rng, kinds):
        look = Look(0, errors(width), 0.1)
        yield look
        return Grown(Candidate(look, np.full((width, 2), float(width)), np.ones((width, 1))), kinds=kinds[:1])

    def polished(self, split, grown, levels, rng):
        yield Decision("polished")
        return grown.candidate

    monkeypatch.setattr(Automatic, "_grown", grown)
    monkeypatch.setattr(Automatic, "_polished", polished)
    monkeypatch.setattr(automatic, "beats_the_mean", lambda found, policy: True)


@pytest.mark.parametrize(
    ("errors", "width", "failed"),
    [
        ({4: 1.0, 8: 0.5, 16: 0.2, 32: 0.1}, 32, None),
        ({4: 1.0, 8: 0.5, 16: 0.495, 32: 0.1}, 8, 16),  # a gain of 1 % is none
        ({4: 1.0, 8: 2.0, 16: 2.0, 32: 0.1}, 4, 8),
    ],
)
def test_growth_stops_where_it_does_not_pay(errors, width, failed, monkeypatch):
    scripted(monkeypatch, errors.get)
    policy = replace(QUICK, widening=0.02, most_frequencies=96)
    events, snapshots, found = searched(Automatic(policy), panel(), start())
    assert widths(found) == [width] * 3
    told = [text for text in words(events) if " frequencies: held-out error " in text]
    assert [f" of {failed} frequencies" in text for text in told] == ["not worth its width" in text for text in told]
    assert len(told) == sum(n <= (failed or width) for n in errors)
    assert [widths(one)[0] for one in snapshots] == sorted(widths(one)[0] for one in snapshots)


@pytest.mark.parametrize(("worse", "width", "given"), [(0.05, 32, 4), (0.15, 4, 4), (-0.05, 32, 32)])
def test_classes_take_a_larger_width_unless_it_is_clearly_worse(worse, width, given, monkeypatch):
    """Differences up to 0.1 are not clear. With a given number of frequencies a larger width must gain."""
    scripted(monkeypatch, lambda n: 1.0 + worse * np.log2(n / 4))
    monkeypatch.setattr(automatic, "_least_error", lambda judges, policy: 0.1)
    policy = replace(QUICK, widening=0.01, most_frequencies=96)
    assert widths(searched(Automatic(policy), panel(), start())[2])[0] == width
    assert widths(searched(Automatic(policy), panel(), start(32))[2])[0] == given


@pytest.mark.parametrize(
    ("growth", "n_frequencies", "expected"),
    [
        (2, 16, [4, 8, 16]),
        (3, 40, [4, 12, 36, 40]),
        (4, 3, [3]),
        (4, 4, [4]),
        (4, 16, [4, 16]),
        (4, 20, [4, 16, 20]),
        (4, 100, [4, 16, 64, 100]),
    ],
)
def test_widths_grow_by_a_factor_up_to_the_one_asked_for(growth, n_frequencies, expected):
    search = Automatic(replace(QUICK, growth=growth))
    assert search.levels(panel(), start(n_frequencies)) == [(width,) for width in expected]


def test_a_mean_of_the_folds_decides_on_growth(monkeypatch):
    """One fold's gain may hide another's loss."""
    turns = iter([1.0, 1.0, 0.2, 1.7, 0.1, 9.0, 9.0, 9.0])
    scripted(monkeypatch, lambda width: next(turns))
    policy = replace(QUICK, most_frequencies=48, members=2)
    events, _, found = searched(Automatic(policy), panel(n_together=2), start())
    assert widths(found) == [8, 8]
    assert words(events)[:3] == [
        "2 models of 4 frequencies: held-out error 1",
        "2 models of 8 frequencies: held-out error 0.95",
        "2 models of 16 frequencies: held-out error 4.55, against 0.95: not worth its width",
    ]


@pytest.mark.parametrize(
    ("n_frequencies", "expected"),
    [(16, [4] * 4), (18, [4, 4, 5, 5]), (100, [4, 13, 13, 14, 14, 14, 14, 14]), (7, [3, 4])],
)
def test_where_growth_does_not_pay_there_are_more_members_instead(n_frequencies, expected, monkeypatch):
    scripted(monkeypatch, lambda width: 1.0)
    _, snapshots, found = searched(Automatic(replace(QUICK, most_members=8)), panel(), start(n_frequencies))
    assert sorted(widths(found)) == expected
    assert sum(widths(found)) == n_frequencies
    assert len(found.judges) == len(found.members)
    assert [len(one.members) for one in snapshots[-len(expected) :]] == list(range(1, len(expected) + 1))


# One model, beside its transcription


def plain_descent(split, candidate, n_steps, patience):
    """The best state on the way, the state at the end, and whether it ended early."""
    selection, problem = split.selection, split.problem
    descent, best, last, waited, bar = Descent(), candidate, candidate.look, 0, candidate.look.error
    looks = []
    minimize = replace(problem, regularization=max(last.regularization, Policy().least_regularization))
    state = descent.init(minimize, candidate.frequencies)._replace(step=last.step)
    for i in range(1, n_steps + 1):
        state, _ = descent.step(None, state, minimize)
        if state.step % 5 == 0 or i == n_steps:
            after = selection.look_near(last, state.step, state.frequencies, "descent")
            last = after.look
            looks.append(last)
            waited, bar = (0, last.error) if last.error < (1 - QUICK.gain) * bar else (waited + 1, bar)
            best = min(best, after, key=lambda one: one.look.error)
            before, minimize = (
                minimize,
                replace(problem, regularization=max(last.regularization, Policy().least_regularization)),
            )
            if minimize.regularization != before.regularization:
                state, _ = descent.refit(state, minimize)
            if waited >= patience:
                return best._replace(look=best.look._replace(step=state.step)), looks, True
    return best._replace(look=best.look._replace(step=state.step)), looks, False


def plain_member(split, all_widths, rng, policy=QUICK):
    """New frequencies of each kind, the best of them, descent; wider; and a longer descent at last."""
    selection, shape = split.selection, split.shape
    candidate, looks, is_done = None, [], False
    walk = ScaledWalk(ShapedWalk(policy.wander))
    for width in all_widths:
        known = (None, None) if candidate is None else (candidate.frequencies, candidate.amplitudes)
        n_new = width - (0 if candidate is None else len(candidate.frequencies))
        tried = []
        draw = Drawing(shape, *known, walk, policy.inputs_together)
        for kind, new in drawn(Automatic().kinds, draw, n_new, 0, rng):
            if candidate is None:
                tried.append(selection.look(0, new, kind))
            else:
                omega = np.concatenate((candidate.frequencies, new))
                tried.append(selection.look_near(candidate.look, candidate.look.step, omega, kind))
        looks += [one.look for one in tried]
        best = min(tried, key=lambda one: one.look.error)
        candidate, more, is_done = plain_descent(split, best, policy.steps, policy.patience)
        looks += more
    if not is_done:
        candidate, more, _ = plain_descent(split, candidate, policy.last_steps, policy.patience)
        looks += more
    return selection.refined(candidate), looks


def test_one_model_is_its_definition():
    where, policy = panel(noise=0.2), replace(QUICK, widening=0.0)
    events, _, found = searched(Automatic(policy), where, start(8))
    expected, looks = plain_member(where.split(0), (4, 8), np.random.default_rng(3), policy)
    seen = [event for event in events if isinstance(event, Look)]
    assert [look[0] for look in seen] == [look[0] for look in looks]
    assert [look.phase for look in seen] == [look.phase for look in looks]
    assert_allclose([look[1:3] for look in seen], [look[1:3] for look in looks], rtol=1e-6)
    (member,) = found.members
    assert_allclose(member.frequencies, expected.frequencies, atol=1e-6)
    assert_allclose(member.amplitudes, expected.amplitudes, atol=1e-6)
    assert member.look.error <= min(look.error for look in looks)
    phases = {look.phase for look in seen}
    assert phases == {"shaped", "isotropic", "sparse", "long", "long sparse", "walk", "descent"}
    infos = [event for event in events if isinstance(event, Info)]
    assert [info.step for info in infos] == list(range(1, len(infos) + 1))
    assert found.state.step == member.look.step <= len(infos)
    assert found.judges[0].held_out.y.shape == (30, 1)


def test_a_level_keeps_the_frequencies_of_the_one_before(monkeypatch):
    seen = []

    def look_near(self, before, step, frequencies, phase):
        seen.append(frequencies)
        return self.look(step, frequencies, phase)

    monkeypatch.setattr(Selection, "look_near", look_near)
    search = Automatic(replace(QUICK, widening=0.0), descend=False)
    _, snapshots, _ = searched(search, panel(), start(8))
    assert len(seen) == len(search.kinds)
    for omega in seen:
        assert omega.shape == (8, 2)
        assert_array_equal(omega[:4], snapshots[0].members[0].frequencies)


def test_members_learn_from_different_folds():
    where, policy = panel(noise=0.2), replace(QUICK, members=3, most_frequencies=12)
    _, _, found = searched(Automatic(policy), where, start())
    assert len(found.members) == len(found.judges) == 3
    for member, judge in enumerate(found.judges):
        assert_array_equal(judge.held_out.x, where.x[where.mask(member)])
        assert_array_equal(judge.minimize.rows.x, where.x[~where.mask(member)])
        error = judge.errors(found.members[member].frequencies, [found.members[member].amplitudes])[0]
        assert found.members[member].look.error == pytest.approx(error, rel=1e-9)
    assert len({member.frequencies.tobytes() for member in found.members}) == 3


def test_folds_that_decide_together_are_each_held_out_once():
    where = panel(noise=0.2, n_together=3, n_folds=3)
    events, snapshots, found = searched(Automatic(replace(QUICK, members=1)), where, start(12))
    assert widths(found) == [4, 4, 4]
    assert sum(len(judge.held_out) for judge in found.judges) == where.n_rows
    assert [len(one.members) for one in snapshots] == [1, 3, 3]
    mean = np.mean([member.look.error for member in snapshots[1].members])
    assert words(events)[0] == f"3 models of 4 frequencies: held-out error {mean:.4g}"


# Settings


def steps_of(events):
    return sum(isinstance(event, Info) for event in events)


def test_steps_that_are_counted_are_those_of_each_member():
    """Shared among the levels; what is left over belongs to the last descent."""
    patient = {"patience": 1000}
    for n_steps, expected in ((0, 0), (1, 1), (7, 7), (12, 12)):
        policy = replace(QUICK, widening=0.0)
        events, _, found = searched(Automatic(policy, n_steps=n_steps, **patient), panel(noise=0.2), start(8))
        assert widths(found) == [8]
        assert steps_of(events) == expected
        assert found.state.step == expected
    policy = replace(QUICK, most_frequencies=12)
    events, _, found = searched(Automatic(policy, n_steps=6, **patient), panel(noise=0.2), start())
    assert widths(found) == [4, 4, 4]
    assert steps_of(events) == 18


def test_without_descent_there_are_no_steps():
    events, _, found = searched(Automatic(QUICK, descend=False), panel(noise=0.2), start(8))
    assert steps_of(events) == 0
    assert sum(widths(found)) == 8


def test_features_without_a_gradient_take_no_steps():
    events, _, found = searched(Automatic(QUICK), panel(noise=0.2, features=OnlyCosines()), start(8))
    assert steps_of(events) == 0
    assert sum(widths(found)) == 8


def test_patience_ends_descent():
    counted = []
    for patience in (1, 1000):
        search = Automatic(replace(QUICK, steps=100, last_steps=0, most_members=1), patience=patience)
        counted.append(steps_of(searched(search, panel(noise=2.0), start(8))[0]))
    assert counted[0] < counted[1]


def test_patience_ends_the_last_descent_too():
    counted = []
    for patience in (1, 1000):
        policy = replace(QUICK, steps=1, last_steps=100, most_members=1, patience=patience)
        counted.append(steps_of(searched(Automatic(policy), panel(noise=2.0), start(4))[0]))
    assert counted[0] < counted[1]


def test_later_members_draw_the_kinds_that_the_first_has_taken():
    policy = replace(QUICK, widening=0.0, members=3, most_frequencies=24)
    events, _, found = searched(Automatic(policy), panel(noise=0.2), start())
    assert widths(found) == [8, 8, 8]
    assert len(found.kinds) == 2
    drawn_kinds = [event.phase for event in events if isinstance(event, Look) and event.phase != "descent"]
    first, later = drawn_kinds[:-4], drawn_kinds[-4:]
    assert set(first) == set(Automatic().kinds)
    assert later == [*found.kinds, *found.kinds]


def test_later_members_draw_from_the_first_ones_frequencies():
    """Their covariance is that of the first member's frequencies, weighted by the squared amplitudes."""
    omega, beta = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 1.0]])
    split = panel().split(0)
    shape = _shaped_by(Candidate(Look(0, 1.0, 0.1), omega, beta), split).shape
    covariance = 0.8 * np.outer(omega[0], omega[0]) + 0.2 * np.outer(omega[1], omega[1])
    assert_allclose(shape.root.T @ shape.root, covariance)
    assert shape.width == split.shape.width
    without = split._replace(shape=None)
    assert _shaped_by(Candidate(Look(0, 1.0, 0.1), omega, beta), without) is without


def test_only_the_kinds_that_are_wanted_are_drawn():
    for kinds in (("isotropic",), ("sparse", "walk")):
        events, _, _ = searched(Automatic(QUICK, kinds=kinds), panel(noise=0.2), start(8))
        assert {event.phase for event in events if isinstance(event, Look)} == {*kinds, "descent"}


def test_a_proposal_of_the_users_own_moves_the_walk():
    search = Automatic(replace(QUICK, widening=0.0), ("isotropic", "walk"), False, RandomWalk(1e-9))
    _, snapshots, found = searched(search, panel(noise=0.2), start(8))
    before = snapshots[0].members[0].frequencies
    new = found.members[0].frequencies[4:]
    assert found.members[0].look.phase == "walk" or not np.allclose(new[0], before, atol=1e-6)
    draws = [
        omega
        for kind, omega in search._drawn(
            panel().split(0), snapshots[0].members[0], 8, start(8), np.random.default_rng(0), search.kinds
        )
        if kind == "walk"
    ]
    nearest = np.min(np.linalg.norm(draws[0][4:, None] - before[None], axis=2), axis=1)
    assert np.max(nearest) < 1e-7


def test_no_new_frequency_is_beyond_the_largest_norm():
    """Neither a draw nor a move; frequencies that are given stay."""
    few = Panel(*rows(60, 0.1), holds_out=False)
    for where in (panel(noise=0.1), few):
        for max_norm in (math.inf, 1.0):
            _, _, found = searched(Automatic(QUICK, max_norm=max_norm), where, start(8))
            longest = max(np.max(np.linalg.norm(member.frequencies, axis=1)) for member in found.members)
            assert (longest < 1.0) == (max_norm == 1.0)
    mine = np.full((8, 2), 3.0)
    found = searched(Automatic(QUICK, max_norm=1.0), few, start(8, frequencies=mine))[2]
    assert_array_equal(found.members[0].frequencies, mine)


def test_a_spread_of_the_users_own_is_that_of_all_kinds():
    where = panel(noise=0.2)
    events, _, _ = searched(Automatic(QUICK), where, start(8, spread=2.0))
    assert {event.phase for event in events if isinstance(event, Look)} == {"isotropic", "walk", "descent"}
    only = Automatic(QUICK, kinds=("shaped", "sparse"))
    events, _, _ = searched(only, where, start(8, spread=2.0))
    assert {event.phase for event in events if isinstance(event, Look)} == {"isotropic", "descent"}


@pytest.mark.parametrize("n_together", [1, 3])
def test_given_frequencies_are_descended_from_as_one_model(n_together):
    mine = np.random.default_rng(5).standard_normal((9, 2))
    where = panel(noise=0.2, n_together=n_together)
    events, _, found = searched(Automatic(QUICK), where, start(9, frequencies=mine, step=7))
    assert widths(found) == [9]
    looks = [event for event in events if isinstance(event, Look)]
    assert looks[0].phase == "given"
    assert looks[0].step == 7
    assert next(event for event in events if isinstance(event, Info)).step == 8
    assert np.any(found.members[0].frequencies != mine)
    _, _, still = searched(Automatic(QUICK, n_steps=0), where, start(9, frequencies=mine))
    assert_array_equal(still.members[0].frequencies, mine)


def test_a_regularization_of_the_users_own_is_kept():
    events, _, found = searched(Automatic(QUICK), panel(regularization=0.03), start(8, regularization=0.03))
    assert {event.regularization for event in events if isinstance(event, Look)} == {0.03}
    assert {member.look.regularization for member in found.members} == {0.03}


def test_features_with_a_bias_have_one_more_component():
    begin = Start(8, 3, 2)
    _, _, found = searched(Automatic(QUICK), panel(noise=0.2, features=sigmoid()), begin)
    assert all(member.frequencies.shape[1] == 3 for member in found.members)
    assert all(np.any(member.frequencies[:, 2] != 0) for member in found.members)


# Fewer rows to learn from


def test_a_sample_is_of_the_first_rows():
    split = panel().split(0)
    some = split.sample(50)
    assert len(some.problem.rows) == 50
    assert_array_equal(some.problem.rows.x, split.problem.rows.x[:50])
    assert_array_equal(some.selection.minimize.rows.y, split.problem.rows.y[:50])
    assert some.selection.held_out is split.selection.held_out
    assert some.selection.minimize.solver == split.selection.minimize.solver
    assert some.shape is split.shape
    assert split.sample(270) is split
    assert split.sample(10**9) is split
    unsplit = panel(holds_out=False).split(0)
    assert unsplit.sample(10) is unsplit


def test_frequencies_are_learnt_from_a_sample_and_amplitudes_from_all_rows(monkeypatch):
    seen, descended = [], Automatic._descended

    def recorded(self, split, chosen, n_steps, *rest):
        seen.append((len(chosen.frequencies), len(split.problem.rows), n_steps))
        return descended(self, split, chosen, n_steps, *rest)

    monkeypatch.setattr(Automatic, "_descended", recorded)
    policy = replace(QUICK, widening=0.0, rows_per_input=16, steps=6, last_steps=11)
    _, _, found = searched(Automatic(policy), panel(noise=0.2), start(8))
    assert seen == [(4, 160, 6), (8, 160, 6), (8, 160, 11)]
    member = found.members[0]
    mask = panel(noise=0.2).mask(0)
    x, y = rows(noise=0.2)
    unknowns = ridge(KIND.design(x[~mask], member.frequencies), y[~mask], np.ones(270), member.look.regularization)
    assert_allclose(member.amplitudes, KIND.amplitudes(unknowns), atol=1e-5)


def test_a_descent_that_has_ended_is_not_gone_on_with(monkeypatch):
    asked = []

    def descended(self, split, chosen, n_steps, *_):
        asked.append(n_steps)
        yield chosen.look
        return Grown(chosen, ends)

    monkeypatch.setattr(Automatic, "_descended", descended)
    for ends, expected in ((True, [10]), (False, [10, 10])):  # noqa: B007
        searched(Automatic(QUICK), panel(noise=0.2), start(4))
        assert asked == expected
        asked.clear()


# Nothing found


def test_on_noise_the_model_is_constant():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((300, 2)), rng.standard_normal((300, 1))
    events, snapshots, found = searched(Automatic(QUICK), Panel(x, y - y.mean()), start(8))
    assert words(events)[-1] == (
        "nothing beats the mean of the targets on rows that were not fitted: the constant model"
    )
    assert all(member.is_constant for member in found.members)
    assert all(not np.any(member.amplitudes) for member in found.members)
    assert snapshots[-1] is found
    assert len(snapshots) > 1
    assert not snapshots[0].members[0].is_constant


def test_noise_is_told_by_a_warning_and_by_the_history():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((300, 2)), rng.standard_normal(300)
    model = AdaptiveFourierRegressor(8, sampler=Automatic(QUICK), random_state=0)
    with pytest.warns(UserWarning, match="Nothing was found that predicts the targets better than their mean"):
        model.fit(x, y)
    assert_allclose(model.predict(x), y.mean())
    assert model.regularization_ == np.inf
    assert model.n_frequencies_ == 8
    assert any("the constant model" in text for text in model.history_.decisions)
    assert_allclose(model.feature_importances_, [0.5, 0.5])


def test_a_constant_classifier_predicts_the_shares():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((300, 5)), np.arange(300) % 4 == 0
    model = AdaptiveFourierClassifier(8, sampler=Automatic(QUICK), random_state=0)
    with pytest.warns(UserWarning, match="the model is constant"):
        model.fit(x, rng.permutation(y))
    assert not np.any(model.predict(x))
    assert_allclose(model.predict_proba(x)[:, 1], 0.25, atol=0.03)


# Few rows


def test_few_rows_have_a_spread_and_a_regularization_by_leave_one_out(xp):
    x, y = rows(60)
    events, snapshots, found = searched(Automatic(QUICK), Panel(x, y, xp, holds_out=False), start(20), seed=0)
    normal = np.random.default_rng(0).standard_normal((20, 2)) / math.sqrt(2)
    plain = LeastSquares(Rows(x, y), KIND.features, 0.01)
    tried = {power: by_leave_one_out(plain, 2.0**power * normal).look for power in range(-6, 7)}
    way = 1 if tried[1].error < tried[0].error else -1
    best = max(0, way)
    while tried[best + way].error < tried[best].error:
        best += way
    assert_allclose(xp.host(found.members[0].frequencies), 2.0**best * normal, rtol=1e-12)
    assert found.members[0].look.error == pytest.approx(tried[best].error, rel=1e-8)
    unknowns = ridge(KIND.design(x, 2.0**best * normal), y, np.ones(60), tried[best].regularization)
    assert_allclose(xp.host(found.members[0].amplitudes), KIND.amplitudes(unknowns), atol=1e-6)
    spread = math.sqrt(np.mean(normal**2)) * 2.0**best
    told = Decision(f"frequencies of spread {spread:.3g} without steps, by leave-one-out")
    assert events == [found.members[0].look, told]
    assert snapshots[-1] is found
    assert found.judges == (None,)


def test_few_rows_without_a_number_of_frequencies_have_that_of_the_policy():
    where = Panel(*rows(60), holds_out=False)
    assert widths(searched(Automatic(replace(QUICK, usual=11)), where, start())[2]) == [11]
    mine = np.random.default_rng(0).standard_normal((6, 2))
    found = searched(Automatic(QUICK), where, start(frequencies=mine))[2]
    assert_array_equal(found.members[0].frequencies, mine)


def test_a_given_regularization_is_that_of_leave_one_out():
    where = Panel(*rows(60), holds_out=False)
    events, _, found = searched(Automatic(QUICK), where, start(20, regularization=0.3))
    assert events[0].regularization == found.members[0].look.regularization == 0.3


def test_few_rows_of_noise_have_a_constant_model():
    """Where a fit that leaves one row out predicts it no better than the mean of the others does."""
    x = np.random.default_rng(0).standard_normal((60, 2))
    constants = []
    for seed in range(12):
        y = np.random.default_rng(seed).standard_normal((60, 1))
        y -= y.mean()
        _, _, found = searched(Automatic(QUICK), Panel(x, y, holds_out=False), start(3, regularization=0.03))
        design, errors, others = KIND.design(x, found.members[0].frequencies), [], []
        for i in range(60):
            rest = np.arange(60) != i  # of the same ridge in all: λN of N rows
            unknowns = ridge(design[rest], y[rest], np.ones(59), 0.03 * 60 / 59)
            errors.append((design[i] @ unknowns[:, 0] - y[i, 0]) ** 2)
            others.append((y[i, 0] - np.mean(y[rest])) ** 2)
        constants.append(found.members[0].is_constant)
        assert found.members[0].is_constant == (not np.mean(errors) < np.mean(others))
        assert not found.members[0].is_constant or not np.any(found.members[0].amplitudes)
    assert {True, False} == set(constants)


# Interruptions, seeds, libraries


def test_a_search_that_is_interrupted_has_a_model_early_on():
    """And at the end of each level, and with each member."""
    yielded, found = drained(Automatic(QUICK).search(panel(noise=0.2), start(16), np.random.default_rng(3)))
    kinds = ["found" if isinstance(each, Ensemble) else type(each).__name__ for each in yielded]
    first = kinds.index("found")
    assert "Decision" not in kinds[:first]
    assert sum(isinstance(each, Look) for each in yielded[:first]) > 1
    snapshots = [each for each in yielded if isinstance(each, Ensemble)]
    assert snapshots[-1] == found or snapshots[-1] is found
    for one in snapshots:
        assert len(one.members) == len(one.judges) > 0
        for member, judge in zip(one.members, one.judges, strict=True):
            error = judge.errors(member.frequencies, [member.amplitudes])[0]
            assert error < np.mean(judge.held_out.y**2)
    errors = [one.members[0].look.error for one in snapshots]
    assert errors == sorted(errors, reverse=True)


def test_one_seed_is_one_search():
    for n_frequencies in (12, None):
        runs = [searched(Automatic(QUICK), panel(noise=0.2), start(n_frequencies), seed)[2] for seed in (1, 1, 2)]
        one, same, other = ([member.frequencies for member in found.members] for found in runs)
        assert len(one) == len(same)
        assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
        assert not np.array_equal(one[0], other[0])


@pytest.mark.parametrize("n_frequencies", [8, None])
def test_every_library_finds_the_same_frequencies(foreign, n_frequencies):
    policy = replace(QUICK, steps=6, last_steps=6, most_frequencies=24)
    runs = [
        searched(Automatic(policy), panel(noise=0.2, backend=backend), start(n_frequencies))[2]
        for backend in (foreign, Plain)
    ]
    assert widths(runs[0]) == widths(runs[1])
    for mine, plain in zip(*(found.members for found in runs), strict=True):
        assert_allclose(foreign.host(mine.frequencies), plain.frequencies, rtol=1e-5, atol=1e-6)
        assert_allclose(foreign.host(mine.amplitudes), plain.amplitudes, rtol=1e-4, atol=1e-5)
        assert mine.look.error == pytest.approx(plain.look.error, rel=1e-5)


# As a whole


def test_a_signal_is_found_that_no_spread_alone_has():
    """Two directions of fast change: the shape of the start and descent go there."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((800, 3))
    y = np.sin(6 * x[:, 0]) + np.cos(3 * x[:, 1])
    alone = Automatic(replace(QUICK, most_members=1), ("isotropic",), descend=False)
    fixed, found = (
        AdaptiveFourierRegressor(32, sampler=sampler, random_state=0).fit(x[:600], y[:600]).score(x[600:], y[600:])
        for sampler in (alone, "auto")
    )
    assert fixed < 0.6
    assert found > 0.95


def test_steps_are_rounded_while_the_error_is_far_above_it(monkeypatch):
    """What is returned is not: amplitudes are of all rows in double precision."""
    seen, follow_from = [], automatic.follow_from

    def recorded(phase, selection, chosen, step, rng):
        kinds = {type(phase.minimize.features), type(selection.minimize.features)}
        seen.append((kinds, phase.policy.least_regularization))
        return (yield from follow_from(phase, selection, chosen, step, rng))

    monkeypatch.setattr(automatic, "follow_from", recorded)
    for least, kind, floor in ((0.0, RoundedCosineSine, 1e-5), (1e300, CosineSine, 1e-7)):
        policy = replace(QUICK, rounded=least, rounded_from=0.0, least_regularization=1e-7)
        search = Automatic(policy)
        events, _, found = searched(search, panel(noise=0.2), start(8, regularization=1e-2))
        precisions = {event.solve.precision for event in events if isinstance(event, Info)}
        assert precisions == {"double" if kind is CosineSine else "single"}
        assert seen[0] == ({kind}, floor)
        assert isinstance(found.judges[0].minimize.features, CosineSine)
        assert not isinstance(found.judges[0].minimize.features, RoundedCosineSine)
        seen.clear()
