"""Arguments of `fit` and `predict` beside X and y: random numbers, groups, levels of intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from fourierwalk.arrays.library import is_foreign, to_host


def generator(random_state: Any) -> np.random.Generator:
    """The `Generator` of a `random_state`: seeded by an int, or by a number that a RandomState draws."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        expected = "None, a whole number of at least 0, a RandomState or a Generator"
        raise ValueError(f"random_state must be {expected}, got {random_state!r}.") from error


def groups(groups: Any, n_rows: int) -> np.ndarray | None:
    """The group of each row as a number 0, 1, …, in a NumPy array; None stays None."""
    if groups is None:
        return None
    values = to_host(groups) if is_foreign(groups) else np.asarray(groups)
    if values.shape != (n_rows,):
        expected = f"shape ({n_rows},), one entry per row of X"
        raise ValueError(f"groups must have {expected}, got shape {values.shape}.")
    try:
        if np.any(values != values):  # NaN and NaT differ from themselves
            raise ValueError("groups must not have missing entries, got NaN.")
        names, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ValueError("groups must be all numbers or all strings with none missing, got a mix.") from error
    if names.size < 2:
        raise ValueError(f"groups must name at least 2 groups, got {names.size}.")
    return codes


def levels(confidence_level: Any) -> list[float]:
    """The levels of prediction intervals, checked: one number between 0 and 1, or several."""
    given = np.asarray(confidence_level)
    if given.dtype.kind not in "iuf" or given.ndim > 1 or not given.size or not np.all((given > 0) & (given < 1)):
        raise ValueError(
            f"confidence_level must be a number above 0 and below 1, or several, got {confidence_level!r}."
        )
    return [float(level) for level in given.reshape(-1)]
