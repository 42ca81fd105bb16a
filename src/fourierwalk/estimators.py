"""The scikit-learn estimators. They check parameters and data; `Training` does the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields as fields_of
from dataclasses import replace
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

from fourierwalk import inputs, parts, settings
from fourierwalk.arrays.library import Array, is_foreign, like, namespace, to_host
from fourierwalk.callbacks import Callbacks, CallbackSupportMixin, with_callbacks
from fourierwalk.checkpoints.checkpoint import Checkpoint
from fourierwalk.checkpoints.journal import opened
from fourierwalk.chunks.lazy import by_chunks
from fourierwalk.data.features import named
from fourierwalk.data.streaming import Streamed
from fourierwalk.exporting.description import Description
from fourierwalk.exporting.exportable import Exportable
from fourierwalk.exporting.spread import Spread
from fourierwalk.files import container
from fourierwalk.files.fields import Fields
from fourierwalk.model import FourierModel
from fourierwalk.parameters import count, number
from fourierwalk.planning.announcement import announcement
from fourierwalk.tables.encoder import TableEncoder, are_classes
from fourierwalk.training.history import Decision, History
from fourierwalk.training.progress import Progress
from fourierwalk.training.temperature import best_temperature
from fourierwalk.training.training import Data, Fit, Resume, Training
from fourierwalk.uncertainty.error_bars import ErrorBars

NOT_IN_A_FINGERPRINT = ("checkpoint", "max_seconds", "random_state", "verbose")
"""Parameters that may change between a fit and its continuation from a checkpoint; `random_state` is checked apart."""

_PARAMETERS = """
    Parameters
    ----------
    n_frequencies : int or "auto", default="auto"
        K, the number of frequencies of the final model; if several models are averaged, of all of them together.
        "auto": with ``sampler="auto"`` the model grows as long as the error on the validation rows falls clearly
        (`n_frequencies_` holds the result); with every other sampler 256.
    sampler : {"auto", "metropolis", "resampling", "descent", "fixed"} or sampler object, default="auto"
        How frequencies are found. "auto": several models are grown, refined by descent and averaged; validation rows
        decide (see `fourierwalk.training.automatic.Automatic`). "metropolis": exactly Algorithm 1 of the paper, or
        Algorithm 2 with `adapt_after`; the last state is kept. "resampling": frequencies with large amplitudes are
        copied, and all copies move. "descent": L-BFGS on the loss as a function of the frequencies, with amplitudes
        solved for exactly. "fixed": frequencies are drawn once (plain random Fourier features).
    n_steps : int, default=None
        M, the largest number of steps. None: 1,000. With ``sampler="auto"`` these are the steps of descent of each
        averaged model; None: 60 at each width and up to 200 more at the last one. Early stopping may end them sooner.
    step_size : float or "paper", default=None
        δ, the standard deviation of a move. None: 2.4²/d, or 0.1 with `adapt_after` (the paper's values);
        "resampling" and "auto" take the covariance of the frequencies instead. "paper": 2.4²/d.
    exponent : float or "paper", default=None
        γ of the Metropolis test. None: 3d − 2, at most 10; "resampling" then has no test. "paper": 3d − 2.
        ``sampler="auto"`` has no test, and accepts only None.
    refit_every : int, default=10
        m: amplitudes are solved for again after every m-th step. Validation rows are looked at as often.
    adapt_after : int, default=None
        t₀, the number of steps after which the covariance of the proposal adapts (Algorithm 2). None: Algorithm 1.
    max_norm : float, default=None
        ω_max: frequencies of this norm or more are rejected. None: no bound.
    initial : float or array of shape (K, d), default=None
        The first frequencies. None: drawn from a distribution that kernel ridge regression on a sample of the rows
        suggests ("auto"), zero ("metropolis"), else N(0, 1). A number σ: N(0, σ²).
    regularization : float or "auto", default="auto"
        λ of N⁻¹|Sβ − y|² + λ|β|². "auto": chosen on the validation rows; without them, by generalised
        cross-validation at the final frequencies.
    features : {"cos-sin", "complex", "sigmoid"} or features object, default="cos-sin"
        The functions of ω·x that the model is a sum of: pairs of cosine and sine, complex exponentials (the paper),
        or logistic sigmoids. A features object implements `fourierwalk.data.Features`.
    standardize : {"auto", "robust", True, False}, default="auto"
        How inputs and targets are scaled. True: each column is centred and divided by its standard deviation
        (Algorithm 3). False: nothing is changed. "robust": each input column is scaled by its median and interquartile
        range, and clipped smoothly at ±3. "auto": all input columns share one scale if they seem to share a unit, as
        pixels do; else as True. With ``sampler="auto"`` it also tries "robust" where inputs have heavy tails.
    early_stopping : {"auto", True, False}, default="auto"
        Whether some rows are held out as validation rows. "auto": with ``sampler="auto"``, or if X_val is given.
    validation_fraction : float, default=0.1
        Share of the rows that are held out. They are picked by a hash of their contents; with fewer than 100 distinct
        rows none are. With 40 to 1,000 distinct rows ``sampler="auto"`` uses five folds instead.
    patience : int, default=None
        Early stopping ends the walk or the descent after this many checks of the validation error without a gain.
        There is a check every `refit_every` steps, with ``sampler="auto"`` every 5. None: 30; with ``sampler="auto"``
        6, and 12 at the last width.
    solver : {"auto", "direct", "spectral", "dual"} or Solver, default="auto"
        How amplitudes are solved for. "direct": normal equations. "spectral": normal equations in Fourier space (at
        most three inputs, extra ``nufft``). "dual": one equation for each row. "auto": whichever is cheapest. A
        `Solver` also sets precision, batch size and memory. Without one, ``sampler="auto"`` uses a lower precision for
        very large products on a GPU, if λ is large enough for that.
    clamp : {"auto", True, False}, default="auto"
        Whether predictions of a regression are clipped to the range of the targets, widened by a tenth on each side.
        Fourier models oscillate where there are no rows. "auto": with ``sampler="auto"``.
    device : {"cpu", "cuda"} or None, default=None
        None: on the device of the data. "cuda": X and y are NumPy arrays, and so are predictions, but the computation
        is on the GPU (extra ``torch``).
    categorical_features : "from_dtype", array of bool, of int or of str, or None, default="from_dtype"
        Which columns of a table are categories. "from_dtype": columns of strings, categories and Booleans. An array: a
        mask, indices or names. None: no column. See `TableEncoder`.
    checkpoint : path, Checkpoint or None, default=None
        A file from which a fit that was interrupted or killed continues, bit for bit, when it is run again with the
        same data and parameters. It is written every 60 seconds; a `Checkpoint` sets other intervals. A file of other
        data or parameters is refused. A folder: each fit has a file of its own there. The file is kept at the end.
    max_seconds : float, default=None
        A fit with ``sampler="auto"`` ends after about this many seconds with the best model so far. A seed then no
        longer fixes the result.
    warm_start : bool, default=False
        Whether a new fit continues where the last one ended.
    random_state : int, RandomState, Generator or None, default=None
        An int seeds ``numpy.random.default_rng``.
    verbose : int or bool, default=0
        1 prints a line at each decision, 2 also at each check of the validation error.
"""

_ATTRIBUTES = """
    Attributes
    ----------
    frequencies_ : array of shape (K, d)
        ωₖ, in units of the scaled inputs; ``model_.spectrum()`` gives them in the inputs' own units.
    amplitudes_ : array of shape (K,) or (K, q)
        βₖ, in the targets' units.
    n_frequencies_ : int
        K; if several models are averaged, of all of them together.
    feature_importances_ : array of shape (d,)
        The mean squared slope of the model along each scaled input, divided by the sum over all inputs.
    regularization_ : float
        λ of the amplitudes; if several models are averaged, the geometric mean.
    n_steps_ : int
        The number of steps taken; if several models are averaged, by the first of them.
    history_ : History
        The steps, the validation errors, and the decisions in words.
    model_ : FourierModel
        The fitted function itself.
    n_features_in_ : int
        The number of columns of X.
    encoder_ : TableEncoder
        Only if X is a frame, or has categories or missing values: the encoder that turns X into columns of numbers.
        `frequencies_` and `model_` refer to these columns.
"""

_NOTES = """
    Notes
    -----
    The model is f(x) = offset + Re Σₖ βₖ exp(iωₖ·x̃), where x̃ are the scaled inputs. At given frequencies ω the
    amplitudes β are the minimiser of N⁻¹|Sβ − y|² + λ|β|² with Sₙₖ = exp(iωₖ·x̃ₙ): problem (28) and normal equations
    (29) of [1]_, problem (31) and equations (32) for several outputs. With ``features="cos-sin"`` the unknowns are the
    real coefficients of cosine and sine, and βₖ = aₖ − ibₖ.
"""

_REFERENCES = """
    References
    ----------
    .. [1] Kammonen, Kiessling, Plecháč, Sandberg, Szepessy: *Adaptive random Fourier features with Metropolis
       sampling* (2020).
"""


class _AdaptiveFourier(Exportable, CallbackSupportMixin, BaseEstimator):
    """The part that the three estimators share: parameters, files, and the call of `Training`."""

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
        self.checkpoint = checkpoint
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
        """Whether there is a model. A fit that failed may have set `n_features_in_`, but not `model_`."""
        return hasattr(self, "model_")

    def __getstate__(self) -> Any:
        """Pickle the state of the walk only if a warm start may need it, and sums of rows but no rows."""
        state = {name: value for name, value in super().__getstate__().items() if not isinstance(value, parts.Unsummed)}
        return state if self.warm_start else {name: value for name, value in state.items() if name != "_last"}

    def save(self, path: Path | str) -> Path:
        """Write the fitted estimator as one file of JSON and arrays, which `fourierwalk.load` reads.

        Parameters
        ----------
        path : path or str
            The file. An existing file is replaced only once the new one is complete.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If a parameter is not plain data, such as a features object of your own: a file holds no code.

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
        """The contents of a file, as JSON values and NumPy arrays; docs/files.md has their names and shapes."""
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
        """The inverse of `to_tables`; the fields are checked."""
        given = fields.fields("parameters").values
        unknown = sorted(given.keys() - set(cls._get_param_names()))
        if unknown:
            raise ValueError(f"{fields.name}.parameters must be known to this version, got {unknown[0]!r}.")
        estimator = cls(**{name: settings.unpacked(value) for name, value in given.items()})
        estimator._restore(fields)
        return estimator

    def _restore(self, fields: Fields) -> None:
        """Set the fitted attributes from the fields of a file."""
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

    def description(self) -> Description:
        """What the model computes, with the encoder, as plain arrays, for exports."""
        check_is_fitted(self)
        return replace(Description.of(self.model_), is_vector=self.amplitudes_.ndim == 1).of_estimator(self)

    @property
    def n_iter_(self) -> int:
        """`n_steps_` under scikit-learn's name."""
        return self.n_steps_

    @property
    def feature_importances_(self) -> Array:
        """The share of each input in the model's squared slopes, (d,); encoded columns are added up for each input."""
        check_is_fitted(self)
        relevance = self.model_.relevance()
        return self.encoder_.summed(relevance) if hasattr(self, "encoder_") else relevance

    def _training(self, scale_targets: bool = True) -> Training:
        """The checked settings."""
        names = [field.name for field in fields_of(Training) if field.name != "scale_targets"]
        training = Training(**{name: getattr(self, name) for name in names}, scale_targets=scale_targets)
        training.check()
        Checkpoint.of(self.checkpoint)
        return training

    def _begin(self, scale_targets: bool = True) -> Training:
        """Delete the fitted attributes of an earlier fit, and return the checked settings.

        The state of the walk (`_last`) stays, because a warm start continues from it.
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        return self._training(scale_targets)

    def _train(self, training: Training, data: Data) -> Fit:
        """Run the training and set the fitted attributes that all estimators have."""
        last: tuple[Resume, np.random.Generator] | None = getattr(self, "_last", None) if self.warm_start else None
        resume, rng = last if last is not None else (None, inputs.generator(self.random_state))
        data = inputs.moved(data, self.device)
        if resume is not None:
            _check_resumable(resume.state.frequencies, resume.best, training, data)
        journal, rng = self._journal(data, rng, resume)
        if int(self.verbose) >= 1:
            self._announce(training, data, resume)
        callbacks = Callbacks(self)
        fit = training.run(data, rng, resume, [callbacks.see], journal)
        self._last, self._members = (fit.resume, rng), fit.members
        self._total_weight = fit.total_weight
        self._scale = 1.0 if fit.calibration is None else float(best_temperature(*fit.calibration)[0])
        model = fit.model if self.device is None else fit.model.on_host()
        self.model_, self.history_, self.regularization_ = model, fit.history, fit.regularization
        self.frequencies_, self.n_steps_ = model.frequencies, fit.resume.state.step
        self.n_frequencies_ = int(model.frequencies.shape[0])
        callbacks.end()
        return fit

    def _journal(self, data: Data, rng: np.random.Generator, resume: Resume | None) -> tuple[Any, np.random.Generator]:
        """The journal of the checkpoint, if there is one, and the generator of the fit."""
        checkpoint = Checkpoint.of(self.checkpoint)
        if checkpoint is None:
            return None, rng
        own = {name: value for name, value in self.get_params(deep=False).items() if name not in NOT_IN_A_FINGERPRINT}
        own = {name: to_host(value) if is_foreign(value) else value for name, value in own.items()}
        packed = {name: settings.packed(name, value) for name, value in own.items()}
        is_seeded = self.random_state is not None
        return opened(checkpoint, {"estimator": type(self).__name__, **packed}, data, rng, is_seeded, resume)

    def _announce(self, training: Training, data: Data, resume: Resume | None) -> None:
        """Print how long the fit may take, if it is long."""
        search, n = training.resolve(data, resume), self.n_frequencies
        n_rows = int(data.x.shape[0]) if data.whole is None else data.whole.n_rows
        sizes = (n_rows, int(data.x.shape[1]), int(data.y.shape[1]), None if n == "auto" else int(n))
        said = announcement(search, *sizes) if self.device is None and not is_foreign(data.y) else None
        if said is not None:
            Progress(int(self.verbose)).see(Decision(said))

    def _ended(self, fit: Fit) -> Any:
        """Return the estimator, or raise `KeyboardInterrupt` if the user interrupted the fit: the model is usable."""
        if fit.interrupted:
            raise KeyboardInterrupt
        return self

    def _evaluate(self, X: Any, function: Callable[[FourierModel, Any], Array]) -> Array:
        """A function of the model and X, in the precision of X; X is checked and encoded first."""
        X = inputs.later(self, X, "X", self.frequencies_)
        values = function(self.model_, X) if self.device is None else self._on_device(X, function)
        xp = namespace(values)
        return xp.astype(values, X.dtype, copy=False) if xp.isdtype(X.dtype, "real floating") else values

    def _on_device(self, X: Any, function: Callable[[FourierModel, Any], Array]) -> Array:
        """The function evaluated on `self.device`; its values are brought back to the host."""
        x = inputs.inputs_on(X, self.device)
        anchor = x.anchor if isinstance(x, Streamed) else x
        return to_host(function(self.model_.on_device_of(anchor), x))

    def _predict(self, X: Any) -> Array:
        """The values of the model at X, (n, q)."""
        if not hasattr(self, "model_"):  # the check alone takes 20 µs
            check_is_fitted(self)
        return self._evaluate(X, FourierModel.__call__)


class AdaptiveFourierRegressor(RegressorMixin, MultiOutputMixin, _AdaptiveFourier):
    __doc__ = f"""Regression by random Fourier features whose frequencies adapt to the data.
{_PARAMETERS}{_ATTRIBUTES}
    See Also
    --------
    AdaptiveFourierClassifier : The same for classes.
    AdaptiveFourierFeatures : The adapted features as a transformer.
{_NOTES}{_REFERENCES}
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
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        groups: Any = None,
    ) -> AdaptiveFourierRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n, d)
            Inputs. Rows that do not fit in memory may be a memory map, an array of Zarr or h5py, a Dask array or data
            frame, a data set of pyarrow, or blocks (X, y) or (X, y, weight) that can be iterated again and again; see
            `fourierwalk.chunks`.
        y : array of shape (n,) or (n, q)
            Targets. None for blocks, which bring their own; a column's name for data sets and Dask frames.
        sample_weight : array of shape (n,), optional
            Weights of the rows. A row of weight 2 counts like two equal rows.
        X_val, y_val : optional
            Validation rows, to be used instead of rows held out from X.
        groups : array of shape (n,), optional
            The group of each row. Rows of one group are held out together.

        Returns
        -------
        self
        """
        training = self._begin()
        data = inputs.chunked(self, X, y, sample_weight, X_val, y_val, groups)
        if data is not None:
            one_output = data.whole.survey.n_outputs is None  # type: ignore[union-attr]
        else:
            X, y = inputs.numbers(self, X, y)
            one_output = y.ndim == 1
            y_val = None if y_val is None else inputs.later_numbers(y_val, "y_val", X)
            data = inputs.data(self, X, y, sample_weight, X_val, y_val, groups)
        fit = self._train(training, data)
        self.amplitudes_ = self.model_.amplitudes[:, 0] if one_output else self.model_.amplitudes
        self.error_bars_ = fit.error_bars
        total = fit.total_weight if data.whole is not None else parts.total(sample_weight, int(X.shape[0]))
        self._seen = parts.Unsummed(data, total)
        return self._ended(fit)

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, half_life: float | None = None
    ) -> AdaptiveFourierRegressor:
        """Fit the amplitudes to rows that come in parts.

        The first call is a `fit`: it finds the frequencies and the scaling of the inputs, which then stay as they are.
        Each call adds its rows to the normal equations, so the amplitudes are exact for all rows seen, also for those
        of an earlier `fit`.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n, d)
            Inputs, in later calls with the columns of the first one.
        y : array of shape (n,) or (n, q)
            Targets. Their mean is that of all rows seen, and the range of `clamp` grows with them.
        sample_weight : array of shape (n,), optional
            Weights of the rows, in the same units in all calls.
        half_life : float, optional
            The number of later rows after which a row counts half. None: nothing is forgotten.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X or y has other columns than before, or if the sums over earlier rows are not there: files, and pickles
            of an estimator without a call of `partial_fit`, do not hold them.

        Notes
        -----
        `regularization_` stays. If several models are averaged, each is solved for by itself, as in `fit`.
        An estimator keeps a reference to the rows of `fit`, in case they are to be summed here.

        Examples
        --------
        >>> import numpy as np
        >>> from fourierwalk import AdaptiveFourierRegressor
        >>> x = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
        >>> y = np.sin(3 * x[:, 0])
        >>> model = AdaptiveFourierRegressor(16, random_state=0)
        >>> for part in np.array_split(np.arange(2000), 4):
        ...     model = model.partial_fit(x[part], y[part])
        >>> bool(model.score(x, y) > 0.99)
        True
        """
        number("half_life", half_life, above=0, optional=True)
        if not hasattr(self, "model_"):
            parts.begin(self.fit(X, y, sample_weight), half_life)
        else:
            parts.add(self, parts.numbers(self, X, y, sample_weight), half_life)
            self.error_bars_ = None  # they belong to the amplitudes before
        return self

    @by_chunks
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the targets: the real part of the model at X.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n, d)
            Inputs, with the columns of `fit`. For a Dask array or data frame the result is lazy.
        return_std : bool, default=False
            Whether to return the standard deviation of the targets too.

        Returns
        -------
        array of shape (n,) or (n, q)
            In the array library and the precision of X.
        array of shape (n,) or (n, q)
            Only with ``return_std=True``: the standard deviation of a new target at X. It has three parts: the noise,
            the uncertainty of the amplitudes, and the spread of the averaged models.
        """
        if return_std:
            bars = self._bars("return_std")
            both = self._evaluate(X, bars.mean_and_std)
            n_outputs = both.shape[1] // 2
            return self._outputs(both[:, :n_outputs]), self._outputs(both[:, n_outputs:])
        return self._outputs(self._predict(X))

    @by_chunks
    def predict_interval(self, X: Any, confidence_level: Any = 0.9) -> Array:
        """Prediction intervals by cross-validation+, from rows that the frequencies have not seen.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n, d)
            Inputs, with the columns of `fit`.
        confidence_level : float or sequence of floats, default=0.9
            The share of new targets that the intervals are to hold, between 0 and 1; or several.

        Returns
        -------
        array of shape (n, 2), (n, 2, n_levels), (n, q, 2) or (n, q, 2, n_levels)
            The lower and the upper end. There is an axis of outputs only if y had two axes, and one of levels only if
            there are several. If there are too few held-out rows for a level, its intervals are infinite.

        Examples
        --------
        >>> import numpy as np
        >>> from fourierwalk import AdaptiveFourierRegressor
        >>> rng = np.random.default_rng(0)
        >>> x = rng.uniform(-3, 3, (600, 1))
        >>> y = np.sin(2 * x[:, 0]) + rng.normal(size=600) / 5
        >>> model = AdaptiveFourierRegressor(16, random_state=0).fit(x[:400], y[:400])
        >>> low, high = model.predict_interval(x[400:], 0.9).T
        >>> bool(0.85 < np.mean((low <= y[400:]) & (y[400:] <= high)) < 0.95)
        True
        """
        levels = inputs.levels(confidence_level)
        bars = self._bars("predict_interval")
        flat = self._evaluate(X, lambda model, x: bars.interval(model, x, levels))
        n_outputs = int(self.model_.amplitudes.shape[1])
        shaped = namespace(flat).reshape(flat, (flat.shape[0], n_outputs, 2, len(levels)))
        shaped = shaped if np.ndim(confidence_level) else shaped[..., 0]
        return shaped[:, 0, ...] if self.amplitudes_.ndim == 1 else shaped

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draw targets at X from their distribution; the draws at all rows belong together, but for the noise.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n, d)
            Inputs, with the columns of `fit`.
        n_samples : int, default=1
            The number of draws at each row.
        random_state : int, RandomState, Generator or None, default=0
            The source of the random numbers.

        Returns
        -------
        array of shape (n, n_samples) or (n, q, n_samples)
            The draws.
        """
        count("n_samples", n_samples, 1)
        bars, rng = self._bars("sample_y"), inputs.generator(random_state)
        flat = self._evaluate(X, lambda model, x: bars.sample(model, x, n_samples, rng))
        shaped = namespace(flat).reshape(flat, (flat.shape[0], -1, n_samples))
        return self._outputs(shaped)

    def _outputs(self, values: Array) -> Array:
        """Values (n, q, …) without the axis of outputs if y had none."""
        return values[:, 0, ...] if self.amplitudes_.ndim == 1 else values

    def _bars(self, what: str) -> ErrorBars:
        """The error bars; an error that names what was asked for if there are none."""
        check_is_fitted(self)
        bars = getattr(self, "error_bars_", None)
        if bars is None:
            raise ValueError(
                f"{what} needs error bars, which a fit keeps if some rows are new to its frequencies "
                f"(early_stopping=True), and a file with save(path, error_bars=True), got a model without them."
            )
        return bars

    def description_with_std(self) -> Description:
        """What the regressor computes, with its standard deviations, as plain arrays, for exports."""
        spread = Spread.of(self._bars("to_onnx(std=True)"), self.model_.features.n_columns)
        return replace(self.description(), spread=spread)

    def to_tables(self, error_bars: bool = False) -> dict[str, Any]:
        """The contents of a file: those of every estimator, and the error bars if asked for."""
        bars = self.error_bars_ if error_bars else None
        return {**super().to_tables(), **({} if bars is None else {"error_bars": bars.to_tables()})}

    def save(self, path: Path | str, error_bars: bool = False) -> Path:
        """Write the fitted estimator as one file of JSON and arrays, which `fourierwalk.load` reads.

        Parameters
        ----------
        path : path or str
            The file. An existing file is replaced only once the new one is complete.
        error_bars : bool, default=False
            Whether the file also keeps what `return_std`, `predict_interval` and `sample_y` need. It is then larger:
            by 0.1 MB for 256 frequencies in five averaged models, by 1 MB for 256 frequencies in one.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import fourierwalk
        >>> x = np.linspace(-3, 3, 300)[:, None]
        >>> model = fourierwalk.AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     loaded = fourierwalk.load(model.save(Path(folder) / "sine.fw", error_bars=True))
        >>> bool(np.all(loaded.predict_interval(x) == model.predict_interval(x)))
        True
        """
        if error_bars:
            self._bars("save(error_bars=True)")
        return container.write(path, type(self).__name__, self.to_tables(error_bars))

    def _restore(self, fields: Fields) -> None:
        super()._restore(fields)
        has = fields.has("error_bars")
        self.error_bars_ = ErrorBars.from_tables(fields.fields("error_bars"), self.model_) if has else None


class AdaptiveFourierClassifier(ClassifierMixin, _AdaptiveFourier):
    __doc__ = f"""Classification by least squares on one-hot targets (Case 4 of the paper), with adaptive frequencies.
{_PARAMETERS}    class_weight : "balanced" or dict, default=None
        Weights of the classes. "balanced": inversely proportional to the number of rows of each class.
{_ATTRIBUTES}    classes_ : array
        The labels.

    See Also
    --------
    AdaptiveFourierRegressor : The same for numeric targets.
{_NOTES}
    There is one output for each class. `predict` returns the class with the largest output, `predict_proba` a softmax
    of the outputs.
{_REFERENCES}
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
        data = inputs.chunked(self, X, y, sample_weight, X_val, y_val, groups, are_labels=True)
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
        if self.class_weight is not None:
            raise ValueError(f"class_weight must be None for rows in blocks, got {self.class_weight!r}.")
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
        if not hasattr(self, "model_"):
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
        return super().description().of_classes(self.classes_, self._scale, self._total_weight)

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
        probabilities = softmax(self._scale * to_host(values).astype(np.float64), axis=1)
        n_classes = probabilities.shape[1]
        share = n_classes / (self._total_weight + n_classes)
        return like(((1 - share) * probabilities + share / n_classes).astype(to_host(values).dtype), values)


class AdaptiveFourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _AdaptiveFourier):
    __doc__ = f"""Adaptive Fourier features as a transformer: columns cos(ωₖ·x̃) and sin(ωₖ·x̃), divided by √K.

    `fit` needs y, so the columns depend on the targets. A model that is trained on them must be tested on other rows,
    as in a cross-validation of the whole pipeline. y holds classes if it has labels, or at most 32 different whole
    numbers.
{_PARAMETERS}{_ATTRIBUTES}
    See Also
    --------
    AdaptiveFourierRegressor : The model whose features these are.
{_NOTES}{_REFERENCES}
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
        data = inputs.chunked(self, X, y, sample_weight, X_val, y_val, groups)
        has_classes = data is None and are_classes(y)
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


def _check_resumable(state: Array, best: Array, training: Training, data: Data) -> None:
    """Raise a `ValueError` if the frequencies of the last fit do not match the settings and the data."""
    n, d = best.shape
    wanted = named(training.features).dimension(int(data.x.shape[1]))
    if training.n_frequencies not in ("auto", n):
        raise ValueError(f"n_frequencies must stay {n} for a warm start, got {training.n_frequencies}.")
    if d != wanted:
        raise ValueError(f"X and features must keep frequencies of {d} components for a warm start, got {wanted}.")
    if inputs.where(state) != inputs.where(data.y):
        raise ValueError(f"X must stay {inputs.where(state)} for a warm start, got {inputs.where(data.y)}.")
