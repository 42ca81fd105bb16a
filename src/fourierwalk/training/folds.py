"""Folds: which rows are validation rows. Equal rows, and rows of one group, stay together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from fourierwalk.arrays.library import to_host
from fourierwalk.arrays.threads import blas_threads, in_threads
from fourierwalk.data.streaming import Streamed
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
    x: Any,
    fraction: float,
    seed: int,
    labels: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    few: int = 0,
    policy: Policy = DEFAULT,
) -> Folds | None:
    """Split rows into folds by a seeded hash of their contents or groups; the order of the rows does not matter.

    Each fold holds out the share `fraction` of the rows. With fewer than `few` distinct rows there are ``policy.folds``
    folds, and every row is in one of them. With labels every fold has its share of each class; a class with fewer
    distinct rows than folds is never held out. The result is None if there are too few distinct rows to hold any out.
    """
    hashes = row_hash(x, seed)
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
    if groups is not None and distinct.size < n_folds:
        raise ValueError(f"groups must name at least {n_folds} groups, one for each fold, got {distinct.size}.")
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


def row_hash(x: Any, seed: int) -> np.ndarray:
    """A seeded 64-bit hash of the contents of each row; equal rows have equal hashes."""
    keys = np.random.default_rng(seed).integers(1, 2**63, size=x.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(
        1
    )
    if scipy.sparse.issparse(x):
        x = scipy.sparse.csr_array(x, copy=True)
        x.sum_duplicates()
        mixed = _mix(_bits(x.data) * keys[x.indices])
        total = np.zeros(x.shape[0], dtype=np.uint64)
        np.add.at(total, np.repeat(np.arange(x.shape[0]), np.diff(x.indptr)), mixed)
        return _mix(total)
    total = np.zeros(x.shape[0], dtype=np.uint64)

    def add(rows: range) -> None:
        for start in range(rows.start, rows.stop, 512):
            part = slice(start, min(start + 512, rows.stop))
            values = x.on_host(part) if isinstance(x, Streamed) else to_host(x[part, :])
            total[part] = np.sum(_mix(_bits(values) * keys[None, :]), axis=1, dtype=np.uint64)

    n_threads = blas_threads()
    in_threads(add, [x.shape[0] * i // n_threads for i in range(n_threads + 1)], x.shape[0] * x.shape[1] > 2**20)
    return _mix(total)


def _bits(values: np.ndarray) -> np.ndarray:
    """The bits of doubles. Both zeros become 0, so that a sparse row and its dense form have the same hash."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mix(values: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64, which maps 0 to 0."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
