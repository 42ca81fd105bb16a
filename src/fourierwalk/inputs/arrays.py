"""Checks of X and y: those of `fit`, and the shorter ones of `predict`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from fourierwalk.arrays.library import Array, is_foreign, namespace, to_host
from fourierwalk.inputs.device import anchor, where
from fourierwalk.inputs.foreign import foreign_inputs, foreign_targets
from fourierwalk.tables.encoder import checked_table, is_from_dtype, names_in
from fourierwalk.tables.table import Table, is_table

_ARRAY_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False}


def numbers(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Checked inputs and numeric targets, (n,) or (n, q)."""
    _check_kind(X)
    if is_foreign(X):
        _has_categories(estimator, X)
        X = foreign_inputs(estimator, X, "X", reset=True)
        return X, foreign_targets(y, X, "y", int(X.shape[0]))
    _check_numeric(y)
    return _checked(estimator, X, y, multi_output=True, y_numeric=True)


def labels(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Checked inputs and class labels; the labels are a NumPy array."""
    _check_kind(X)
    if not is_foreign(X):
        X, row_labels = _checked(estimator, X, y)
    else:
        _has_categories(estimator, X)
        X = foreign_inputs(estimator, X, "X", reset=True)
        if y is None:
            raise ValueError("y must be labels, got None.")
        row_labels = column_or_1d(to_host(y), warn=True)
        assert_all_finite(row_labels, input_name="y")
        if row_labels.shape[0] != X.shape[0]:
            raise ValueError(f"y must have as many rows as X, {X.shape[0]}, got {row_labels.shape[0]}.")
    check_classification_targets(row_labels)
    return X, row_labels


def _check_kind(X: Any) -> None:
    """Raise a `TypeError` for what can be no table of rows, before scikit-learn tries to make numbers of it."""
    if X is None or isinstance(X, str | bytes | Mapping):
        kinds = "an array, a frame, a sparse matrix or blocks of rows"
        raise TypeError(f"X must be {kinds}, got {'None' if X is None else type(X).__name__}.")


def _checked(estimator: Any, X: Any, y: Any, **targets: Any) -> tuple[Any, np.ndarray]:
    """Checked inputs and targets. Inputs with strings, categories, dates or missing values become a `Table`."""
    if not is_table(X):
        with _words_named(X):
            X, y = validate_data(estimator, X, y, **_ARRAY_CHECKS, **targets)
        return Table.of(X) if has_holes(estimator, X, "X") or _has_categories(estimator, X) else X, y
    y = validate_data(estimator, y=y, **targets)
    X = checked_table(estimator, X, "X", reset=True)
    check_consistent_length(X, y)
    return X, y


@contextmanager
def _words_named(X: Any) -> Iterator[None]:
    """A context in which scikit-learn's error about words among numbers says that they stand in X."""
    try:
        yield
    except ValueError as error:
        word = _first_word(X)
        if word is None or "could not convert string to float" not in str(error):
            raise
        allowed = "words may stand in a frame or in an array of objects"
        raise ValueError(f"X must be numbers, got {word!r}: {allowed}.") from error


def _check_numeric(y: Any) -> None:
    """Raise a `ValueError` for targets of a regression that are labels."""
    if (word := _first_word(y)) is not None:
        raise ValueError(f"y must be numbers for a regression, got {word!r}: AdaptiveFourierClassifier takes labels.")


def _first_word(values: Any) -> str | None:
    """The first string among the values that is no number; None if there is none."""
    entries = np.asarray(values)
    if entries.dtype.kind not in "OU":
        return None
    return next((str(entry) for entry in np.ravel(entries) if isinstance(entry, str) and not _is_number(entry)), None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _has_categories(estimator: Any, X: Any) -> bool:
    """Whether `categorical_features` names columns of an array; only frames and dense NumPy arrays can have some."""
    named = estimator.categorical_features
    if named is None or is_from_dtype(named):
        return False
    if is_foreign(X) or scipy.sparse.issparse(X):
        raise ValueError(f"categorical_features needs X as a frame or a dense NumPy array, got {type(X).__name__}.")
    return True


def has_holes(estimator: Any, X: Any, name: str) -> bool:
    """Whether dense X has missing values (NaN). Infinity is an error, and so is NaN in sparse X."""
    values = X.data if scipy.sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)):
            return False
    assert_all_finite(values, allow_nan=True, estimator_name=type(estimator).__name__, input_name=name)
    missing = bool(np.any(np.isnan(values)))
    if missing and scipy.sparse.issparse(X):
        raise ValueError(f"{name} must be dense where values are missing, got NaN in a sparse {type(X).__name__}.")
    return missing


_AS_IN_FIT = "on the device and of the array library that fit saw"


def later(estimator: Any, X: Any, name: str, reference: Array) -> Any:
    """Checked X of `predict`, or X_val: it must have the columns of `fit`, the reference's library and its device."""
    if _is_plain(estimator, X) and isinstance(reference, np.ndarray):
        return X
    if is_foreign(X) or is_foreign(reference):
        got = where(X) if is_foreign(X) else type(X).__name__
        if got != where(reference):
            raise ValueError(f"{name} must be {_AS_IN_FIT}, {where(reference)}, got {got}.")
        return foreign_inputs(estimator, X, name, reset=False)
    if name != "X":
        X = X if is_table(X) else check_array(X, input_name=name, **_ARRAY_CHECKS)
        if X.shape[1] != estimator.n_features_in_:
            raise ValueError(f"{name} must have {estimator.n_features_in_} columns like X, got {X.shape[1]}.")
    encoder = estimator.encoder_
    if encoder is not None and is_table(X):
        return encoder.encode(checked_table(estimator, X, name, reset=False))
    with _words_named(X):
        X = validate_data(estimator, X, reset=False, **_ARRAY_CHECKS)
    missing = has_holes(estimator, X, name)
    if encoder is not None:
        return encoder.encode(Table.of(X.toarray() if scipy.sparse.issparse(X) else X))
    return filled(estimator, X, name) if missing else X


def _is_plain(estimator: Any, X: Any) -> bool:
    """Whether X is an array of finite doubles or singles with the columns of `fit`, so that every check is passed.

    The full checks take 80 µs, these take 5. An estimator that has names or an encoder needs the full ones.
    """
    if type(X) is not np.ndarray or X.dtype not in _PLAIN_KINDS or X.ndim != 2 or X.shape[0] == 0:
        return False
    if X.shape[1] != estimator.n_features_in_ or estimator.encoder_ is not None or names_in(estimator) is not None:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(np.add.reduce(X, axis=None))


_PLAIN_KINDS = (np.dtype(np.float64), np.dtype(np.float32))


def filled(estimator: Any, X: np.ndarray, name: str) -> np.ndarray:
    """Replace missing values, in columns that had none in `fit`, by the column's centre in the scaling."""
    scaling = estimator.model_.scaling if estimator.__sklearn_is_fitted__() else None
    if scaling is None or scaling.kind == "none":
        column = int(np.flatnonzero(np.any(np.isnan(X), axis=0))[0])
        raise ValueError(f"{name} must not have missing values where fit saw none, got NaN in column {column}.")
    return np.where(np.isnan(X), scaling.inputs.center.astype(X.dtype), X)


def later_numbers(y: Any, name: str, X: Any) -> Array:
    """Checked numeric y_val, (n, q)."""
    if is_foreign(X):
        return as_columns(foreign_targets(y, X, name))
    if is_foreign(y):
        raise ValueError(f"{name} must be {_AS_IN_FIT}, {where(anchor(X))}, got {where(y)}.")
    return as_columns(check_array(y, ensure_2d=False, dtype=np.float64, input_name=name))


def as_columns(y: Array) -> Array:
    """Targets in double precision, (n, q)."""
    xp = namespace(y)
    y = xp.astype(y, xp.float64)
    return xp.reshape(y, (-1, 1)) if y.ndim == 1 else y
