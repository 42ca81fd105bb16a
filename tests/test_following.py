"""Following a sampler: a scripted one, looked at by a scripted selection."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import drained

from fourierwalk import AdaptiveFourierRegressor, following
from fourierwalk.following import Phase, follow
from fourierwalk.sampler import Info, State
from fourierwalk.selection import Candidate, Look


class Solve(NamedTuple):
    fallback: bool


@dataclass
class Script:
    """A sampler whose steps are written down: (acceptance, whether singular), and by how much frequencies grow."""

    steps: list
    growth: float = 1.0

    def init(self, minimize, frequencies):
        return State(0, frequencies, np.zeros((frequencies.shape[0], 1)), None)

    def sample(self, minimize, state, rng, n_steps):
        for _ in range(n_steps):
            if state.step >= len(self.steps):
                return
            acceptance, singular = self.steps[state.step]
            state = state._replace(step=state.step + 1, frequencies=self.growth * state.frequencies)
            yield state, Info(state.step, acceptance, 1.0, 0.0, Solve(singular), "scripted")

    def refit(self, state, minimize):
        return state._replace(amplitudes=np.full((2, 1), minimize.regularization)), 0.0


@dataclass
class Judge:
    """A selection whose errors are written down, by step."""

    errors: dict[int, float]

    def look(self, step, frequencies, phase="walk"):
        return Candidate(Look(step, self.errors[step], 10.0**-step, phase), frequencies.copy(), np.zeros((2, 1)))

    def look_near(self, before, step, frequencies, phase="walk"):
        return self.look(step, frequencies, phase)


@dataclass(frozen=True)
class Problem:
    regularization: float = 0.01
    mark: float = 1.0


def followed(steps=((1.0, False),) * 100, errors=None, n_steps=60, look_every=5, growth=1.0, **options):
    sampler = Script(list(steps), growth)
    judge = None if errors is None else Judge(errors)
    gives_up = options.get("gives_up", following.patience(3))
    phase = Phase(sampler, Problem(), n_steps, look_every, gives_up, options.get("follows", False))
    state = sampler.init(None, np.ones((2, 1)))._replace(step=options.get("first", 0))
    return drained(follow(phase, judge, options.get("best"), state, None))


FALLING = {step: 1.0 / (1 + step) for step in range(200)}


def test_all_steps_are_done_and_looked_at():
    looks, trail = followed(errors=FALLING, n_steps=17)
    assert [look.step for look in looks] == [5, 10, 15, 17]
    assert looks == trail.looks == [Look(step, FALLING[step], 10.0**-step, "scripted") for step in (5, 10, 15, 17)]
    assert [info.step for info in trail.infos] == list(range(1, 18))
    assert trail.best.look == looks[-1]
    assert trail.state.step == 17
    assert trail.ending == "all steps done"


def test_looks_are_at_whole_multiples_wherever_the_walk_begins():
    looks, trail = followed(errors=FALLING, n_steps=9, first=3)
    assert [look.step for look in looks] == [5, 10, 12]
    assert trail.state.step == 12


def test_without_a_selection_there_are_no_looks():
    looks, trail = followed(n_steps=17)
    assert looks == trail.looks == []
    assert trail.best is None
    assert len(trail.infos) == 17
    assert followed(n_steps=0, errors=FALLING)[1].ending == "all steps done"


def test_the_best_state_is_the_minimum_of_the_looks():
    errors = dict.fromkeys(range(200), 9.0) | {5: 3.0, 10: 1.0, 15: 2.0}
    looks, trail = followed(errors=errors, n_steps=20, growth=1.1)
    assert trail.best.look == min(looks, key=lambda look: look.error)
    assert trail.best.look.step == 10
    assert_allclose(trail.best.frequencies, 1.1**10)
    assert_allclose(trail.state.frequencies, 1.1**20)


def test_a_best_state_from_before_is_kept_where_nothing_is_better():
    before = Judge({0: 0.5}).look(0, np.ones((2, 1)))
    errors = dict.fromkeys(range(200), 9.0)
    assert followed(errors=errors, best=before)[1].best is before
    assert followed(errors=errors | {5: 0.4}, best=before)[1].best.look.step == 5


def test_patience_counts_looks_without_a_gain():
    errors = dict.fromkeys(range(200), 9.0) | {5: 3.0, 10: 1.0}
    looks, trail = followed(errors=errors)
    assert [look.step for look in looks] == [5, 10, 15, 20, 25]
    assert trail.ending == "no better state for as many looks as patience allows"
    assert len(trail.infos) == 25


def test_patience_in_proportion_to_what_the_gains_took():
    """As many looks as it took to the last gain; not fewer than a few, not more than allowed."""
    least = following.LEAST_PATIENCE
    gives_up = following.patience_in_proportion(2 * least + 1)
    for n_gains, waits in ((0, least), (1, least), (least + 2, least + 2), (5 * least, 2 * least + 1)):
        errors = [0.5**i for i in range(n_gains + 1)]
        for _ in range(waits):
            assert gives_up(errors) == ""
            errors.append(errors[n_gains])
        assert gives_up(errors) == following.IMPATIENT
    assert followed(errors=dict.fromkeys(range(200), 1.0), gives_up=gives_up)[1].state.step == 5 * (least + 1)


def test_hope_ends_far_behind_a_start_that_is_not_coming_nearer():
    """From a quarter of the looks on; the error is judged by that of the look before the last."""
    gives_up = following.hope(16)
    assert gives_up([1.0, 3.9, 3.9, 3.9]) == ""
    assert gives_up([1.0, 9.0]) == ""
    assert gives_up([1.0, 9.0, 9.0]) == following.LOST
    assert gives_up([1.0, 9.0, 2.0, 2.0]) == ""
    assert gives_up([1.0, 3.0, 2.0, 2.0, 2.0]) == following.LOST
    assert gives_up([1.0, 3.0, 2.0, 2.0, 1.8]) == ""
    assert gives_up([1.0, 9.0, 1.29, 1.29, 1.29]) == ""
    before = Judge({0: 1.0}).look(0, np.ones((2, 1)))
    looks, trail = followed(errors=dict.fromkeys(range(200), 2.0), gives_up=gives_up, best=before)
    assert len(looks) == 4
    assert trail.best is before


def test_a_gain_below_a_thousandth_is_none_but_counts_as_better():
    errors = {step: 1.0 - 1e-5 * step for step in range(200)}
    looks, trail = followed(errors=errors)
    assert [look.step for look in looks] == [5, 10, 15, 20]
    assert trail.best.look.step == 20
    errors = {step: 1.0 - 3e-4 * step for step in range(200)}
    assert followed(errors=errors)[1].ending == "all steps done"


def test_the_end_of_a_sampler_is_no_step_down():
    looks, trail = followed(steps=[(1.0, False)] * 12, errors=FALLING)
    assert [look.step for look in looks] == [5, 10, 12]
    assert trail.ending == "no step down is left"
    looks, trail = followed(steps=[(1.0, False)] * 10, errors=FALLING)  # nothing new, and no look at it
    assert [look.step for look in looks] == [5, 10]
    assert trail.ending == "no step down is left"


@pytest.mark.parametrize("growth", [10.0, math.nan])
def test_frequencies_that_grow_without_end(growth):
    _, trail = followed(errors=FALLING, growth=growth, look_every=4)
    assert trail.ending == "the frequencies grew without end"
    assert trail.state.step == 4
    assert followed(errors=FALLING, growth=1.1)[1].ending == "all steps done"  # by 304


def test_walks_that_stand_still():
    """So many steps in a row without one accepted move; a few of them are nothing unusual for few frequencies."""
    still = [(0.0, False)] * following.IDLE
    _, trail = followed(steps=[(1.0, False)] * 10 + still + still, errors=FALLING, n_steps=100)
    assert trail.ending == "no move was accepted any more"
    assert trail.state.step == 10 + following.IDLE
    moves = ([(0.0, False)] * (following.IDLE - 1) + [(0.5, False)]) * 3
    assert followed(steps=moves, errors=FALLING, n_steps=100)[1].ending == "all steps done"
    assert followed(steps=moves, errors=FALLING, n_steps=100, look_every=1)[1].ending == "all steps done"


def test_equations_that_stay_singular():
    singular = [(1.0, True)] * following.IDLE
    _, trail = followed(steps=[(1.0, False)] * 10 + singular + singular, errors=FALLING, n_steps=100)
    assert trail.ending == "the equations had become singular"
    assert trail.state.step == 10 + following.IDLE
    some = ([(1.0, True)] * (following.IDLE - 1) + [(1.0, False)]) * 3
    assert followed(steps=some, errors=FALLING, n_steps=100)[1].ending == "all steps done"


def test_one_frequency_that_is_looked_at_every_step_walks_on():
    """It stays where it is at every other step."""
    x = np.random.default_rng(0).standard_normal((200, 1))
    model = AdaptiveFourierRegressor(
        1, sampler="metropolis", early_stopping=True, refit_every=1, patience=1000, n_steps=100, random_state=0
    ).fit(x, np.sin(3 * x[:, 0]))
    assert 0.1 < model.history_.acceptance.mean() < 0.9
    assert model.n_steps_ == 100


def test_steps_follow_the_regularization_of_the_last_look():
    """At each look the amplitudes are those of its λ, or of the least that descent takes."""
    looks, trail = followed(errors=FALLING, n_steps=10, follows=True)
    assert [look.regularization for look in looks] == [1e-5, 1e-10]
    assert_array_equal(trail.state.amplitudes, np.full((2, 1), following.LEAST_REGULARIZATION))
    _, trail = followed(errors=FALLING, n_steps=5, follows=True)
    assert_array_equal(trail.state.amplitudes, np.full((2, 1), 1e-5))
    _, trail = followed(errors=FALLING, n_steps=5)
    assert_array_equal(trail.state.amplitudes, np.zeros((2, 1)))


@dataclass
class Marking:
    """A sampler whose frequencies are the λ that it stepped at, times the mark of the problem."""

    def init(self, minimize, frequencies):
        return State(0, frequencies, np.zeros((2, 1)), None)

    def sample(self, minimize, state, rng, n_steps):
        for _ in range(n_steps):
            state = state._replace(
                step=state.step + 1, frequencies=np.full((2, 1), minimize.mark * minimize.regularization)
            )
            yield state, Info(state.step, 1.0, 1.0, 0.0, Solve(False), "descent")

    def refit(self, state, minimize):
        return state, 0.0


@dataclass
class Preferring:
    """A selection that always chooses one λ, and whose errors are of the λ that was stepped at."""

    regularization: float
    errors: dict[float, float]
    quiet: bool = False

    def look(self, step, frequencies, phase="walk"):
        error = self.errors.get(round(float(frequencies[0, 0]), 9), 9.0)
        return Candidate(Look(step, error, self.regularization, phase), frequencies.copy(), np.zeros((2, 1)))

    def look_near(self, before, step, frequencies, phase="walk"):
        return self.look(step, frequencies, phase)

    def is_quiet(self, error):
        assert error < 9.0  # of the leader
        return self.quiet


@pytest.mark.parametrize(
    ("regularization", "errors", "quiet", "n_heats", "at"),
    [
        (0.1, {0.1: 1.0, 0.01: 0.9}, False, 3, 0.01),  # a tenth of λ is better, and goes on
        (0.1, {0.1: 1.0, 0.01: 0.99}, False, 3, 0.1),  # hardly better: the looks' own λ
        (0.1, {0.1: 1.0, 0.01: 1.4}, True, 3, 0.01),  # but there is hardly any noise: it may be behind
        (0.1, {0.1: 1.0, 0.01: 1.6}, True, 3, 0.1),  # though not as far as that
        (0.1, {1.0: 1.2, 0.1: 1.0, 0.01: 50.0}, True, 3, 0.1),  # its own looks count, not the start
        (0.001, {0.001: 1.0, 0.0001: 0.1}, False, 2, 0.001),  # small enough: not even tried
    ],
)
def test_a_heat_at_a_tenth_of_a_large_regularization(regularization, errors, quiet, n_heats, at):
    judge = Preferring(regularization, errors, quiet)
    phase = Phase(Marking(), Problem(), 60, 5, following.patience(99), True)
    start = judge.look(0, np.ones((2, 1)))
    seen, (trail, told) = drained(following.raced(phase, judge, start, 2 * np.ones((2, 1)), 0, None))
    assert len(trail.infos) == n_heats * following.HEAT + 60 - following.HEAT
    assert_allclose(trail.state.frequencies, at)
    assert trail.best.look.error == min(errors[regularization], errors[at])  # what was better before is not lost
    assert [words.startswith("descent at a tenth of λ") for words in told] == ([True] if at == 0.01 else [])
    assert ["hardly any noise" in words for words in told] == ([quiet] if at == 0.01 else [])
    assert [look.step for look in trail.looks if look.phase != "start"] == list(range(5, len(trail.infos) + 1, 5))
    assert len(seen) == len(trail.looks)


@pytest.mark.parametrize(
    ("quiet", "error", "at"), [(True, 0.9, 0.05), (True, 1.4, 0.05), (True, 1.6, 0.1), (False, 0.9, 0.01)]
)
def test_without_noise_a_heat_on_another_measure_takes_the_place_of_the_tenth(quiet, error, at):
    """At the λ of the looks."""
    judge = Preferring(0.1, {0.1: 1.0, 0.05: error, 0.01: 0.1}, quiet)
    phase = Phase(Marking(), Problem(), 60, 5, following.patience(99), True, instead=Problem(mark=0.5))
    start = judge.look(0, np.ones((2, 1)))
    _, (trail, told) = drained(following.raced(phase, judge, start, 2 * np.ones((2, 1)), 0, None))
    assert len(trail.infos) == 3 * following.HEAT + 60 - following.HEAT
    assert_allclose(trail.state.frequencies, at)
    told_of = {0.05: ["descent on the residual alone"], 0.01: ["descent at a tenth of λ"], 0.1: []}
    assert [words.partition(":")[0] for words in told] == told_of[at]


@pytest.mark.parametrize(("instead", "n_heats"), [(Problem(mark=0.5), 3), (None, 2)])
def test_any_look_at_a_large_regularization_asks_for_the_other_measure(instead, n_heats):
    """The λ of crowded frequencies goes up and down from look to look; a tenth of it is for one that stays large."""

    class Wavering(Preferring):
        def look(self, step, frequencies, phase="walk"):
            candidate = super().look(step, frequencies, phase)
            regularization = 0.1 if step == 5 else 0.001
            return candidate._replace(look=candidate.look._replace(regularization=regularization))

    judge = Wavering(0.1, {0.1: 1.0, 0.05: 1.0, 0.001: 1.0, 0.0005: 1.0}, quiet=True)
    phase = Phase(Marking(), Problem(), 60, 5, following.patience(99), True, instead=instead)
    start = judge.look(0, np.ones((2, 1)))
    _, (trail, told) = drained(following.raced(phase, judge, start, 2 * np.ones((2, 1)), 0, None))
    assert len(trail.infos) == n_heats * following.HEAT + 60 - following.HEAT
    assert len(told) == n_heats - 2


def test_without_noise_a_heat_that_has_ended_takes_nothing_over():
    judge = Preferring(0.1, {1.0: 1.6, 0.1: 1.0, 0.01: 1.4}, True)
    judge.errors = Falling(judge.errors)
    phase = Phase(Marking(), Problem(), 60, 5, following.patience(3), True)
    _, (trail, told) = drained(
        following.raced(phase, judge, judge.look(0, np.ones((2, 1))), 2 * np.ones((2, 1)), 0, None)
    )
    assert not any("a tenth of λ" in words for words in told)
    assert_allclose(trail.state.frequencies, 0.1)


class Falling(dict):
    """Errors at λ = .1 that fall from look to look, so that patience does not end that heat."""

    def get(self, key, default):
        found = super().get(key, default)
        if key == 0.1:
            self[key] = 0.9 * found
        return found
