"""Predictions for inputs in chunks: lazy and chunk by chunk for Dask, slice by slice for arrays on a disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from fourierwalk.chunks.dask import is_dask, is_dask_frame
from fourierwalk.chunks.given import is_sliced
from fourierwalk.chunks.sliced import CHUNK_BYTES


def by_chunks(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method ``(estimator, X)`` that also takes X as a Dask collection, a large memory map, or of Zarr or h5py."""

    @wraps(method)
    def evaluated(estimator: Any, X: Any, *args: Any, **options: Any) -> Any:
        if type(X) is np.ndarray:  # at once: one row takes a few microseconds
            return method(estimator, X, *args, **options)

        def function(part: Any) -> Any:
            return method(estimator, part, *args, **options)

        if is_dask(X):
            return _lazily(function, X)
        return _sliced(function, X) if is_sliced(X) else function(X)

    return evaluated


def _lazily(function: Callable[[Any], Any], X: Any) -> Any:
    """A Dask array of the values. The function is tried on one row of zeros, for its dtype and columns."""
    import dask
    import dask.array

    if is_dask_frame(X):
        one = function(X._meta_nonempty.iloc[:1])
        if isinstance(one, tuple):
            return _parted(function, X, len(one), _lazily)
        parts = [dask.delayed(function, pure=False)(part) for part in X.to_delayed()]
        shape = (np.nan, *one.shape[1:])
        return dask.array.concatenate([dask.array.from_delayed(part, shape, one.dtype) for part in parts])
    _check_matrix(X)
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    one = function(np.zeros((1, X.shape[1]), dtype=X.dtype))
    if isinstance(one, tuple):
        return _parted(function, X, len(one), _lazily)
    changed: dict[str, Any] = {"chunks": (X.chunks[0], *((size,) for size in one.shape[1:]))}
    changed |= {"drop_axis": 1} if one.ndim == 1 else {"new_axis": list(range(2, one.ndim))}
    return X.map_blocks(
        lambda part: function(part) if len(part) else one[:0],  # a filter may leave no row of a chunk
        dtype=one.dtype,
        meta=one[:0],
        **changed,
    )


def _parted(function: Callable[[Any], Any], X: Any, n: int, evaluate: Callable[..., Any]) -> tuple[Any, ...]:
    """A function with several results, evaluated one result at a time."""
    return tuple(evaluate(lambda part, i=i: function(part)[i], X) for i in range(n))


def _check_matrix(X: Any) -> None:
    if len(X.shape) != 2:
        raise ValueError(f"X must have 2 dimensions, got {len(X.shape)}.")


def _sliced(function: Callable[[Any], Any], X: Any) -> Any:
    _check_matrix(X)
    if X.shape[0] == 0:
        return function(np.asarray(X))
    height = max(1, CHUNK_BYTES // (8 * int(X.shape[1])))
    values = [function(np.asarray(X[start : start + height])) for start in range(0, int(X.shape[0]), height)]
    if isinstance(values[0], tuple):
        return tuple(np.concatenate(parts) for parts in zip(*values, strict=True))
    return np.concatenate(values)
