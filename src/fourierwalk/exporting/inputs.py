"""How the columns of X become columns of numbers, as plain data that every writer can translate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

EPOCH = 1970.0
"""The year in which dates are zero."""

MICROSECONDS = 86_400e6
"""Microseconds of a day. A date is given as microseconds since 1970."""

NUMBER, INDICATOR, LOOKUP, DATE = range(4)


@dataclass(frozen=True)
class Lookup:
    """A category: each level has a row of numbers, and the last row is for levels that `fit` has not seen."""

    place: int  # among the columns of X
    levels: tuple[str | None, ...]  # None: missing
    rows: np.ndarray  # (n_levels + 1, width)

    @property
    def missing(self) -> int:
        """The row of missing values."""
        return self.levels.index(None) if None in self.levels else len(self.levels)

    @property
    def has_numbers(self) -> bool:
        """Whether all levels are written numbers."""
        return all(_is_number(level) for level in self.levels if level is not None)


@dataclass(frozen=True)
class Date:
    """A date: the year with its fraction, cosine and sine of each cycle, and a mark where it is missing."""

    place: int
    median: float  # the year of a missing date
    has_missing: bool
    cycles: tuple[tuple[str, str, float, float], ...]  # name, part of the days, shift and period, as `Moment` has them
    epoch: float = EPOCH  # the year of day zero

    @property
    def year(self) -> float:
        """Days of a year."""
        return self.cycles[0][3]

    @property
    def width(self) -> int:
        """The number of columns that it becomes."""
        return 1 + 2 * len(self.cycles) + self.has_missing


@dataclass(frozen=True)
class InputColumns:
    """The columns of X, and what becomes of them.

    The encoded columns are those of all numbers, of all marks of missing numbers, of all categories and of all dates,
    one after the other, taken in the given order.

    Parameters
    ----------
    names : tuple of str
        The name of each column of X.
    are_named : bool
        Whether these are names that the user gave.
    numbers, fills : array of shape (m,)
        The places of the numbers in X, and what a missing one becomes; NaN stays NaN.
    indicators : array of shape (r,)
        The places of the numbers for which a further column marks missing values.
    lookups : tuple of Lookup
        The categories.
    dates : tuple of Date
        The dates.
    order : array of int
        For each encoded column, its index among those of all numbers, marks, categories and dates.

    Examples
    --------
    >>> inputs = InputColumns.of_numbers(2, np.array([0.0, 1.0]))
    >>> inputs.names, inputs.is_matrix
    (('x0', 'x1'), True)
    """

    names: tuple[str, ...]
    are_named: bool
    numbers: np.ndarray
    fills: np.ndarray
    indicators: np.ndarray
    lookups: tuple[Lookup, ...]
    dates: tuple[Date, ...]
    order: np.ndarray

    @classmethod
    def of_numbers(cls, n_inputs: int, fills: np.ndarray | None) -> InputColumns:
        """Numbers only. None: a missing number stays missing."""
        names = tuple(f"x{j}" for j in range(n_inputs))
        fills = np.full(n_inputs, np.nan) if fills is None else fills
        places = np.arange(n_inputs)
        return cls(names, False, places, fills, places[:0], (), (), places)

    @classmethod
    def of_encoder(cls, encoder: Any) -> InputColumns:
        """The columns of a fitted `TableEncoder`."""
        columns = list(enumerate(encoder.columns_))
        numbers = [(place, column) for place, column in columns if column.kind == "number"]
        ranks = np.array([rank for _, column in columns for rank in _ranks(column)], dtype=np.int64)
        return cls(
            tuple(column.name for _, column in columns),
            hasattr(encoder, "feature_names_in_"),
            np.array([place for place, _ in numbers], dtype=np.int64),
            np.array([column.median for _, column in numbers]),
            np.array([place for place, column in numbers if column.has_missing], dtype=np.int64),
            tuple(Lookup(place, column.levels, column.rows) for place, column in columns if _is_category(column)),
            tuple(
                Date(place, column.median, column.has_missing, column.cycles)
                for place, column in columns
                if column.kind == "moment"
            ),
            np.argsort(np.argsort(ranks, kind="stable"), kind="stable"),
        )

    @property
    def is_matrix(self) -> bool:
        """Whether X is one matrix of numbers: no column has a name of the user's, and none holds words or dates."""
        return not self.are_named and not self.dates and all(lookup.has_numbers for lookup in self.lookups)

    def years(self) -> list[int]:
        """The index of each date's year among the encoded columns."""
        widths = [lookup.rows.shape[1] for lookup in self.lookups] + [date.width for date in self.dates]
        starts = np.cumsum([self.numbers.size + self.indicators.size, *widths])[len(self.lookups) : -1]
        return [int(np.flatnonzero(self.order == start)[0]) for start in starts]

    @property
    def is_ordered(self) -> bool:
        """Whether the encoded columns are in order already."""
        return bool(np.all(self.order == np.arange(self.order.size)))


def _is_category(column: Any) -> bool:
    return column.kind in ("levels", "means")


def _ranks(column: Any) -> Sequence[int]:
    """The group of each encoded column."""
    if column.kind == "number":
        return [NUMBER, INDICATOR] if column.has_missing else [NUMBER]
    return [LOOKUP if _is_category(column) else DATE] * len(column.labels)


def _is_number(word: str) -> bool:
    try:
        return np.isfinite(float(word))
    except ValueError:
        return False
