"""Running a sampler with looks at the validation rows on the way, and the reasons to stop it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

from fourierwalk.arrays.library import Array, is_remote, namespace
from fourierwalk.sampling.sampler import Info, State
from fourierwalk.training import ahead
from fourierwalk.training.replay import Request, Waypoint, Work, rewind
from fourierwalk.training.selection import Candidate, Look, Selection

IDLE = 50
"""A sampler is stopped after this many steps in a row without an accepted move, or with singular equations."""

RUNAWAY_GROWTH = 1e4
"""A sampler is stopped if the spread of the frequencies has grown by more than this factor."""


class Ending(Enum):
    """Why a sampler was stopped."""

    ALL_DONE = "all steps done"
    IMPATIENT = "the held-out error stopped falling"
    STUCK = "no step down is left"
    RUNAWAY = "the frequencies grew without end"
    IDLE = "no move was accepted any more"
    SINGULAR = "the equations had become singular"


class Phase(NamedTuple):
    """A sampler, and when it is stopped."""

    sampler: Any
    minimize: Any
    n_steps: int
    look_every: int
    patience: int  # looks without a gain after which it is stopped
    gain: float  # the share of the error below which a gain is none
    floor: float = 0.0  # added to errors before gains are compared with them
    least_regularization: float | None = None  # if given, steps use the λ of the last look, but at least this one

    def minimize_at(self, look: Look | None) -> Any:
        """The problem of the steps after a look."""
        if look is None or self.least_regularization is None:
            return self.minimize
        return replace(self.minimize, regularization=max(look.regularization, self.least_regularization))


class Trail(NamedTuple):
    """The result of a run: the best candidate, the last state, and why it ended."""

    best: Candidate | None
    state: State
    ending: Ending


@dataclass
class _Run:
    """The variables of a run."""

    state: State
    best: Candidate | None
    last: Look | None
    minimize: Any
    errors: list[float]
    infos: list[Info] = field(default_factory=list)
    taken: int = 0  # steps since the last look
    left: int | None = None  # steps to the next look; None: the look was done

    def reached(self, phase: Phase, rng: Any) -> Request:
        """Tell the journal where the run can be continued."""
        waypoint = Waypoint(self.state, self.best, self.taken, self.left, (rng, phase.minimize))
        return Request(lambda journal: journal.reach(waypoint), waypoint)


def follow(phase: Phase, selection: Selection | None, best: Candidate | None, state: State, rng: Any) -> Work[Trail]:
    """Run a sampler until its steps are done or there is a reason to stop; yield its steps and looks."""
    first_spread = spread_of(state.frequencies)
    run = yield from _begun(phase, best, state, rng)
    while run.left is not None or len(run.infos) < phase.n_steps:
        if run.left is None:
            to_look = phase.look_every - run.state.step % phase.look_every
            run.taken, run.left = 0, min(phase.n_steps - len(run.infos), to_look)
        yield from _stepped(phase, run, rng)
        if selection is not None and run.taken > 0:
            yield from _looked(phase, run, selection)
        is_stuck, run.left = run.left > 0, None
        ending = _ending(phase, run.infos, is_stuck, run.errors, spread_of(run.state.frequencies), first_spread)
        if ending is not None:
            return Trail(run.best, run.state, ending)
        yield run.reached(phase, rng)
    return Trail(run.best, run.state, Ending.ALL_DONE)


def _begun(phase: Phase, best: Candidate | None, state: State, rng: Any) -> Work[_Run]:
    """A run at its start, or where an interrupted fit had got to."""
    last = None if best is None else best.look
    run = _Run(state, best, last, phase.minimize_at(last), [math.inf if last is None else last.error])
    reached = yield Request(lambda journal: journal.begin_run())
    if reached is None:
        return run
    for event in reached.events:
        yield event
        if isinstance(event, Info):
            run.infos.append(event)
        else:
            run.last = event
            run.errors.append(event.error)
    run.state, run.best, run.taken, run.left = reached.state, reached.best, reached.taken, reached.left
    run.minimize = phase.minimize_at(run.last)
    rewind((rng, phase.minimize), reached.marks)
    return run


def _stepped(phase: Phase, run: _Run, rng: Any) -> Work[None]:
    """Take the steps to the next look, or fewer if the sampler is stuck."""
    for state, info in ahead.sample(phase.sampler, run.minimize, run.state, rng, run.left or 0):
        run.state, run.taken, run.left = state, run.taken + 1, (run.left or 0) - 1
        run.infos.append(info)
        yield info
        if not is_remote(state.frequencies):  # on a GPU random numbers are drawn some steps ahead
            yield run.reached(phase, rng)


def _looked(phase: Phase, run: _Run, selection: Selection) -> Work[None]:
    """Measure the validation error. If the steps follow λ of the looks, the next ones use the λ chosen here."""
    seen = run.state.step, run.state.frequencies, run.infos[-1].phase
    candidate = selection.look(*seen) if run.last is None else selection.look_near(run.last, *seen)
    run.last = candidate.look
    run.errors.append(run.last.error)
    yield run.last
    run.best = candidate if run.best is None or run.last.error < run.best.look.error else run.best
    if phase.least_regularization is not None and run.last.regularization != run.minimize.regularization:
        run.minimize = phase.minimize_at(run.last)
        run.state, _ = phase.sampler.refit(run.state, run.minimize)


def _ending(
    phase: Phase, infos: list[Info], is_stuck: bool, errors: Sequence[float], spread: float, first_spread: float
) -> Ending | None:
    """The reason to stop now, or None."""
    recent = infos[-IDLE:]
    if is_stuck:
        return Ending.STUCK
    if len(errors) - 1 - _at_best(errors, phase.gain, phase.floor) >= phase.patience:
        return Ending.IMPATIENT
    if not spread < RUNAWAY_GROWTH * max(first_spread, 1.0):
        return Ending.RUNAWAY
    if len(recent) == IDLE and all(info.acceptance == 0 for info in recent):
        return Ending.IDLE
    if len(recent) == IDLE and all(info.solve is not None and info.solve.fallback for info in recent):
        return Ending.SINGULAR
    return None


def _at_best(errors: Sequence[float], gain: float, floor: float) -> int:
    """The index of the last look whose error was lower than the best before by the share `gain` of it and the floor."""
    index, best = 0, errors[0]
    for i, error in enumerate(errors):
        if error < (1 - gain) * best - gain * floor:
            index, best = i, error
    return index


def spread_of(frequencies: Array) -> float:
    """The root mean square of the frequencies' components."""
    return math.sqrt(float(namespace(frequencies).mean(frequencies * frequencies)))
