"""AdaptiveFourierFeatures: the adapted features as a transformer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fourierwalk import inputs
from fourierwalk.arrays.library import Array
from fourierwalk.callbacks import with_callbacks
from fourierwalk.chunks.lazy import by_chunks
from fourierwalk.estimators.base import BaseAdaptiveFourier
from fourierwalk.estimators.wording import ATTRIBUTES, NOTES, PARAMETERS, REFERENCES
from fourierwalk.exporting.description import Description
from fourierwalk.files.fields import Fields
from fourierwalk.tables.encoder import are_classes


class AdaptiveFourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseAdaptiveFourier):
    __doc__ = f"""Adaptive Fourier features as a transformer: columns cos(ωₖ·x̃) and sin(ωₖ·x̃), divided by √K.

    `fit` needs y, so the columns depend on the targets. A model that is trained on them must be tested on other rows,
    as in a cross-validation of the whole pipeline. y holds classes if it has labels, or at most 32 different whole
    numbers.
{PARAMETERS}{ATTRIBUTES}
    See Also
    --------
    AdaptiveFourierRegressor : The model whose features these are.
{NOTES}{REFERENCES}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from fourierwalk import AdaptiveFourierFeatures
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(AdaptiveFourierFeatures(16, random_state=0), LogisticRegression(C=100))
    >>> bool(pipeline.fit(X, y).score(X, y) > 0.9)
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        groups: Any = None,
    ) -> AdaptiveFourierFeatures:
        """Find the frequencies. The arguments are those of `AdaptiveFourierRegressor.fit`; y may hold labels.

        Targets of rows in blocks are always numbers.
        """
        training = self._begin()
        X, y, sample_weight, in_blocks, data = inputs.given(self, X, y, sample_weight, X_val, y_val, groups)
        has_classes = not in_blocks and are_classes(y)
        if has_classes:
            X, labels = inputs.labels(self, X, y)
            classes, codes = np.unique(labels, return_inverse=True)
            y = inputs.one_hot(codes, classes.size, X)
            y_val = None if y_val is None else inputs.one_hot(inputs.known(y_val, classes), classes.size, X)
        elif data is None:
            X, y = inputs.numbers(self, X, y)
            y_val = None if y_val is None else inputs.later_numbers(y_val, "y_val", X)
        if data is None:
            data = inputs.data(self, X, y, sample_weight, X_val, y_val, groups)
        fit = self._train(replace(training, scale_targets=not has_classes), data)
        self.amplitudes_ = self.model_.amplitudes
        self._n_features_out = self.model_.features.n_columns * int(self.frequencies_.shape[0])
        return self._ended(fit)

    def _restore(self, fields: Fields) -> None:
        super()._restore(fields)
        self._n_features_out = self.model_.features.n_columns * self.n_frequencies_

    def description(self) -> Description:
        """What the transformer computes, as plain arrays, for exports."""
        return replace(super().description(), are_features=True)

    @by_chunks
    def transform(self, X: Any) -> Array:
        """The real columns at X, (n, n_columns · K)."""
        check_is_fitted(self)
        return self._evaluate(X, lambda model, x: model.columns(x) / float(self.frequencies_.shape[0]) ** 0.5)
