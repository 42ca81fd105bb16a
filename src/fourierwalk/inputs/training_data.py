"""The data of a fit, in memory or in chunks, from checked arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, is_foreign, like, namespace
from fourierwalk.chunks.given import chunks_of
from fourierwalk.chunks.survey import TableFacts
from fourierwalk.chunks.tabular import Tabular
from fourierwalk.chunks.targets import NumberTargets
from fourierwalk.chunks.whole import Whole
from fourierwalk.inputs.arguments import groups
from fourierwalk.inputs.arrays import as_columns, later, later_numbers
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
    y = raw.y
    if y.shape[1] == 2 and np.array_equal(y.sum(axis=1), np.ones(len(y))):
        y = y[:, 1:]  # two columns that add up to one: the second says it all
    estimator.encoder_ = _encoder(estimator)
    x, is_fixed, means = estimator.encoder_.encoded(table, y, raw.weight, raw.groups)
    _check_columns(estimator.encoder_)
    return raw._replace(x=x, is_fixed=is_fixed, means=means)


def _encoder(estimator: Any) -> TableEncoder:
    """An encoder with the settings and the names of the estimator."""
    encoder = TableEncoder(estimator.categorical_features)
    encoder.n_features_in_ = estimator.n_features_in_
    if (names := names_in(estimator)) is not None:
        encoder.feature_names_in_ = names
    return encoder


def _check_columns(encoder: TableEncoder) -> None:
    if not len(encoder.get_feature_names_out()):
        names = [column.name for column in encoder.columns_]
        raise ValueError(f"X must have a column of more than one level, got a single level in each of {names[:20]}.")


class Given(NamedTuple):
    """What a user gave to `fit`: rows in memory, or in blocks."""

    x: Any
    y: Any
    weight: Any
    in_blocks: bool = False
    data: Data | None = None  # rows in blocks; None: x, y and weight are all rows


def given(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    X_val: Any,
    y_val: Any,
    given_groups: Any,
    are_labels: bool = False,
) -> Given:
    """The rows of a fit. Blocks of a table that fit in memory are taken there."""
    chunks = chunks_of(X, y, sample_weight)
    if chunks is None:
        return Given(X, y, sample_weight)
    _check_pair(X_val, y_val)
    only_in_memory = {"groups": given_groups, "device": estimator.device}
    for name, value in {**only_in_memory, "class_weight": getattr(estimator, "class_weight", None)}.items():
        if value is not None:
            raise ValueError(
                f"{name} must be None for rows in blocks, got {type(value).__name__}: give np.asarray(X) in place of a "
                f"memory map that fits in memory."
            )
    whole = Whole.of(chunks, are_labels, categories=estimator.categorical_features)
    estimator.n_features_in_ = whole.n_inputs
    if whole.survey.names is not None:
        estimator.feature_names_in_ = np.array(whole.survey.names, dtype=object)
    if not isinstance(whole.survey.inputs, TableFacts):
        return _in_blocks(estimator, Data(*whole.sample, whole=whole), X_val, y_val)
    table = Tabular.of(whole, _encoder(estimator))
    _check_columns(table.encoder)
    if table.whole.is_in_sample:
        return Given(*table.gathered(), True)
    encoded, estimator.encoder_ = table.encoded(), table.encoder
    x, is_fixed, means = encoded.sample
    found = Data(x, encoded.y, encoded.weight, is_fixed=is_fixed, means=means, whole=encoded.whole)
    return _in_blocks(estimator, found, X_val, y_val)


def _in_blocks(estimator: Any, found: Data, X_val: Any, y_val: Any) -> Given:
    """Rows in blocks with the user's validation rows."""
    if X_val is None:
        return Given(None, None, None, True, found)
    x_val = later(estimator, X_val, "X_val", found.y)
    targets: Any = found.whole.targets  # type: ignore[union-attr]
    if isinstance(targets, NumberTargets):
        y_val = later_numbers(y_val, "y_val", x_val)
    else:
        y_val = one_hot(known(y_val, np.asarray(targets.names)), len(targets.names), x_val)
    return Given(None, None, None, True, _with_validation(found, x_val, y_val))
