"""Checks of what users give to the estimators. Arrays stay in their own library; errors are one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
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

from fourierwalk.arrays.library import Array, is_foreign, like, namespace, to_host
from fourierwalk.arrays.memory import accelerator_free_bytes
from fourierwalk.chunks.given import chunks_of
from fourierwalk.data.streaming import Streamed
from fourierwalk.files.fields import Fields
from fourierwalk.parameters import number, option
from fourierwalk.tables.encoder import TableEncoder, checked, is_from_dtype
from fourierwalk.tables.table import Table, is_table
from fourierwalk.training.chunked import chunked_data
from fourierwalk.training.training import Data
from fourierwalk.weights import weights

_ARRAY_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False}


def generator(random_state: Any) -> np.random.Generator:
    """The `Generator` of a `random_state`: seeded by an int, or by a number that a RandomState draws."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        expected = "None, a whole number of at least 0, a RandomState or a Generator"
        raise ValueError(f"random_state must be {expected}, got {random_state!r}.") from error


def numbers(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Checked inputs and numeric targets, (n,) or (n, q)."""
    if is_foreign(X):
        _has_categories(estimator, X)
        X = _foreign(estimator, X, "X", reset=True)
        return X, _foreign_targets(y, X, "y", int(X.shape[0]))
    return _checked(estimator, X, y, multi_output=True, y_numeric=True)


def labels(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Checked inputs and class labels; the labels are a NumPy array."""
    if not is_foreign(X):
        X, row_labels = _checked(estimator, X, y)
    else:
        _has_categories(estimator, X)
        X = _foreign(estimator, X, "X", reset=True)
        if y is None:
            raise ValueError("y must be labels, got None.")
        row_labels = column_or_1d(to_host(y), warn=True)
        assert_all_finite(row_labels, input_name="y")
        if row_labels.shape[0] != X.shape[0]:
            raise ValueError(f"y must have as many rows as X, {X.shape[0]}, got {row_labels.shape[0]}.")
    check_classification_targets(row_labels)
    return X, row_labels


def classes(row_labels: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes, and the index of each row's class; at least two classes must have a positive weight."""
    values, codes = np.unique(row_labels, return_inverse=True)
    weighted = (
        values if sample_weight is None else np.unique(row_labels[weights(sample_weight, row_labels.shape[0]) > 0])
    )
    if weighted.size < 2:
        raise ValueError(f"y must have at least 2 classes, got 1 class: {weighted[0]!r}.")
    return values, codes


def class_weighted(class_weight: Any, names: np.ndarray, codes: np.ndarray, sample_weight: Any) -> Any:
    """The weight of each row times the weight of its class; `names` are the classes."""
    if class_weight is None:
        return sample_weight
    own = np.ones(codes.size) if sample_weight is None else weights(sample_weight, codes.size)
    if isinstance(class_weight, str):
        option("class_weight", class_weight, ("balanced",))
        totals = np.bincount(codes, own, minlength=names.size)
        return own * (own.sum() / (names.size * np.maximum(totals, 1e-300)))[codes]
    if not isinstance(class_weight, Mapping):
        raise TypeError(f"class_weight must be None, 'balanced' or a dict, got {type(class_weight).__name__}.")
    unknown = [label for label in class_weight if label not in names.tolist()]
    if unknown:
        raise ValueError(f"class_weight must name classes of y only, got {unknown[0]!r}.")
    for label, given in class_weight.items():
        number(f"class_weight[{label!r}]", given, at_least=0)
    own = own * np.array([float(class_weight.get(label, 1.0)) for label in names.tolist()])[codes]
    left = np.unique(codes[own > 0]).size
    if left < 2:
        raise ValueError(f"class_weight must leave at least 2 classes of y, got {left}.")
    return own


def known(y_val: Any, names: np.ndarray) -> np.ndarray:
    """The index of each label's class; a label that is not among the classes `names` is an error."""
    given = column_or_1d(to_host(y_val) if is_foreign(y_val) else y_val)
    codes = np.searchsorted(names, given)
    unknown = names[np.minimum(codes, names.size - 1)] != given
    if np.any(unknown):
        raise ValueError(f"y_val must hold labels of y only, got {given[unknown][0]!r}.")
    return codes


def packed_labels(labels: Any) -> dict[str, Any]:
    """Class labels as a file holds them: `values`, and whether they were Python objects (strings of a frame)."""
    values = to_host(labels) if is_foreign(labels) else np.asarray(labels)
    are_objects = values.dtype == object
    if are_objects and all(isinstance(label, str) for label in values.tolist()):
        values = values.astype(np.str_)
    if values.dtype.kind not in "biufU":
        raise ValueError(f"y must have had words, numbers or truth values as labels to be saved, got {values.dtype}.")
    return {"values": values, "objects": are_objects}


def unpacked_labels(fields: Fields, n_classes: int) -> np.ndarray:
    """The inverse of `packed_labels`; the fields are checked."""
    values = fields.array("values", n_classes, kinds="biufU", finite=False)
    return values.astype(object) if fields.option("objects", (True, False)) else values


def one_hot(codes: np.ndarray, n_classes: int, X: Any) -> Array:
    """One-hot targets in X's library, on its device."""
    return like(np.eye(n_classes)[codes], _anchor(X))


def _checked(estimator: Any, X: Any, y: Any, **targets: Any) -> tuple[Any, np.ndarray]:
    """Checked inputs and targets. Inputs with strings, categories, dates or missing values become a `Table`."""
    if not is_table(X):
        X, y = validate_data(estimator, X, y, **_ARRAY_CHECKS, **targets)
        return Table.of(X) if has_holes(estimator, X, "X") or _has_categories(estimator, X) else X, y
    y = validate_data(estimator, y=y, **targets)
    X = checked(estimator, X, "X", reset=True)
    check_consistent_length(X, y)
    return X, y


def _has_categories(estimator: Any, X: Any) -> bool:
    """Whether `categorical_features` names columns of an array; only frames and dense NumPy arrays can have some."""
    given = estimator.categorical_features
    if given is None or is_from_dtype(given):
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
        return _foreign(estimator, X, name, reset=False)
    if name != "X":
        X = check_array(X, input_name=name, **_ARRAY_CHECKS) if not hasattr(X, "columns") else X
        if X.shape[1] != estimator.n_features_in_:
            raise ValueError(f"{name} must have {estimator.n_features_in_} columns like X, got {X.shape[1]}.")
    encoder = getattr(estimator, "encoder_", None)
    if encoder is not None and is_table(X):
        return encoder.encode(checked(estimator, X, name, reset=False))
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
    if X.shape[1] != estimator.n_features_in_ or hasattr(estimator, "feature_names_in_"):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return not hasattr(estimator, "encoder_") and math.isfinite(np.add.reduce(X, axis=None))


_PLAIN_KINDS = (np.dtype(np.float64), np.dtype(np.float32))


def filled(estimator: Any, X: np.ndarray, name: str) -> np.ndarray:
    """Replace missing values, in columns that had none in `fit`, by the column's centre in the scaling."""
    scaling = estimator.model_.scaling if hasattr(estimator, "model_") else None
    if scaling is None or scaling.kind == "none":
        column = int(np.flatnonzero(np.any(np.isnan(X), axis=0))[0])
        raise ValueError(f"{name} must not have missing values where fit saw none, got NaN in column {column}.")
    return np.where(np.isnan(X), scaling.inputs.center.astype(X.dtype), X)


def later_numbers(y: Any, name: str, X: Any) -> Array:
    """Checked numeric y_val, (n, q)."""
    if is_foreign(X):
        return _as_columns(_foreign_targets(y, X, name))
    if is_foreign(y):
        raise ValueError(f"{name} must be {_AS_IN_FIT}, {where(_anchor(X))}, got {where(y)}.")
    return _as_columns(check_array(y, ensure_2d=False, dtype=np.float64, input_name=name))


def data(
    estimator: Any, X: Any, y: Array, sample_weight: Any, X_val: Any, y_val: Any, given_groups: Any = None
) -> Data:
    """The data of a fit: rows of weight zero are dropped, tables are encoded, validation rows are checked."""
    codes = groups(given_groups, int(X.shape[0]))
    y, weight = _as_columns(y), None
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be given together, got only one of them.")
    if sample_weight is not None:
        host_weight = weights(sample_weight, int(X.shape[0]))
        codes = None if codes is None else codes[host_weight > 0]
        X, y, weight = weighted_rows(X, y, host_weight)
    training_data = Data(X, y, weight, groups=codes)
    if isinstance(X, Table):
        training_data = _encoded(estimator, X, training_data)
    if X_val is None:
        return training_data
    X_val = later(estimator, X_val, "X_val", _anchor(X))
    return _with_validation(training_data, X_val, y_val)


def _with_validation(training_data: Data, x_val: Any, y_val: Array) -> Data:
    """The data with validation rows, which must be as many as their targets, with as many outputs as y."""
    n_outputs = training_data.y.shape[1]
    if y_val.shape[0] != x_val.shape[0]:
        raise ValueError(f"y_val must have as many rows as X_val, {x_val.shape[0]}, got {y_val.shape[0]}.")
    if y_val.shape[1] != n_outputs:
        raise ValueError(f"y_val must have {n_outputs} outputs like y, got {y_val.shape[1]}.")
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
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            setattr(encoder, name, getattr(estimator, name))
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
    given = estimator.categorical_features
    if given is not None and not (isinstance(given, str) and given == "from_dtype"):
        raise ValueError(
            "categorical_features must be 'from_dtype' or None for rows in blocks: encode categories as numbers first."
        )
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be given together, got only one of them.")
    found = chunked_data(chunks, are_labels)
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


def moved(data: Data, device: str | None) -> Data:
    """The data on the user's device; None leaves them where they are."""
    if device is None:
        return data
    x, x_val = (None if part is None else inputs_on(part, device) for part in (data.x, data.x_val))
    y, weight, y_val = (None if part is None else on_device(part, device) for part in (data.y, data.weight, data.y_val))
    return data._replace(x=x, y=y, weight=weight, x_val=x_val, y_val=y_val)


STREAMED_SHARE = 0.5
"""Inputs that need more than this share of a GPU's free memory stay on the host, and are copied block by block."""


def inputs_on(values: Any, device: str | None) -> Any:
    """Inputs on a device; large ones stay on the host and are streamed to it."""
    return Streamed(values, device) if is_large(values, device) else on_device(values, device)


def is_large(values: Any, device: str | None) -> bool:
    """Whether inputs, a scaled copy and a train-validation split of them need more than `STREAMED_SHARE` of a GPU."""
    if not isinstance(values, np.ndarray) or not isinstance(device, str) or not device.startswith("cuda"):
        return False
    reference = on_device(np.zeros(1), device)
    return 3 * 8 * values.size > STREAMED_SHARE * accelerator_free_bytes(reference)


def on_device(values: Any, device: str | None) -> Any:
    """NumPy arrays as torch tensors on a GPU; unchanged for "cpu"."""
    if not isinstance(device, str) or not (device == "cpu" or device.startswith("cuda")):
        raise ValueError(f"device must be None, 'cpu' or 'cuda', got {device!r}.")
    if is_foreign(values):
        raise ValueError(
            f"device must be None for arrays of {where(values)}: computation follows them, got {device!r}."
        )
    if device == "cpu":
        return values
    if scipy.sparse.issparse(values):
        raise ValueError(f"device={device!r} needs dense X, got a sparse matrix.")
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"device={device!r} needs torch: pip install 'fourierwalk[torch]'.") from error
    if not torch.cuda.is_available():
        raise RuntimeError(f"device={device!r} needs a GPU that torch can use, found none.")
    return torch.as_tensor(values, device=device)


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


def where(values: Array) -> str:
    """The library and the device of an array, for messages."""
    library = namespace(values).__name__.removeprefix("array_api_compat.")
    return f"{library} on {getattr(values, 'device', 'cpu')}"


def _foreign(estimator: Any, X: Array, name: str, *, reset: bool) -> Array:
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


def _foreign_targets(y: Any, X: Array, name: str, n_rows: int | None = None) -> Array:
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


def _anchor(X: Any) -> Array:
    """An array of X's library on X's device, as a reference for new arrays; sparse X and tables count as NumPy."""
    return np.empty(0) if scipy.sparse.issparse(X) or isinstance(X, Table) else X


def _as_columns(y: Array) -> Array:
    xp = namespace(y)
    y = xp.astype(y, xp.float64)
    return xp.reshape(y, (-1, 1)) if y.ndim == 1 else y
