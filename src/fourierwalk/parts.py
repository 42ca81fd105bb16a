"""Rows that come in parts (`partial_fit`): their checks, and the sums over all rows that an estimator has seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from fourierwalk import inputs
from fourierwalk.arrays.library import Array, is_foreign, like, to_host
from fourierwalk.training.accumulation import Accumulation
from fourierwalk.training.data import Data
from fourierwalk.training.policy import DEFAULT
from fourierwalk.weights import checked_weights


class Unsummed(NamedTuple):
    """The rows of a fit. They are summed only if another part follows, and pickles do not hold them."""

    data: Data
    total_weight: float  # as the user gave it; a fit works with weights of mean one


def begin(estimator: Any, half_life: float | None) -> None:
    """Sum the rows of the fit that has just ended, and solve for the amplitudes."""
    estimator._seen = _sums_of_fit(estimator, half_life)
    _solve(estimator)


def add(estimator: Any, data: Data, half_life: float | None) -> None:
    """Add a part to the sums, and solve for the amplitudes."""
    before = _sums_of_fit(estimator, half_life)
    new = _sums(estimator, data._replace(weight=_aged(data, 1.0, half_life)))
    estimator._seen = before.times(_share(int(data.y.shape[0]), half_life)) + new
    _solve(estimator)


def numbers(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Data:
    """The checked rows of a later part of a regression."""
    X = inputs.later(estimator, X, "X", estimator.frequencies_)
    if y is None:
        raise ValueError("y must be targets, got None.")
    y, n_outputs = inputs.later_numbers(y, "y", X), int(estimator.model_.amplitudes.shape[1])
    _check_length(X, y)
    if y.shape[1] != n_outputs:
        raise ValueError(f"y must have as many outputs as in the first part, {n_outputs}, got {y.shape[1]}.")
    weight = None if sample_weight is None else checked_weights(sample_weight, int(X.shape[0]))
    return _without_zeros(X, y, weight)


def labels(estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Data:
    """The checked rows of a later part of a classification."""
    check_class_weight(estimator.class_weight)
    names = _on_host(estimator.classes_)
    if classes is not None and not np.array_equal(class_names(classes), names):
        raise ValueError(f"classes must be those of the first part, {names.tolist()}, got {_named(classes)}.")
    X = inputs.later(estimator, X, "X", estimator.frequencies_)
    codes = codes_of(y, names, "give all classes to the first partial_fit")
    _check_length(X, codes)
    weight = class_weights(estimator.class_weight, names, codes, sample_weight)
    if weight is not None and not np.any(weight):
        raise ValueError("class_weight must leave a row of the part with a weight above 0, got 0 for all its classes.")
    return _without_zeros(X, inputs.one_hot(codes, names.size, X), weight)


def class_names(classes: Any) -> np.ndarray:
    """The argument `classes`, sorted and without repeats."""
    names = np.unique(column_or_1d(_on_host(classes)))
    if names.size < 2:
        raise ValueError(f"classes must be at least 2 labels, got {names.tolist()}.")
    return names


def codes_of(y: Any, names: np.ndarray, advice: str = "add it to classes") -> np.ndarray:
    """The index of each label's class; a label that is not among the classes `names` is an error."""
    if y is None:
        raise ValueError("y must be labels, got None.")
    given = column_or_1d(_on_host(y), warn=True)
    check_classification_targets(given)
    codes = np.minimum(np.searchsorted(names, given), names.size - 1)
    if np.any(unknown := names[codes] != given):
        raise ValueError(
            f"y must hold labels of the classes {names.tolist()} only, got {given[unknown].tolist()[0]!r}: {advice}."
        )
    return codes


def check_class_weight(class_weight: Any) -> None:
    """Raise a `ValueError` if the weights of the classes depend on their shares of the rows."""
    if isinstance(class_weight, str):
        raise ValueError(
            f"class_weight must be None or a dict for partial_fit, because one part does not show the shares of the "
            f"classes, got {class_weight!r}."
        )


def total(weight: Any, n_rows: int) -> float:
    """The sum of the weights as they were given; without weights the number of rows."""
    return float(n_rows) if weight is None else float(np.sum(checked_weights(weight, n_rows)))


def class_weights(class_weight: Any, names: np.ndarray, codes: np.ndarray, sample_weight: Any) -> np.ndarray | None:
    """The weight of each row, as given, times the weight of its class if there is a dict of them."""
    weight = None if sample_weight is None else checked_weights(sample_weight, codes.size)
    if class_weight is None or isinstance(class_weight, str):
        return weight
    factors = np.array([float(class_weight.get(label, 1.0)) for label in names.tolist()])[codes]
    return factors if weight is None else weight * factors


def _sums_of_fit(estimator: Any, half_life: float | None) -> Accumulation:
    """The sums over all rows that the estimator has seen."""
    seen: Unsummed | Accumulation | None = getattr(estimator, "_seen", None)
    if seen is None:
        raise ValueError(
            "partial_fit must know the sums over the rows of fit, which files and pickles do not hold, got a model "
            "that was loaded or copied: begin again with partial_fit, whose pickles hold them."
        )
    if isinstance(seen, Accumulation):
        return seen
    if seen.data.whole is not None:
        raise ValueError("partial_fit after fit needs the rows of fit in memory, got a fit on rows in blocks.")
    own = seen.data.y.shape[0] if seen.data.weight is None else np.sum(to_host(seen.data.weight))
    return _sums(estimator, seen.data._replace(weight=_aged(seen.data, seen.total_weight / float(own), half_life)))


def _sums(estimator: Any, data: Data) -> Accumulation:
    """The sums over some rows, computed on the estimator's device."""
    members, device = estimator._members, estimator.device
    if device is None:
        return Accumulation.of(estimator.model_, members, data.x, data.y, data.weight)
    there = inputs.moved(data, device)
    model = estimator.model_.on_device_of(there.y)
    return Accumulation.of(model, members, there.x, there.y, there.weight).moved(to_host)


def _solve(estimator: Any) -> None:
    """Set the amplitudes, and all that follows from them."""
    sums, one_output = estimator._seen, estimator.amplitudes_.ndim == 1
    margin = getattr(estimator.sampler, "policy", DEFAULT).margin
    estimator.model_ = sums.solved(estimator.model_, estimator._members, margin)
    estimator.amplitudes_ = estimator.model_.amplitudes[:, 0] if one_output else estimator.model_.amplitudes
    estimator._total_weight = sums.weight


def _share(age: Any, half_life: float | None) -> Any:
    """What is left of a row's weight when so many rows have come after it."""
    return 1.0 if half_life is None else 0.5 ** (age / half_life)


def _aged(data: Data, unit: float, half_life: float | None) -> Array | None:
    """The weights of the rows in order, times a unit; the last row is the youngest."""
    if half_life is None and unit == 1.0:
        return data.weight
    n_rows = int(data.y.shape[0])
    shares = unit * np.broadcast_to(_share(np.arange(n_rows)[::-1], half_life), (n_rows,))
    return like(np.array(shares), data.y) if data.weight is None else data.weight * like(np.array(shares), data.y)


def _without_zeros(X: Any, y: Array, weight: np.ndarray | None) -> Data:
    return Data(*inputs.weighted_rows(X, y, weight)) if weight is not None else Data(X, y)


def _check_length(X: Any, y: Array) -> None:
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"y must have as many rows as X, {X.shape[0]}, got {y.shape[0]}.")


def _on_host(values: Any) -> np.ndarray:
    return to_host(values) if is_foreign(values) else np.asarray(values)


def _named(classes: Any) -> list[Any]:
    return np.unique(_on_host(classes)).tolist()
