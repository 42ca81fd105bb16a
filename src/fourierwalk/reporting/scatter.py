"""A mean and its scatter as text."""

from __future__ import annotations

import math


def with_scatter(mean: float, deviation: float, sign: str = "") -> str:
    """The scatter to two digits, and the mean to the same place. Without scatter, the mean alone; "+" shows its sign.

    Examples
    --------
    >>> with_scatter(0.61482, 0.11), with_scatter(0.04203, 0.0029), with_scatter(12.3, 0.0)
    ('0.61 ± 0.11', '0.0420 ± 0.0029', '12.3')
    """
    if not deviation > 0:
        return f"{mean:{sign}.3g}"
    digits = max(0, 1 - math.floor(math.log10(deviation)))
    return f"{mean:{sign}.{digits}f} ± {deviation:.{digits}f}"
