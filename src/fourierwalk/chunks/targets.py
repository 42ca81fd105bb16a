"""Raw targets of a chunk as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, to_host
from fourierwalk.chunks.chunk import Chunk
from fourierwalk.chunks.survey import numbers


@dataclass(frozen=True)
class NumberTargets:
    """Targets that are numbers."""

    def columns(self, chunk: Chunk) -> Array:
        """The targets, (n, q), in the library of the inputs."""
        y = numbers(chunk.y, chunk.index)
        return y if type(y) is type(chunk.x) else chunk.moved(to_host(y))


@dataclass(frozen=True)
class LabelTargets:
    """Targets that are labels: one column for each of the sorted names, one where it is the row's own."""

    names: tuple[Any, ...]

    def columns(self, chunk: Chunk) -> Array:
        """One-hot targets, (n, q), in the library of the inputs."""
        names = np.asarray(self.names)
        codes = np.searchsorted(names, to_host(chunk.y).astype(names.dtype, copy=False))
        return chunk.moved(np.eye(names.size)[codes])
