"""The data of a fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array
from fourierwalk.chunks.whole import Whole


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
