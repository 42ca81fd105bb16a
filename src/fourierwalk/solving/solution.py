"""The result of a solve: amplitudes, loss, and a report."""

from __future__ import annotations

from typing import Any, NamedTuple

from fourierwalk.arrays.library import Array


class SolveInfo(NamedTuple):
    """How a solve was done."""

    path: str
    fallback: bool  # whether the equations were singular, and solved for the minimum norm
    precision: str = "double"
    raised: bool = False  # whether the solve was repeated at a higher precision
    trusted: Any = True  # only `LeastSquares.ahead` leaves this open, as an array on the device


class Solution(NamedTuple):
    """Amplitudes (K, q), the loss N⁻¹|Sβ − y|² + λ|β|² there, and how the solve was done.

    On a GPU the loss is an array without axes, so that the host does not wait. Stacked problems have one loss each.
    """

    amplitudes: Array
    loss: Any
    info: SolveInfo
