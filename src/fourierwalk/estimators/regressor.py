"""AdaptiveFourierRegressor: targets that are numbers, with error bars."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from fourierwalk import inputs, parts
from fourierwalk.arrays.library import Array, namespace
from fourierwalk.callbacks import with_callbacks
from fourierwalk.chunks.lazy import by_chunks
from fourierwalk.estimators.base import BaseAdaptiveFourier
from fourierwalk.estimators.wording import ATTRIBUTES, NOTES, PARAMETERS, REFERENCES
from fourierwalk.exporting.description import Description
from fourierwalk.exporting.spread import Spread
from fourierwalk.files import container
from fourierwalk.files.fields import Fields
from fourierwalk.parameters import count, number, option
from fourierwalk.uncertainty.error_bars import METHODS, ErrorBars


class AdaptiveFourierRegressor(RegressorMixin, MultiOutputMixin, BaseAdaptiveFourier):
    __doc__ = f"""Regression by random Fourier features whose frequencies adapt to the data.
{PARAMETERS}{ATTRIBUTES}
    See Also
    --------
    AdaptiveFourierClassifier : The same for classes.
    AdaptiveFourierFeatures : The adapted features as a transformer.
{NOTES}{REFERENCES}
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
        training = replace(self._begin(), error_bars=True)
        X, y, sample_weight, _, data = inputs.given(self, X, y, sample_weight, X_val, y_val, groups)
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
        if not self.__sklearn_is_fitted__():
            parts.begin(self.fit(X, y, sample_weight), half_life)
            self.error_bars_ = self.error_bars_ if half_life is None else None  # they are of rows of equal age
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
    def predict_interval(self, X: Any, confidence_level: Any = 0.9, method: str = "average") -> Array:
        """Prediction intervals, from the residuals of held-out rows.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n, d)
            Inputs, with the columns of `fit`.
        confidence_level : float or sequence of floats, default=0.9
            The share of new targets that the intervals are to hold, between 0 and 1; or several.
        method : {"average", "plus"}, default="average"
            "average": intervals around the prediction, from estimated residuals of the average of the models. "plus":
            cross-validation+, from the residuals of each model at rows that its frequencies have not seen. It has a
            guarantee, but covers too much if the average is much better than each model, and takes several times as
            long.

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
        option("method", method, METHODS)
        bars = self._bars("predict_interval")
        flat = self._evaluate(X, lambda model, x: bars.interval(model, x, levels, method))
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
                f"(early_stopping=True), which partial_fit drops, and which a file has with "
                f"save(path, error_bars=True), got a model without them."
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
        """Write the fitted regressor as `AdaptiveFourierClassifier.save` writes a classifier.

        Parameters
        ----------
        path : path or str
            The file.
        error_bars : bool, default=False
            Whether the file also keeps what `return_std`, `predict_interval` and `sample_y` need. It is then larger:
            by 0.1 MB for 256 frequencies in five averaged models, by 1 MB for 256 frequencies in one.

        Returns
        -------
        Path
            The file.
        """
        if error_bars:
            self._bars("save(error_bars=True)")
        return container.write(path, type(self).__name__, self.to_tables(error_bars))

    def _restore(self, fields: Fields) -> None:
        super()._restore(fields)
        has = fields.has("error_bars")
        self.error_bars_ = ErrorBars.from_tables(fields.fields("error_bars"), self.model_) if has else None
