"""A chunk of raw rows, and what every collection of chunks can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from fourierwalk.arrays.library import Array, is_foreign, like
from fourierwalk.chunks.tree import tree
from fourierwalk.tables.table import Table, is_table


@dataclass(frozen=True)
class Chunk:
    """Raw rows that are read together."""

    index: int  # the place among all chunks
    x: Array | Table  # (n, d)
    y: Array  # (n,) or (n, q): numbers or labels
    weight: Array | None = None  # (n,)

    @classmethod
    def of(cls, index: int, x: Any, y: Any, weight: Any = None) -> Chunk:
        """The chunk with plain arrays or a `Table`; an error that names the block if shapes or types do not fit."""
        x, y = _inputs(x, index), _array(y)
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

    def taken(self, rows: np.ndarray) -> Chunk:
        """Some of the rows, by indices in a NumPy array."""
        return self.part(self.moved(rows))

    def moved(self, values: np.ndarray) -> Array:
        """An array in the library and on the device of the inputs; a table counts as NumPy."""
        return values if isinstance(self.x, Table) else like(values, self.x)

    @property
    def table(self) -> Table:
        """The inputs as a table."""
        return Table.of(self.x)


@runtime_checkable
class Chunks(Protocol):
    """Chunks somewhere, with the two ways to ask something of all of them. Both can be repeated."""

    def each(self, share: Callable[[Chunk], Any]) -> list[Any]:
        """``share(chunk)`` of every chunk, in the order of the chunks."""

    def sum(self, share: Callable[[Chunk], Any]) -> Any:
        """The sum of ``share(chunk)`` over all chunks, in the fixed tree.

        All shares have the same shapes, or say by ``varies = True`` that they do not.
        """


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


def _inputs(x: Any, index: int) -> Array | Table:
    """Inputs as an array of numbers, or as a `Table` if they are a frame or an array of objects."""
    if scipy.sparse.issparse(x):
        raise ValueError(f"X in blocks must be dense, got a sparse {type(x).__name__} in block {index}.")
    if not is_table(x):
        x = _array(x)
        if x.ndim != 2:
            raise ValueError(f"X must have 2 dimensions, got {x.ndim} in block {index}.")
    if not x.shape[1]:
        raise ValueError(f"X must have at least one column, got none in block {index}.")
    if is_table(x) or (not is_foreign(x) and x.dtype == object):
        with in_block(index):
            return Table.of(x)
    if not is_foreign(x) and x.dtype.kind not in "biuf":
        raise ValueError(
            f"X in blocks must be real numbers, got {x.dtype} in block {index}: words may stand in a frame or in an "
            "array of objects."
        )
    return x


@contextmanager
def in_block(index: int) -> Iterator[None]:
    """A context in which errors about rows say in which block they are."""
    try:
        yield
    except (TypeError, ValueError) as error:
        said = str(error).replace("\n", " ").rstrip(".")
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{said}, in block {index}.") from error


def _numbers(column: nw.Series) -> np.ndarray:
    """The values of a column; missing ones are NaN."""
    has_gaps = column.dtype == nw.Boolean and column.is_null().any()  # narwhals keeps those as objects
    return (column.cast(nw.Float64) if has_gaps else column).to_numpy()


def _array(values: Any) -> Array:
    """Arrays of other libraries stay; columns of frames and all else become NumPy arrays."""
    if nw.dependencies.is_into_series(values):
        return _numbers(nw.from_native(values, series_only=True))
    return values if is_foreign(values) else np.asarray(values)
