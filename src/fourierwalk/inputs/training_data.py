"""The data of a fit, in memory or in chunks, from checked arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, is_foreign, like, namespace
from fourierwalk.chunks.given import chunks_of
from fourierwalk.inputs.arguments import groups
from fourierwalk.inputs.arrays import as_columns, later, later_numbers, names_categories
from fourierwalk.inputs.class_labels import known, one_hot
from fourierwalk.inputs.device import anchor
from fourierwalk.tables.encoder import TableEncoder, names_in
from fourierwalk.tables.table import Table
from fourierwalk.training.data import Data
from fourierwalk.weights import weights


def data(
    estimator: Any, X: Any, y: Array, sample_weight: Any, X_val: Any, y_val: Any, given_groups: Any = None
) -> Data:
    """The data of a fit: rows of weight zero are dropped, tables are encoded, validation rows are checked."""
    codes = groups(given_groups, int(X.shape[0]))
    y, weight = as_columns(y), None
    _check_pair(X_val, y_val)
    if sample_weight is not None:
        host_weight = weights(sample_weight, int(X.shape[0]))
        codes = None if codes is None else codes[host_weight > 0]
        X, y, weight = weighted_rows(X, y, host_weight)
    training_data = Data(X, y, weight, groups=codes)
    if isinstance(X, Table):
        training_data = _encoded(estimator, X, training_data)
    if X_val is None:
        return training_data
    X_val = later(estimator, X_val, "X_val", anchor(X))
    return _with_validation(training_data, X_val, y_val)


def _check_pair(X_val: Any, y_val: Any) -> None:
    if (X_val is None) != (y_val is None):
        given, missing = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
        raise ValueError(f"X_val and y_val must be given together, got {given} without {missing}.")


def _with_validation(training_data: Data, x_val: Any, y_val: Array) -> Data:
    """The data with validation rows, which must be as many as their targets, with as many outputs as y."""
    n_outputs = training_data.y.shape[1]
    if y_val.shape[0] != x_val.shape[0]:
        raise ValueError(f"y_val must have as many rows as X_val, {x_val.shape[0]}, got {y_val.shape[0]}.")
    if y_val.shape[1] != n_outputs:
        raise ValueError(f"y_val must have as many outputs as y, {n_outputs}, got {y_val.shape[1]}.")
    return training_data._replace(x_val=x_val, y_val=y_val)


def weighted_rows(X: Any, y: Array, host_weight: np.ndarray) -> tuple[Any, Array, Array | None]:
    """The rows whose weight is not zero, and their weights; None if all weights are one."""
    keep = np.flatnonzero(host_weight > 0)
    if keep.size < host_weight.size:
        host_weight = host_weight[keep]
        X = X[keep] if not is_foreign(X) else namespace(X).take(X, like(keep, X), axis=0)
        y = namespace(y).take(y, like(keep, y), axis=0)
    return X, y, None if np.all(host_weight == 1) else like(host_weight, y)


def _encoded(estimator: Any, table: Table, raw: Data) -> Data:
    """The data with the table encoded as numbers; the estimator gets the fitted encoder."""
    encoder = TableEncoder(estimator.categorical_features)
    encoder.n_features_in_ = estimator.n_features_in_
    if (names := names_in(estimator)) is not None:
        encoder.feature_names_in_ = names
    y = raw.y
    if y.shape[1] == 2 and np.array_equal(y.sum(axis=1), np.ones(len(y))):
        y = y[:, 1:]  # two columns that add up to one: the second says it all
    x, is_fixed, means = encoder.encoded(table, y, raw.weight, raw.groups)
    estimator.encoder_ = encoder
    return raw._replace(x=x, is_fixed=is_fixed, means=means)


def chunked(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    X_val: Any,
    y_val: Any,
    given_groups: Any,
    are_labels: bool = False,
) -> Data | None:
    """The data of a fit on rows in chunks; None if X is in memory."""
    chunks = chunks_of(X, y, sample_weight)
    if chunks is None:
        return None
    for name, value in (("groups", given_groups), ("device", estimator.device)):
        if value is not None:
            raise ValueError(
                f"{name} must be None for rows in blocks, got {type(value).__name__}: give np.asarray(X) in place of a "
                f"memory map that fits in memory."
            )
    if names_categories(estimator):
        raise ValueError(
            f"categorical_features must be 'from_dtype' or None for rows in blocks, got "
            f"{estimator.categorical_features!r}: encode categories as numbers first."
        )
    _check_pair(X_val, y_val)
    found = Data.chunked(chunks, are_labels)
    estimator.n_features_in_ = int(found.x.shape[1])
    names = getattr(chunks, "names", None)
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if X_val is None:
        return found
    x_val = later(estimator, X_val, "X_val", found.x)
    if not are_labels:
        return _with_validation(found, x_val, later_numbers(y_val, "y_val", x_val))
    labels: Any = found.whole.targets  # type: ignore[union-attr]
    codes = known(y_val, np.asarray(labels.names))
    return _with_validation(found, x_val, one_hot(codes, len(labels.names), x_val))
