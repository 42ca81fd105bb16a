"""scikit-learn estimators: thin shells around a `Training`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from fourierwalk import inputs, settings
from fourierwalk.arrays.library import Array, is_foreign, like, namespace, to_host
from fourierwalk.callbacks import Callbacks, CallbackSupportMixin, with_callbacks
from fourierwalk.data.features import named
from fourierwalk.data.streaming import Streamed
from fourierwalk.files import container
from fourierwalk.files.fields import Fields
from fourierwalk.model import FourierModel
from fourierwalk.tables.encoder import TableEncoder, are_classes
from fourierwalk.training.history import History
from fourierwalk.training.temperature import best_temperature
from fourierwalk.training.training import Data, Fit, Resume, Training

_PARAMETERS = """
    Parameters
    ----------
    n_frequencies : int or "auto", default="auto"
        K, the number of frequencies of the final model, all averaged members together. "auto": found by growing the
        model while held-out rows say that it pays (`n_frequencies_` tells); 256 where the sampler is not "auto".
    sampler : {"auto", "metropolis", "resampling", "descent", "fixed"} or sampler object, default="auto"
        "auto": a model that grows and descends, and an average of several; all of it decided on held-out rows (see
        `fourierwalk.training.automatic.Automatic`). "metropolis": Algorithm 1, or 2 with `adapt_after`, exactly; the
        last state is kept. "resampling": frequencies multiply where amplitudes are large. "descent": the projected loss
        is descended from the start. "fixed": frequencies drawn once (plain random Fourier features).
    n_steps : int, default=None
        M. None: as long as held-out rows say that it pays ("auto": of each member's descent), else 1,000.
    step_size : float or "paper", default=None
        δ, a standard deviation. None: 2.4²/d, with `adapt_after` 0.1 (the paper's values); "resampling" and "auto" take
        steps shaped by the frequencies themselves. "paper": 2.4²/d.
    exponent : float or "paper", default=None
        γ of the Metropolis test. None: 3d − 2, at most 10; "resampling" has no test then. "paper": 3d − 2. "auto" has
        no test and wants None.
    refit_every : int, default=10
        m: amplitudes are solved for again after every m-th step.
    adapt_after : int, default=None
        t₀: a number makes Algorithm 1 into Algorithm 2.
    max_norm : float, default=None
        ω_max: no frequency of this norm or more is accepted.
    initial : float or array of shape (K, d), default=None
        Where frequencies start. None: explored with a kernel on a sample of the rows ("auto"), at zero ("metropolis"),
        else N(0, 1). A number σ: N(0, σ²).
    regularization : float or "auto", default="auto"
        λ of N⁻¹|Sβ − y|² + λ|β|². "auto": by the held-out rows, or by generalised cross-validation at the final
        frequencies where there are none.
    features : {"cos-sin", "complex", "sigmoid"} or features object, default="cos-sin"
        The kind of columns.
    standardize : {"auto", "robust", True, False}, default="auto"
        True: each input column by its own spread, targets too (Algorithm 3). False: nothing is changed. "robust": by
        median and interquartile range, with a smooth clip at three. "auto": one common scale where the columns share a
        unit, as pixels do, else as True, or with ``sampler="auto"`` "robust" where that is clearly better on held-out
        rows.
    early_stopping : {"auto", True, False}, default="auto"
        Whether rows are held out to choose by. "auto": for `sampler="auto"`, or where X_val is given.
    validation_fraction : float, default=0.1
        Share of the rows held out; picked by a hash of their contents, and none below 100 distinct rows. Below 1,000
        distinct rows "auto" takes five folds instead, each held out once.
    patience : int, default=None
        Looks at the held-out rows without a gain after which walk or descent ends. One every `refit_every` steps, with
        "auto" every 5. None: 30, with "auto" 6, and 12 at the last width.
    solver : {"auto", "direct", "spectral", "dual"} or Solver, default="auto"
        How amplitudes are solved for: by normal equations, by the same in Fourier space (at most three inputs, extra
        ``nufft``), in the dual form, or by whichever is cheapest. A `Solver` also sets precision, batches and memory;
        with a name alone, ``sampler="auto"`` rounds very large products on a GPU as far as λ allows.
    clamp : {"auto", True, False}, default="auto"
        Whether predictions of a regression stay within the range of the targets, widened by a tenth on each side:
        Fourier models oscillate where there are no rows. "auto": with ``sampler="auto"``.
    device : {"cpu", "cuda"} or None, default=None
        None: computation follows the data. "cuda": NumPy in, NumPy out, computed on the GPU (extra ``torch``).
    categorical_features : "from_dtype", array of bool, of int or of str, or None, default="from_dtype"
        Which columns of a table are categories: those of words, categories and truth values; those of a mask, of
        indices or of names; or none (see `TableEncoder`).
    max_seconds : float, default=None
        A fit of ``sampler="auto"`` ends after about so many seconds with the best model so far. The one setting that
        makes a fit depend on a clock.
    warm_start : bool, default=False
        Whether a new fit continues the last walk.
    random_state : int, RandomState, Generator or None, default=None
        An int seeds ``numpy.random.default_rng``.
    verbose : int or bool, default=0
        1 prints a line at each decision, 2 also at each look at the held-out rows.
"""

_ATTRIBUTES = """
    Attributes
    ----------
    frequencies_ : array of shape (K, d)
        In scaled units; ``model_.spectrum()`` has the inputs' own.
    amplitudes_ : array of shape (K,) or (K, q)
        f(x) = offset + Re Σ βₖ exp(iωₖ·x̃), in the targets' units.
    n_frequencies_ : int
        K, all members together.
    feature_importances_ : array of shape (d,)
        The inputs' relevance: mean squared slopes of the model along each scaled input, as shares of their sum.
    regularization_ : float
        λ of these amplitudes; of several members the geometric mean.
    n_steps_ : int
        Steps walked.
    history_ : History
        What was recorded on the way, and what was decided.
    model_ : FourierModel
        The fitted function itself.
    n_features_in_ : int
        Columns of X.
    encoder_ : TableEncoder
        Where X is a frame, or has categories or missing values: what makes it columns of numbers. Frequencies and
        `model_` are of these columns.
"""


class _AdaptiveFourier(CallbackSupportMixin, BaseEstimator):
    """What the three estimators share: parameters, validation of inputs, the call of `Training`."""

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
        max_seconds: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: Any = 0,
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
        self.clamp = clamp
        self.device = device
        self.categorical_features = categorical_features
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model; a fit that failed leaves checked inputs (`n_features_in_`) and none."""
        return hasattr(self, "model_")

    def __getstate__(self) -> Any:
        """A walk's state is kept only where a warm start may need it."""
        state = super().__getstate__()
        return state if self.warm_start else {name: value for name, value in state.items() if name != "_last"}

    def save(self, path: Path | str) -> Path:
        """Write the fitted estimator as one file of JSON and arrays, which `fourierwalk.load` reads.

        Parameters
        ----------
        path : path or str
            The file; an older one is replaced in one stroke.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            For parameters that are no plain data, such as a features object of one's own: a file holds no code.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import fourierwalk
        >>> x = np.linspace(-3, 3, 300)[:, None]
        >>> model = fourierwalk.AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     loaded = fourierwalk.load(model.save(Path(folder) / "sine.fw"))
        >>> bool(np.all(loaded.predict(x) == model.predict(x)))
        True
        """
        return container.write(path, type(self).__name__, self.to_tables())

    def to_tables(self) -> dict[str, Any]:
        """What a file keeps, as JSON values and NumPy arrays; docs/files.md has their names and shapes."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return {
            "parameters": {name: settings.packed(name, value) for name, value in self.get_params(deep=False).items()},
            "model": self.model_.to_tables(),
            "history": self.history_.to_tables(),
            "n_inputs": self.n_features_in_,
            "names": None if names is None else [str(name) for name in names],
            "encoder": self.encoder_.to_tables() if hasattr(self, "encoder_") else None,
            "one_output": self.amplitudes_.ndim == 1,
            "regularization": self.regularization_,
            "n_steps": self.n_steps_,
            "temperature_scale": self._scale,
            "total_weight": self._total_weight,
        }

    @classmethod
    def from_tables(cls, fields: Fields) -> Any:
        """The estimator that `to_tables` gave, checked."""
        given = fields.fields("parameters").values
        unknown = sorted(given.keys() - set(cls._get_param_names()))
        if unknown:
            raise ValueError(f"{fields.name}.parameters must be known to this version, got {unknown[0]!r}.")
        estimator = cls(**{name: settings.unpacked(value) for name, value in given.items()})
        estimator._restore(fields)
        return estimator

    def _restore(self, fields: Fields) -> None:
        """What a fit has learnt, from the fields of a file."""
        self.model_ = FourierModel.from_tables(fields.fields("model"))
        self.history_ = History.from_tables(fields.fields("history"))
        self.frequencies_, self.n_frequencies_ = self.model_.frequencies, int(self.model_.frequencies.shape[0])
        one_output = fields.option("one_output", (True, False))
        self.amplitudes_ = self.model_.amplitudes[:, 0] if one_output else self.model_.amplitudes
        self.n_features_in_ = fields.count("n_inputs", 1)
        self.regularization_, self.n_steps_ = float(fields.get("regularization")), fields.count("n_steps")
        self._scale, self._total_weight = fields.number("temperature_scale"), fields.number("total_weight", above=0)
        n_columns = n_inputs = int(self.model_.scaling.inputs.center.shape[0])
        if fields.has("encoder"):
            self.encoder_ = TableEncoder.from_tables(fields.get("encoder"))
            n_columns, n_inputs = len(self.encoder_.get_feature_names_out()), self.encoder_.n_features_in_
        if (n_columns, n_inputs) != (self.model_.scaling.inputs.center.shape[0], self.n_features_in_):
            raise ValueError(f"{fields.name}.n_inputs must be {n_inputs} as in the model, got {self.n_features_in_}.")
        if fields.has("names"):
            self.feature_names_in_ = np.array(fields.words("names"), dtype=object)
            if self.feature_names_in_.size != n_inputs:
                raise ValueError(f"{fields.name}.names must be {n_inputs} words, got {self.feature_names_in_.size}.")

    @property
    def n_iter_(self) -> int:
        """The steps walked, under scikit-learn's name."""
        return self.n_steps_

    @property
    def feature_importances_(self) -> Array:
        """The inputs' relevance, under scikit-learn's name; of a table, added up over an input's columns."""
        check_is_fitted(self)
        relevance = self.model_.relevance()
        return self.encoder_.summed(relevance) if hasattr(self, "encoder_") else relevance

    def _training(self, scale_targets: bool = True) -> Training:
        """The settings, checked."""
        names = [field.name for field in fields_of(Training) if field.name != "scale_targets"]
        training = Training(**{name: getattr(self, name) for name in names}, scale_targets=scale_targets)
        training.check()
        return training

    def _begin(self, scale_targets: bool = True) -> Training:
        """Checked settings; whatever an earlier fit has learnt is forgotten, but for a warm start's state."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        return self._training(scale_targets)

    def _train(self, training: Training, data: Data) -> Fit:
        last: tuple[Resume, np.random.Generator] | None = getattr(self, "_last", None) if self.warm_start else None
        resume, rng = last if last is not None else (None, inputs.generator(self.random_state))
        data = inputs.moved(data, self.device)
        if resume is not None:
            _check_resumable(resume.state.frequencies, resume.best, training, data)
        callbacks = Callbacks(self)
        fit = training.run(data, rng, resume, [callbacks.see])
        self._last = fit.resume, rng
        self._total_weight = fit.total_weight
        self._scale = 1.0 if fit.calibration is None else float(best_temperature(*fit.calibration)[0])
        model = fit.model if self.device is None else fit.model.on_host()
        self.model_, self.history_, self.regularization_ = model, fit.history, fit.regularization
        self.frequencies_, self.n_steps_ = model.frequencies, fit.resume.state.step
        self.n_frequencies_ = int(model.frequencies.shape[0])
        callbacks.end()
        return fit

    def _ended(self, fit: Fit) -> Any:
        """The estimator; a fit that the user has interrupted says so once its model is in place."""
        if fit.interrupted:
            raise KeyboardInterrupt
        return self

    def _evaluate(self, X: Any, function: Callable[[FourierModel, Any], Array]) -> Array:
        """A function of checked inputs, in their precision."""
        X = inputs.later(self, X, "X", self.frequencies_)
        values = function(self.model_, X) if self.device is None else self._elsewhere(X, function)
        xp = namespace(values)
        return xp.astype(values, X.dtype, copy=False) if xp.isdtype(X.dtype, "real floating") else values

    def _elsewhere(self, X: Any, function: Callable[[FourierModel, Any], Array]) -> Array:
        """On the device, and back."""
        there = inputs.inputs_on(X, self.device)
        anchor = there.anchor if isinstance(there, Streamed) else there
        return to_host(function(self.model_.on_device_of(anchor), there))

    def _predict(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._evaluate(X, FourierModel.__call__)


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

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None, groups: Any = None
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
        groups : array of shape (n,), optional
            Rows of one group are held out together.

        Returns
        -------
        self
        """
        training = self._begin()
        X, y = inputs.numbers(self, X, y)
        one_output = y.ndim == 1
        y_val = None if y_val is None else inputs.later_numbers(y_val, "y_val", X)
        data = inputs.data(self, X, y, sample_weight, X_val, y_val, groups)
        fit = self._train(training, data)
        self.amplitudes_ = self.model_.amplitudes[:, 0] if one_output else self.model_.amplitudes
        return self._ended(fit)

    def predict(self, X: Any) -> Array:
        """The real part of the model at X, (n,) or (n, q)."""
        values = self._predict(X)
        return values[:, 0] if self.amplitudes_.ndim == 1 else values


class AdaptiveFourierClassifier(ClassifierMixin, _AdaptiveFourier):
    __doc__ = f"""Classification by least squares on one-hot targets (the paper's Case 4), with frequencies that walk.
{_PARAMETERS}    class_weight : "balanced" or dict, default=None
        Weights of the classes; "balanced": inversely to their frequencies.
{_ATTRIBUTES}    classes_ : array
        The labels.

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
            max_seconds=max_seconds,
            warm_start=warm_start,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None, groups: Any = None
    ) -> AdaptiveFourierClassifier:
        """Fit the model; the arguments are those of the regressor, with labels for y."""
        training = self._begin(scale_targets=False)
        X, labels = inputs.labels(self, X, y)
        classes, codes = inputs.classes(labels, sample_weight)
        sample_weight = inputs.class_weighted(self.class_weight, classes, codes, sample_weight)
        y_val = None if y_val is None else inputs.one_hot(inputs.known(y_val, classes), classes.size, X)
        data = inputs.data(self, X, inputs.one_hot(codes, classes.size, X), sample_weight, X_val, y_val, groups)
        fit = self._train(training, data)
        self.classes_ = like(classes, y) if is_foreign(y) else classes
        self.amplitudes_ = self.model_.amplitudes
        return self._ended(fit)

    def to_tables(self) -> dict[str, Any]:
        """Those of every estimator, and the labels."""
        return {**super().to_tables(), "classes": inputs.packed_labels(self.classes_)}

    def _restore(self, fields: Fields) -> None:
        super()._restore(fields)
        self.classes_ = inputs.unpacked_labels(fields.fields("classes"), self.amplitudes_.shape[1])

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
        """softmax(s f(x)), the temperature 1/s fitted on rows that were held out (of few rows, by leave-one-out).

        A share of n_classes in n + n_classes is spread evenly, so that none is exactly zero.
        """
        values = self._predict(X)
        probabilities = softmax(self._scale * to_host(values).astype(np.float64), axis=1)
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

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None, groups: Any = None
    ) -> AdaptiveFourierFeatures:
        """Walk the frequencies; the arguments are those of the regressor, or labels for y."""
        has_classes = are_classes(y)
        training = self._begin(scale_targets=not has_classes)
        if has_classes:
            X, labels = inputs.labels(self, X, y)
            classes, codes = np.unique(labels, return_inverse=True)
            y = inputs.one_hot(codes, classes.size, X)
            y_val = None if y_val is None else inputs.one_hot(inputs.known(y_val, classes), classes.size, X)
        else:
            X, y = inputs.numbers(self, X, y)
            y_val = None if y_val is None else inputs.later_numbers(y_val, "y_val", X)
        fit = self._train(training, inputs.data(self, X, y, sample_weight, X_val, y_val, groups))
        self.amplitudes_ = self.model_.amplitudes
        self._n_features_out = self.model_.features.n_columns * int(self.frequencies_.shape[0])
        return self._ended(fit)

    def _restore(self, fields: Fields) -> None:
        super()._restore(fields)
        self._n_features_out = self.model_.features.n_columns * self.n_frequencies_

    def transform(self, X: Any) -> Array:
        """The real columns at X."""
        check_is_fitted(self)
        return self._evaluate(X, lambda model, x: model.columns(x) / float(self.frequencies_.shape[0]) ** 0.5)


def _check_resumable(state: Array, best: Array, training: Training, data: Data) -> None:
    """A warm start needs the last walk's frequencies to fit the settings and the data."""
    n, d = best.shape
    wanted = named(training.features).dimension(int(data.x.shape[1]))
    if training.n_frequencies not in ("auto", n):
        raise ValueError(f"n_frequencies must stay {n} for a warm start, got {training.n_frequencies}.")
    if d != wanted:
        raise ValueError(f"X and features must keep frequencies of {d} components for a warm start, got {wanted}.")
    if inputs.where(state) != inputs.where(data.y):
        raise ValueError(f"X must stay {inputs.where(state)} for a warm start, got {inputs.where(data.y)}.")
