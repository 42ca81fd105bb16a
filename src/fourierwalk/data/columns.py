"""A subset of the inputs: rows without the other columns, and frequencies that are zero there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace
from fourierwalk.data.rows import Rows


@dataclass(frozen=True)
class Columns:
    """A subset of the inputs.

    Parameters
    ----------
    kept : array of shape (r,)
        The indices of the subset, ascending.
    n_inputs : int
        The number of all inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data.columns import Columns
    >>> from fourierwalk.data.rows import Rows
    >>> some = Columns(np.array([0, 2]), 3)
    >>> some.rows(Rows(np.array([[1.0, 2.0, 3.0]]))).x
    array([[1., 3.]])
    >>> some.lift(np.array([[5.0, 6.0]]))
    array([[5., 0., 6.]])
    """

    kept: np.ndarray
    n_inputs: int

    def rows(self, rows: Rows) -> Rows:
        """The same rows with these inputs only."""
        if rows.center is not None and rows.scale is not None:
            return replace(rows, x=rows.x[:, self.kept], center=rows.center[self.kept], scale=rows.scale[self.kept])
        return replace(rows, x=namespace(rows.x).take(rows.x, like(self.kept, rows.x), axis=1))

    def lift(self, vectors: Any) -> Array:
        """Vectors of these inputs as vectors of all inputs, (k, d), with zeros elsewhere; a bias is kept."""
        xp, r = namespace(vectors), len(self.kept)
        places = np.zeros((r, self.n_inputs))
        places[np.arange(r), self.kept] = 1.0
        lifted = vectors[:, :r] @ xp.astype(like(places, vectors), vectors.dtype, copy=False)
        return xp.concat((lifted, vectors[:, r:]), axis=1)
