"""Running a sampler with looks at the validation rows on the way, and the reasons to stop it."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

from fourierwalk.arrays.library import Array, namespace
from fourierwalk.sampling.sampler import Info, State
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training import ahead
from fourierwalk.training.policy import DEFAULT, Policy
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
    follows: bool = False  # whether steps use the λ that the last look has chosen
    policy: Policy = DEFAULT


class Trail(NamedTuple):
    """The result of a run: the best candidate, the last state, and why it ended."""

    best: Candidate | None
    state: State
    ending: Ending


def follow(
    phase: Phase, selection: Selection | None, best: Candidate | None, state: State, rng: Any
) -> Generator[Info | Look, None, Trail]:
    """Run a sampler until its steps are done or there is a reason to stop; yield its steps and looks."""
    infos: list[Info] = []
    minimize, first_spread = phase.minimize, spread_of(state.frequencies)
    last = None if best is None else best.look
    errors = [math.inf if best is None else best.look.error]
    while len(infos) < phase.n_steps:
        n = min(phase.n_steps - len(infos), phase.look_every - state.step % phase.look_every)
        n_before = len(infos)
        for after, info in ahead.sample(phase.sampler, minimize, state, rng, n):
            state = after
            infos.append(info)
            yield info
        if selection is not None and len(infos) > n_before:
            seen = state.step, state.frequencies, infos[-1].phase
            candidate = selection.look(*seen) if last is None else selection.look_near(last, *seen)
            last = candidate.look
            errors.append(last.error)
            yield last
            best = candidate if best is None or last.error < best.look.error else best
            if phase.follows and last.regularization != minimize.regularization:
                minimize = at_regularization(phase.minimize, last.regularization, phase.policy)
                state, _ = phase.sampler.refit(state, minimize)
        ending = _ending(phase, infos, len(infos) - n_before < n, errors, spread_of(state.frequencies), first_spread)
        if ending is not None:
            return Trail(best, state, ending)
    return Trail(best, state, Ending.ALL_DONE)


def _ending(
    phase: Phase, infos: list[Info], is_stuck: bool, errors: Sequence[float], spread: float, first_spread: float
) -> Ending | None:
    """The reason to stop now, or None."""
    recent = infos[-IDLE:]
    if is_stuck:
        return Ending.STUCK
    if len(errors) - 1 - _at_best(errors, phase.policy.gain) >= phase.patience:
        return Ending.IMPATIENT
    if not spread < RUNAWAY_GROWTH * max(first_spread, 1.0):
        return Ending.RUNAWAY
    if len(recent) == IDLE and all(info.acceptance == 0 for info in recent):
        return Ending.IDLE
    if len(recent) == IDLE and all(info.solve is not None and info.solve.fallback for info in recent):
        return Ending.SINGULAR
    return None


def _at_best(errors: Sequence[float], gain: float) -> int:
    """The index of the last look whose error was lower than the best before by more than the share `gain`."""
    index, best = 0, errors[0]
    for i, error in enumerate(errors):
        if error < (1 - gain) * best:
            index, best = i, error
    return index


def follow_from(
    phase: Phase, selection: Selection, start: Candidate, step: int, rng: Any
) -> Generator[Info | Look, None, Trail]:
    """Run a sampler from a candidate. If steps use the λ of the looks, the first ones use the candidate's."""
    minimize = phase.minimize
    if phase.follows:
        minimize = at_regularization(minimize, start.look.regularization, phase.policy)
    first = phase.sampler.init(minimize, start.frequencies)._replace(step=step)
    return (yield from follow(phase._replace(minimize=minimize), selection, start, first, rng))


def at_regularization(problem: LeastSquares, regularization: float, policy: Policy = DEFAULT) -> LeastSquares:
    """The problem at the λ of a look, but at least at the policy's least λ for descent."""
    return replace(problem, regularization=max(regularization, policy.least_regularization))


def spread_of(frequencies: Array) -> float:
    """The root mean square of the frequencies' components."""
    return math.sqrt(float(namespace(frequencies).mean(frequencies * frequencies)))
