"""Samplers on a GPU: several steps are queued without waiting for the device, and checked together afterwards.

A step whose solve turns out to be inaccurate is taken again, with the random numbers that it had.
"""

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
"""Steps that are queued before the device is asked whether they can be trusted; as many states are in memory."""

WORTH_RECORDING = 32
"""The least number of steps for which recording the solve as a CUDA graph is worth its time."""


def sample(sampler: Any, minimize: Any, state: State, rng: Any, n_steps: int) -> Iterator[tuple[State, Info]]:
    """``sampler.sample``. On a GPU steps are queued ahead of the device; states and numbers are the same.

    This works for every sampler, also the user's own, whose states hold all that it needs to continue. A sampler that
    reads numbers from the device waits for them, and gains less. Two kinds take their steps one by one: `Descent`,
    because it reads every loss, and solves on minibatches, because their rows cannot be drawn again.
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
        n_ahead = min(STEPS_AT_ONCE, 2 * n_ahead) if are_trusted else 1  # the next steps may fail as well


def _ahead(
    sampler: Any, minimize: Any, quick: Any, state: State, rng: Any, n_steps: int
) -> tuple[list[tuple[State, Info]], bool]:
    """Up to `n_steps` steps, and whether all of them could be trusted.

    The first step that cannot be trusted is taken again by `minimize`, and is the last one returned.
    """
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
    """Solves without waiting for the device, and collects for each step whether its solutions can be trusted."""

    def __init__(self, minimize: LeastSquares, quick: Any) -> None:
        self.gradient, self._quick = minimize.gradient, quick
        self._flags: list[Array] = []
        self._ends: list[int] = []

    def __call__(self, frequencies: Array) -> Any:
        solution = self._quick.ahead(frequencies)
        self._flags.append(namespace(frequencies).all(solution.info.trusted))
        return solution._replace(info=solution.info._replace(trusted=True))

    def end_step(self) -> None:
        """Mark the end of a step: all solutions since the last call belong to it."""
        self._ends.append(len(self._flags))

    def trusted(self) -> np.ndarray:
        """Whether each step can be trusted. This waits for the device, once for all steps."""
        if not self._flags:
            return np.ones(len(self._ends), dtype=bool)
        flags = to_host(namespace(self._flags[0]).stack(self._flags))
        starts = [0, *self._ends[:-1]]
        return np.array([bool(flags[start:end].all()) for start, end in zip(starts, self._ends, strict=True)])


def gathered(infos: Sequence[Info]) -> list[Info]:
    """The infos with their numbers copied from the device in one go: floats, or NumPy arrays for stacked walks."""
    numbers = [number for info in infos for number in (info.acceptance, info.step_size, info.loss)]
    arrays = [number for number in numbers if _is_array(number)]
    if not arrays:
        return list(infos)
    xp = namespace(*arrays)
    host_arrays = iter(to_host(xp.stack(xp.broadcast_arrays(*arrays))))
    host_numbers = iter([_plain(next(host_arrays)) if _is_array(number) else number for number in numbers])
    return [
        info._replace(acceptance=next(host_numbers), step_size=next(host_numbers), loss=next(host_numbers))
        for info in infos
    ]


def _is_array(number: Any) -> bool:
    return compat.is_array_api_obj(number) and not isinstance(number, np.generic)


def _plain(value: np.ndarray) -> Any:
    return float(value) if value.ndim == 0 else value
