"""A chunk of raw rows, and what every collection of chunks can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from fourierwalk.arrays.library import Array, is_foreign
from fourierwalk.chunks.tree import tree


@dataclass(frozen=True)
class Chunk:
    """Raw rows that are read together."""

    index: int  # the place among all chunks
    x: Array  # (n, d)
    y: Array  # (n,) or (n, q): numbers or labels
    weight: Array | None = None  # (n,)

    @classmethod
    def of(cls, index: int, x: Any, y: Any, weight: Any = None) -> Chunk:
        """The chunk with plain arrays; an error that names the block if shapes or types do not fit."""
        x, y = _matrix(x, index), _array(y)
        if y.ndim not in (1, 2):
            raise ValueError(f"y must have 1 or 2 dimensions, got {y.ndim} in block {index}.")
        weight = None if weight is None else _array(weight)
        for name, values in (("y", y), ("sample_weight", weight)):
            if values is not None and values.shape[0] != x.shape[0]:
                raise ValueError(
                    f"{name} must have as many rows as X in every block, got {values.shape[0]} for {x.shape[0]} rows "
                    f"in block {index}."
                )
        return cls(index, x, y, weight)

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def part(self, rows: Any) -> Chunk:
        """Some of the rows, by a slice or by indices."""
        return Chunk(self.index, self.x[rows], self.y[rows], None if self.weight is None else self.weight[rows])


@runtime_checkable
class Chunks(Protocol):
    """Chunks somewhere, with the two ways to ask something of all of them. Both can be repeated."""

    def each(self, share: Callable[[Chunk], Any]) -> list[Any]:
        """``share(chunk)`` of every chunk, in the order of the chunks."""

    def sum(self, share: Callable[[Chunk], Any]) -> Any:
        """The sum of ``share(chunk)`` over all chunks, in the fixed tree; all shares have the same shapes."""


class InProcess:
    """Chunks that this process reads one after the other. Classes that derive from it yield them in `__iter__`."""

    def __iter__(self) -> Iterator[Chunk]:
        raise NotImplementedError

    def each(self, share: Callable[[Chunk], Any]) -> list[Any]:
        """``share(chunk)`` of every chunk, in the order of the chunks."""
        return [share(chunk) for chunk in self]

    def sum(self, share: Callable[[Chunk], Any]) -> Any:
        """The sum of ``share(chunk)`` over all chunks, in the fixed tree."""
        return tree(share(chunk) for chunk in self)


def _matrix(x: Any, index: int) -> Array:
    """Numeric inputs as an array of two dimensions; frames are converted."""
    if scipy.sparse.issparse(x):
        raise ValueError(f"X in blocks must be dense, got a sparse {type(x).__name__} in block {index}.")
    x = _of_frame(x) if nw.dependencies.is_into_dataframe(x) else _array(x)
    if x.ndim != 2:
        raise ValueError(f"X must have 2 dimensions, got {x.ndim} in block {index}.")
    if not is_foreign(x) and x.dtype.kind not in "biuf":
        raise ValueError(
            f"X in blocks must be real numbers, got {x.dtype} in block {index}: encode categories and texts as numbers "
            "first."
        )
    return x


def _of_frame(frame: Any) -> np.ndarray:
    """The columns of a frame side by side: numbers of any kinds, nullable ones and Booleans too."""
    columns = _columns(frame)
    for column in columns:
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            raise ValueError(
                f"X in blocks must have columns of numbers, got {column.dtype} in column {column.name!r}: encode "
                "categories, texts and dates as numbers first (TableEncoder does it for frames in memory)."
            )
    return np.stack([_numbers(column) for column in columns], axis=1) if columns else np.empty((len(frame), 0))


def _columns(frame: Any) -> list[nw.Series]:
    """The columns of a frame of any library; those of pandas by their places, because a name may be there twice."""
    if nw.dependencies.is_pandas_like_dataframe(frame):
        return [nw.from_native(frame.iloc[:, place], series_only=True) for place in range(frame.shape[1])]
    return list(nw.from_native(frame, eager_only=True).iter_columns())


def _numbers(column: nw.Series) -> np.ndarray:
    """The values of a column; missing ones are NaN."""
    has_gaps = column.dtype == nw.Boolean and column.is_null().any()  # narwhals keeps those as objects
    return (column.cast(nw.Float64) if has_gaps else column).to_numpy()


def _array(values: Any) -> Array:
    """Arrays of other libraries stay; columns of frames and all else become NumPy arrays."""
    if nw.dependencies.is_into_series(values):
        return _numbers(nw.from_native(values, series_only=True))
    return values if is_foreign(values) else np.asarray(values)
