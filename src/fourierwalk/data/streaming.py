"""Inputs that stay on the host, or on a disk, and are copied to a device block by block."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, side_stream, to_host

MOST_IN_WORK = 2
"""The most blocks in a device's queue, which bounds the memory that they take there."""


class _Copy(NamedTuple):
    """The copy of a block that may still be under way."""

    part: slice  # which rows
    block: Any  # the tensor on the device
    arrived: Any  # a CUDA event; None: the copy is complete


class Streamed:
    """Rows of a NumPy array or memory map that are copied to a torch device when they are indexed.

    It is indexed by a slice of rows, like an array of two axes. `prefetch` starts the copy of the next block while the
    device works on the present one, from page-locked memory and on a CUDA stream of its own.

    Parameters
    ----------
    host : ndarray of shape (n, d)
        The inputs; a memory map is allowed.
    device : torch.device or str
        The device that blocks are copied to.
    chosen : ndarray of int, optional
        The indices of the rows, in this order. None: all rows.
    scaling : callable, optional
        A function from a tensor of raw rows to one of scaled rows, applied on the device.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data.streaming import Streamed
    >>> Streamed(np.arange(6.0).reshape(3, 2), "cpu").shape
    (3, 2)
    """

    ndim = 2

    def __init__(
        self,
        host: np.ndarray,
        device: Any,
        chosen: np.ndarray | None = None,
        scaling: Callable[[Array], Array] | None = None,
    ) -> None:
        self.host, self.device, self.chosen, self.scaling = host, device, chosen, scaling
        self.shape = (host.shape[0] if chosen is None else chosen.size, host.shape[1])
        self._next: _Copy | None = None
        self._in_use: deque[Any] = deque()

    @property
    def anchor(self) -> Any:
        """An empty tensor on the device."""
        import torch

        return torch.empty(0, dtype=torch.float64, device=self.device)

    def __getitem__(self, key: Any) -> Any:
        """The rows of a slice, on the device: ``x[part, :]`` or ``x[..., part, :]``."""
        part = next(index for index in key if index is not Ellipsis)
        copy, self._next = self._next, None
        if copy is None or copy.part != part:
            copy = self._begun(part)
        if copy.arrived is not None:
            import torch

            stream = torch.cuda.current_stream(self.device)
            stream.wait_event(copy.arrived)
            copy.block.record_stream(stream)
        block = copy.block.double()
        return block if self.scaling is None else self.scaling(block)

    def prefetch(self, part: slice) -> None:
        """Start to copy the block that will be needed next."""
        self._next = self._begun(part)

    def used(self) -> None:
        """Say that all work on a block is queued; waits until at most two blocks are in the queue."""
        import torch

        if torch.device(self.device).type != "cuda":
            return
        done = torch.cuda.Event()
        done.record(torch.cuda.current_stream(self.device))
        self._in_use.append(done)
        if len(self._in_use) > MOST_IN_WORK:
            self._in_use.popleft().synchronize()

    def take(self, chosen: np.ndarray) -> Streamed:
        """The rows with some indices; nothing is copied."""
        chosen = chosen if self.chosen is None else self.chosen[chosen]
        return Streamed(self.host, self.device, chosen, self.scaling)

    def scaled(self, scaling: Callable[[Array], Array]) -> Streamed:
        """The same raw rows with another scaling, in place of an earlier one."""
        return Streamed(self.host, self.device, self.chosen, scaling)

    def on_host(self, part: slice = slice(None)) -> np.ndarray:
        """Raw rows on the host."""
        return self.host[part] if self.chosen is None else self.host[self.chosen[part]]

    def _begun(self, part: slice) -> _Copy:
        import torch

        rows = np.ascontiguousarray(self.on_host(part))
        if torch.device(self.device).type != "cuda":
            return _Copy(part, torch.tensor(rows, device=self.device), None)
        kind = torch.float32 if rows.dtype == np.float32 else torch.float64
        locked = torch.empty(rows.shape, dtype=kind, pin_memory=True)
        np.copyto(locked.numpy(), rows)
        stream = side_stream(torch.device(self.device), "copies")
        with torch.cuda.stream(stream):
            block = locked.to(self.device, non_blocking=True)
            arrived = torch.cuda.Event()
            arrived.record(stream)
        return _Copy(part, block, arrived)


# What is asked of dense inputs, streamed or not. Nobody else needs to know which of both they are.


def is_streamed(x: Any) -> bool:
    """Whether the inputs stay on the host, and only blocks of them come to the device."""
    return isinstance(x, Streamed)


def anchor_of(x: Any) -> Array:
    """An array in the library and on the device of the inputs, as a reference for new arrays."""
    return x.anchor if isinstance(x, Streamed) else x


def rows_on_host(x: Any, part: slice) -> np.ndarray:
    """Some rows of the inputs as they were given, as a NumPy array."""
    return x.on_host(part) if isinstance(x, Streamed) else to_host(x[part, :])


def columns_on_host(x: Any, part: slice) -> np.ndarray:
    """Some columns of the inputs as they were given, as a NumPy array."""
    if not isinstance(x, Streamed):
        return to_host(x[:, part])
    columns = x.host[:, part]
    return columns if x.chosen is None else columns[x.chosen]


def held_values(x: Any) -> Array:
    """The array that holds the inputs as they were given. Of streamed inputs it also holds rows that were not taken."""
    return x.host if isinstance(x, Streamed) else x
