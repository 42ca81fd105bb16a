"""scikit-learn estimators: thin shells around a `Training`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from fourierwalk._arrays import Array, is_foreign, like, namespace, to_host
from fourierwalk.features import named
from fourierwalk.training import Data, Training

_PARAMETERS = """
    Parameters
    ----------
    n_frequencies : int, default=256
        K, the number of frequencies.
    sampler : {"auto", "metropolis", "fixed"} or sampler object, default="auto"
        "auto": a guarded Metropolis walk: its best state on held-out rows is kept. "metropolis": Algorithm 1, or 2 with
        `adapt_after`, exactly; the last state is kept. "fixed": frequencies drawn once (plain random Fourier features).
    n_steps : int, default=None
        M. None: up to 300, ended by `patience` ("auto"), else 1,000.
    step_size : float or "paper", default=None
        δ, a standard deviation. None: adapted to an acceptance target. "paper": 2.4²/d.
    exponent : float or "paper", default=None
        γ. None: 3d − 2, at most 10. "paper": 3d − 2.
    refit_every : int, default=10
        m: amplitudes are solved for again after every m-th step.
    adapt_after : int, default=None
        t₀: a number makes Algorithm 1 into Algorithm 2.
    max_norm : float, default=None
        ω_max: no frequency of this norm or more is accepted.
    initial : float or array of shape (K, d), default=None
        Where frequencies start. None: at zero (for "fixed": N(0, 1)). A number σ: N(0, σ²).
    regularization : float or "auto", default="auto"
        λ of N⁻¹|Sβ − y|² + λ|β|². "auto": by generalised cross-validation at the final frequencies.
    features : {"cos-sin", "complex", "sigmoid"} or features object, default="cos-sin"
        The kind of columns.
    standardize : {"auto", True, False}, default="auto"
        True: each input column by its own spread, targets too (Algorithm 3). False: nothing is changed. "auto": one
        common scale where the columns share a unit, as pixels do, else as True.
    early_stopping : {"auto", True, False}, default="auto"
        Whether rows are held out to choose the state by. "auto": for `sampler="auto"`, or where X_val is given.
    validation_fraction : float, default=0.1
        Share of the rows held out; picked by a hash of their contents, and none below 100 distinct rows.
    patience : int, default=10
        Looks at the held-out rows (one every `refit_every` steps) without a new best after which the walk ends.
    solver : {"auto", "direct", "dual"}, default="auto"
        How amplitudes are solved for: by normal equations, in the dual form, or by whichever is smaller.
    warm_start : bool, default=False
        Whether a new fit continues the last walk.
    random_state : int, RandomState, Generator or None, default=None
        An int seeds ``numpy.random.default_rng``.
    verbose : int, default=0
        1 prints a line at each look at the held-out rows.
"""

_ATTRIBUTES = """
    Attributes
    ----------
    frequencies_ : array of shape (K, d)
        In scaled units; ``model_.spectrum()`` has the inputs' own.
    amplitudes_ : array of shape (K,) or (K, q)
        f(x) = offset + Re Σ βₖ exp(iωₖ·x̃), in the targets' units.
    regularization_ : float
        λ of these amplitudes.
    n_steps_ : int
        Steps walked.
    history_ : History
        What was recorded on the way, and what was decided.
    model_ : FourierModel
        The fitted function itself.
    n_features_in_ : int
        Columns of X.
"""


class _AdaptiveFourier(BaseEstimator):
    """What the three estimators share: parameters, validation of inputs, the call of `Training`."""

    def __init__(
        self,
        n_frequencies: int = 256,
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
        patience: int = 10,
        solver: str = "auto",
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.sampler = sampler
        self.n_steps = n_steps
        self.step_size = step_size
        self.exponent = exponent
        self.refit_every = refit_every
        self.adapt_after = adapt_after
        self.max_norm = max_norm
        self.initial = initial
        self.regularization = regularization
        self.features = features
        self.standardize = standardize
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def n_iter_(self) -> int:
        """The steps walked, under scikit-learn's name."""
        return self.n_steps_

    def _training(self, scale_targets: bool = True) -> Training:
        """The settings, checked."""
        names = [field.name for field in fields(Training) if field.name != "scale_targets"]
        training = Training(**{name: getattr(self, name) for name in names}, scale_targets=scale_targets)
        training.check()
        return training

    def _train(self, training: Training, data: Data) -> None:
        last = getattr(self, "_last", None) if self.warm_start else None
        state, rng = last if last is not None else (None, _generator(self.random_state))
        if state is not None:
            _check_resumable(state.frequencies, training, data)
        fit = training.run(data, rng, state)
        self._last = fit.state, rng
        self._total_weight = fit.total_weight
        self.model_, self.history_, self.regularization_ = fit.model, fit.history, fit.regularization
        self.frequencies_, self.n_steps_ = fit.model.frequencies, fit.state.step

    def _predict(self, X: Any) -> Array:
        check_is_fitted(self)
        X = _later_inputs(self, X, "X", self.frequencies_)
        values = self.model_(X)
        xp = namespace(values)
        return xp.astype(values, X.dtype, copy=False) if xp.isdtype(X.dtype, "real floating") else values


class AdaptiveFourierRegressor(RegressorMixin, MultiOutputMixin, _AdaptiveFourier):
    __doc__ = f"""Regression by Fourier features whose frequencies walk to where the data needs them.
{_PARAMETERS}{_ATTRIBUTES}
    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> x = np.random.default_rng(0).normal(size=(1000, 1))
    >>> y = np.sin(20 * x[:, 0])
    >>> model = AdaptiveFourierRegressor(n_frequencies=32, random_state=0).fit(x[:800], y[:800])
    >>> bool(model.score(x[800:], y[800:]) > 0.95)
    True
    """

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> AdaptiveFourierRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n, d)
            Inputs.
        y : array of shape (n,) or (n, q)
            Targets.
        sample_weight : array of shape (n,), optional
            Whole numbers count as repetitions of rows; other weights are relative.
        X_val, y_val : optional
            Rows to choose the state by, instead of some of X.

        Returns
        -------
        self
        """
        training = self._training()
        X, y = _pair(self, X, y)
        one_output = y.ndim == 1
        data = _data(self, X, _as_columns(y), sample_weight, X_val, _validation_numbers(y_val, X))
        self._train(training, data)
        self.amplitudes_ = self.model_.amplitudes[:, 0] if one_output else self.model_.amplitudes
        return self

    def predict(self, X: Any) -> Array:
        """The real part of the model at X, (n,) or (n, q)."""
        values = self._predict(X)
        return values[:, 0] if self.amplitudes_.ndim == 1 else values


class AdaptiveFourierClassifier(ClassifierMixin, _AdaptiveFourier):
    __doc__ = f"""Classification by least squares on one-hot targets (the paper's Case 4), with frequencies that walk.
{_PARAMETERS}{_ATTRIBUTES}    classes_ : array
        The labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fourierwalk import AdaptiveFourierClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(AdaptiveFourierClassifier(n_frequencies=32, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> AdaptiveFourierClassifier:
        """Fit the model; the arguments are those of the regressor, with labels for y."""
        training = self._training(scale_targets=False)
        if is_foreign(X):
            X = _foreign_inputs(self, X, True)
            labels = _labels(y, X)
        else:
            X, labels = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if classes.size < 2:
            raise ValueError(f"y must have at least 2 classes, got 1 class: {classes[0]!r}.")
        targets_val = (
            None if y_val is None else like(_one_hot(_known(to_host(y_val), classes), classes.size), _anchor(X))
        )
        data = _data(self, X, like(_one_hot(codes, classes.size), _anchor(X)), sample_weight, X_val, targets_val)
        self._train(training, data)
        self.classes_ = like(classes, y) if is_foreign(y) else classes
        self.amplitudes_ = self.model_.amplitudes
        return self

    def decision_function(self, X: Any) -> Array:
        """The real part of each class's model, (n, n_classes); of two classes the difference, (n,)."""
        values = self._predict(X)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def predict(self, X: Any) -> Array:
        """The label whose model is largest."""
        values = self._predict(X)
        largest = namespace(values).argmax(values, axis=1)
        if is_foreign(self.classes_):
            return namespace(self.classes_).take(self.classes_, like(to_host(largest), self.classes_), axis=0)
        return self.classes_[to_host(largest)]

    def predict_proba(self, X: Any) -> Array:
        """The nearest probabilities to the models' values (least squares on one-hot targets estimates probabilities).

        A share of n_classes in n + n_classes is spread evenly, so that none is exactly zero.
        """
        values = self._predict(X)
        probabilities = _nearest_probabilities(to_host(values).astype(np.float64))
        n_classes = probabilities.shape[1]
        share = n_classes / (self._total_weight + n_classes)
        return like(((1 - share) * probabilities + share / n_classes).astype(to_host(values).dtype), values)


class AdaptiveFourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _AdaptiveFourier):
    __doc__ = f"""Adaptive Fourier features as a transformer: columns cos(ωₖ·x̃) and sin(ωₖ·x̃), divided by √K.

    It needs y: the columns have *seen* the targets, so whatever is fitted on them must be judged on other rows (as a
    pipeline in a cross-validation does). Labels, and whole numbers of at most 32 different values, count as classes.
{_PARAMETERS}{_ATTRIBUTES}
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaptiveFourierFeatures:
        """Walk the frequencies; the arguments are those of the regressor, or labels for y."""
        classes = not is_foreign(y) and _are_classes(y)
        training = self._training(scale_targets=not classes)
        X, y = _pair(self, X, y, numeric=not classes)
        if classes:
            labels, codes = np.unique(y, return_inverse=True)
            y = _one_hot(codes, labels.size)
        self._train(training, _data(self, X, _as_columns(y), sample_weight, None, None))
        self.amplitudes_ = self.model_.amplitudes
        self._n_features_out = self.model_.features.n_columns * int(self.frequencies_.shape[0])
        return self

    def transform(self, X: Any) -> Array:
        """The real columns at X."""
        check_is_fitted(self)
        X = _later_inputs(self, X, "X", self.frequencies_)
        columns = self.model_.columns(X) / float(self.frequencies_.shape[0]) ** 0.5
        xp = namespace(columns)
        return xp.astype(columns, X.dtype, copy=False) if xp.isdtype(X.dtype, "real floating") else columns


def _generator(random_state: Any) -> np.random.Generator:
    """An int seeds a Generator; a RandomState draws the seed of one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def _pair(estimator: Any, X: Any, y: Any, numeric: bool = True) -> tuple[Any, Any]:
    if is_foreign(X):
        X = _foreign_inputs(estimator, X, True)
        return X, _foreign_targets(y, X, "y", int(X.shape[0]))
    return validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        multi_output=numeric,
        y_numeric=numeric,
    )


def _data(estimator: Any, X: Any, y: Array, sample_weight: Any, X_val: Any, y_val: Any) -> Data:
    """Checked data without rows of weight zero."""
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be given together, got only one of them.")
    if X_val is not None:
        X_val = _later_inputs(estimator, X_val, "X_val", _anchor(X))
        check_consistent_length(to_host(y_val), np.empty(X_val.shape[0]))
        if y_val.shape[1] != y.shape[1]:
            raise ValueError(f"y_val must have {y.shape[1]} outputs like y, got {y_val.shape[1]}.")
    if sample_weight is None:
        return Data(X, y, None, X_val, y_val)
    weight = _weights(sample_weight, int(X.shape[0]))
    keep = np.flatnonzero(weight > 0)
    if keep.size < weight.size:
        weight = weight[keep]
        X = X[keep] if not is_foreign(X) else namespace(X).take(X, like(keep, X), axis=0)
        y = namespace(y).take(y, like(keep, y), axis=0)
    return Data(X, y, None if np.all(weight == 1) else like(weight, y), X_val, y_val)


def _weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Whole numbers are repetitions and stay; others are relative, and scaled to a mean of one."""
    weight = np.asarray(to_host(sample_weight), dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), one weight per row of X, got shape {weight.shape}."
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError(f"sample_weight must be finite and not negative, got a minimum of {np.min(weight)}.")
    if not np.any(weight > 0):
        raise ValueError("sample_weight must have a positive entry, got only zeros.")
    whole = np.all(weight == np.round(weight))
    return weight if whole else weight * (np.count_nonzero(weight) / np.sum(weight))


def _check_resumable(frequencies: Array, training: Training, data: Data) -> None:
    """A warm start needs the last walk's frequencies to fit the settings and the data."""
    n, d = frequencies.shape
    wanted = named(training.features).dimension(int(data.x.shape[1]))
    if n != training.n_frequencies:
        raise ValueError(f"n_frequencies must stay {n} for a warm start, got {training.n_frequencies}.")
    if d != wanted:
        raise ValueError(f"X and features must keep frequencies of {d} components for a warm start, got {wanted}.")
    if _where(frequencies) != _where(data.y):
        raise ValueError(f"X must stay {_where(frequencies)} for a warm start, got {_where(data.y)}.")


def _later_inputs(estimator: Any, X: Any, name: str, reference: Array) -> Any:
    """Inputs that follow those of fit: as many columns, in the reference's library and on its device."""
    if not is_foreign(X) and not is_foreign(reference):
        return validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
    got = _where(X) if is_foreign(X) else type(X).__name__
    if got != _where(reference):
        raise ValueError(
            f"{name} must be on the device and of the array library that fit saw, {_where(reference)}, got {got}."
        )
    return _foreign_inputs(estimator, X, False)


def _validation_numbers(y_val: Any, X: Any) -> Any:
    if y_val is None:
        return None
    if is_foreign(X):
        return _as_columns(_foreign_targets(y_val, X, "y_val"))
    return _as_columns(check_array(y_val, ensure_2d=False, dtype=np.float64, input_name="y_val"))


def _foreign_inputs(estimator: Any, X: Array, reset: bool) -> Array:
    """What `validate_data` checks, for arrays that it would move to the host."""
    xp, name = namespace(X), type(estimator).__name__
    if X.ndim != 2:
        raise ValueError(f"X must be a 2D array of rows and columns, got {X.ndim} dimensions.")
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"X must be real: complex data not supported, got {X.dtype}.")
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    if not bool(xp.all(xp.isfinite(X))):
        raise ValueError("X must be finite, got NaN or infinity.")
    if 0 in X.shape:
        raise ValueError(f"X must have at least one row and one column, got shape {tuple(X.shape)}.")
    if reset:
        estimator.n_features_in_ = int(X.shape[1])
        return X
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {name} is expecting {estimator.n_features_in_} features as input."
        )
    return X


def _labels(y: Any, X: Array) -> np.ndarray:
    """What `validate_data` checks of labels, for X that it would move to the host."""
    if y is None:
        raise ValueError("y must be labels, got None.")
    labels = column_or_1d(to_host(y), warn=True)
    assert_all_finite(labels, input_name="y")
    if labels.shape[0] != X.shape[0]:
        raise ValueError(f"y must have as many rows as X, {X.shape[0]}, got {labels.shape[0]}.")
    return labels


def _foreign_targets(y: Any, X: Array, name: str, n_rows: int | None = None) -> Array:
    if y is None or np.ndim(y) not in (1, 2):
        raise ValueError(f"{name} must be an array of 1 or 2 dimensions, got {None if y is None else np.ndim(y)}.")
    y = like(to_host(y), X) if not is_foreign(y) or _where(y) != _where(X) else y
    xp = namespace(y)
    if xp.isdtype(y.dtype, "complex floating"):
        raise ValueError(f"{name} must be real: complex data not supported, got {y.dtype}.")
    if n_rows is not None and y.shape[0] != n_rows:
        raise ValueError(f"{name} must have as many rows as X, {n_rows}, got {y.shape[0]}.")
    y = xp.astype(y, xp.float64)
    if not bool(xp.all(xp.isfinite(y))):
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return y


def _where(values: Array) -> str:
    library = namespace(values).__name__.removeprefix("array_api_compat.")
    return f"{library} on {getattr(values, 'device', 'cpu')}"


def _anchor(X: Any) -> Array:
    """An array of X's library on X's device; NumPy's for sparse X."""
    return np.empty(0) if scipy.sparse.issparse(X) else X


def _as_columns(y: Array) -> Array:
    xp = namespace(y)
    y = xp.astype(y, xp.float64)
    return xp.reshape(y, (-1, 1)) if y.ndim == 1 else y


def _one_hot(codes: np.ndarray, n_classes: int) -> np.ndarray:
    return np.eye(n_classes)[codes]


def _known(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    codes = np.searchsorted(classes, labels)
    unknown = classes[np.minimum(codes, classes.size - 1)] != labels
    if np.any(unknown):
        raise ValueError(f"y_val must hold labels of y only, got {labels[unknown][0]!r}.")
    return codes


def _are_classes(y: Any) -> bool:
    values = np.asarray(y)
    if y is None or (values.dtype.kind == "f" and not np.all(np.isfinite(values))):
        return False
    return type_of_target(y) in ("binary", "multiclass") and np.unique(values).size <= 32


def _nearest_probabilities(values: np.ndarray) -> np.ndarray:
    """The Euclidean projection of each row onto the simplex."""
    ordered = -np.sort(-values, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, values.shape[1] + 1)
    last = np.sum(ordered > excess, axis=1) - 1
    return np.maximum(values - excess[np.arange(values.shape[0]), last][:, None], 0.0)
