"""Facts about a column of a table: all that its encoder is made of, but for medians and mean targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fourierwalk.tables.table import MOMENTS, NUMBERS, WORDS, as_numbers, as_words, kind_of

DAY = 86_400.0
"""Seconds of a day."""

YEAR = 365.2425
"""Days of a mean year."""

MOST_LEVELS = 100_000
"""The most levels of a category whose rows are in blocks: every block is encoded by a list of all of them."""

IN_WORDS = {NUMBERS: "numbers", WORDS: "words", MOMENTS: "dates"}


@dataclass(frozen=True)
class Facts:
    """Facts about a column. Those about some rows and about others add up, in whatever order.

    Examples
    --------
    >>> some, others = (Facts.of("make", np.array(words, dtype=object), True) for words in (["audi"], ["bmw", None]))
    >>> (some + others).levels
    ('audi', 'bmw', None)
    """

    name: str
    kind: str  # "numbers", "words" or "moments"
    is_present: bool  # some values are not missing
    is_missing: bool  # some values are
    low: float = 0.0  # the lowest number, or the first date as a year; 0 if there is none
    has_hours: bool = False
    weights: dict[str | None, float] | None = None  # the weight of each level; None: the column is no category
    block: int = 0  # a block of rows that shows the kind

    @classmethod
    def of(
        cls, name: str, column: np.ndarray, is_category: bool, weight: np.ndarray | None = None, block: int = 0
    ) -> Facts:
        """The facts about some rows, none of which has the weight zero."""
        kind, has_hours = kind_of(column), False
        if is_category:
            words = as_words(column)
            levels = levels_of(words)
            totals = np.bincount(codes_of(levels, words), weight, minlength=len(levels)).astype(np.float64)
            weights = dict(zip(levels, totals.tolist(), strict=True))
            return cls(name, kind, bool({*levels} - {None}), None in weights, weights=weights, block=block)
        if kind == MOMENTS:
            days = days_of(column[~np.isnat(column)])
            present, has_hours = years_of(days), bool(np.any(days != np.floor(days)))
        else:
            numbers = as_numbers(name, column)
            present = numbers[~np.isnan(numbers)]
        low = float(present.min()) if present.size else 0.0
        return cls(name, kind, present.size > 0, present.size < column.size, low, has_hours, block=block)

    def __add__(self, other: Facts) -> Facts:
        shown = self if self.is_present or not other.is_present else other
        merged = Facts(
            self.name,
            self._kind(other),
            shown.is_present,
            self.is_missing or other.is_missing,
            min(one.low for one in (self, other) if one.is_present) if shown.is_present else 0.0,
            self.has_hours or other.has_hours,
            _added(self.weights, other.weights),
            shown.block,
        )
        return merged.bounded(other.block)

    def _kind(self, other: Facts) -> str:
        """The kind of both: words and numbers are words, and a part without any value takes the other's kind."""
        if self.kind == other.kind or not other.is_present:
            return self.kind if self.is_present or self.kind == other.kind else NUMBERS
        if not self.is_present:
            return other.kind
        if MOMENTS in (self.kind, other.kind):
            raise ValueError(
                f"X must hold values of one kind in column {self.name!r}, got {IN_WORDS[self.kind]} in block "
                f"{self.block} and {IN_WORDS[other.kind]} in block {other.block}."
            )
        return WORDS

    def bounded(self, block: int) -> Facts:
        """The same; an error if there are too many levels by the end of a block."""
        if self.weights is not None and len(self.weights) > MOST_LEVELS:
            raise ValueError(
                f"X in blocks must have at most {MOST_LEVELS} levels in a category, got more in column {self.name!r} "
                f"by block {block}: leave it out, or put rare levels together."
            )
        return self

    @property
    def levels(self) -> tuple[str | None, ...]:
        """The levels of a category, sorted; None comes last if some are missing."""
        return _sorted({*(self.weights or ())})

    @property
    def has_gaps(self) -> bool:
        """Whether some values are missing, but not all."""
        return self.is_missing and self.is_present

    @property
    def is_counted(self) -> bool:
        """Whether the levels of all rows are known. They are not if words came after rows that were numbers."""
        return self.kind != WORDS or not self.is_present or self.weights is not None


def levels_of(column: np.ndarray) -> tuple[str | None, ...]:
    """The distinct words, sorted; None comes last if some are missing."""
    return _sorted(set(column.tolist()))


def codes_of(levels: tuple[str | None, ...], column: np.ndarray) -> np.ndarray:
    """The index of each word among the levels; −1 if it is none of them."""
    place = {level: code for code, level in enumerate(levels)}
    return np.fromiter((place.get(word, -1) for word in column.tolist()), np.int64, column.size)


def days_of(moments: np.ndarray) -> np.ndarray:
    """Days since 1970, with fractions."""
    return moments.astype("datetime64[us]").astype(np.int64) / (1e6 * DAY)


def years_of(days: np.ndarray) -> np.ndarray:
    """Years with fractions."""
    return 1970.0 + days / YEAR


def _sorted(words: set[str | None]) -> tuple[str | None, ...]:
    return (*sorted(word for word in words if word is not None), *([None] if None in words else []))


def _added(one: dict | None, other: dict | None) -> dict | None:
    """The weights of the levels of both; None, not counted, if those of either are not."""
    if one is None or other is None:
        return None
    return one | {level: one.get(level, 0.0) + weight for level, weight in other.items()}
