"""Checks of arrays of other libraries, which scikit-learn would move to the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, is_foreign, like, namespace, to_host
from fourierwalk.inputs.device import where


def foreign_inputs(estimator: Any, X: Array, name: str, *, reset: bool) -> Array:
    """The checks of `validate_data` for arrays of other libraries, which `validate_data` would move to the host."""
    X = X.detach() if getattr(X, "requires_grad", False) else X
    xp = namespace(X)
    if X.ndim != 2:
        raise ValueError(f"{name} must be a 2D array of rows and columns, got {X.ndim} dimensions.")
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"{name} must be real: complex data not supported, got {X.dtype}.")
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    if not bool(xp.all(xp.isfinite(X))):
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    if 0 in X.shape:
        raise ValueError(f"{name} must have at least one row and one column, got shape {tuple(X.shape)}.")
    if reset:
        estimator.n_features_in_ = int(X.shape[1])
    if X.shape[1] != estimator.n_features_in_:
        expecting = f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features as input"
        raise ValueError(f"{name} has {X.shape[1]} features, but {expecting}.")
    return X


def foreign_targets(y: Any, X: Array, name: str, n_rows: int | None = None) -> Array:
    """Checked numeric targets in double precision, in X's library and on its device."""
    if y is None or np.ndim(y) not in (1, 2):
        raise ValueError(f"{name} must be an array of 1 or 2 dimensions, got {None if y is None else np.ndim(y)}.")
    y = y if is_foreign(y) and where(y) == where(X) else like(to_host(y) if is_foreign(y) else np.asarray(y), X)
    xp = namespace(y)
    if xp.isdtype(y.dtype, "complex floating"):
        raise ValueError(f"{name} must be real: complex data not supported, got {y.dtype}.")
    if n_rows is not None and y.shape[0] != n_rows:
        raise ValueError(f"{name} must have as many rows as X, {n_rows}, got {y.shape[0]}.")
    y = xp.astype(y.detach() if getattr(y, "requires_grad", False) else y, xp.float64)
    if not bool(xp.all(xp.isfinite(y))):
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return y
