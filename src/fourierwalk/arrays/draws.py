"""Sources of random numbers: the host, the device that holds the data, or one stream for each of several walks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.library import Array, is_remote

PLACES = ("auto", "host", "device")

DEVICE_DRAWS_FROM = 2**14
"""The least number of random numbers in a step for which a GPU would wait for the host to draw them."""


class Draws(Protocol):
    """The methods that a walk needs of a random generator: `numpy.random.Generator` has them, and the classes below."""

    def standard_normal(self, size: Any = None) -> Any:
        """Normal numbers of a shape."""

    def random(self, size: Any = None) -> Any:
        """Uniform numbers of a shape, in [0, 1)."""


class DeviceDraws:
    """Random numbers drawn on a torch device. The host's generator seeds them; other devices draw other numbers."""

    def __init__(self, rng: np.random.Generator, device: Any) -> None:
        import torch

        self._device, self._generator = device, torch.Generator(device)
        self._generator.manual_seed(int(rng.integers(2**63)))
        self.spawn = rng.spawn  # generators on the host, for numbers that are drawn there

    def standard_normal(self, size: Any = None) -> Any:
        """Normal numbers of a shape."""
        return self._of("randn", size)

    def random(self, size: Any = None) -> Any:
        """Uniform numbers of a shape, in [0, 1)."""
        return self._of("rand", size)

    def _of(self, kind: str, size: Any) -> Any:
        import torch

        size = () if size is None else size
        return getattr(torch, kind)(size, generator=self._generator, device=self._device, dtype=torch.float64)

    def mark(self) -> Any:
        """The state of the generator, for `restore`."""
        return self._generator.get_state()

    def restore(self, mark: Any) -> None:
        """Go back to a state that `mark` gave."""
        self._generator.set_state(mark.cpu())


class Several:
    """One generator for each of several stacked walks: each draws the numbers that it would draw alone."""

    def __init__(self, streams: Sequence[Draws]) -> None:
        self._streams = tuple(streams)

    def standard_normal(self, size: Any) -> Any:
        """Normal numbers of a shape whose first axis counts the walks."""
        return np.stack([stream.standard_normal(size[1:]) for stream in self._streams])

    def random(self, size: Any) -> Any:
        """Uniform numbers, in [0, 1), of a shape whose first axis counts the walks."""
        return np.stack([stream.random(size[1:]) for stream in self._streams])

    def mark(self) -> Any:
        """The states of all generators, for `restore`."""
        return [mark(stream) for stream in self._streams]

    def restore(self, marks: Any) -> None:
        """Go back to the states that `mark` gave."""
        for stream, state in zip(self._streams, marks, strict=True):
            restore(stream, state)


def mark(rng: Any) -> Any:
    """The state of a generator, for `restore`."""
    return rng.bit_generator.state if isinstance(rng, np.random.Generator) else rng.mark()


def restore(rng: Any, mark: Any) -> None:
    """Set a generator back to a state that `mark` gave."""
    if isinstance(rng, np.random.Generator):
        rng.bit_generator.state = mark
    else:
        rng.restore(mark)


def placed(rng: np.random.Generator, place: str, reference: Array, n_values: int) -> Any:
    """The generator of a walk that draws `n_values` numbers in each step.

    "host": on the host, so that a seed gives the same walk on every device. "device": on the reference's torch device.
    "auto": on the host, unless a GPU would have to wait for it.
    """
    is_not_torch = not compat.is_torch_array(reference)
    if (
        place == "host"
        or is_not_torch
        or (place == "auto" and not (is_remote(reference) and n_values >= DEVICE_DRAWS_FROM))
    ):
        return rng
    return DeviceDraws(rng, reference.device)
