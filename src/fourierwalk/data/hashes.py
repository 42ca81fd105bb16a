"""Seeded hashes of rows, by their contents or by their places. A choice by a hash needs no list of the chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from fourierwalk.arrays.threads import blas_threads, in_threads
from fourierwalk.data.streaming import rows_on_host


def row_hash(x: Any, seed: int) -> np.ndarray:
    """A seeded 64-bit hash of the contents of each row; equal rows have equal hashes.

    Round numbers have few bits, so some rows that differ have equal hashes too, such as (2, 0) and (0, 2). That is good
    enough for folds. `identity_hash` tells them apart.
    """
    return _hashed(x, seed, _bits)


def identity_hash(x: Any) -> np.ndarray:
    """A 64-bit hash of the contents of each row by which equal rows are recognised.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, -0.0]])
    >>> [int(np.unique(each).size) for each in (identity_hash(rows), identity_hash(rows[:, :1]))]
    [2, 2]
    """
    return _hashed(x, 0, lambda values: _mix(_bits(values)))


def _hashed(x: Any, seed: int, bits: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    keys = np.random.default_rng(seed).integers(1, 2**63, size=x.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(
        1
    )
    if scipy.sparse.issparse(x):
        x = scipy.sparse.csr_array(x, copy=True)
        x.sum_duplicates()
        mixed = _mix(bits(x.data) * keys[x.indices])
        total = np.zeros(x.shape[0], dtype=np.uint64)
        np.add.at(total, np.repeat(np.arange(x.shape[0]), np.diff(x.indptr)), mixed)
        return _mix(total)
    total = np.zeros(x.shape[0], dtype=np.uint64)

    def add(rows: range) -> None:
        for start in range(rows.start, rows.stop, 512):
            part = slice(start, min(start + 512, rows.stop))
            total[part] = np.sum(_mix(bits(rows_on_host(x, part)) * keys[None, :]), axis=1, dtype=np.uint64)

    n_threads = blas_threads()
    in_threads(add, [x.shape[0] * i // n_threads for i in range(n_threads + 1)], x.shape[0] * x.shape[1] > 2**20)
    return _mix(total)


def place_hash(start: int, n_rows: int, seed: int) -> np.ndarray:
    """A seeded 64-bit hash of each of the places start, start + 1, …

    Examples
    --------
    >>> bool(np.all(place_hash(3, 2, 0) == place_hash(0, 5, 0)[3:]))
    True
    """
    return hash_of_places(np.arange(start, start + n_rows), seed)


def picked_places(start: int, stop: int, n_places: int, n_picked: int, seed: int) -> np.ndarray:
    """Random places among 0, …, n_places − 1, one in each of `n_picked` equal parts: those from start to stop.

    Only the picked places are hashed, so a sample of a billion rows costs no more than one of a million.

    Examples
    --------
    >>> [picked_places(start, start + 5, 10, 3, seed=0).size for start in (0, 5)]
    [1, 2]
    """
    parts = np.arange(start * n_picked // n_places, min(n_picked, stop * n_picked // n_places + 1), dtype=np.int64)
    lows, highs = parts * n_places // n_picked, (parts + 1) * n_places // n_picked
    hashes = hash_of_places(parts, seed)
    places = lows + (hashes % (highs - lows).astype(np.uint64)).astype(np.int64)
    return places[(places >= start) & (places < stop)]


def below(hashes: np.ndarray, share: float) -> np.ndarray:
    """A mask of the hashes in the lowest share of all 64-bit numbers: of random hashes, about this share."""
    return np.ones(hashes.shape, dtype=bool) if share >= 1 else hashes < np.uint64(int(share * 2.0**64))


def _bits(values: np.ndarray) -> np.ndarray:
    """The bits of doubles. Both zeros become 0, so that a sparse row and its dense form have the same hash."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def hash_of_places(places: np.ndarray, seed: int) -> np.ndarray:
    """A seeded 64-bit hash of each of some places, which are whole numbers."""
    return _mix(_mix(places.astype(np.uint64) + np.uint64(1)) + np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64))


def _mix(values: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64, which maps 0 to 0."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
