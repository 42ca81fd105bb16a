"""Labels of classes: their codes, weights and one-hot targets, and how a file holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from fourierwalk.arrays.library import Array, is_foreign, like, to_host
from fourierwalk.files.fields import Fields
from fourierwalk.inputs.device import anchor
from fourierwalk.parameters import number
from fourierwalk.weights import weights


def classes(row_labels: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes, and the index of each row's class; at least two classes must have a positive weight."""
    values, codes = np.unique(row_labels, return_inverse=True)
    weighted = (
        values if sample_weight is None else np.unique(row_labels[weights(sample_weight, row_labels.shape[0]) > 0])
    )
    if weighted.size < 2:
        raise ValueError(f"y must have at least 2 classes, got 1 class: {weighted.tolist()[0]!r}.")
    return values, codes


def class_weighted(class_weight: Any, names: np.ndarray, codes: np.ndarray, sample_weight: Any) -> Any:
    """The weight of each row times the weight of its class; `names` are the classes."""
    if class_weight is None:
        return sample_weight
    own = np.ones(codes.size) if sample_weight is None else weights(sample_weight, codes.size)
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, own, minlength=names.size)
        return own * (own.sum() / (names.size * np.maximum(totals, 1e-300)))[codes]
    if isinstance(class_weight, str):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}.")
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
        raise ValueError(f"y_val must hold labels of y only, got {given[unknown].tolist()[0]!r}.")
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
    return like(np.eye(n_classes)[codes], anchor(X))
