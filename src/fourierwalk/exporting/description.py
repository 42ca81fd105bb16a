"""Description: what a fitted model computes, step by step, as plain arrays. ONNX, torch and C are written from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourierwalk.arrays.library import is_foreign, to_host
from fourierwalk.data.features import KINDS
from fourierwalk.exporting.inputs import InputColumns
from fourierwalk.exporting.spread import Spread

EXPORTED = ("complex", "cos-sin", "sigmoid")
"""The features that the writers translate."""


@dataclass(frozen=True)
class Clip:
    """The smooth clip of scaled inputs: limit · s/√(1 + s²) with s = z/limit."""

    clipped: np.ndarray  # of bool, (d,)
    limit: float


@dataclass(frozen=True)
class Classes:
    """What makes values into probabilities: (1 − share) softmax(scale · values) + share/n_classes."""

    labels: np.ndarray
    scale: float
    share: float

    @property
    def are_words(self) -> bool:
        """Whether the labels are strings."""
        return self.labels.dtype.kind == "U"


@dataclass(frozen=True)
class Description:
    """What a fitted model computes.

    The columns of X are encoded (`inputs`), scaled to z = (x − center)/scale, and clipped. The phases are z·ωₖ + bₖ.
    The features are their cosines and sines, or their logistic sigmoids. The values are features · coefficients +
    offset, clipped to the bounds. Classes have probabilities.

    Parameters
    ----------
    inputs : InputColumns
        How X becomes columns of numbers.
    center, scale : array of shape (d,)
        The scaling of these columns.
    clip : Clip, optional
        Their smooth clip.
    frequencies : array of shape (K, d)
        ωₖ.
    biases : array of shape (K,), optional
        bₖ. The features are cosines and sines if there are none, else logistic sigmoids.
    coefficients : array of shape (n_features, q)
        Of the features.
    offset : array of shape (q,)
        The constant.
    bounds : array of shape (2, q), optional
        The lowest and the highest value of each output.
    is_vector : bool
        Whether `predict` gives a number for each row, not a list of one.
    are_features : bool
        Whether the result is the features, divided by √K, and not the values.
    classes : Classes, optional
        Of a classifier.
    spread : Spread, optional
        Of a regressor whose standard deviations are wanted.

    Examples
    --------
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> x = np.linspace(-3, 3, 300)[:, None]
    >>> model = AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0])).model_
    >>> Description.of(model).frequencies.shape
    (8, 1)
    """

    inputs: InputColumns
    center: np.ndarray
    scale: np.ndarray
    clip: Clip | None
    frequencies: np.ndarray
    biases: np.ndarray | None
    coefficients: np.ndarray
    offset: np.ndarray
    bounds: np.ndarray | None
    is_vector: bool = False
    are_features: bool = False
    classes: Classes | None = None
    spread: Spread | None = None

    @classmethod
    def of(cls, model: Any) -> Description:
        """The description of a `FourierModel`. Features of the user's own are an error: they are code."""
        check(model.features)
        host, features = model.on_host(), model.features
        vectors, scaling = np.asarray(host.frequencies, dtype=np.float64), host.scaling.inputs
        n_inputs = int(scaling.center.shape[0])
        return cls(
            InputColumns.of_numbers(n_inputs, None),
            scaling.center,
            scaling.scale,
            None if scaling.is_affine else Clip(scaling.clipped, float(scaling.limit)),
            vectors[:, :n_inputs],
            vectors[:, n_inputs] if vectors.shape[1] > n_inputs else None,
            np.asarray(features.coefficients(host.amplitudes), dtype=np.float64),
            host.offset,
            host.bounds,
        )

    def of_estimator(self, estimator: Any) -> Description:
        """The same with what an estimator does to X before: it encodes columns, and fills missing numbers."""
        if estimator.encoder_ is not None:
            return replace(self, inputs=InputColumns.of_encoder(estimator.encoder_))
        fills = None if estimator.model_.scaling.kind == "none" else self.center
        return replace(self, inputs=InputColumns.of_numbers(self.center.size, fills))

    def of_classes(self, labels: Any, scale: float, total_weight: float) -> Description:
        """The same with the labels and the temperature of a classifier that was fitted to rows of this weight."""
        values = to_host(labels) if is_foreign(labels) else np.asarray(labels)
        if values.dtype == object and all(isinstance(label, str) for label in values.tolist()):
            values = values.astype(np.str_)
        if values.dtype.kind not in "biufU":
            raise ValueError(f"y must have had words, numbers or truth values as labels, got {values.dtype}.")
        return replace(self, classes=Classes(values, scale, values.size / (total_weight + values.size)))

    def with_centred_dates(self) -> Description:
        """The same function, where years are counted from their centre."""
        center, dates = self.center.copy(), []
        for date, column in zip(self.inputs.dates, self.inputs.years(), strict=True):
            origin = float(center[column])
            dates.append(replace(date, epoch=date.epoch - origin, median=date.median - origin))
            center[column] = 0.0
        return replace(self, center=center, inputs=replace(self.inputs, dates=tuple(dates)))

    @property
    def n_outputs(self) -> int:
        """The number of values of a row."""
        return self.coefficients.shape[0] if self.are_features else self.coefficients.shape[1]

    @property
    def divisor(self) -> float:
        """What the features of a transformer are divided by."""
        return float(self.frequencies.shape[0]) ** 0.5


def check(features: Any) -> None:
    """Raise a `ValueError` unless the features can be exported."""
    if not any(features == KINDS[name]() for name in EXPORTED):
        raise ValueError(
            f"features must be one of {list(EXPORTED)} for an export, because others are code, got {features.name!r} "
            f"({type(features).__name__})."
        )
