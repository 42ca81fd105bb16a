"""The part that the three estimators share: parameters, files, and the call of `Training`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields as fields_of
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fourierwalk import inputs, parts, settings
from fourierwalk.arrays.library import Array, is_foreign, namespace, to_host
from fourierwalk.callbacks import Callbacks, CallbackSupportMixin
from fourierwalk.checkpoints.checkpoint import Checkpoint
from fourierwalk.checkpoints.journal import opened
from fourierwalk.data.features import named
from fourierwalk.data.streaming import anchor_of
from fourierwalk.exporting.description import Description
from fourierwalk.exporting.exportable import Exportable
from fourierwalk.files import container
from fourierwalk.files.fields import Fields
from fourierwalk.model import FourierModel
from fourierwalk.planning.announcement import announcement
from fourierwalk.tables.encoder import TableEncoder, names_in
from fourierwalk.training.assembly import Fit
from fourierwalk.training.data import Data
from fourierwalk.training.followed import Resume
from fourierwalk.training.history import Decision, History
from fourierwalk.training.progress import Progress
from fourierwalk.training.temperature import best_temperature
from fourierwalk.training.training import Training

NOT_IN_A_FINGERPRINT = ("checkpoint", "max_seconds", "random_state", "verbose")
"""Parameters that may change between a fit and its continuation from a checkpoint; `random_state` is checked apart."""


class BaseAdaptiveFourier(Exportable, CallbackSupportMixin, BaseEstimator):
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

    encoder_: TableEncoder | None = None  # of the last fit, if X was a table

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

        See Also
        --------
        fourierwalk.load : The inverse, with an example.
        """
        return container.write(path, type(self).__name__, self.to_tables())

    def to_tables(self) -> dict[str, Any]:
        """The contents of a file, as JSON values and NumPy arrays; docs/files.md has their names and shapes."""
        check_is_fitted(self)
        names = names_in(self)
        return {
            "parameters": {name: settings.packed(name, value) for name, value in self.get_params(deep=False).items()},
            "model": self.model_.to_tables(),
            "history": self.history_.to_tables(),
            "n_inputs": self.n_features_in_,
            "names": None if names is None else [str(name) for name in names],
            "encoder": None if self.encoder_ is None else self.encoder_.to_tables(),
            "one_output": self.amplitudes_.ndim == 1,
            "regularization": self.regularization_,
            "n_steps": self.n_steps_,
            "temperature_scale": self._inverse_temperature,
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
        self._inverse_temperature, self._total_weight = (
            fields.number("temperature_scale"),
            fields.number("total_weight", above=0),
        )
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
        return relevance if self.encoder_ is None else self.encoder_.summed(relevance)

    def _training(self, scale_targets: bool = True) -> Training:
        """The checked settings."""
        names = [field.name for field in fields_of(Training) if field.name not in ("scale_targets", "error_bars")]
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
        self._inverse_temperature = 1.0 if fit.calibration is None else float(best_temperature(*fit.calibration)[0])
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
        return to_host(function(self.model_.on_device_of(anchor_of(x)), x))

    def _predict(self, X: Any) -> Array:
        """The values of the model at X, (n, q)."""
        if not self.__sklearn_is_fitted__():  # scikit-learn's check alone takes 20 µs
            check_is_fitted(self)
        return self._evaluate(X, FourierModel.__call__)


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
