"""A shift and a scale for each column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fourierwalk.arrays.library import Array, float64, namespace, to_host
from fourierwalk.files.fields import Fields


@dataclass(frozen=True)
class Affine:
    """``(values − center) / scale``, one center and one scale per column."""

    center: Array
    scale: Array
    is_affine: ClassVar[bool] = True

    def apply(self, values: Array) -> Array:
        """Raw units to scaled ones."""
        return (float64(values) - self.center[None, :]) / self.scale[None, :]

    def invert(self, values: Array) -> Array:
        """Scaled units to raw ones."""
        return values * self.scale[None, :] + self.center[None, :]

    def derivative(self, values: Array) -> Array:
        """∂ scaled / ∂ raw of each entry, (n, d)."""
        return namespace(self.scale).broadcast_to(1.0 / self.scale[None, :], values.shape)

    def curvature(self, values: Array) -> Array:
        """∂² scaled / ∂ raw² of each entry, (n, d): zeros."""
        return namespace(self.scale).broadcast_to(0.0 * self.scale[None, :], values.shape)

    def moved(self, move: Callable[[Array], Array]) -> Affine:
        """The same with each array moved."""
        return Affine(move(self.center), move(self.scale))

    def to_tables(self) -> dict[str, Any]:
        """What a file keeps: `center` and `scale`, (d,)."""
        return {"center": to_host(self.center), "scale": to_host(self.scale)}

    @classmethod
    def from_tables(cls, fields: Fields, n_columns: int) -> Affine:
        """What `to_tables` gave, checked."""
        center, scale = fields.array("center", n_columns), fields.array("scale", n_columns)
        if not np.all(scale > 0):
            raise ValueError(f"{fields.name}.scale must be above 0, got {np.min(scale):g}.")
        return cls(center, scale)
