"""Following a sampler: a scripted one, looked at by a scripted selection."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import drained

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.sampling.sampler import Info, State
from fourierwalk.training import following
from fourierwalk.training.following import Ending, Phase, _at_best, follow, spread_of
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.selection import Candidate, Look


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


def followed(steps=((1.0, False),) * 100, errors=None, n_steps=60, look_every=5, growth=1.0, **options):
    """What following yields, steps and looks apart, and its trail."""
    sampler = Script(list(steps), growth)
    judge = None if errors is None else Judge(errors)
    least = DEFAULT.least_regularization if options.get("follows", False) else None
    parts = sampler, Problem(), n_steps, look_every, options.get("patience", 3)
    phase = Phase(*parts, DEFAULT.gain, least_regularization=least)
    state = sampler.init(None, options.get("frequencies", np.ones((2, 1))))._replace(step=options.get("first", 0))
    events, trail = drained(follow(phase, judge, options.get("best"), state, None))
    assert all(isinstance(event, Info | Look) for event in events)
    infos, looks = ([event for event in events if isinstance(event, kind)] for kind in (Info, Look))
    return infos, looks, trail


FALLING = {step: 1.0 / (1 + step) for step in range(200)}
LEVEL = dict.fromkeys(range(200), 9.0)


def test_all_steps_are_done_and_looked_at():
    infos, looks, trail = followed(errors=FALLING, n_steps=17)
    assert looks == [Look(step, FALLING[step], 10.0**-step, "scripted") for step in (5, 10, 15, 17)]
    assert [info.step for info in infos] == list(range(1, 18))
    assert trail.best.look == looks[-1]
    assert trail.state.step == 17
    assert trail.ending is Ending.ALL_DONE


def test_steps_and_looks_come_as_they_happen():
    """A look follows the step that it looks at."""
    phase = Phase(Script([(1.0, False)] * 100), Problem(), 7, 3, 3, DEFAULT.gain)
    first = phase.sampler.init(None, np.ones((2, 1)))
    events, _ = drained(follow(phase, Judge(FALLING), None, first, None))
    assert [(type(event), event.step) for event in events] == [
        *[(Info, 1), (Info, 2), (Info, 3), (Look, 3)],
        *[(Info, 4), (Info, 5), (Info, 6), (Look, 6)],
        *[(Info, 7), (Look, 7)],
    ]


def test_steps_are_taken_as_they_are_asked_for():
    """Whoever asks for no more has spent nothing on more."""
    taken = []

    class Counting(Script):
        def sample(self, minimize, state, rng, n_steps):
            for after, info in super().sample(minimize, state, rng, n_steps):
                taken.append(info.step)
                yield after, info

    phase = Phase(Counting([(1.0, False)] * 100), Problem(), 60, 5, 3, DEFAULT.gain)
    search = follow(phase, Judge(FALLING), None, phase.sampler.init(None, np.ones((2, 1))), None)
    steps = (event.step for event in search if isinstance(event, Info))
    assert [next(steps) for _ in range(3)] == taken == [1, 2, 3]


def test_looks_are_at_whole_multiples_wherever_the_walk_begins():
    _, looks, trail = followed(errors=FALLING, n_steps=9, first=3)
    assert [look.step for look in looks] == [5, 10, 12]
    assert trail.state.step == 12


def test_without_a_selection_there_are_no_looks():
    infos, looks, trail = followed(n_steps=17)
    assert looks == []
    assert trail.best is None
    assert len(infos) == 17
    assert trail.ending is Ending.ALL_DONE


def test_no_steps_are_done_at_once():
    infos, looks, trail = followed(n_steps=0, errors=FALLING)
    assert infos == looks == []
    assert trail.ending is Ending.ALL_DONE
    assert trail.state.step == 0


def test_the_best_state_is_the_minimum_of_the_looks():
    _, looks, trail = followed(errors=LEVEL | {5: 3.0, 10: 1.0, 15: 2.0}, n_steps=20, growth=1.1)
    assert trail.best.look == min(looks, key=lambda look: look.error)
    assert trail.best.look.step == 10
    assert_allclose(trail.best.frequencies, 1.1**10)
    assert_allclose(trail.state.frequencies, 1.1**20)


def test_a_best_state_from_before_is_kept_where_nothing_is_better():
    before = Judge({0: 0.5}).look(0, np.ones((2, 1)))
    assert followed(errors=LEVEL, best=before)[2].best is before
    assert followed(errors=LEVEL | {5: 0.4}, best=before)[2].best.look.step == 5


def test_looks_are_near_the_one_before():
    """The first one too, if there is a best state; without one it tries everything."""
    before = Judge({0: 0.5}).look(0, np.ones((2, 1)))
    for best, expected in ((before, [0, 5, 10]), (None, [5, 10])):
        asked = []

        class Near(Judge):
            def look_near(self, before, step, frequencies, phase, asked=asked):
                asked.append(before.step)
                return self.look(step, frequencies, phase)

        phase = Phase(Script([(1.0, False)] * 15), Problem(), 15, 5, 99, DEFAULT.gain)
        drained(follow(phase, Near(LEVEL), best, phase.sampler.init(None, np.ones((2, 1))), None))
        assert asked == expected


# Endings


def test_endings_carry_their_sentences():
    assert {ending.name: ending.value for ending in Ending} == {
        "ALL_DONE": "all steps done",
        "IMPATIENT": "the held-out error stopped falling",
        "STUCK": "no step down is left",
        "RUNAWAY": "the frequencies grew without end",
        "IDLE": "no move was accepted any more",
        "SINGULAR": "the equations had become singular",
    }


@pytest.mark.parametrize("patience", [1, 3, 6])
def test_patience_counts_looks_without_a_gain(patience):
    infos, looks, trail = followed(errors=LEVEL | {5: 3.0, 10: 1.0}, patience=patience)
    assert [look.step for look in looks] == [5 * i for i in range(1, 3 + patience)]
    assert trail.ending is Ending.IMPATIENT
    assert len(infos) == 5 * (2 + patience)
    assert trail.best.look.step == 10


def test_patience_is_measured_against_the_best_state_from_before():
    before = Judge({0: 0.5}).look(0, np.ones((2, 1)))
    _, looks, trail = followed(errors=FALLING | {5: 0.6, 10: 0.55, 15: 0.51}, best=before)
    assert [look.step for look in looks] == [5, 10, 15]
    assert trail.ending is Ending.IMPATIENT


def test_a_gain_starts_patience_anew():
    _, looks, trail = followed(errors=LEVEL | {5: 3.0, 20: 2.0, 35: 1.0}, n_steps=100)
    assert looks[-1].step == 35 + 15
    assert trail.ending is Ending.IMPATIENT


def test_errors_without_an_end_try_patience():
    _, looks, trail = followed(errors=dict.fromkeys(range(200), math.inf))
    assert len(looks) == 3
    assert trail.ending is Ending.IMPATIENT


def test_a_very_small_gain_is_none_but_counts_as_better():
    """Small gains add up: they are measured from the last gain worth the name."""
    errors = {step: 1.0 - 1e-2 * DEFAULT.gain * step for step in range(200)}
    _, looks, trail = followed(errors=errors)
    assert [look.step for look in looks] == [5, 10, 15, 20]
    assert trail.best.look.step == 20
    assert trail.ending is Ending.IMPATIENT
    errors = {step: 1.0 - 0.1 * DEFAULT.gain * step for step in range(200)}
    assert followed(errors=errors)[2].ending is Ending.ALL_DONE


def test_the_end_of_a_sampler_is_no_step_down():
    _, looks, trail = followed(steps=[(1.0, False)] * 12, errors=FALLING)
    assert [look.step for look in looks] == [5, 10, 12]
    assert trail.ending is Ending.STUCK
    _, looks, trail = followed(steps=[(1.0, False)] * 10, errors=FALLING)  # nothing new, and no look at it
    assert [look.step for look in looks] == [5, 10]
    assert trail.ending is Ending.STUCK
    assert followed(steps=[(1.0, False)] * 12, errors=FALLING, n_steps=12)[2].ending is Ending.ALL_DONE


@pytest.mark.parametrize("growth", [10.0, math.nan])
def test_frequencies_that_grow_without_end(growth):
    _, _, trail = followed(errors=FALLING, growth=growth, look_every=4)
    assert trail.ending is Ending.RUNAWAY
    assert trail.state.step == 4
    assert followed(growth=growth)[2].ending is Ending.RUNAWAY  # without looks too
    assert followed(errors=FALLING, growth=1.1)[2].ending is Ending.ALL_DONE  # by 304


def test_growth_is_measured_from_the_start_but_not_from_less_than_one():
    """Frequencies that start at zero (the paper) have to grow."""
    at = [
        followed(errors=FALLING, growth=11.0, look_every=1, frequencies=np.full((2, 1), scale))[2].state.step
        for scale in (2e-3, 1.5, 1.5e3)
    ]
    assert at == [7, 4, 4]


def test_walks_that_stand_still():
    """So many steps in a row without one accepted move; a few of them are nothing unusual for few frequencies."""
    still = [(0.0, False)] * following.IDLE
    _, _, trail = followed(steps=[(1.0, False)] * 10 + still + still, errors=FALLING, n_steps=100)
    assert trail.ending is Ending.IDLE
    assert trail.state.step == 10 + following.IDLE
    moves = ([(0.0, False)] * (following.IDLE - 1) + [(0.5, False)]) * 3
    assert followed(steps=moves, errors=FALLING, n_steps=100)[2].ending is Ending.ALL_DONE
    assert followed(steps=moves, errors=FALLING, n_steps=100, look_every=1)[2].ending is Ending.ALL_DONE


def test_equations_that_stay_singular():
    singular = [(1.0, True)] * following.IDLE
    _, _, trail = followed(steps=[(1.0, False)] * 10 + singular + singular, errors=FALLING, n_steps=100)
    assert trail.ending is Ending.SINGULAR
    assert trail.state.step == 10 + following.IDLE
    some = ([(1.0, True)] * (following.IDLE - 1) + [(1.0, False)]) * 3
    assert followed(steps=some, errors=FALLING, n_steps=100)[2].ending is Ending.ALL_DONE


def test_one_frequency_that_is_looked_at_every_step_walks_on():
    """It stays where it is at every other step."""
    x = np.random.default_rng(0).standard_normal((200, 1))
    model = AdaptiveFourierRegressor(
        1, sampler="metropolis", early_stopping=True, refit_every=1, patience=1000, n_steps=100, random_state=0
    ).fit(x, np.sin(3 * x[:, 0]))
    assert 0.1 < model.history_.acceptance.mean() < 0.9
    assert model.n_steps_ == 100


# λ of the steps


def test_steps_follow_the_regularization_of_the_last_look():
    """At each look the amplitudes are those of its λ, or of the least that descent takes."""
    _, looks, trail = followed(errors=FALLING, n_steps=10, follows=True)
    assert [look.regularization for look in looks] == [1e-5, 1e-10]
    assert 1e-10 < DEFAULT.least_regularization < 1e-5
    assert_array_equal(trail.state.amplitudes, np.full((2, 1), DEFAULT.least_regularization))
    _, _, trail = followed(errors=FALLING, n_steps=5, follows=True)
    assert_array_equal(trail.state.amplitudes, np.full((2, 1), 1e-5))
    _, _, trail = followed(errors=FALLING, n_steps=5)
    assert_array_equal(trail.state.amplitudes, np.zeros((2, 1)))


@dataclass
class Marking(Script):
    """A sampler that notes the λ of its steps."""

    def __post_init__(self):
        self.seen = []

    def init(self, minimize, frequencies):
        self.seen.append(minimize.regularization)
        return super().init(minimize, frequencies)

    def sample(self, minimize, state, rng, n_steps):
        self.seen.append(minimize.regularization)
        yield from super().sample(minimize, state, rng, n_steps)


@pytest.mark.parametrize(("follows", "expected"), [(True, [1e-3, 1e-3, 1e-4, 1e-6]), (False, [0.01] * 4)])
def test_following_from_a_candidate_begins_at_its_regularization(follows, expected):
    """And at its frequencies; steps are counted on."""
    start = Candidate(Look(40, 0.5, 1e-3, "isotropic"), np.full((2, 1), 7.0), np.zeros((2, 1)))
    least = DEFAULT.least_regularization if follows else None
    phase = Phase(Marking([(1.0, False)] * 100), Problem(), 6, 2, 9, DEFAULT.gain, least_regularization=least)
    first = phase.sampler.init(phase.minimize_at(start.look), start.frequencies)._replace(step=2)
    events, trail = drained(follow(phase, Judge(LEVEL), start, first, None))
    assert [event.step for event in events if isinstance(event, Info)] == [3, 4, 5, 6, 7, 8]
    assert [event.step for event in events if isinstance(event, Look)] == [4, 6, 8]
    assert phase.sampler.seen == pytest.approx(expected)
    assert_array_equal(trail.state.frequencies, start.frequencies)
    assert trail.best is start


def test_a_problem_at_the_regularization_of_a_look_is_another_problem():
    phase = Phase(None, Problem(0.5), 6, 2, 9, 0.01, least_regularization=1e-7)
    assert phase.minimize_at(Look(0, 1.0, 0.1)) == Problem(0.1)
    assert phase.minimize_at(Look(0, 1.0, 0.0)) == Problem(1e-7)
    assert phase.minimize_at(None) == phase.minimize == Problem(0.5)
    assert phase._replace(least_regularization=None).minimize_at(Look(0, 1.0, 0.1)) == Problem(0.5)


def test_the_spread_is_a_root_mean_square(xp):
    assert spread_of(xp.asarray(np.array([[3.0, -4.0], [0.0, 5.0]]))) == pytest.approx(math.sqrt(50 / 4))


def test_a_gain_is_compared_with_the_error_and_the_floor():
    """Log losses that go to zero fall by a share of themselves for ever; beside a floor that is no gain."""
    errors = [0.01 * 0.5**i for i in range(8)]
    assert _at_best(errors, 0.1, 0.0) == 7
    assert _at_best(errors, 0.1, 0.05) == 2
    assert _at_best([float("inf"), 1.0], 0.1, 0.01) == 1
