"""Rough times of the operations that the paths consist of. Only the order of the paths matters."""

from __future__ import annotations

from typing import NamedTuple

from fourierwalk.arrays.library import is_remote
from fourierwalk.data.rows import Rows


class Rates(NamedTuple):
    """Rough seconds of the operations that the paths consist of."""

    entry: float  # for an entry of a column
    product: float  # for one operation in products
    factorisation: float  # for one operation in factorisations
    start: float  # for the start of a transform
    window: float  # for a point under the window of a transform
    window_points: int  # points under the window, per dimension, that count in the time

    @classmethod
    def of(cls, rows: Rows) -> Rates:
        """The rates of the machine that holds the rows."""
        return GPU if is_remote(rows.anchor) else ONE_CORE

    def columns(self, rows: Rows, width: int) -> float:
        """The seconds for `width` columns of all rows."""
        return self.entry * len(rows) * width * (1 + 0.02 * int(rows.x.shape[-1]))


ONE_CORE = Rates(1e-8, 1 / 4e10, 1 / 4e10, 2e-3, 5e-9, 8)
GPU = Rates(2e-11, 1 / 4e13, 1 / 1e13, 3e-4, 2e-10, 15)
