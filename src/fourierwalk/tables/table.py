"""Table: named columns of NumPy arrays. Frames of every library are converted to it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

NUMBERS, WORDS, MOMENTS = "numbers", "words", "moments"


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of one length, each of one kind.

    Parameters
    ----------
    names : tuple of str
        One name per column.
    columns : tuple of arrays of shape (n,)
        Numbers are float64, and NaN if missing. Words are objects: str, or None if missing. Moments (dates and times)
        are datetime64, and NaT if missing.
    is_named : bool
        Whether the names are the user's. Those of an array are not.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table.of(pd.DataFrame({"size": [1, None], "make": ["audi", None]}))
    >>> table.kinds, table.shape
    (('numbers', 'words'), (2, 2))
    >>> table[:1].columns
    (array([1.]), array(['audi'], dtype=object))
    """

    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]
    is_named: bool = True

    @classmethod
    def of(cls, X: Any, names: Sequence[str] | None = None) -> Table:
        """The table of a frame (pandas, polars, pyarrow, …) or of an array, whose columns are called x0, x1, …"""
        if isinstance(X, Table):
            return X
        if nw.dependencies.is_into_dataframe(X) or isinstance(X, nw.DataFrame):
            frame = nw.from_native(X, eager_only=True, pass_through=False)
            own_names, are_words = tuple(str(name) for name in frame.columns), _are_words(frame.columns)
            columns = tuple(_series(name, frame[:, j]) for j, name in enumerate(own_names))
            return cls(own_names, columns, are_words)
        values = np.asarray(X)
        if values.ndim != 2:
            raise ValueError(f"X must be a table of rows and columns, got an array of {values.ndim} dimensions.")
        own_names = tuple(f"x{j}" for j in range(values.shape[1])) if names is None else tuple(names)
        columns = tuple(_column(name, values[:, j]) for j, name in enumerate(own_names))
        return cls(own_names, columns, names is not None)

    @classmethod
    def joined(cls, tables: Sequence[Table], kinds: Sequence[str]) -> Table:
        """Tables with the same columns, one below the other; their columns become columns of the given kinds."""
        first = tables[0]
        parts = zip(*(table.columns for table in tables), strict=True)
        columns = tuple(
            np.concatenate([_as_kind(name, values, kind) for values in part])
            for name, part, kind in zip(first.names, parts, kinds, strict=True)
        )
        return cls(first.names, columns, first.is_named)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Table:
        """The rows of a slice, a mask or indices; also in a tuple with …, as scikit-learn indexes rows."""
        rows = rows[0] if isinstance(rows, tuple) else rows
        return Table(self.names, tuple(column[rows] for column in self.columns), self.is_named)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return (len(self.columns[0]) if self.columns else 0), len(self.columns)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each column: "numbers", "words" or "moments"."""
        return tuple(kind_of(column) for column in self.columns)


def is_table(X: Any) -> bool:
    """Whether X is a frame, a `Table`, or an array of objects that holds strings."""
    if isinstance(X, np.ndarray):
        return X.dtype == object and X.ndim == 2 and any(isinstance(value, str) for value in X.flat)
    return isinstance(X, Table | nw.DataFrame) or nw.dependencies.is_into_dataframe(X)


def kind_of(column: np.ndarray) -> str:
    """The kind of a column of a `Table`."""
    return {"f": NUMBERS, "M": MOMENTS}.get(column.dtype.kind, WORDS)


def as_words(column: np.ndarray) -> np.ndarray:
    """Any column as words. A whole number is written without a point, so that 3 and 3.0 are one level."""
    if kind_of(column) == WORDS:
        return column
    distinct, codes = np.unique(column, return_inverse=True)
    words = np.array([_word(value) for value in distinct.tolist()], dtype=object)
    words[distinct != distinct] = None  # NaN and NaT differ from themselves
    return words[codes]


def as_numbers(name: str, column: np.ndarray) -> np.ndarray:
    """The column as numbers; an error unless it holds finite numbers, or nothing but missing values."""
    if kind_of(column) == NUMBERS:
        infinite = np.flatnonzero(np.isinf(column))
        if infinite.size:
            raise ValueError(
                f"X must be finite or missing in column {name!r}, got {column[infinite[0]]} in row {infinite[0]}."
            )
        return column
    wrong = np.flatnonzero(column != None) if kind_of(column) == WORDS else np.flatnonzero(column == column)  # noqa: E711
    if wrong.size:
        raise ValueError(
            f"X must hold numbers in column {name!r} as it did in fit, got {str(column[wrong[0]])!r} in row {wrong[0]}."
        )
    return np.full(column.size, np.nan)


def as_moments(name: str, column: np.ndarray) -> np.ndarray:
    """The column as dates and times; an error unless it holds these, or nothing but missing values."""
    if kind_of(column) == MOMENTS:
        return column
    wrong = np.flatnonzero(column != None) if kind_of(column) == WORDS else np.flatnonzero(column == column)  # noqa: E711
    if wrong.size:
        raise ValueError(
            f"X must hold dates in column {name!r} as it did in fit, got {str(column[wrong[0]])!r} in row {wrong[0]}."
        )
    return np.full(column.size, "NaT", dtype="datetime64[us]")


def _as_kind(name: str, column: np.ndarray, kind: str) -> np.ndarray:
    if kind == WORDS:
        return as_words(column)
    return as_numbers(name, column) if kind == NUMBERS else as_moments(name, column)


def _are_words(names: Sequence[Any]) -> bool:
    """Whether the names of columns are words; an error if only some are, as scikit-learn has it."""
    words = [name for name in names if isinstance(name, str)]
    if words and len(words) < len(names):
        raise TypeError(f"X must have columns whose names are all words or none, got {list(names)[:5]}.")
    return bool(words)


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _series(name: str, series: Any) -> np.ndarray:
    """A column of a frame."""
    dtype = series.dtype
    if dtype.is_numeric():
        return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if isinstance(getattr(series.to_native(), "dtype", None), np.dtypes.ObjectDType):
        return _column(name, np.array(series.to_list(), dtype=object))  # narwhals looks at the first 100 values only
    if dtype in (nw.Categorical, nw.Enum, nw.String, nw.Boolean):
        return _filled(series.to_list())
    if dtype == nw.Datetime and getattr(dtype, "time_zone", None):
        series = series.dt.replace_time_zone(None)  # keep the local time
    if dtype in (nw.Datetime, nw.Date):
        return np.asarray(series.cast(nw.Datetime("us")).to_numpy(), dtype="datetime64[us]")
    if dtype == nw.Duration:
        spans = np.asarray(series.to_numpy()).astype("timedelta64[us]")
        return np.where(np.isnat(spans), np.nan, spans.astype(np.int64) / 1e6)  # seconds
    return _column(name, np.array(series.to_list(), dtype=object))


def _filled(values: list[Any]) -> np.ndarray:
    """An array of words, with None for missing values."""
    words = np.empty(len(values), dtype=object)
    words[:] = [None if _is_missing(value) else value if isinstance(value, str) else _word(value) for value in values]
    return words


def _column(name: str, values: np.ndarray) -> np.ndarray:
    """A column of an array. Objects become numbers if all are, dates if all are, and words otherwise."""
    if values.dtype.kind in "fiu":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        return values
    if values.dtype.kind == "b":
        return _filled(values.tolist())
    listed = [None if _is_missing(value) else value for value in values.tolist()]
    present = [value for value in listed if value is not None]
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in present):
        return np.array([np.nan if value is None else float(value) for value in listed])
    if all(isinstance(value, datetime.date) for value in present):
        return np.array(listed, dtype="datetime64[us]")
    odd = [value for value in present if not isinstance(value, str | Real)]
    if odd:
        raise TypeError(f"X must hold numbers, words or dates in column {name!r}, got {type(odd[0]).__name__}.")
    return _filled(listed)


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA; all but None do not equal themselves."""
    if value is None:
        return True
    same = isinstance(value, str) or value == value
    return not (isinstance(same, bool | np.bool_) and same)
