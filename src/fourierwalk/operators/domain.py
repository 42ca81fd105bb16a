"""A box of inputs, and points in it and on its faces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fourierwalk.calculus.distributions import Uniform


@dataclass(frozen=True)
class Domain:
    """A box of inputs: random points inside it and on its faces, for conditions.

    Parameters
    ----------
    lower, upper : sequence of float, of length d
        The bounds.
    seed : int
        The seed of the points.

    Examples
    --------
    >>> from fourierwalk.operators import Domain
    >>> square = Domain([0, 0], [1, 1])
    >>> square.inside(3).shape
    (3, 2)
    >>> square.face(0, "upper", 2)[:, 0]
    array([1., 1.])
    """

    lower: Any
    upper: Any
    seed: int = 0

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds, (d,), checked."""
        return Uniform(self.lower, self.upper).bounds(len(self.lower))

    def inside(self, n: int) -> np.ndarray:
        """n points, uniform in the box, (n, d)."""
        lower, upper = self.bounds
        return np.random.default_rng((self.seed, 0)).uniform(lower, upper, (n, lower.size))

    def face(self, j: int, side: str, n: int) -> np.ndarray:
        """n points on the face where input j is at its "lower" or "upper" bound, (n, d)."""
        if side not in ("lower", "upper"):
            raise ValueError(f"side must be 'lower' or 'upper', got {side!r}.")
        lower, upper = self.bounds
        if not 0 <= j < lower.size:
            raise ValueError(f"face(j) must be an input from 0 to {lower.size - 1}, got {j}.")
        is_upper = side == "upper"
        points = np.random.default_rng((self.seed, 1, j, is_upper)).uniform(lower, upper, (n, lower.size))
        points[:, j] = upper[j] if is_upper else lower[j]
        return points

    def boundary(self, n: int, inputs: Any = None) -> np.ndarray:
        """About n points on both faces of each input, or of some inputs; every face has the same number, (≥ n, d)."""
        chosen = range(len(self.lower)) if inputs is None else [inputs] if isinstance(inputs, int) else list(inputs)
        if not chosen:
            raise ValueError("boundary(inputs) must name at least one input, got none.")
        each = -(-n // (2 * len(chosen)))
        return np.concatenate([self.face(j, side, each) for j in chosen for side in ("lower", "upper")])
