"""A shift and a scale for each column, and a smooth bound on what is far away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from fourierwalk.arrays.library import Array, namespace, to_host
from fourierwalk.data.affine import Affine
from fourierwalk.files.fields import Fields

CLIP = 3.0
"""The bound of a clipped column. Values up to about one are nearly unchanged."""

_FAR, _NEAR_LIMIT = 1e9, 1e-15


@dataclass(frozen=True)
class SmoothClip:
    """``z / √(1 + (z/limit)²)`` with ``z = (values − center) / scale``: nearly z for small z, never above the limit.

    Parameters
    ----------
    center, scale : array of shape (d,)
        Subtracted from each column, and then divided by.
    clipped : array of bool, of shape (d,)
        The columns that are clipped; the others are z.
    limit : float
        The bound.

    Examples
    --------
    >>> import numpy as np
    >>> clip = SmoothClip(np.zeros(2), np.ones(2), np.array([True, False]))
    >>> clip.apply(np.array([[4.0, 4.0], [1e6, 1e6]])).round(2)
    array([[2.4e+00, 4.0e+00],
           [3.0e+00, 1.0e+06]])
    """

    center: Array
    scale: Array
    clipped: Array
    limit: float = CLIP
    is_affine: ClassVar[bool] = False

    def apply(self, values: Array) -> Array:
        """Raw units to scaled ones."""
        xp, z = namespace(self.scale), self._affine.apply(values)
        share = self._share(z)
        return xp.where(self.clipped[None, :], self.limit * (share / xp.sqrt(1.0 + share * share)), z)

    def invert(self, values: Array) -> Array:
        """Scaled units to raw ones. Values at the limit, to which far values are rounded, give a finite far value."""
        xp = namespace(self.scale)
        share = xp.clip(values / self.limit, -1.0 + _NEAR_LIMIT, 1.0 - _NEAR_LIMIT)
        z = xp.where(self.clipped[None, :], self.limit * (share / xp.sqrt(1.0 - share * share)), values)
        return self._affine.invert(z)

    def derivative(self, values: Array) -> Array:
        """∂ scaled / ∂ raw of each entry, (n, d)."""
        xp, share = namespace(self.scale), self._share(self._affine.apply(values))
        slope = (1.0 + share * share) ** -1.5
        return xp.where(self.clipped[None, :], slope, xp.ones_like(slope)) / self.scale[None, :]

    def curvature(self, values: Array) -> Array:
        """∂² scaled / ∂ raw² of each entry, (n, d)."""
        xp, share = namespace(self.scale), self._share(self._affine.apply(values))
        bend = -3.0 * share * (1.0 + share * share) ** -2.5 / self.limit
        return xp.where(self.clipped[None, :], bend, xp.zeros_like(bend)) / self.scale[None, :] ** 2

    def moved(self, move: Callable[[Array], Array]) -> SmoothClip:
        """The same with each array moved."""
        return replace(self, center=move(self.center), scale=move(self.scale), clipped=move(self.clipped))

    def to_tables(self) -> dict[str, Any]:
        """What a file keeps: `center`, `scale` and `clipped`, (d,), and `limit`."""
        return {**self._affine.to_tables(), "clipped": to_host(self.clipped), "limit": self.limit}

    @classmethod
    def from_tables(cls, fields: Fields, n_columns: int) -> SmoothClip:
        """What `to_tables` gave, checked."""
        affine, clipped = Affine.from_tables(fields, n_columns), fields.array("clipped", n_columns, kinds="b")
        return cls(affine.center, affine.scale, clipped, fields.number("limit", above=0))

    @property
    def _affine(self) -> Affine:
        return Affine(self.center, self.scale)

    def _share(self, z: Array) -> Array:
        """z divided by the limit, bounded so that its square cannot overflow; the clip is exact there to all digits."""
        return namespace(z).clip(z / self.limit, -_FAR, _FAR)
