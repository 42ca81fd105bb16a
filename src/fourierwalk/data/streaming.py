"""Inputs on the host, or on a disk, that are computed with on a device, block by block."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, side_stream

MOST_IN_WORK = 2
"""Blocks whose work a device may have before it: more would pile up there."""


class _Copy(NamedTuple):
    """A block on its way: which rows, where they arrive, and what tells that they have."""

    part: slice
    block: Any
    arrived: Any


class Streamed:
    """Rows of a NumPy array or memory map that appear on a torch device when they are asked for.

    It is indexed like an array of two axes, by a slice of rows; `Rows` needs no more. Between two blocks it can be told
    which comes next, and copies that one meanwhile, from page-locked memory and on a stream of its own.

    Parameters
    ----------
    host : ndarray of shape (n, d)
        The inputs, a memory map too.
    device : torch.device or str
        Where blocks appear.
    chosen : ndarray of int, optional
        The rows that count, in this order; none means all.
    scaling : callable, optional
        What is done to a block on the device: a tensor of raw rows in, one of scaled rows out.

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
        """A tensor where the blocks appear."""
        import torch

        return torch.empty(0, dtype=torch.float64, device=self.device)

    def __getitem__(self, key: Any) -> Any:
        """The rows of a slice, on the device: ``x[part, :]`` or ``x[..., part, :]``."""
        part = next(each for each in key if each is not Ellipsis)
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
        """Begin to copy the block that will be asked for next."""
        self._next = self._begun(part)

    def used(self) -> None:
        """Tell that all work with a block has been asked for; waits until no more than two blocks are in work."""
        import torch

        if torch.device(self.device).type != "cuda":
            return
        done = torch.cuda.Event()
        done.record(torch.cuda.current_stream(self.device))
        self._in_use.append(done)
        if len(self._in_use) > MOST_IN_WORK:
            self._in_use.popleft().synchronize()

    def take(self, chosen: np.ndarray) -> Streamed:
        """Some of the rows; nothing is copied."""
        chosen = chosen if self.chosen is None else self.chosen[chosen]
        return Streamed(self.host, self.device, chosen, self.scaling)

    def scaled(self, scaling: Callable[[Array], Array]) -> Streamed:
        """The same rows, scaled on the device block by block; what was scaled before starts from raw rows again."""
        return Streamed(self.host, self.device, self.chosen, scaling)

    def on_host(self, part: slice = slice(None)) -> np.ndarray:
        """Rows as they are on the host, not scaled."""
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
