"""The widths, the members and the seeds of a search; few rows, and nothing found."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from searches import KIND, QUICK, Panel, panel, rows, searched, start, steps_of, widths, words
from tables import Plain, drained, ridge

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.data.rows import Rows
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training import automatic
from fourierwalk.training.automatic import Automatic, shares
from fourierwalk.training.ensemble import Ensemble
from fourierwalk.training.growing import Grown, Growth
from fourierwalk.training.history import Decision
from fourierwalk.training.selection import Candidate, Look, by_leave_one_out

# Widths


@given(st.integers(0, 10_000), st.integers(1, 64))
def test_shares_differ_by_one_at_most(n, n_parts):
    parts = shares(n, n_parts)
    assert len(parts) == n_parts
    assert sum(parts) == n
    assert max(parts) - min(parts) <= 1
    assert parts[0] == min(parts)


def widths_of(n_frequencies, n_together=1, n_rows=300, **numbers):
    where = Panel(np.zeros((n_rows, 2)), None, n_together=n_together)
    return Automatic(replace(QUICK, **numbers)).widths(where, start(n_frequencies))


@pytest.mark.parametrize("n_together", [1, 5])
@pytest.mark.parametrize(
    ("growth", "n_frequencies", "expected"),
    [
        (2, 3, [3]),
        (2, 4, [4]),
        (2, 7, [7]),
        (2, 8, [4, 8]),
        (2, 16, [4, 8, 16]),
        (2, 33, [4, 8, 16, 33]),
        (3, 40, [4, 12, 40]),
        (4, 100, [4, 16, 100]),
    ],
)
def test_widths_grow_by_a_factor_up_to_the_number_asked_for(growth, n_frequencies, expected, n_together):
    """A width of more than half of them is left out: two members of it do not fit. Each fold may need all of them."""
    assert widths_of(n_frequencies, n_together, growth=growth) == expected


@pytest.mark.parametrize("n_together", [1, 5])
def test_widths_without_a_number_end_at_the_most_frequencies(n_together):
    """Of all members, those that are trained later too."""
    for members in (1, 3, 8):
        for most in (7, 64, 65, 1000):
            found = widths_of(None, n_together, n_rows=10**5, members=members, most_frequencies=most, growth=4)
            n_members = max(members, n_together)
            assert found[:-1] == [4 * 4**i for i in range(len(found) - 1)]
            assert found[0] == 4  # one there is
            assert all(2 * narrow <= wide <= 4 * narrow for narrow, wide in pairwise(found))
            assert len(found) == 1 or n_members * found[-1] <= most
            assert n_members * 2 * found[-1] > most


def test_widths_without_a_number_have_no_more_columns_than_rows():
    for n_rows, widest in ((63, 16), (64, 32), (128, 64), (130, 64)):
        assert widths_of(None, n_rows=n_rows, most_frequencies=10**6, growth=4)[-1] == widest


def test_a_model_of_few_rows_may_have_the_usual_width():
    assert widths_of(None, n_rows=40, usual=32, most_frequencies=10**6, growth=4)[-1] == 32


def test_frequencies_of_many_components_are_fewer():
    """All members together have so many numbers at most, but no fewer frequencies than usual."""
    for usual, widest in ((1, 33), (150, 50)):
        found = widths_of(None, n_rows=10**5, usual=usual, wide=2 * 100, most_frequencies=10**6, members=3, growth=4)
        assert found[-1] == widest


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


def test_given_frequencies_are_those_of_one_model():
    mine = np.random.default_rng(0).standard_normal((37, 2))
    for n in (None, 37):
        where, begin = panel(n_together=5), start(n, frequencies=mine)
        assert Automatic(QUICK).widths(where, begin) == Automatic(QUICK)._sizes(where, begin, 37) == [37]
        found = searched(Automatic(QUICK, n_steps=0), where, begin)[2]
        assert len(found.members) == 1
        assert_array_equal(found.members[0].frequencies, mine)


@given(st.integers(1, 700), st.integers(1, 40), st.integers(1, 20), st.integers(0, 100))
def test_all_members_together_have_the_frequencies_that_were_asked_for(n, least, most_members, stop):
    """Wherever growth stops: as many members as have its width, or wider ones if they would be too many."""
    search, begin = Automatic(replace(QUICK, least_width=least, most_members=most_members)), start(n)
    where = Panel(np.zeros((3, 2)), None)
    reached = search.widths(where, begin)
    assert search._sizes(where, begin, reached[-1]) == [n]
    width = reached[stop % len(reached)]
    sizes = search._sizes(where, begin, width)
    assert sum(sizes) == n
    assert min(sizes) >= width
    assert len(sizes) == min(n // width, most_members)
    assert max(sizes) - min(sizes) <= 1


def test_members_without_a_number_are_as_many_as_the_policy_says():
    """More of them, where they are so narrow that all together have less than the usual number of frequencies."""
    search, where = Automatic(replace(QUICK, members=4, most_members=10, usual=50)), Panel(np.zeros((3, 2)), None)
    assert search._sizes(where, start(None), 16) == [16] * 4
    assert search._sizes(where, start(None), 8) == [8] * 6
    assert search._sizes(where, start(None), 4) == [4] * 10


def test_all_folds_that_decide_together_are_members_without_a_number(monkeypatch):
    """Also if the policy has fewer members."""
    scripted(monkeypatch, lambda width: 1.0)
    events, _, found = searched(Automatic(replace(QUICK, members=1)), panel(n_together=3, n_folds=3), start())
    assert [int(member.frequencies.shape[0]) for member in found.final] == [4, 4, 4]
    assert not any("kept" in text for text in words(events))


def scripted(monkeypatch, errors):
    """Models whose held-out errors are given by their width."""

    def widened(self, split, before, width, kinds):
        look = Look(0, errors(width), 0.1)
        yield look
        return Grown(Candidate(look, np.full((width, 2), float(width)), np.ones((width, 1))), kinds=kinds[:1])

    def finished(self, split, grown):
        yield Decision("finished")
        return grown

    monkeypatch.setattr(Growth, "widened", widened)
    monkeypatch.setattr(Growth, "finished", finished)
    monkeypatch.setattr(Ensemble, "beats_the_mean", lambda found, policy: True)
    monkeypatch.setattr(automatic, "doubt", lambda judges, before, after: 0.0)


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


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ({4: 1.0, 8: 0.7, 16: 0.6, 32: 0.5}, [4, 8, 16, 32]),
        ({4: 1.0, 8: 0.95, 16: 0.85, 32: 0.5}, [4, 8, 16, 32]),  # 0.05 are more than 4 % of 0.95
        ({4: 1.0, 8: 0.7, 16: 0.665, 32: 0.5}, [4, 8, 16, 32]),  # 0.035 are more than 4 % of 0.665
        ({4: 1.0, 8: 0.7, 16: 0.665, 32: 0.5, 64: 0.1}, [4, 8, 16, 32, 64]),
    ],
)
def test_a_width_is_tried_where_the_last_one_gained_as_much_as_it_must(errors, expected, monkeypatch):
    scripted(monkeypatch, errors.get)
    policy = replace(QUICK, widening=0.04, most_frequencies=3 * max(errors))
    tried = [event for event in searched(Automatic(policy), panel(), start())[0] if isinstance(event, Look)]
    assert [look.error for look in tried[: len(expected)]] == [errors[width] for width in expected]


def test_a_width_that_must_gain_more_than_the_last_one_did_is_not_tried(monkeypatch):
    """Its cost may be so much higher. Up to the usual width all are tried. If K is given, the cost does not matter."""
    scripted(monkeypatch, {4: 1.0, 8: 0.9, 16: 0.1}.get)
    where, policy = panel(), replace(QUICK, widening=0.04, most_frequencies=48)
    cost = 4 * 16**2 * where.n_rows * QUICK.steps * QUICK.members
    for share, width in ((0.10, 16), (0.12, 8)):  # of 0.9: it must gain 0.09, or 0.108; the last one has gained 0.1
        operations = cost / (share / policy.widening - 1)
        search = Automatic(replace(policy, operations=operations))
        events, _, found = searched(search, where, start())
        assert widths(found) == [width] * 3
        assert not any("not worth" in text for text in words(events))
        assert widths(searched(search, where, start(16))[2]) == [16]
        usual = Automatic(replace(search.policy, usual=16, most_members=3))
        assert widths(searched(usual, where, start())[2]) == [16] * 3


@pytest.mark.parametrize(
    ("error", "worse", "width", "given"),
    [(1.0, 0.05, 32, 4), (1.0, 0.15, 4, 4), (1.0, -0.05, 32, 32), (0.09, 0.005, 4, 4), (0.09, -0.02, 32, 32)],
)
def test_classes_take_a_larger_width_unless_it_is_clearly_worse(error, worse, width, given, monkeypatch):
    """Differences up to 0.1 are not clear. A larger width must gain if errors are below that, or if K is given."""
    scripted(monkeypatch, lambda n: error + worse * np.log2(n / 4))
    monkeypatch.setattr(automatic, "least_error", lambda splits, policy: 0.1)
    policy = replace(QUICK, widening=0.02 if error == 1.0 else 0.12, most_frequencies=96)
    assert widths(searched(Automatic(policy), panel(), start())[2])[0] == width
    assert widths(searched(Automatic(policy), panel(), start(32))[2])[0] == given


@pytest.mark.parametrize(("doubt", "width"), [(0.0, 32), (0.04, 32), (0.06, 4)])
def test_a_given_number_of_frequencies_is_one_wide_model_only_if_that_is_surely_better(doubt, width, monkeypatch):
    """Each doubling gains 0.1, and must gain 5 % of the error and the standard error of the gain."""
    scripted(monkeypatch, lambda n: 1.0 - 0.1 * np.log2(n / 4))
    asked = []

    def told(judges, before, after):
        asked.append((len(judges), before[0].look.error, after[0].look.error))
        return doubt

    monkeypatch.setattr(automatic, "doubt", told)
    found = searched(Automatic(replace(QUICK, growth=2, widening=0.05)), panel(), start(32))[2]
    assert sum(widths(found)) == 32
    assert widths(found)[0] == width
    assert asked[0] == (1, 1.0, 0.9)
    asked.clear()
    searched(Automatic(replace(QUICK, growth=2, widening=0.05)), panel(), start())
    assert not asked  # members are as many at every width


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
    [(16, [4] * 4), (18, [4, 4, 5, 5]), (100, [12, 12, 12, 12, 13, 13, 13, 13]), (7, [7])],
)
def test_where_growth_does_not_pay_there_are_more_members_instead(n_frequencies, expected, monkeypatch):
    scripted(monkeypatch, lambda width: 1.0)
    _, snapshots, found = searched(Automatic(replace(QUICK, most_members=8)), panel(), start(n_frequencies))
    assert sorted(widths(found)) == expected
    assert sum(widths(found)) == n_frequencies
    assert len(found.judges) == len(found.members)
    assert [len(one.members) for one in snapshots[-len(expected) :]] == list(range(1, len(expected) + 1))


# Members


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
    events, snapshots, found = searched(Automatic(replace(QUICK, most_frequencies=12)), where, start())
    assert widths(found) == [4, 4, 4]
    assert sum(len(judge.held_out) for judge in found.judges) == where.n_rows
    assert [len(one.members) for one in snapshots] == [1, 3, 3]
    mean = np.mean([member.look.error for member in snapshots[1].members])
    assert words(events)[0] == f"3 models of 4 frequencies: held-out error {mean:.4g}"


@pytest.mark.parametrize(("n_frequencies", "kept"), [(4, [4]), (9, [4, 5]), (12, [4, 4, 4]), (22, [4, 4, 5, 4, 5])])
def test_folds_train_as_wide_as_a_member_is_but_no_more_are_kept_than_share_the_frequencies(
    n_frequencies, kept, monkeypatch
):
    """A kept member may have some frequencies more, for which its fold is widened. Further ones are trained later."""
    scripted(monkeypatch, lambda width: 1.0)
    where = panel(n_together=3, n_folds=3)
    events, snapshots, found = searched(Automatic(QUICK), where, start(n_frequencies))
    told = [f"{len(kept)} of 3 models kept, with {n_frequencies} frequencies in all"] if len(kept) < 3 else []
    assert [text for text in words(events) if "kept" in text] == told
    assert widths(found)[: len(kept)] == kept
    assert [int(member.frequencies.shape[0]) for member in found.final] == kept
    assert len(found.members) == max(3, len(kept))
    assert len(found.judges) == len(found.members)
    assert len(snapshots[0].members) == 1
    assert all(len(one.members) >= 3 for one in snapshots[1:])
    assert all(sum(len(member.frequencies) for member in one.final) <= n_frequencies for one in snapshots)


def test_later_members_draw_the_kinds_that_the_first_has_taken():
    policy = replace(QUICK, widening=0.0, members=3, most_frequencies=24)
    events, _, found = searched(Automatic(policy), panel(noise=0.2), start())
    assert widths(found) == [8, 8, 8]
    assert len(found.kinds) == 2
    drawn_kinds = [event.phase for event in events if isinstance(event, Look) and event.phase != "descent"]
    first, later = drawn_kinds[:-4], drawn_kinds[-4:]
    assert set(first) == set(Automatic().kinds)
    assert later == [*found.kinds, *found.kinds]


def test_later_members_have_a_patience_of_their_own():
    """Unless it is the user's."""
    counted = []
    for later, users in ((1, None), (1000, None), (1, 1000)):
        policy = replace(QUICK, last_steps=100, patience=1000, later_patience=later, most_frequencies=12)
        events, _, _ = searched(Automatic(policy, patience=users), panel(noise=2.0), start())
        first = next(i for i, event in enumerate(events) if isinstance(event, Decision) and "model 2" in event.text)
        counted.append(steps_of(events[first:]))
    assert counted[0] < counted[1] == counted[2]


@pytest.mark.parametrize(("times", "restarts"), [(1.5, False), (3.0, True)])
@pytest.mark.parametrize("n_frequencies", [None, 25])
def test_a_member_that_has_missed_the_signal_starts_again_from_an_earlier_one(
    n_frequencies, times, restarts, monkeypatch
):
    """A given K stays exact, though its members differ by one frequency."""
    finished, seen = Growth.finished, []

    def spoiled(self, split, grown):
        found = yield from finished(self, split, grown)
        seen.append(found.candidate)
        if len(seen) != 3:
            return found
        worse = found.candidate.look._replace(error=times * seen[0].look.error)
        return found._replace(candidate=found.candidate._replace(look=worse))

    monkeypatch.setattr(Growth, "finished", spoiled)
    policy = replace(QUICK, widening=0.0, members=3, most_frequencies=24, most_members=3)
    search = Automatic(replace(policy, widening=1.0) if n_frequencies else policy)
    events, _, found = searched(search, panel(noise=0.2), start(n_frequencies))
    assert len(seen) == 3 + restarts
    assert sum(widths(found)) == (n_frequencies or 24)
    given = [event for event in events if isinstance(event, Look) and event.phase == "given"]
    assert len(given) == restarts
    if restarts:
        n = min(len(seen[0].frequencies), len(found.members[2].frequencies))
        assert found.members[2].look.error < times * seen[0].look.error
        assert not np.array_equal(found.members[2].frequencies[:n], seen[2].frequencies[:n])


# Settings


def test_steps_that_are_counted_are_those_of_each_member(monkeypatch):
    """Shared among the levels; what is left over belongs to the last descent."""
    monkeypatch.setattr(automatic, "doubt", lambda judges, before, after: 0.0)
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


def test_a_regularization_of_the_users_own_is_kept():
    events, _, found = searched(Automatic(QUICK), panel(regularization=0.03), start(8, regularization=0.03))
    assert {event.regularization for event in events if isinstance(event, Look)} == {0.03}
    assert {member.look.regularization for member in found.members} == {0.03}


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
    assert len(snapshots) > 1
    assert all(each.members[0].is_constant for each in snapshots)  # also where a deadline ends it before


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


def test_members_are_judged_at_their_own_regularization(monkeypatch):
    """One λ for all folds may hide what some of them have found; the model is not constant for that."""

    def useless(members, judges):
        return [member._replace(amplitudes=(len(members) == 1) * member.amplitudes) for member in members]

    monkeypatch.setattr(automatic, "refined", useless)
    *_, found = searched(Automatic(QUICK), panel(noise=0.1, n_together=2), start(8))
    assert len(found.members) == 2
    assert not any(member.is_constant for member in found.members)


def test_a_constant_classifier_predicts_the_shares():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((300, 5)), np.arange(300) % 4 == 0
    model = AdaptiveFourierClassifier(8, sampler=Automatic(replace(QUICK, sure=10, clear=1)), random_state=0)
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
    assert snapshots == []  # no model before the last one
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
    alone = Automatic(replace(QUICK, most_members=1, least_width=32), ("isotropic",), descend=False)
    fixed, found = (
        AdaptiveFourierRegressor(32, sampler=sampler, random_state=0).fit(x[:600], y[:600]).score(x[600:], y[600:])
        for sampler in (alone, "auto")
    )
    assert fixed < 0.6
    assert found > 0.95
