"""Following a sampler: looks at held-out rows on the way, guards that end it, races between starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fourierwalk import ahead
from fourierwalk._arrays import Array, namespace
from fourierwalk.least_squares import LeastSquares
from fourierwalk.sampler import Info, State
from fourierwalk.selection import Candidate, Look, Selection

LEAST_REGULARIZATION = 1e-7  # of descent
GAIN, LARGE_GAIN = 1e-3, 5e-3  # relative gains below these are none, or not large
IDLE = 50  # steps in a row without an accepted move, or all of them singular: there will be no others
GROWTH = 1e4  # frequencies whose spread has grown by more than this have no end
HEAT = 25  # steps of descent after which it is judged where it started from
MOST_HEATS = 3
LARGE_REGULARIZATION = 0.01  # λ at which a smaller one is tried for descent
LIGHT = 0.1  # of the looks' λ
LIGHTER = 0.98  # of the error at the looks' λ: what descent at less must come below
LIGHTER_IF_QUIET = 1.5  # the same where there is hardly any noise
ALL_DONE = "all steps done"
LOST = "it led away from the start"
IMPATIENT = "no better state for as many looks as patience allows"
LEAST_PATIENCE = 4
FAR, TOO_FAR = 1.3, 4.0  # times the start's error
COMING_BACK = 0.95  # of the error of the look before the last


def patience(n_looks: int) -> Callable[[Sequence[float]], str]:
    """Give up after so many looks without a gain."""
    return lambda errors: IMPATIENT if len(errors) - 1 - _at_best(errors, GAIN) >= n_looks else ""


def patience_in_proportion(n_looks: int) -> Callable[[Sequence[float]], str]:
    """Give up after as many looks without a large gain as such gains have taken, and so many at most."""

    def gives_up(errors: Sequence[float]) -> str:
        at = _at_best(errors, LARGE_GAIN)
        return IMPATIENT if len(errors) - 1 - at >= min(n_looks, max(LEAST_PATIENCE, at)) else ""

    return gives_up


def hope(n_looks: int) -> Callable[[Sequence[float]], str]:
    """Give up where the state is far behind the start and does not come back; a little behind, after some looks."""

    def gives_up(errors: Sequence[float]) -> str:
        far = FAR if len(errors) > n_looks // 4 else TOO_FAR
        is_lost = len(errors) > 2 and errors[-1] > far * errors[0] and errors[-1] > COMING_BACK * errors[-3]
        return LOST if is_lost else ""

    return gives_up


def _at_best(errors: Sequence[float], gain: float) -> int:
    """The look with the last gain worth the name."""
    at, best = 0, errors[0]
    for i, error in enumerate(errors):
        if error < (1 - gain) * best:
            at, best = i, error
    return at


class Phase(NamedTuple):
    """A sampler and how long it is followed."""

    sampler: Any
    minimize: Any
    n_steps: int
    look_every: int
    gives_up: Callable[[Sequence[float]], str]  # why to stop, if there is a reason, by the errors of start and looks
    follows: bool = False  # whether the λ of each look is that of the steps after it
    share: float = 1.0  # of that λ, if the steps are to take less
    errors: tuple[float, ...] = ()  # of start and looks, where others have been taken before
    instead: Any = None  # what to descend on, without noise, where λ is large: if not, on the same with less of it


class Trail(NamedTuple):
    """Where following a sampler has led, and why it ended there."""

    best: Candidate | None
    state: State
    infos: list[Info]
    looks: list[Look]
    ending: str


def follow(
    phase: Phase, selection: Selection | None, best: Candidate | None, state: State, rng: Any
) -> Generator[Look, None, Trail]:
    """Sample, and look every so often (each look is yielded), until the steps are done or a guard ends it."""
    infos: list[Info] = []
    looks: list[Look] = []
    minimize, first_spread = phase.minimize, spread_of(state.frequencies)
    last = None if best is None else best.look
    errors = list(phase.errors) or [math.inf if best is None else best.look.error]
    while len(infos) < phase.n_steps:
        n = phase.n_steps - len(infos)
        if selection is not None:
            n = min(n, phase.look_every - state.step % phase.look_every)
        fresh: list[Info] = []
        for after, info in ahead.sample(phase.sampler, minimize, state, rng, n):
            state = after
            fresh.append(info)
        infos.extend(fresh)
        if selection is not None and fresh:
            seen = state.step, state.frequencies, fresh[-1].phase
            candidate = selection.look(*seen) if last is None else selection.look_near(last, *seen)
            last = candidate.look
            looks.append(last)
            errors.append(last.error)
            yield candidate.look
            best = candidate if best is None or candidate.look.error < best.look.error else best
            if phase.follows:
                wanted = at_regularization(phase.minimize, phase.share * candidate.look.regularization)
                if wanted.regularization != minimize.regularization:
                    minimize = wanted
                    state, _ = phase.sampler.refit(state, minimize)
        growth = spread_of(state.frequencies) / max(first_spread, 1.0)
        ending = "no step down is left" if len(fresh) < n else phase.gives_up(errors) or _ending(infos, growth)
        if ending:
            return Trail(best, state, infos, looks, ending)
    return Trail(best, state, infos, looks, ALL_DONE)


def _ending(infos: list[Info], growth: float) -> str:
    """Why to stop, if there is a reason."""
    recent = infos[-IDLE:]
    if not growth < GROWTH:
        return "the frequencies grew without end"
    if len(recent) < IDLE:
        return ""
    if all(info.acceptance == 0 for info in recent):
        return "no move was accepted any more"
    if all(info.solve is not None and info.solve.fallback for info in recent):
        return "the equations had become singular"
    return ""


def follow_from(
    phase: Phase, selection: Selection, start: Candidate, step: int, rng: Any
) -> Generator[Look, None, Trail]:
    """Follow a sampler from a candidate; one that follows the looks begins at the candidate's λ."""
    wanted = phase.share * start.look.regularization
    minimize = at_regularization(phase.minimize, wanted) if phase.follows else phase.minimize
    first = phase.sampler.init(minimize, start.frequencies)._replace(step=step)
    return (yield from follow(phase._replace(minimize=minimize), selection, start, first, rng))


def raced(
    phase: Phase, selection: Selection, best: Candidate, wider: Array, step: int, rng: Any
) -> Generator[Look, None, tuple[Trail, list[str]]]:
    """Descent from the best state, from ever wider starts, in a lighter way: a heat each, the winner goes on.

    A start is judged best before descent where its frequencies lie close; descent wants them further out, where it can
    still move them together, and cannot move them apart. And frequencies that have descended at a large λ are best with
    it, so that looks go on choosing it, where others that have descended at a small one may be better: of noisy targets
    a few are, and the held-out rows say which; without noise most are in the end, and a few rows say little so early.
    """
    if phase.n_steps <= HEAT:
        return (yield from follow_from(phase, selection, best, step, rng)), []
    heat, told = phase._replace(n_steps=HEAT), []
    leader, started = (yield from follow_from(heat, selection, best, step, rng)), best
    infos, looks = list(leader.infos), list(leader.looks)
    for _ in range(MOST_HEATS):
        start = selection.look(step + len(infos), wider, "start")
        yield start.look
        rival = yield from follow_from(heat, selection, start, start.look.step, rng)
        infos.extend(rival.infos)
        looks.extend((start.look, *rival.looks))
        if not _error(rival) < _error(leader):
            break
        told.append(
            f"a start of spread {spread_of(wider):.3g}: held-out error {_error(rival):.4g} after {HEAT} steps of "
            f"descent, against {_error(leader):.4g}; kept"
        )
        leader, started, wider = rival, start, 2.0 * wider
    found = leader.best
    is_quiet = bool(leader.looks) and selection.is_quiet(_error(leader))
    if is_quiet and phase.instead is not None:  # the λ of the looks wavers there: any large one counts
        how, lighter, asked = "on the residual alone", phase._replace(minimize=phase.instead), leader.looks
    else:
        how, lighter, asked = "at a tenth of λ", phase._replace(share=LIGHT), leader.looks[-1:]
    if any(look.regularization >= LARGE_REGULARIZATION for look in asked):
        rival = yield from follow_from(lighter._replace(n_steps=HEAT), selection, started, step + len(infos), rng)
        infos.extend(rival.infos)
        looks.extend(rival.looks)
        error = min((look.error for look in rival.looks), default=math.inf)
        is_favoured = is_quiet and rival.ending == ALL_DONE
        if error < (LIGHTER_IF_QUIET if is_favoured else LIGHTER) * _error(leader):
            told.append(
                f"descent {how}: held-out error {error:.4g} after {HEAT} steps, against "
                f"{_error(leader):.4g}; kept{', as there is hardly any noise' if is_favoured else ''}"
            )
            leader, phase = rival, lighter
            found = _better(found, rival.best)
    state = leader.state._replace(step=step + len(infos))
    if leader.ending != ALL_DONE:
        return leader._replace(best=found, state=state, infos=infos, looks=looks), told
    rest = phase._replace(
        n_steps=phase.n_steps - HEAT,
        minimize=at_regularization(phase.minimize, phase.share * leader.looks[-1].regularization),
        errors=(started.look.error, *(look.error for look in leader.looks)),
    )
    trail = yield from follow(rest, selection, leader.best, state, rng)
    return trail._replace(
        best=_better(found, trail.best), infos=[*infos, *trail.infos], looks=[*looks, *trail.looks]
    ), told


def _better(one: Any, other: Any) -> Any:
    """The candidate of the smaller error; the first of equal ones."""
    return other if other.look.error < one.look.error else one


def _error(trail: Trail) -> float:
    return math.inf if trail.best is None else trail.best.look.error


def at_regularization(problem: LeastSquares, regularization: float) -> LeastSquares:
    """The problem at the λ of a look, if that is not too small to descend by."""
    return replace(problem, regularization=max(regularization, LEAST_REGULARIZATION))


def spread_of(frequencies: Array) -> float:
    """The root mean square of their components."""
    return math.sqrt(float(namespace(frequencies).mean(frequencies * frequencies)))
