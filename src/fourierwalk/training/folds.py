"""Folds: which rows are validation rows. Equal rows, and rows of one group, stay together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fourierwalk.data.hashes import row_hash
from fourierwalk.training.policy import DEFAULT, Policy


@dataclass(frozen=True)
class Folds:
    """The validation rows of each member.

    Parameters
    ----------
    unit : array of shape (n,)
        The unit of each row: a number. Rows of one unit stay together. The order of the units is random, and depends
        on the contents of the rows only.
    folds : sequence of arrays
        The units that are held out, one array per fold; folds are disjoint.
    n_rows : int
        The number of distinct rows.
    """

    unit: np.ndarray
    folds: Sequence[np.ndarray]
    n_rows: int

    def __len__(self) -> int:
        return len(self.folds)

    def mask(self, fold: int) -> np.ndarray:
        """A mask of the rows that are held out."""
        chosen = np.zeros(int(np.max(self.unit)) + 1, dtype=bool)
        chosen[self.folds[fold % len(self.folds)]] = True
        return chosen[self.unit]

    def shuffled(self, rows: np.ndarray) -> np.ndarray:
        """The indices `rows`, sorted by the random order of their units."""
        return rows[np.argsort(self.unit[rows], kind="stable")]


def folds(
    hashes: np.ndarray,
    fraction: float,
    seed: int,
    labels: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    few: int = 0,
    policy: Policy = DEFAULT,
) -> Folds | None:
    """Split rows into folds by a seeded hash of their inputs or groups; the order of the rows does not matter.

    Each fold holds out the share `fraction` of the rows. With fewer than `few` distinct rows there are ``policy.folds``
    folds, and every row is in one of them. With labels every fold has its share of each class; a class with fewer
    distinct rows than folds is never held out. The result is None if there are too few distinct rows to hold any out.
    """
    n_rows = int(np.unique(hashes).size)
    if n_rows < (policy.least_rows if n_rows < few else policy.least_split):
        return None
    if groups is not None:
        hashes = row_hash(groups.astype(np.float64)[:, None], seed)
    distinct, first, unit = np.unique(hashes, return_index=True, return_inverse=True)
    unit, classes = unit.reshape(-1), np.zeros(distinct.size, dtype=np.int64)
    if labels is not None and groups is None:
        classes = labels[first].astype(np.int64)
        np.minimum.at(classes, unit, labels)  # equal rows with different labels: the rule must not depend on order
    n_folds = policy.folds if n_rows < few else max(1, int(1 / fraction + 1e-9))
    share = 1 / n_folds if n_rows < few else fraction
    if groups is not None:
        least = min(n_folds, policy.folds)
        if distinct.size < least:
            raise ValueError(f"groups must name at least {least} groups, one for each fold, got {distinct.size}.")
        if distinct.size < n_folds:  # each group is held out once
            n_folds, share = int(distinct.size), 1 / distinct.size
    if n_folds > distinct.size:  # some would be empty
        return None
    held = _parts(classes, n_folds, share)
    return Folds(unit, held, n_rows) if all(0 < part.size < distinct.size for part in held) else None


def _parts(classes: np.ndarray, n_folds: int, share: float) -> list[np.ndarray]:
    """The units of each fold: a share of every class that is large enough. Units are in random order already."""
    parts: list[list[np.ndarray]] = [[np.empty(0, dtype=np.int64)] for _ in range(n_folds)]
    for name in np.unique(classes):
        members = np.flatnonzero(classes == name)
        ends = [int(share * members.size * fold + 0.5) for fold in range(n_folds + 1)]
        if members.size >= n_folds and ends[1] < members.size:
            for fold in range(n_folds):
                parts[fold].append(members[ends[fold] : ends[fold + 1]])
    return [np.concatenate(part) for part in parts]
