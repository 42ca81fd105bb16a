"""What becomes of one column of a table: a number, a column per level, cycles of a date; fitted once, then applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from fourierwalk.tables.means import Grouped, smoothed
from fourierwalk.tables.table import as_moments, as_numbers, as_words

DAY = 86_400.0
YEAR = 365.2425
"""Seconds of a day, and days of a mean year."""

T = TypeVar("T")


class Column(Protocol):
    """An input column, as the encoder keeps it."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """Of the input."""

    def encode(self, column: np.ndarray) -> np.ndarray:
        """The columns of numbers, (n, width)."""

    @property
    def labels(self) -> list[str]:
        """The names of these columns."""

    @property
    def is_fixed(self) -> list[bool]:
        """Which of them have the spread that they should have, and are not to be standardised."""

    def to_table(self) -> dict[str, Any]:
        """All that is fitted: words, numbers, and arrays of numbers."""


@dataclass(frozen=True)
class Number:
    """A number; where it is missing, the median, and one more column that says so if fit has seen missing ones."""

    name: str
    median: float
    has_missing: bool
    kind: ClassVar[str] = "number"

    @classmethod
    def fit(cls, name: str, column: np.ndarray, weight: np.ndarray | None) -> Number:
        """The weighted median of what is there."""
        missing = np.isnan(as_numbers(name, column))
        there = None if weight is None else weight[~missing]
        return cls(name, median(column[~missing], there), bool(missing.any() and not missing.all()))

    def encode(self, column: np.ndarray) -> np.ndarray:
        """The numbers, and 1 where there is none."""
        numbers = as_numbers(self.name, column)
        missing = np.isnan(numbers)
        filled = np.where(missing, self.median, numbers)
        return np.column_stack((filled, missing) if self.has_missing else (filled,)).astype(np.float64)

    @property
    def labels(self) -> list[str]:
        """The name, and the name with "missing"."""
        return [self.name, f"{self.name}_missing"] if self.has_missing else [self.name]

    @property
    def is_fixed(self) -> list[bool]:
        """The indicator is."""
        return [False, True] if self.has_missing else [False]

    def to_table(self) -> dict[str, Any]:
        """The median, and whether values were missing."""
        return {"kind": self.kind, "name": self.name, "median": self.median, "has_missing": self.has_missing}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Number:
        """The inverse of `to_table`."""
        return cls(_entry(table, "name", str), _median(table), _entry(table, "has_missing", bool))


@dataclass(frozen=True)
class Levels:
    """A column of 0 and 1 for each of a few levels; one column for two levels, none for a single one.

    A missing value is a level (None) where fit has seen one. A level that fit has not seen gets each level's share: the
    mean of the rows.
    """

    name: str
    levels: tuple[str | None, ...]
    shares: np.ndarray
    kind: ClassVar[str] = "levels"

    @classmethod
    def fit(cls, name: str, column: np.ndarray, levels: tuple[str | None, ...], weight: np.ndarray | None) -> Levels:
        """The levels' shares of the rows."""
        counts = np.bincount(codes_of(levels, column), weight, minlength=len(levels))
        return cls(name, levels, counts / counts.sum())

    def encode(self, column: np.ndarray) -> np.ndarray:
        """One-hot rows."""
        rows = np.vstack((np.eye(len(self.levels)), self.shares))[:, self._kept]
        return rows[codes_of(self.levels, as_words(column))]  # −1, an unknown level, is the last row

    @property
    def labels(self) -> list[str]:
        """The name with each level's."""
        return [label_of(self.name, level) for level in self.levels[self._kept]]

    @property
    def is_fixed(self) -> list[bool]:
        """All of them."""
        return [True] * len(self.labels)

    @property
    def _kept(self) -> slice:
        return slice(0 if len(self.levels) > 2 else 1, len(self.levels))

    def to_table(self) -> dict[str, Any]:
        """The levels (None: missing) and their shares."""
        return {"kind": self.kind, "name": self.name, "levels": list(self.levels), "shares": self.shares}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Levels:
        """The inverse of `to_table`."""
        levels = _levels(table)
        return cls(_entry(table, "name", str), levels, _array(table, "shares", (len(levels),)))


@dataclass(frozen=True)
class Means:
    """The mean target of each of many levels, drawn towards the mean of all where rows are few.

    A level that fit has not seen gets the mean of all. Rows that the means were fitted to must not be encoded by them:
    see `fourierwalk.tables.means.CrossFitted`.
    """

    name: str
    levels: tuple[str | None, ...]
    means: np.ndarray
    otherwise: np.ndarray
    kind: ClassVar[str] = "means"

    @classmethod
    def fit(cls, name: str, levels: tuple[str | None, ...], grouped: Grouped) -> Means:
        """The smoothed means of all rows."""
        return cls(name, levels, *smoothed(grouped))

    def encode(self, column: np.ndarray) -> np.ndarray:
        """A column per target."""
        return np.vstack((self.means, self.otherwise))[codes_of(self.levels, as_words(column))]

    @property
    def labels(self) -> list[str]:
        """The name; of several targets with their numbers."""
        n = self.otherwise.size
        return [f"{self.name}_mean"] if n == 1 else [f"{self.name}_mean{i}" for i in range(n)]

    @property
    def is_fixed(self) -> list[bool]:
        """None of them."""
        return [False] * self.otherwise.size

    def to_table(self) -> dict[str, Any]:
        """The levels (None: missing), their means, and the mean of all."""
        return {
            "kind": self.kind,
            "name": self.name,
            "levels": list(self.levels),
            "means": self.means,
            "otherwise": self.otherwise,
        }

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Means:
        """The inverse of `to_table`."""
        levels, n = _levels(table), int(np.size(table.get("otherwise", ())))
        means, otherwise = _array(table, "means", (len(levels), n)), _array(table, "otherwise", (n,))
        return cls(_entry(table, "name", str), levels, means, otherwise)


@dataclass(frozen=True)
class Moment:
    """A date or a time: the year with its fraction, and cosine and sine of the year's, the week's and the day's cycle.

    The day's cycle is there if fit has seen hours. A missing moment is the median year and the middle of each cycle.
    """

    name: str
    median: float
    has_missing: bool
    has_hours: bool
    kind: ClassVar[str] = "moment"

    @classmethod
    def fit(cls, name: str, column: np.ndarray, weight: np.ndarray | None) -> Moment:
        """The median, and whether there are hours."""
        missing = np.isnat(column)
        days = _days(column[~missing])
        there = None if weight is None else weight[~missing]
        has_missing = bool(missing.any() and not missing.all())
        return cls(name, median(_years(days), there), has_missing, bool(np.any(days != np.floor(days))))

    def encode(self, column: np.ndarray) -> np.ndarray:
        """Year, cycles, and 1 where the moment is missing."""
        moments = as_moments(self.name, column)
        missing = np.isnat(moments)
        days = np.where(missing, 0.0, _days(moments))
        columns = [np.where(missing, self.median, _years(days))]
        for _, turns in self._cycles(days):
            columns += [np.where(missing, 0.0, wave(2 * np.pi * turns)) for wave in (np.cos, np.sin)]
        return np.column_stack((*columns, missing) if self.has_missing else columns).astype(np.float64)

    def _cycles(self, days: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """The cycles, in turns; 1970 began on a Thursday."""
        cycles = [("day_of_year", days / YEAR), ("weekday", (np.floor(days) + 3) / 7)]
        return [*cycles, ("hour", days % 1.0)] if self.has_hours else cycles

    @property
    def labels(self) -> list[str]:
        """The name with year, day_of_year_cos, …"""
        cycles = [f"{self.name}_{name}_{wave}" for name, _ in self._cycles(np.zeros(0)) for wave in ("cos", "sin")]
        return [f"{self.name}_year", *cycles, *([f"{self.name}_missing"] if self.has_missing else [])]

    @property
    def is_fixed(self) -> list[bool]:
        """All but the year."""
        return [False, *[True] * (len(self.labels) - 1)]

    def to_table(self) -> dict[str, Any]:
        """The median, whether moments were missing, and whether there are hours."""
        return {
            "kind": self.kind,
            "name": self.name,
            "median": self.median,
            "has_missing": self.has_missing,
            "has_hours": self.has_hours,
        }

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Moment:
        """The inverse of `to_table`."""
        flags = (_entry(table, name, bool) for name in ("has_missing", "has_hours"))
        return cls(_entry(table, "name", str), _median(table), *flags)


KINDS: dict[str, Any] = {kind.kind: kind for kind in (Number, Levels, Means, Moment)}


def from_table(table: Any) -> Column:
    """A column from what its `to_table` gave."""
    kind = table.get("kind") if isinstance(table, Mapping) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"tables must have columns of the kinds {sorted(KINDS)}, got {kind!r}.")
    return KINDS[kind].from_table(table)


def levels_of(column: np.ndarray) -> tuple[str | None, ...]:
    """The different words in order; None, the last, where some are missing."""
    found = set(column.tolist())
    return (*sorted(found - {None}), *([None] if None in found else []))


def codes_of(levels: tuple[str | None, ...], column: np.ndarray) -> np.ndarray:
    """The place of each word among the levels, −1 where it is none of them."""
    place = {level: code for code, level in enumerate(levels)}
    return np.fromiter((place.get(word, -1) for word in column.tolist()), np.int64, column.size)


def label_of(name: str, level: str | None) -> str:
    """The name of a level's column."""
    return f"{name}_missing" if level is None else f"{name}_{level}"


def median(values: np.ndarray, weight: np.ndarray | None) -> float:
    """One of the values, so that weights are exactly repetitions; 0 of none."""
    if not values.size:
        return 0.0
    order = np.argsort(values, kind="stable")
    reached = np.arange(1.0, values.size + 1) if weight is None else np.cumsum(weight[order])
    return float(values[order][np.searchsorted(reached, 0.5 * reached[-1] * (1 - 1e-12))])


def _days(moments: np.ndarray) -> np.ndarray:
    """Days since 1970, with fractions."""
    return moments.astype("datetime64[us]").astype(np.int64) / (1e6 * DAY)


def _years(days: np.ndarray) -> np.ndarray:
    return 1970.0 + days / YEAR


def _entry(table: Mapping[str, Any], name: str, kind: type[T] | tuple[type[T], ...]) -> T:
    value = table.get(name)
    if not isinstance(value, kind):
        raise ValueError(f"tables must have a fitting {name!r} in each column, got {value!r}.")
    return value


def _median(table: Mapping[str, Any]) -> float:
    found = float(_entry(table, "median", (int, float)))
    if not np.isfinite(found):
        raise ValueError(f"tables must have a finite 'median' in each column, got {found}.")
    return found


def _levels(table: Mapping[str, Any]) -> tuple[str | None, ...]:
    levels = tuple(_entry(table, "levels", list))
    if not all(level is None or isinstance(level, str) for level in levels) or len(set(levels)) < len(levels):
        raise ValueError("tables must have different words as levels, got others.")
    return levels


def _array(table: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> np.ndarray:
    try:
        values = np.asarray(table.get(name), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"tables must have numbers in {name!r}, got others.") from error
    if values.shape != shape or not np.all(np.isfinite(values)):
        raise ValueError(f"tables must have finite numbers of shape {shape} in {name!r}, got shape {values.shape}.")
    return values
