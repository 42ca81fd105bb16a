"""Rows with more columns than rows, in coordinates of their span.

Frequencies need no other directions: the gradient of the loss is a combination of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.data.rows import Block, Rows

LEAST_VALUE = 1e-10
"""Eigenvalues of the rows' Gram matrix below this share of the largest are dropped."""


@dataclass(frozen=True)
class Span:
    """An orthonormal basis of the span of some rows, as linear combinations of the rows: sparse rows stay sparse.

    Parameters
    ----------
    block : Block
        The rows.
    combinations : array of shape (n, r)
        The basis vectors are ``combinations.T @ rows``.
    """

    block: Block
    combinations: np.ndarray

    @classmethod
    def of(cls, rows: Rows) -> Span:
        """The basis of the rows' principal directions."""
        block = rows.whole()
        values, vectors = np.linalg.eigh(to_host(block.gram(block)))
        keep = values > LEAST_VALUE * max(float(values[-1]), 1e-300)
        return cls(block, vectors[:, keep] / np.sqrt(values[keep]))

    @property
    def n_inputs(self) -> int:
        """The number of all inputs."""
        return int(self.block.x.shape[1])

    def coordinates(self, rows: Rows) -> np.ndarray:
        """The rows' coordinates, (n, r)."""
        return to_host(rows.whole().gram(self.block)) @ self.combinations

    def rows(self, rows: Rows) -> Rows:
        """The same rows in these coordinates."""
        return Rows(like(self.coordinates(rows), rows.y), rows.y, rows.weight)

    def lift(self, vectors: Any) -> Array:
        """Vectors of coordinates as vectors of the inputs, (k, d); a bias is kept."""
        xp, r = namespace(vectors), self.combinations.shape[1]
        coordinates = self.combinations @ to_host(vectors)[:, :r].T
        is_sparse = self.block.center is not None
        lifted = self.block.gather(coordinates if is_sparse else like(coordinates, self.block.x))
        return xp.concat((like(to_host(lifted), vectors), vectors[:, r:]), axis=1)
