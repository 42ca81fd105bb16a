"""Following a sampler: looks at held-out rows on the way, and the reasons to stop."""

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
"""Steps in a row that all failed, after which there will be no others."""

GROWTH = 1e4
"""Frequencies whose spread has grown by more than this run away."""


class Ending(Enum):
    """Why a sampler was followed no further."""

    ALL_DONE = "all steps done"
    IMPATIENT = "the held-out error stopped falling"
    STUCK = "no step down is left"
    RUNAWAY = "the frequencies grew without end"
    IDLE = "no move was accepted any more"
    SINGULAR = "the equations had become singular"


class Phase(NamedTuple):
    """A sampler and how long it is followed."""

    sampler: Any
    minimize: Any
    n_steps: int
    look_every: int
    patience: int  # looks without a gain after which it ends
    follows: bool = False  # whether the λ of each look is that of the steps after it
    policy: Policy = DEFAULT


class Trail(NamedTuple):
    """Where following a sampler has led, and why it ended there."""

    best: Candidate | None
    state: State
    ending: Ending


def follow(
    phase: Phase, selection: Selection | None, best: Candidate | None, state: State, rng: Any
) -> Generator[Info | Look, None, Trail]:
    """Sample, and look every so often, until the steps are done or there is a reason to stop; yield steps and looks."""
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
    """Why to stop, if there is a reason."""
    recent = infos[-IDLE:]
    if is_stuck:
        return Ending.STUCK
    if len(errors) - 1 - _at_best(errors, phase.policy.gain) >= phase.patience:
        return Ending.IMPATIENT
    if not spread < GROWTH * max(first_spread, 1.0):
        return Ending.RUNAWAY
    if len(recent) == IDLE and all(info.acceptance == 0 for info in recent):
        return Ending.IDLE
    if len(recent) == IDLE and all(info.solve is not None and info.solve.fallback for info in recent):
        return Ending.SINGULAR
    return None


def _at_best(errors: Sequence[float], gain: float) -> int:
    """The look with the last gain worth the name."""
    at, best = 0, errors[0]
    for i, error in enumerate(errors):
        if error < (1 - gain) * best:
            at, best = i, error
    return at


def follow_from(
    phase: Phase, selection: Selection, start: Candidate, step: int, rng: Any
) -> Generator[Info | Look, None, Trail]:
    """Follow a sampler from a candidate; one that follows the looks begins at the candidate's λ."""
    minimize = phase.minimize
    if phase.follows:
        minimize = at_regularization(minimize, start.look.regularization, phase.policy)
    first = phase.sampler.init(minimize, start.frequencies)._replace(step=step)
    return (yield from follow(phase._replace(minimize=minimize), selection, start, first, rng))


def at_regularization(problem: LeastSquares, regularization: float, policy: Policy = DEFAULT) -> LeastSquares:
    """The problem at the λ of a look, if that is not too small to descend by."""
    return replace(problem, regularization=max(regularization, policy.least_regularization))


def spread_of(frequencies: Array) -> float:
    """The root mean square of their components."""
    return math.sqrt(float(namespace(frequencies).mean(frequencies * frequencies)))
