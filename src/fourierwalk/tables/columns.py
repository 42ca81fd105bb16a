"""Encoders of one column of a table: numbers, one column per level, mean targets, cycles of a date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from fourierwalk.tables.facts import YEAR, Facts, codes_of, days_of, years_of
from fourierwalk.tables.means import Grouped, smoothed
from fourierwalk.tables.table import as_moments, as_numbers, as_words

CYCLES = (("day_of_year", "days", 0.0, YEAR), ("weekday", "whole", 3.0, 7.0), ("hour", "fraction", 0.0, 1.0))
"""The cycles of a date: name, part of the days since 1970, shift and period. The 3 is because 1970 began on a Thursday.

The phase is (part + shift)/period turns."""

T = TypeVar("T")


class Column(Protocol):
    """The fitted encoder of one input column."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """The name of the input column."""

    def encode(self, column: np.ndarray) -> np.ndarray:
        """The encoded columns, (n, width)."""

    def codes(self, column: np.ndarray) -> np.ndarray:
        """The column as numbers that are not yet encoded, (n,): what models in torch and C take."""

    @property
    def labels(self) -> list[str]:
        """The names of the encoded columns."""

    @property
    def is_fixed(self) -> list[bool]:
        """Which of the encoded columns must not be scaled to unit variance."""

    def to_table(self) -> dict[str, Any]:
        """All that was fitted, as strings, numbers, and arrays of numbers."""


@dataclass(frozen=True)
class Number:
    """A number. A missing one becomes the median; if `fit` has seen some, one more column marks them."""

    name: str
    median: float
    has_missing: bool
    kind: ClassVar[str] = "number"

    @classmethod
    def fit(cls, facts: Facts, column: np.ndarray, weight: np.ndarray | None) -> Number:
        """Find the weighted median of the numbers that are not missing; the column may be a sample of all rows."""
        numbers = as_numbers(facts.name, column)
        return cls(facts.name, median(numbers, np.isnan(numbers), weight, facts.low), facts.has_gaps)

    def encode(self, column: np.ndarray) -> np.ndarray:
        """The numbers, and a column that is 1 for missing ones."""
        numbers = as_numbers(self.name, column)
        missing = np.isnan(numbers)
        filled = np.where(missing, self.median, numbers)
        return np.column_stack((filled, missing) if self.has_missing else (filled,)).astype(np.float64)

    def codes(self, column: np.ndarray) -> np.ndarray:
        """The numbers; NaN where they are missing."""
        return as_numbers(self.name, column)

    @property
    def labels(self) -> list[str]:
        """The name, and the name with "_missing"."""
        return [self.name, f"{self.name}_missing"] if self.has_missing else [self.name]

    @property
    def is_fixed(self) -> list[bool]:
        """Only the column that marks missing values."""
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
    """One-hot columns, one for each level; two levels share one column, and a single level has none.

    Missing values are a level (None) if `fit` has seen some. A level that `fit` has not seen is encoded by the shares
    of the known levels, which is the mean of all rows.
    """

    name: str
    levels: tuple[str | None, ...]
    shares: np.ndarray
    kind: ClassVar[str] = "levels"

    @classmethod
    def fit(cls, facts: Facts) -> Levels:
        """Find the share of the rows that each level has."""
        weights: Any = facts.weights
        counts = np.array([weights[level] for level in facts.levels])
        return cls(facts.name, facts.levels, counts / counts.sum())

    def encode(self, column: np.ndarray) -> np.ndarray:
        """One-hot rows."""
        return self.rows[codes_of(self.levels, as_words(column))]  # −1, an unknown level, is the last row

    @property
    def rows(self) -> np.ndarray:
        """The row of each level, and the one of unknown levels."""
        return np.vstack((np.eye(len(self.levels)), self.shares))[:, self._kept]

    def codes(self, column: np.ndarray) -> np.ndarray:
        """The index of each row's level; −1 for an unknown one."""
        return codes_of(self.levels, as_words(column)).astype(np.float64)

    @property
    def labels(self) -> list[str]:
        """The name with that of each level."""
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
    """Target encoding: the mean target of each level, shrunk towards the mean of all rows if the level has few rows.

    A level that `fit` has not seen gets the mean of all rows. Do not encode the rows of `fit` by these means: they have
    seen the targets. See `fourierwalk.tables.means.CrossFitted`.
    """

    name: str
    levels: tuple[str | None, ...]
    means: np.ndarray
    otherwise: np.ndarray
    kind: ClassVar[str] = "means"

    @classmethod
    def fit(cls, facts: Facts, grouped: Grouped) -> Means:
        """Find the smoothed means from sums over all rows."""
        return cls(facts.name, facts.levels, *smoothed(grouped))

    def encode(self, column: np.ndarray) -> np.ndarray:
        """One column for each target."""
        return self.rows[codes_of(self.levels, as_words(column))]

    @property
    def rows(self) -> np.ndarray:
        """The row of each level, and the one of unknown levels."""
        return np.vstack((self.means, self.otherwise))

    def codes(self, column: np.ndarray) -> np.ndarray:
        """The index of each row's level; −1 for an unknown one."""
        return codes_of(self.levels, as_words(column)).astype(np.float64)

    @property
    def labels(self) -> list[str]:
        """The name with "_mean", and the number of the target if there are several."""
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
    """A date or a time: the year with its fraction, and cosine and sine of the time of year, of week and of day.

    The time of day is encoded only if `fit` has seen times. A missing date becomes the median year, and 0 for all
    cosines and sines.
    """

    name: str
    median: float
    has_missing: bool
    has_hours: bool
    kind: ClassVar[str] = "moment"

    @classmethod
    def fit(cls, facts: Facts, column: np.ndarray, weight: np.ndarray | None) -> Moment:
        """Find the median year; the column may be a sample of all rows."""
        moments = as_moments(facts.name, column)
        middle = median(years_of(days_of(moments)), np.isnat(moments), weight, facts.low)
        return cls(facts.name, middle, facts.has_gaps, facts.has_hours)

    def encode(self, column: np.ndarray) -> np.ndarray:
        """The year, the cycles, and a column that is 1 for missing dates."""
        moments = as_moments(self.name, column)
        missing = np.isnat(moments)
        days = np.where(missing, 0.0, days_of(moments))
        columns = [np.where(missing, self.median, years_of(days))]
        for turns in self._phases(days):
            columns += [np.where(missing, 0.0, wave(2 * np.pi * turns)) for wave in (np.cos, np.sin)]
        return np.column_stack((*columns, missing) if self.has_missing else columns).astype(np.float64)

    def codes(self, column: np.ndarray) -> np.ndarray:
        """Microseconds since 1970; NaN where the date is missing."""
        moments = as_moments(self.name, column).astype("datetime64[us]")
        return np.where(np.isnat(moments), np.nan, moments.astype(np.int64))

    @property
    def cycles(self) -> tuple[tuple[str, str, float, float], ...]:
        """The cycles that are encoded."""
        return CYCLES if self.has_hours else CYCLES[:-1]

    def _phases(self, days: np.ndarray) -> list[np.ndarray]:
        """The phase of each cycle, in turns."""
        parts = {"days": days, "whole": np.floor(days), "fraction": days % 1.0}
        return [(parts[part] + shift) / period for _, part, shift, period in self.cycles]

    @property
    def labels(self) -> list[str]:
        """The name with year, day_of_year_cos, …"""
        cycles = [f"{self.name}_{name}_{wave}" for name, *_ in self.cycles for wave in ("cos", "sin")]
        return [f"{self.name}_year", *cycles, *([f"{self.name}_missing"] if self.has_missing else [])]

    @property
    def is_fixed(self) -> list[bool]:
        """All columns but the year."""
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


def label_of(name: str, level: str | None) -> str:
    """The name of a level's column."""
    return f"{name}_missing" if level is None else f"{name}_{level}"


def median(values: np.ndarray, missing: np.ndarray, weight: np.ndarray | None, otherwise: float = 0.0) -> float:
    """The weighted lower median of the values that are not missing; `otherwise` if all are.

    It is one of the values, so that a weight of 2 equals two rows.
    """
    values, weight = values[~missing], None if weight is None else weight[~missing]
    if not values.size:
        return otherwise
    order = np.argsort(values, kind="stable")
    reached = np.arange(1.0, values.size + 1) if weight is None else np.cumsum(weight[order])
    return float(values[order][np.searchsorted(reached, 0.5 * reached[-1] * (1 - 1e-12))])


def _entry(table: Mapping[str, Any], name: str, kind: type[T] | tuple[type[T], ...]) -> T:
    value = table.get(name)
    if not isinstance(value, kind):
        raise ValueError(f"tables must have a fitting {name!r} in each column, got {value!r}.")
    return value


def _median(table: Mapping[str, Any]) -> float:
    value = float(_entry(table, "median", (int, float)))
    if not np.isfinite(value):
        raise ValueError(f"tables must have a finite 'median' in each column, got {value}.")
    return value


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
