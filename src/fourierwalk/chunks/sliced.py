"""Chunks of arrays that are read by slices: memory maps, Zarr and HDF5 arrays, arrays in memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from fourierwalk.chunks.chunk import Chunk, InProcess
from fourierwalk.parameters import count

CHUNK_BYTES = 32 * 2**20
"""The most bytes of a chunk's inputs and targets as doubles, where the chunks are ours to choose."""

WILL_NEED = getattr(mmap, "MADV_WILLNEED", None)
"""The advice that a part of a memory map will soon be read; Windows takes none."""


class Sliced(InProcess):
    """Chunks of arrays that are read by slices, ``x[start:stop]``: memory maps, Zarr and HDF5 arrays.

    Parameters
    ----------
    x : array-like of shape (n, d), or frame of pandas or polars
        The inputs.
    y : array-like of shape (n,) or (n, q)
        The targets.
    weight : array-like of shape (n,), optional
        The weights of the rows.
    rows : int, optional
        Rows of a chunk. None: as many as take 32 MiB in double precision, in whole chunks of the array's own.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.chunks import Sliced
    >>> [len(chunk) for chunk in Sliced(np.ones((5, 2)), np.ones(5), rows=2)]
    [2, 2, 1]
    """

    def __init__(self, x: Any, y: Any, weight: Any = None, *, rows: int | None = None) -> None:
        if y is None:
            raise ValueError(f"y must be an array of targets for X of type {type(x).__name__}, got None.")
        y, weight = (
            values if values is None or hasattr(values, "shape") else np.asarray(values) for values in (y, weight)
        )
        for name, values in (("y", y), ("sample_weight", weight)):
            if values is not None and values.shape[0] != x.shape[0]:
                raise ValueError(f"{name} must have as many rows as X, {x.shape[0]}, got {values.shape[0]}.")
        count("rows", rows, 1, optional=True)
        self.x, self.y, self.weight = x, y, weight
        self.height = _height(x, y) if rows is None else int(rows)

    def __len__(self) -> int:
        return -(-int(self.x.shape[0]) // self.height)

    def __getitem__(self, index: int) -> Chunk:
        parts = [None if values is None else values[self._part(index)] for values in (self.x, self.y, self.weight)]
        read_ahead(self.x, self._part(index + 1))
        return Chunk.of(index, *parts)

    def _part(self, index: int) -> slice:
        start = index * self.height
        return slice(start, min(start + self.height, int(self.x.shape[0])))

    def __iter__(self) -> Iterator[Chunk]:
        return (self[index] for index in range(len(self)))


def read_ahead(x: Any, part: slice) -> None:
    """Ask the system to read a part of a memory map while others are computed with; of other arrays nothing is read."""
    owner = x
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if not isinstance(owner, mmap.mmap) or WILL_NEED is None:
        return
    low, high = byte_bounds(x[part])
    first = np.frombuffer(owner, np.uint8).ctypes.data
    start = (low - first) // mmap.PAGESIZE * mmap.PAGESIZE
    if high > low:
        owner.madvise(WILL_NEED, start, high - first - start)


def _height(x: Any, y: Any) -> int:
    """Rows of a chunk: as many as fit, in whole chunks of the array's own so that none is read twice."""
    width = sum(int(values.shape[1]) if len(values.shape) > 1 else 1 for values in (x, y))
    height = max(1, CHUNK_BYTES // (8 * width))
    own = getattr(x, "chunks", None)
    return height if not own else max(1, height // int(own[0])) * int(own[0])
