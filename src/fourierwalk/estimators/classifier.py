"""AdaptiveFourierClassifier: classes, by least squares on one-hot targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from fourierwalk import inputs, parts
from fourierwalk.arrays.library import Array, is_foreign, like, namespace, to_host
from fourierwalk.callbacks import with_callbacks
from fourierwalk.chunks.lazy import by_chunks
from fourierwalk.estimators.base import BaseAdaptiveFourier
from fourierwalk.estimators.wording import ATTRIBUTES, NOTES, PARAMETERS, REFERENCES
from fourierwalk.exporting.description import Description
from fourierwalk.files.fields import Fields
from fourierwalk.parameters import number
from fourierwalk.training.training import Training


class AdaptiveFourierClassifier(ClassifierMixin, BaseAdaptiveFourier):
    __doc__ = f"""Classification by least squares on one-hot targets (Case 4 of the paper), with adaptive frequencies.
{PARAMETERS}    class_weight : "balanced" or dict, default=None
        Weights of the classes. "balanced": inversely proportional to the number of rows of each class.
{ATTRIBUTES}    classes_ : array
        The labels.

    See Also
    --------
    AdaptiveFourierRegressor : The same for numeric targets.
{NOTES}
    There is one output for each class. `predict` returns the class with the largest output, `predict_proba` a softmax
    of the outputs.
{REFERENCES}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fourierwalk import AdaptiveFourierClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(AdaptiveFourierClassifier(n_frequencies=32, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_frequencies: Any = "auto",
        *,
        sampler: Any = "auto",
        n_steps: int | None = None,
        step_size: Any = None,
        exponent: Any = None,
        refit_every: int = 10,
        adapt_after: int | None = None,
        max_norm: float | None = None,
        initial: Any = None,
        regularization: Any = "auto",
        features: Any = "cos-sin",
        standardize: Any = "auto",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        patience: int | None = None,
        solver: Any = "auto",
        clamp: Any = "auto",
        device: str | None = None,
        categorical_features: Any = "from_dtype",
        checkpoint: Any = None,
        max_seconds: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: Any = 0,
        class_weight: Any = None,
    ) -> None:
        super().__init__(
            n_frequencies,
            sampler=sampler,
            n_steps=n_steps,
            step_size=step_size,
            exponent=exponent,
            refit_every=refit_every,
            adapt_after=adapt_after,
            max_norm=max_norm,
            initial=initial,
            regularization=regularization,
            features=features,
            standardize=standardize,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            patience=patience,
            solver=solver,
            clamp=clamp,
            device=device,
            categorical_features=categorical_features,
            checkpoint=checkpoint,
            max_seconds=max_seconds,
            warm_start=warm_start,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        groups: Any = None,
    ) -> AdaptiveFourierClassifier:
        """Fit the model. The arguments are those of `AdaptiveFourierRegressor.fit`; y and y_val hold labels."""
        return self._fit(X, y, sample_weight, X_val, y_val, groups)

    @with_callbacks
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        X_val: Any = None,
        y_val: Any = None,
        groups: Any = None,
        names: Any = None,
    ) -> AdaptiveFourierClassifier:
        """Fit the model to the classes of y, or to the classes `names`, of which y may have only some."""
        training = self._begin(scale_targets=False)
        X, y, sample_weight, _, data = inputs.given(self, X, y, sample_weight, X_val, y_val, groups, are_labels=True)
        if data is not None:
            return self._fit_labels(training, data)
        X, labels = inputs.labels(self, X, y)
        classes, codes = inputs.classes(labels, sample_weight)
        if names is not None:
            classes, codes = names, parts.codes_of(labels, names)
        given, sample_weight = sample_weight, inputs.class_weighted(self.class_weight, classes, codes, sample_weight)
        y_val = None if y_val is None else inputs.one_hot(inputs.known(y_val, classes), classes.size, X)
        data = inputs.data(self, X, inputs.one_hot(codes, classes.size, X), sample_weight, X_val, y_val, groups)
        fit = self._train(training, data)
        self.classes_ = like(classes, y) if is_foreign(y) else classes
        self.amplitudes_ = self.model_.amplitudes
        weight = parts.class_weights(self.class_weight, classes, codes, given)
        self._seen = parts.Unsummed(data, parts.total(weight, codes.size))
        return self._ended(fit)

    def _fit_labels(self, training: Training, data: Any) -> AdaptiveFourierClassifier:
        """The fit on labels in chunks."""
        fit = self._train(training, data)
        self.classes_, self.amplitudes_ = np.asarray(data.whole.targets.names), self.model_.amplitudes
        self._seen = parts.Unsummed(data, fit.total_weight)
        return self._ended(fit)

    @with_callbacks
    def _fit_shares(self, X: Any, shares: Any, classes: np.ndarray) -> AdaptiveFourierClassifier:
        """Fit the model to the probabilities of the classes, (n, n_classes), in place of one-hot targets."""
        training = self._begin(scale_targets=False)
        X, shares = inputs.numbers(self, X, shares)
        data = inputs.data(self, X, shares, None, None, None)
        fit = self._train(training, data)
        self.classes_, self.amplitudes_ = classes, self.model_.amplitudes
        self._seen = parts.Unsummed(data, float(shares.shape[0]))
        return self._ended(fit)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, half_life: float | None = None
    ) -> AdaptiveFourierClassifier:
        """Fit the amplitudes to rows that come in parts; see `AdaptiveFourierRegressor.partial_fit`.

        Parameters
        ----------
        X, y : array-likes
            Inputs and labels.
        classes : array, optional
            All labels that may come, for the first call. None: those of its y.
        sample_weight, half_life : optional
            As for the regressor.

        Returns
        -------
        self

        Notes
        -----
        The temperature of `predict_proba` stays that of the first call.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from fourierwalk import AdaptiveFourierClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = AdaptiveFourierClassifier(n_frequencies=32, random_state=0)
        >>> for i in range(2):
        ...     model = model.partial_fit(X[i::2], y[i::2], classes=[0, 1, 2])
        >>> bool(model.score(X, y) > 0.9)
        True
        """
        number("half_life", half_life, above=0, optional=True)
        if not self.__sklearn_is_fitted__():
            names = None if classes is None else parts.class_names(classes)
            parts.check_class_weight(self.class_weight)
            parts.begin(self._fit(X, y, sample_weight, names=names), half_life)
        else:
            parts.add(self, parts.labels(self, X, y, classes, sample_weight), half_life)
        return self

    def to_tables(self) -> dict[str, Any]:
        """The contents of a file: those of every estimator, and the labels."""
        return {**super().to_tables(), "classes": inputs.packed_labels(self.classes_)}

    def _restore(self, fields: Fields) -> None:
        super()._restore(fields)
        self.classes_ = inputs.unpacked_labels(fields.fields("classes"), self.amplitudes_.shape[1])

    @property
    def predict_interval(self) -> Any:
        """Only regressors have it."""
        raise AttributeError("predict_interval needs a regressor, got a classifier: predict_proba says how sure it is.")

    @property
    def sample_y(self) -> Any:
        """Only regressors have it."""
        raise AttributeError("sample_y needs a regressor, got a classifier: predict_proba says how sure it is.")

    def description(self) -> Description:
        """What the classifier computes, as plain arrays, for exports."""
        return super().description().of_classes(self.classes_, self._inverse_temperature, self._total_weight)

    @by_chunks
    def decision_function(self, X: Any) -> Array:
        """The output of each class, (n, n_classes); for two classes the second minus the first, (n,)."""
        values = self._predict(X)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    @by_chunks
    def predict(self, X: Any) -> Array:
        """The label of the class with the largest output, (n,)."""
        values = self._predict(X)
        largest = namespace(values).argmax(values, axis=1)
        if is_foreign(self.classes_):
            return namespace(self.classes_).take(self.classes_, like(to_host(largest), self.classes_), axis=0)
        return self.classes_[to_host(largest)]

    @by_chunks
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, (n, n_classes): softmax(s f(x)).

        The temperature 1/s is fitted on the validation rows. If there are none, it is fitted on the rows of `fit`: up
        to 1,000 rows by leave-one-out. To keep probabilities above zero, they are mixed with the uniform distribution;
        its share is n_classes / (N + n_classes) for N rows in `fit`.
        """
        values = self._predict(X)
        probabilities = softmax(self._inverse_temperature * to_host(values).astype(np.float64), axis=1)
        n_classes = probabilities.shape[1]
        share = n_classes / (self._total_weight + n_classes)
        return like(((1 - share) * probabilities + share / n_classes).astype(to_host(values).dtype), values)
