"""Target encoding: mean targets of the levels of a column, with cross-fitting for the rows of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fourierwalk.training.folds import row_hash

N_FOLDS = 5
"""The number of parts in cross-fitting: each part is encoded by the targets of the others."""


class Grouped(NamedTuple):
    """Sums over the rows of each of L levels: of weights (L,), of targets and of their squares (L, q)."""

    weight: np.ndarray
    total: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, n_levels: int, y: np.ndarray, weight: np.ndarray | None) -> Grouped:
        """The sums over rows whose levels are given by codes."""
        w = np.ones(codes.size) if weight is None else weight
        sums = [
            np.stack([np.bincount(codes, w * column, minlength=n_levels) for column in power.T], axis=1)
            for power in (y, y**2)
        ]
        return cls(np.bincount(codes, w, minlength=n_levels), *sums)


def smoothed(grouped: Grouped) -> tuple[np.ndarray, np.ndarray]:
    """The smoothed mean of each level, (L, q), and the mean of all rows, (q,), by a random-effects model.

    A level of weight w gets (w·own + m·all)/(w + m), where own and all are the means of the level and of all rows, and
    m is the variance within levels divided by the variance between them.
    """
    weight, total, squares = grouped
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
    return mean + share * (total / counted - mean), mean


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
    """

    x: np.ndarray
    coded: Sequence[Coded]
    y: np.ndarray
    weight: np.ndarray | None
    part: np.ndarray

    def inputs(self, held_out: np.ndarray | None = None) -> np.ndarray:
        """All encoded rows. No row is encoded by the targets of the rows in the mask `held_out`."""
        seen = np.ones(len(self.x), dtype=bool) if held_out is None else ~held_out
        counts = seen if self.weight is None else seen & (self.weight > 0)
        x = self.x.copy()
        for part in range(-1, N_FOLDS):  # −1 stands for the rows held out: all others may encode them
            rows = ~seen if part < 0 else seen & (self.part == part)
            others = counts & (self.part != part) if np.any(counts & (self.part != part)) else counts
            if np.any(rows):
                self._encode(x, rows, others)
        return x

    def identities(self) -> np.ndarray:
        """The rows with codes in place of mean targets: two are equal if and only if their rows in the table are."""
        x = self.x.copy()
        for column in self.coded:
            x[:, column.place] = column.codes[:, None]
        return x

    def _encode(self, x: np.ndarray, rows: np.ndarray, others: np.ndarray) -> None:
        weight = None if self.weight is None else self.weight[others]
        for column in self.coded:
            grouped = Grouped.of(column.codes[others], column.n_levels, self.y[others], weight)
            means, mean = smoothed(grouped)
            x[rows, column.place] = np.vstack((means, mean))[column.codes[rows]]  # −1, of an unknown level, is the last


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
