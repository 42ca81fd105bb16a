"""Target encoding: mean targets of the levels of a column, with cross-fitting for the rows of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fourierwalk.data.hashes import hash_of_places, row_hash

N_FOLDS = 5
"""The number of parts in cross-fitting: each part is encoded by the targets of the others."""


@dataclass(frozen=True)
class Grouped:
    """Sums over the rows of each of L levels: of weights (L,), of targets and of their squares (L, q).

    A centre is subtracted from all targets, because squares of numbers far from zero have too few digits.
    """

    weight: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    center: np.ndarray  # (q,)

    @classmethod
    def of(
        cls, codes: np.ndarray, n_levels: int, y: np.ndarray, weight: np.ndarray | None, center: Any = 0.0
    ) -> Grouped:
        """The sums over rows whose levels are given by codes."""
        center = np.zeros(y.shape[1]) + center
        w, y = np.ones(codes.size) if weight is None else weight, y - center
        total, squares = (
            np.stack([np.bincount(codes, w * column, minlength=n_levels) for column in power.T], axis=1)
            for power in (y, y**2)
        )
        return cls(np.bincount(codes, w, minlength=n_levels), total, squares, center)

    def __add__(self, other: Grouped) -> Grouped:
        total, squares = self.total + other.total, self.squares + other.squares
        return Grouped(self.weight + other.weight, total, squares, self.center)

    def __getitem__(self, levels: slice) -> Grouped:
        return Grouped(self.weight[levels], self.total[levels], self.squares[levels], self.center)


def smoothed(grouped: Grouped) -> tuple[np.ndarray, np.ndarray]:
    """The smoothed mean of each level, (L, q), and the mean of all rows, (q,), by a random-effects model.

    A level of weight w gets (w·own + m·all)/(w + m), where own and all are the means of the level and of all rows, and
    m is the variance within levels divided by the variance between them.
    """
    weight, total, squares = grouped.weight, grouped.total, grouped.squares
    whole = max(weight.sum(), 1e-300)
    mean = total.sum(axis=0) / whole
    counted = np.maximum(weight, 1e-300)[:, None]
    within = np.maximum(squares - total**2 / counted, 0.0).sum(axis=0)
    overall = np.maximum(squares.sum(axis=0) - whole * mean**2, 0.0)
    n_levels = int(np.count_nonzero(weight))
    inside = within / (whole - n_levels) if whole > n_levels else overall / max(whole - 1.0, 1e-300)
    size = max(whole - float(np.sum(weight**2)) / whole, 1e-300)  # the typical weight of a level times (n_levels − 1)
    between = np.maximum(overall - within - (n_levels - 1) * inside, 0.0) / size
    scale = inside + between
    kept = between[None, :] * weight[:, None]
    drawn = inside[None, :] + kept
    share = np.where(drawn > 1e-12 * scale, kept / np.where(drawn > 0, drawn, 1.0), 0.0)
    return grouped.center + mean + share * (total / counted - mean), grouped.center + mean


def by_part(codes: np.ndarray, part: np.ndarray, n_levels: int) -> np.ndarray:
    """The code of a row's level and part together: part · n_levels + level."""
    return part * n_levels + codes


def whole(sums: Grouped, n_levels: int) -> Grouped:
    """The sums over all parts, from those of each part."""
    return reduce(add, _parted(sums, n_levels))


def apart(sums: Grouped, n_levels: int) -> np.ndarray:
    """The means that encode each part, which are those of the others, and last the means of all parts.

    The shape is (N_FOLDS + 1, n_levels + 1, q). The last of the levels stands for unknown ones.
    """
    each, everyone = _parted(sums, n_levels), whole(sums, n_levels)
    others = [reduce(add, each[:part] + each[part + 1 :]) for part in range(N_FOLDS)]
    used = [other if np.any(other.weight) else everyone for other in others]
    return np.stack([np.vstack(smoothed(grouped)) for grouped in (*used, everyone)])


def _parted(sums: Grouped, n_levels: int) -> list[Grouped]:
    return [sums[part * n_levels : (part + 1) * n_levels] for part in range(N_FOLDS)]


def rounded(means: np.ndarray) -> np.ndarray:
    """The means with 24 bits of their range, so that they do not depend on the order in which rows were added."""
    reach = np.ptp(means, axis=(0, 1))
    unit = 2.0 ** (np.floor(np.log2(np.where(reach > 0, reach, 1.0))) - 24)
    return np.where(reach > 0, np.round(means / unit) * unit, means)


@dataclass(frozen=True)
class Coded:
    """A column of many levels: the code of each row's level, and the place of its means among the encoded columns."""

    codes: np.ndarray
    n_levels: int
    place: slice


@dataclass(frozen=True)
class CrossFitted:
    """Encoded rows with cross-fitted mean targets: rows are in five parts, and each is encoded by the other four.

    Parameters
    ----------
    x : array of shape (n, d)
        Encoded rows; the columns of means are replaced.
    coded : sequence of Coded
        The columns of many levels.
    y : array of shape (n, q)
        Targets.
    weight : array of shape (n,), optional
        Weights of the rows.
    part : array of shape (n,)
        The part of each row, 0 to 4.
    center : array of shape (q,)
        About the mean of the targets.
    beyond : sequence of Grouped
        For each column of many levels, sums over rows that are not here, if these are a sample of all rows. They are
        sums of each level in each part (see `by_part`).
    """

    x: np.ndarray
    coded: Sequence[Coded]
    y: np.ndarray
    weight: np.ndarray | None
    part: np.ndarray
    center: Any = 0.0
    beyond: Sequence[Grouped] = ()

    def inputs(self, held_out: np.ndarray | None = None) -> np.ndarray:
        """All encoded rows. No row is encoded by the targets of the rows in the mask `held_out`."""
        part = self.part if held_out is None else np.where(held_out, N_FOLDS, self.part)  # all parts may encode those
        x = self.x.copy()
        for column, means in zip(self.coded, self.means(held_out), strict=True):
            x[:, column.place] = means[part, column.codes]  # −1, of an unknown level, is the last
        return x

    def means(self, held_out: np.ndarray | None = None) -> list[np.ndarray]:
        """The means that encode each part, as `apart` gives them, for each column of many levels."""
        counts = np.ones(len(self.x), dtype=bool) if held_out is None else ~held_out
        counts = counts if self.weight is None else counts & (self.weight > 0)
        weight = None if self.weight is None else self.weight[counts]
        found = []
        for place, column in enumerate(self.coded):
            codes = by_part(column.codes, self.part, column.n_levels)[counts]
            sums = Grouped.of(codes, N_FOLDS * column.n_levels, self.y[counts], weight, self.center)
            if self.beyond:
                found.append(rounded(apart(self.beyond[place] + sums, column.n_levels)))
            else:
                found.append(apart(sums, column.n_levels))
        return found

    def identities(self) -> np.ndarray:
        """The rows with codes in place of mean targets: two are equal if and only if their rows in the table are."""
        x = self.x.copy()
        for column in self.coded:
            x[:, column.place] = column.codes[:, None]
        return x


def parts(rows: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """The part of each row, which depends on its contents and not on its position. Rows of a group are in one part.

    Equal rows are spread evenly over the parts. Otherwise a level whose rows are all equal would be in one part, and
    would not be encoded by its own mean.
    """
    if groups is not None:
        return (row_hash(groups.astype(np.float64)[:, None], seed=0) % np.uint64(N_FOLDS)).astype(np.int64)
    part = np.empty(len(rows), dtype=np.int64)
    part[np.argsort(row_hash(rows, seed=0), kind="stable")] = np.arange(len(rows)) % N_FOLDS
    return part


def parts_of_places(places: np.ndarray) -> np.ndarray:
    """The parts of rows in blocks, which the places of the rows among all rows decide."""
    return (hash_of_places(places, seed=0) % np.uint64(N_FOLDS)).astype(np.int64)
