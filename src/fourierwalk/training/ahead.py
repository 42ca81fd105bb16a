"""Steps ahead of a device: taken without waiting for it, asked about in bulk, repeated where one cannot be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays import draws
from fourierwalk.arrays.library import Array, is_remote, namespace, to_host
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Info, Metropolis, State
from fourierwalk.solving.recording import recorded

AT_ONCE = 16
"""Steps between two questions: so many states are held."""

WORTH_RECORDING = 32
"""Steps from which on the solve is recorded."""


def sample(sampler: Any, minimize: Any, state: State, rng: Any, n_steps: int) -> Iterator[tuple[State, Info]]:
    """``sampler.sample``; on a GPU a few steps ahead of it, with the same states and numbers."""
    if not is_remote(state.frequencies):
        yield from sampler.sample(minimize, state, rng, n_steps)
        return
    if not isinstance(sampler, Metropolis | Resampling) or not hasattr(minimize, "ahead"):
        for after, info in sampler.sample(minimize, state, rng, n_steps):
            yield after, gathered([info])[0]
        return
    n_ahead = AT_ONCE
    quick = recorded(minimize, state.frequencies) if n_steps >= WORTH_RECORDING else minimize
    while n_steps > 0:
        n_ahead = min(n_steps, n_ahead)
        taken, are_trusted = _ahead(sampler, minimize, quick, state, rng, n_ahead)
        yield from taken
        n_steps -= len(taken)
        state = taken[-1][0]
        n_ahead = min(AT_ONCE, 2 * n_ahead) if are_trusted else 1  # doubtful steps are seldom alone


def _ahead(
    sampler: Any, minimize: Any, quick: Any, state: State, rng: Any, n_steps: int
) -> tuple[list[tuple[State, Info]], bool]:
    """So many steps, or those up to the first that could not be trusted, which is taken again with care."""
    watched = _Watched(quick)
    before, marks, taken = [state], [draws.mark(rng)], []
    for _ in range(n_steps):
        taken.append(sampler.step(rng, before[-1], watched))
        before.append(taken[-1][0])
        marks.append(draws.mark(rng))
        watched.end_step()
    trusted = watched.trusted()
    n_good = n_steps if trusted.all() else int(np.argmin(trusted))
    taken = taken[:n_good]
    if n_good < n_steps:
        draws.restore(rng, marks[n_good])
        taken.append(sampler.step(rng, before[n_good], minimize))
    infos = gathered([info for _, info in taken])
    return [(after, info) for (after, _), info in zip(taken, infos, strict=True)], n_good == n_steps


class _Watched:
    """``minimize`` without waiting; the answers whether its solutions can be trusted are kept, step by step."""

    def __init__(self, minimize: Any) -> None:
        self._minimize = minimize
        self._flags: list[Array] = []
        self._ends: list[int] = []

    def __call__(self, frequencies: Array) -> Any:
        solution = self._minimize.ahead(frequencies)
        self._flags.append(namespace(frequencies).all(solution.info.trusted))
        return solution._replace(info=solution.info._replace(trusted=True))

    def end_step(self) -> None:
        """All solutions since the last call belong to one step."""
        self._ends.append(len(self._flags))

    def trusted(self) -> np.ndarray:
        """Whether each step can be trusted: the one question to the device."""
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
