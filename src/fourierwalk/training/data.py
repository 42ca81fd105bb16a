"""The data of a fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, to_host
from fourierwalk.chunks.whole import Whole
from fourierwalk.data.hashes import identity_hash
from fourierwalk.data.rows import Rows


class Data(NamedTuple):
    """Checked data of a fit, not scaled yet; targets have the shape (n, q)."""

    x: Any
    y: Array
    weight: Array | None = None
    x_val: Any = None
    y_val: Array | None = None
    groups: np.ndarray | None = None
    is_fixed: np.ndarray | None = None  # columns that are centred but not scaled: levels of categories, cycles of dates
    whole: Whole | None = None  # rows in chunks; x, y and weight are then a sample of them
    means: Any = None  # `fourierwalk.tables.means.CrossFitted`, if columns of a table are mean targets

    @property
    def identities(self) -> Any:
        """Inputs by which equal rows are recognised: mean targets are replaced by the number of the level."""
        return self.x if self.means is None else self.means.identities()

    def distinct(self, hashes: np.ndarray) -> tuple[Data, np.ndarray]:
        """Equal rows as one row with their weights together, and its hashes; the first of them stays in its place.

        Rows are equal if their inputs, targets and groups are. So repeated rows are treated as whole-number weights
        are, and cost no more. Nothing is merged in a sample of rows in chunks, and where inputs are mean targets: these
        depend on the other rows.

        Parameters
        ----------
        hashes : array of shape (n,)
            A hash of each row's inputs.
        """
        is_sample = self.whole is not None and not self.whole.is_in_sample
        _, place, times = np.unique(hashes, return_inverse=True, return_counts=True)
        alike = np.flatnonzero(times[place.reshape(-1)] > 1)
        if is_sample or self.means is not None or not alike.size:
            return self, hashes
        some, keys = Rows(self.x, self.y).take(alike), np.arange(hashes.size, dtype=np.uint64)
        keys[alike] = identity_hash(some.x) + 3 * identity_hash(some.y)
        if self.groups is not None:
            keys[alike] += 5 * identity_hash(self.groups[alike].astype(np.float64)[:, None])
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        if first.size == hashes.size:
            return self, hashes
        weight = np.bincount(inverse.reshape(-1), None if self.weight is None else to_host(self.weight))
        order = np.argsort(first)
        kept = first[order]
        rows = Rows(self.x, self.y).take(kept)
        merged = self._replace(x=rows.x, y=rows.y, weight=like(weight[order].astype(np.float64), self.y))
        return merged._replace(groups=None if self.groups is None else self.groups[kept]), hashes[kept]
