"""What a problem answers: amplitudes, loss, and what happened inside."""

from __future__ import annotations

from typing import Any, NamedTuple

from fourierwalk.arrays.library import Array


class SolveInfo(NamedTuple):
    """What happened inside: the path taken, its precision, whether that was raised, whether the fallback was needed."""

    path: str
    fallback: bool
    precision: str = "double"
    raised: bool = False
    trusted: Any = True  # False only where nobody has asked yet: see `LeastSquares.ahead`


class Solution(NamedTuple):
    """Amplitudes (K, q), the value of N⁻¹|Sβ − y|² + λ|β|² there, and what happened inside.

    On a GPU the value is an array without axes, so that nobody waits for it; of stacked problems, one each.
    """

    amplitudes: Array
    loss: Any
    info: SolveInfo
