"""Robust scales: medians and interquartile ranges of columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, to_host
from fourierwalk.arrays.memory import free_bytes
from fourierwalk.data.rows import BLOCK_BYTES
from fourierwalk.data.smooth_clip import SmoothClip
from fourierwalk.data.streaming import columns_on_host, is_streamed

NORMAL_RANGE = 1.349
"""The interquartile range of a normal distribution, in standard deviations."""

LEAST_RANGE = 1e-12
"""An interquartile range of up to this share of the standard deviation counts as zero (rounding)."""


def clip_by_quartiles(
    x: Any,
    weight: Array | None,
    mean: np.ndarray,
    spread: np.ndarray,
    constant: np.ndarray,
    most_bytes: float | None = None,
) -> SmoothClip:
    """A clip by medians and interquartile ranges of dense x.

    Columns whose range is zero keep `mean` and `spread`; those of at most two values, and `constant` ones, are not
    clipped. `most_bytes` bounds the columns that are copied at a time.
    """
    host_weight = None if weight is None else np.asarray(to_host(weight), dtype=np.float64)
    center, scale, clipped = mean.copy(), spread.copy(), ~constant
    start = 0
    for columns in column_blocks(x, most_bytes):
        for j, column in enumerate(columns, start):
            first, median, third, several = quartiles(column, host_weight)
            clipped[j] &= several
            if clipped[j] and third - first > LEAST_RANGE * spread[j]:
                center[j], scale[j] = median, (third - first) / NORMAL_RANGE
        start += len(columns)
    return SmoothClip(center, scale, clipped)


def column_blocks(x: Any, most_bytes: float | None = None) -> Iterator[np.ndarray]:
    """Yield copies of some columns at a time, as NumPy arrays (n_columns, n) of at most `most_bytes`.

    None: as much as a block of rows takes; if x is on a disk, up to an eighth of the free memory, for few passes.
    """
    if most_bytes is None:
        most_bytes = max(BLOCK_BYTES, free_bytes() / 8) if is_streamed(x) else BLOCK_BYTES
    width = max(1, int(most_bytes // (8 * x.shape[0])))
    for start in range(0, x.shape[1], width):
        part = columns_on_host(x, slice(start, min(start + width, x.shape[1])))
        yield np.array(part.T, dtype=np.float64, order="C")


def quartiles(values: np.ndarray, weight: np.ndarray | None) -> tuple[float, float, float, bool]:
    """The three quartiles of a column (the inverted distribution function), and whether it has over two values.

    Whole-number weights are exactly repeated rows, and the order of the rows does not matter: equal values are ordered
    by their weights before these are summed.
    """
    if weight is None:
        values = np.sort(values)
        places = [-(-len(values) * quarter // 4) - 1 for quarter in (1, 2, 3)]
    else:
        counts = weight > 0
        values, weight = values[counts], weight[counts]
        order = np.lexsort((weight, values))
        values, reached = values[order], np.cumsum(weight[order])
        # A rounded sum must not miss its share: equal weights of any size then give the quartiles of no weights.
        places = [int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12))) for share in (0.25, 0.5, 0.75)]
    first, median, third = (float(values[place]) for place in places)
    return first, median, third, bool(np.any((values > values[0]) & (values < values[-1])))
