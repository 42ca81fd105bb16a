"""One model grows by its definition: plain loops over the same parts, with the same random numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from searches import KIND, QUICK, Panel, panel, rows, searched, start, steps_of, widths
from tables import OnlyCosines, ridge

from fourierwalk.data.features import sigmoid
from fourierwalk.data.waves import CosineSine, RoundedCosineSine
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.sampling.sampler import Info
from fourierwalk.training import growing
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.growing import Grown, Growth
from fourierwalk.training.policy import Policy
from fourierwalk.training.selection import Look, Selection, refined
from fourierwalk.training.starts import Drawing, Start, drawn


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
    return candidate, looks


def test_one_model_is_its_definition():
    where, policy = panel(900, noise=0.05), replace(QUICK, widening=0.0)
    events, _, found = searched(Automatic(policy), where, start(8))
    expected, looks = plain_member(where.split(0), (4, 8), np.random.default_rng(3), policy)
    (expected,) = refined([expected], [where.split(0).selection])
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
    assert found.judges[0].held_out.y.shape == (90, 1)


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


# Draws


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
    growth = search._growth(2, start(8), np.random.default_rng(0))
    drawn_frequencies = growth._drawn(panel().split(0), snapshots[0].members[0], 8, search.kinds)
    draws = [omega for kind, omega in drawn_frequencies if kind == "walk"]
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


def test_features_with_a_bias_have_one_more_component():
    begin = Start(8, 3, 2)
    _, _, found = searched(Automatic(QUICK), panel(noise=0.2, features=sigmoid()), begin)
    assert all(member.frequencies.shape[1] == 3 for member in found.members)
    assert all(np.any(member.frequencies[:, 2] != 0) for member in found.members)


# Descent


def test_features_without_a_gradient_take_no_steps():
    events, _, found = searched(
        Automatic(replace(QUICK, least_width=8)), panel(noise=0.2, features=OnlyCosines()), start(8)
    )
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


def test_frequencies_are_learnt_from_a_sample_and_amplitudes_from_all_rows(monkeypatch):
    seen, descended = [], Growth._descended

    def recorded(self, split, chosen, n_steps):
        seen.append((len(chosen.frequencies), len(split.problem.rows), n_steps))
        return descended(self, split, chosen, n_steps)

    monkeypatch.setattr(Growth, "_descended", recorded)
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

    def descended(self, split, chosen, n_steps):
        asked.append(n_steps)
        yield chosen.look
        return Grown(chosen, ends)

    monkeypatch.setattr(Growth, "_descended", descended)
    for ends, expected in ((True, [10]), (False, [10, 10])):  # noqa: B007
        searched(Automatic(QUICK), panel(noise=0.2), start(4))
        assert asked == expected
        asked.clear()


def test_steps_are_rounded_while_the_error_is_far_above_it(monkeypatch):
    """What is returned is not: amplitudes are of all rows in double precision."""
    seen, follow = [], growing.follow

    def recorded(phase, selection, chosen, first, rng):
        kinds = {type(phase.minimize.features), type(selection.minimize.features)}
        seen.append((kinds, phase.least_regularization))
        return (yield from follow(phase, selection, chosen, first, rng))

    monkeypatch.setattr(growing, "follow", recorded)
    for least, kind, floor in ((0.0, RoundedCosineSine, 1e-5), (1e300, CosineSine, 1e-7)):
        policy = replace(QUICK, rounded=least, rounded_from=0.0, least_regularization=1e-7)
        search = Automatic(policy)
        events, _, found = searched(search, panel(900, noise=0.05), start(8, regularization=1e-2))
        precisions = {event.solve.precision for event in events if isinstance(event, Info)}
        assert precisions == {"double" if kind is CosineSine else "single"}
        assert seen[0] == ({kind}, floor)
        assert isinstance(found.judges[0].minimize.features, CosineSine)
        assert not isinstance(found.judges[0].minimize.features, RoundedCosineSine)
        seen.clear()


# The last steps of a single member


def useful_steps(events):
    """The steps from the draws at the last width to the best look after them."""
    looks = [event for event in events if isinstance(event, Look)]
    last_draw = max(i for i, look in enumerate(looks) if look.phase != "descent")
    at_width = [
        look for look in looks[: last_draw + 1] if look.step == looks[last_draw].step and look.phase != "descent"
    ]
    best = min([*at_width, *looks[last_draw + 1 :]], key=lambda look: look.error)
    return best.step - looks[last_draw].step


@pytest.mark.parametrize(
    ("n_frequencies", "last_steps", "noise", "useful"),
    [(6, 40, 0.05, 50), (6, 0, 0.05, 10), (8, 40, 0.05, 5), (6, 0, 3.0, 0)],
)
def test_a_single_member_takes_as_many_last_steps_on_all_rows_as_were_useful(n_frequencies, last_steps, noise, useful):
    """But five at least, as many as between two looks."""
    where, policy = panel(900, noise=noise, settles=True), replace(QUICK, widening=0.0, last_steps=last_steps)
    events, _, found = searched(Automatic(policy), where, start(n_frequencies))
    assert useful_steps(events) == useful
    (member,), (final,) = found.members, found.final
    n_steps = max(useful, policy.look_every)
    minimize = replace(where.unsplit().problem, regularization=max(member.look.regularization, 1e-7))
    descent = Descent()
    state = descent.init(minimize, member.frequencies)
    for _ in range(n_steps):
        state, _ = descent.step(None, state, minimize)
    assert_allclose(final.frequencies, state.frequencies, atol=1e-8)
    assert not np.any(final.frequencies == member.frequencies)
    assert final.look.step == found.state.step == member.look.step + n_steps
    assert_array_equal(found.state.frequencies, final.frequencies)
    assert [event.phase for event in events if isinstance(event, Info)][-n_steps:] == ["descent"] * n_steps
    assert not any(isinstance(event, Look) for event in events[-n_steps:])  # no row is left to look at


@pytest.mark.parametrize(
    ("search", "n_frequencies"),
    [
        (Automatic(replace(QUICK, widening=0.9)), 8),  # two members of 4
        (Automatic(QUICK, n_steps=20), 4),  # the user's own number of steps
        (Automatic(QUICK, descend=False), 4),
        (Automatic(replace(QUICK, rows_per_input=29)), 4),  # frequencies are learnt from a sample
    ],
)
def test_others_do_not(search, n_frequencies):
    _, _, found = searched(search, panel(noise=0.05, settles=True), start(n_frequencies))
    for final, member in zip(found.final, found.members, strict=True):
        assert_array_equal(final.frequencies, member.frequencies)
