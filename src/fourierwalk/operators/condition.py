"""Conditions: what an operator of the function is at some points."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fourierwalk.arrays.library import is_foreign, to_host
from fourierwalk.operators.operator import Operator


@dataclass(frozen=True, eq=False)
class Condition:
    """``operator`` of the function has these ``values`` at these ``points``.

    Parameters
    ----------
    operator : Operator
        What is known: ``identity()`` for the function itself, ``d(0)`` for a derivative, and so on.
    points : array of shape (n, d)
        Where it is known.
    values : float, array of shape (n,), or callable
        What it is there; a callable gets the points.
    name : str
        A name for tables and messages.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.operators import Condition, laplacian
    >>> points = np.random.default_rng(0).random((100, 2))
    >>> Condition(-laplacian(0, 1), points, 1.0, name="Poisson").values.shape
    (100,)
    """

    operator: Operator
    points: Any
    values: Any = 0.0
    name: str = ""
    anchor: Any = field(init=False, repr=False)  # an array in the library and on the device of the points

    def __post_init__(self) -> None:
        """Raise an error for what cannot be a condition."""
        if not isinstance(self.operator, Operator):
            raise TypeError(
                f"Condition(operator, …) must be an Operator, such as identity(), got {type(self.operator).__name__}."
            )
        object.__setattr__(self, "anchor", self.points if is_foreign(self.points) else np.zeros(0))
        points = np.asarray(to_host(self.points), dtype=np.float64)
        if points.ndim != 2 or 0 in points.shape:
            raise ValueError(f"Condition(points=…) must have the shape (n, d), got {points.shape}.")
        if not np.all(np.isfinite(points)):
            raise ValueError("Condition(points=…) must be finite, got NaN or infinity.")
        self.operator.require(points.shape[1])
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "values", self._values(points))

    def _values(self, points: np.ndarray) -> np.ndarray:
        given = self.values(points) if callable(self.values) else self.values
        values = np.asarray(given if isinstance(given, int | float | list) else to_host(given), dtype=np.float64)
        if values.shape == (len(points), 1):
            values = values[:, 0]
        if values.shape not in ((), (len(points),)):
            raise ValueError(
                f"Condition(values=…) must be a number or have one entry for each of {len(points)} points, got the "
                f"shape {values.shape}."
            )
        if not np.all(np.isfinite(values)):
            raise ValueError("Condition(values=…) must be finite, got NaN or infinity.")
        return np.broadcast_to(values, (len(points),)).copy()

    @property
    def label(self) -> str:
        """The name, or the operator."""
        return self.name or repr(self.operator)

    def take(self, chosen: np.ndarray) -> Condition:
        """The condition at some of its points."""
        return replace(self, points=self.points[chosen], values=self.values[chosen])
