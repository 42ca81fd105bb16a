"""Where random numbers come from: the host, the device that holds the data, or one stream for each of several walks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.library import Array, is_remote

PLACES = ("auto", "host", "device")

DEVICE_DRAWS_FROM = 2**14
"""From so many numbers a step on, drawing them on the host would hold a GPU back."""


class Draws(Protocol):
    """What a walk asks of its random numbers: `numpy.random.Generator` has it, and so have the classes below."""

    def standard_normal(self, size: Any = None) -> Any:
        """Normal numbers of a shape."""

    def random(self, size: Any = None) -> Any:
        """Uniform numbers of a shape, in [0, 1)."""


class DeviceDraws:
    """Random numbers made on a torch device: the host's stream fixes them there, but not elsewhere."""

    def __init__(self, rng: np.random.Generator, device: Any) -> None:
        import torch

        self._device, self._generator = device, torch.Generator(device)
        self._generator.manual_seed(int(rng.integers(2**63)))
        self.spawn = rng.spawn  # streams on the host, for what is drawn there

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
        """Where the stream is."""
        return self._generator.get_state()

    def restore(self, mark: Any) -> None:
        """Back to a mark."""
        self._generator.set_state(mark)


class Several:
    """One stream for each of several walks side by side: each draws what it would draw alone."""

    def __init__(self, streams: Sequence[Draws]) -> None:
        self._streams = tuple(streams)

    def standard_normal(self, size: Any) -> Any:
        """Normal numbers of a shape whose first axis is the walks'."""
        return np.stack([stream.standard_normal(size[1:]) for stream in self._streams])

    def random(self, size: Any) -> Any:
        """Uniform numbers of a shape whose first axis is the walks'."""
        return np.stack([stream.random(size[1:]) for stream in self._streams])

    def mark(self) -> Any:
        """Where the streams are."""
        return [mark(stream) for stream in self._streams]

    def restore(self, marks: Any) -> None:
        """Back to a mark."""
        for stream, each in zip(self._streams, marks, strict=True):
            restore(stream, each)


def mark(rng: Any) -> Any:
    """Where a stream is."""
    return rng.bit_generator.state if isinstance(rng, np.random.Generator) else rng.mark()


def restore(rng: Any, mark: Any) -> None:
    """Take a stream back to a mark."""
    if isinstance(rng, np.random.Generator):
        rng.bit_generator.state = mark
    else:
        rng.restore(mark)


def placed(rng: np.random.Generator, place: str, reference: Array, n_values: int) -> Any:
    """The stream of a walk that draws so many numbers a step: on the host, or on the reference's device.

    "auto" draws on the device where the host would hold it back; "host" walks one walk on every device; "device" draws
    where the data are.
    """
    here = not compat.is_torch_array(reference)
    if place == "host" or here or (place == "auto" and not (is_remote(reference) and n_values >= DEVICE_DRAWS_FROM)):
        return rng
    return DeviceDraws(rng, reference.device)
