"""Weights of rows: checked, and of a size that means something."""

from __future__ import annotations

from typing import Any

import numpy as np

from fourierwalk.arrays.library import is_foreign, to_host


def weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Equal weights are all one. Of others, whole numbers are repetitions and stay; the rest get a mean of one.

    Rows of weight zero keep it and do not count in either rule.
    """
    weight = checked_weights(sample_weight, n_rows)
    if np.all(weight[weight > 0] == np.max(weight)):
        return (weight > 0).astype(np.float64)
    whole = np.all(weight == np.round(weight))
    return weight if whole else weight * (np.count_nonzero(weight) / np.sum(weight))


def checked_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """The weights as they were given, as doubles; a number is the weight of every row."""
    given = np.asarray(to_host(sample_weight) if is_foreign(sample_weight) else sample_weight)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"sample_weight must be real numbers, got an array of {given.dtype}.")
    weight = np.full(n_rows, given, dtype=np.float64) if given.ndim == 0 else given.astype(np.float64)
    if weight.shape != (n_rows,):
        expected = f"shape ({n_rows},), one weight per row of X"
        raise ValueError(f"sample_weight must have {expected}, got shape {weight.shape}.")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError(f"sample_weight must be finite and not negative, got a minimum of {np.min(weight)}.")
    if not np.any(weight > 0):
        raise ValueError("sample_weight must have a positive entry, got only zeros.")
    return weight
