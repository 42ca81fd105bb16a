"""Steps ahead of a device: taken without waiting for it, asked about in bulk, repeated where one cannot be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays import draws
from fourierwalk.arrays.library import Array, is_remote, namespace, to_host
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.sampler import Info, State
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.recording import recorded

STEPS_AT_ONCE = 16
"""Steps between two questions: so many states are held."""

WORTH_RECORDING = 32
"""Steps from which on the solve is recorded."""


def sample(sampler: Any, minimize: Any, state: State, rng: Any, n_steps: int) -> Iterator[tuple[State, Info]]:
    """``sampler.sample``; on a GPU a few steps ahead of it, with the same states and numbers.

    Any sampler can run ahead whose states hold all that it needs to go on, one of the user's own too. One that reads
    numbers waits for them, and gains less. Descent reads every loss, and rows drawn at each call cannot be drawn again:
    these take their steps one by one.
    """
    if not is_remote(state.frequencies):
        yield from sampler.sample(minimize, state, rng, n_steps)
        return
    if isinstance(sampler, Descent) or not isinstance(minimize, LeastSquares):
        for after, info in sampler.sample(minimize, state, rng, n_steps):
            yield after, gathered([info])[0]
        return
    n_ahead = STEPS_AT_ONCE
    quick = recorded(minimize, state.frequencies) if n_steps >= WORTH_RECORDING else minimize
    while n_steps > 0:
        n_ahead = min(n_steps, n_ahead)
        taken, are_trusted = _ahead(sampler, minimize, quick, state, rng, n_ahead)
        if not taken:  # the sampler has ended
            return
        yield from taken
        n_steps -= len(taken)
        state = taken[-1][0]
        n_ahead = min(STEPS_AT_ONCE, 2 * n_ahead) if are_trusted else 1  # doubtful steps are seldom alone


def _ahead(
    sampler: Any, minimize: Any, quick: Any, state: State, rng: Any, n_steps: int
) -> tuple[list[tuple[State, Info]], bool]:
    """So many steps, or those up to the first that could not be trusted, which is taken again with care."""
    watched, marks = _Watched(minimize, quick), [draws.mark(rng)]
    taken: list[tuple[State, Info]] = []
    try:
        for step in sampler.sample(watched, state, rng, n_steps):
            taken.append(step)
            marks.append(draws.mark(rng))
            watched.end_step()
    except Exception:
        watched.end_step()  # the solutions of the step that failed
        if watched.trusted().all():
            raise
    trusted = watched.trusted()
    n_good = len(taken) if trusted.all() else int(np.argmin(trusted))
    taken, before = taken[:n_good], taken[n_good - 1][0] if n_good else state
    if not trusted.all():
        draws.restore(rng, marks[n_good])
        taken += sampler.sample(minimize, before, rng, 1)
    infos = gathered([info for _, info in taken])
    return [(after, info) for (after, _), info in zip(taken, infos, strict=True)], bool(trusted.all())


class _Watched:
    """A problem solved without waiting; the answers whether its solutions can be trusted are kept, step by step."""

    def __init__(self, minimize: LeastSquares, quick: Any) -> None:
        self.gradient, self._quick = minimize.gradient, quick
        self._flags: list[Array] = []
        self._ends: list[int] = []

    def __call__(self, frequencies: Array) -> Any:
        solution = self._quick.ahead(frequencies)
        self._flags.append(namespace(frequencies).all(solution.info.trusted))
        return solution._replace(info=solution.info._replace(trusted=True))

    def end_step(self) -> None:
        """All solutions since the last call belong to one step."""
        self._ends.append(len(self._flags))

    def trusted(self) -> np.ndarray:
        """Whether each step can be trusted: the one question to the device."""
        if not self._flags:
            return np.ones(len(self._ends), dtype=bool)
        flags = to_host(namespace(self._flags[0]).stack(self._flags))
        starts = [0, *self._ends[:-1]]
        return np.array([bool(flags[start:end].all()) for start, end in zip(starts, self._ends, strict=True)])


def gathered(infos: Sequence[Info]) -> list[Info]:
    """The steps' numbers as floats (of stacked walks as arrays on the host), brought from the device at once."""
    numbers = [number for info in infos for number in (info.acceptance, info.step_size, info.loss)]
    arrays = [number for number in numbers if _is_array(number)]
    if not arrays:
        return list(infos)
    xp = namespace(*arrays)
    brought = iter(to_host(xp.stack(xp.broadcast_arrays(*arrays))))
    here = iter([_plain(next(brought)) if _is_array(number) else number for number in numbers])
    return [info._replace(acceptance=next(here), step_size=next(here), loss=next(here)) for info in infos]


def _is_array(number: Any) -> bool:
    return compat.is_array_api_obj(number) and not isinstance(number, np.generic)


def _plain(value: np.ndarray) -> Any:
    return float(value) if value.ndim == 0 else value
