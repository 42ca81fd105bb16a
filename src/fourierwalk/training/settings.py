"""The settings of a fit: their checks, and the search, the solver and the first frequencies that they ask for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourierwalk.arrays.draws import PLACES
from fourierwalk.arrays.library import Array, like, to_host
from fourierwalk.arrays.products import PRECISIONS
from fourierwalk.data import features as feature_kinds
from fourierwalk.data import scaling as scalings
from fourierwalk.data.features import Features
from fourierwalk.parameters import count, number, option
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import AdaptiveWalk, AnnealedWalk, Proposal, RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.solver import PATHS, Solver
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.data import Data
from fourierwalk.training.followed import Followed, Resume
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.starts import Start

SAMPLERS = ("auto", "metropolis", "resampling", "descent", "fixed")

# Defaults of the parameters of named samplers, for parameters that are None.
EXPONENT_CAP = 10.0  # the largest γ
ADAPTIVE_STEP = 0.1  # δ of Algorithm 2
N_STEPS, PATIENCE = 1000, 30
LAST_STEP = 0.1  # the last step of an annealed walk, relative to its first one


@dataclass(frozen=True)
class Settings:
    """The settings of a fit, under the names of the estimators' parameters."""

    n_frequencies: Any
    sampler: Any
    n_steps: int | None
    step_size: Any
    exponent: Any
    refit_every: int
    adapt_after: int | None
    max_norm: float | None
    initial: Any
    regularization: Any
    features: Any
    standardize: Any
    early_stopping: Any
    validation_fraction: float
    patience: int | None
    solver: Any
    clamp: Any
    max_seconds: float | None
    verbose: Any
    scale_targets: bool = True
    error_bars: bool = False

    def check(self) -> None:
        """Raise an error, in one sentence, for the first setting that is not valid."""
        count("n_frequencies", self.n_frequencies, 1, words=("auto",))
        self._check_sampler()
        count("n_steps", self.n_steps, 0, optional=True)
        number("step_size", self.step_size, above=0, words=("paper",), optional=True)
        number("exponent", self.exponent, above=0, words=("paper",), optional=True)
        count("refit_every", self.refit_every, 1)
        count("adapt_after", self.adapt_after, 0, optional=True)
        if self.max_norm != math.inf:
            number("max_norm", self.max_norm, above=0, optional=True)
        if self.initial is not None and np.ndim(self.initial) == 0:
            number("initial", self.initial, at_least=0)
        number("regularization", self.regularization, at_least=0, words=("auto",))
        feature_kinds.named(self.features)
        option("standardize", self.standardize, scalings.KINDS)
        option("early_stopping", self.early_stopping, ("auto", True, False))
        number("validation_fraction", self.validation_fraction, above=0, below=1)
        count("patience", self.patience, 1, optional=True)
        self._check_solver()
        option("clamp", self.clamp, ("auto", True, False))
        number("max_seconds", self.max_seconds, above=0, optional=True)
        if not isinstance(self.verbose, bool | np.bool_):
            count("verbose", self.verbose, 0)

    def _check_sampler(self) -> None:
        if isinstance(self.sampler, str):
            option("sampler", self.sampler, SAMPLERS)
        elif not callable(getattr(self.sampler, "sample", getattr(self.sampler, "search", None))):
            name = type(self.sampler).__name__
            raise TypeError(f"sampler must be one of {SAMPLERS} or a sampler object, got {name}.")
        if self.sampler == "auto" and self.exponent is not None:
            raise ValueError(
                f"exponent must be None for sampler='auto', which has no Metropolis test, got {self.exponent!r}: "
                "take sampler='metropolis' or 'resampling'."
            )

    def _check_solver(self) -> None:
        if not isinstance(self.solver, Solver):
            option("solver", self.solver, PATHS)
            return
        option("solver.path", self.solver.path, PATHS)
        option("solver.precision", self.solver.precision, (*PRECISIONS, "auto"))
        option("solver.draws", self.solver.draws, PLACES)
        count("solver.batch_size", self.solver.batch_size, 1, optional=True)
        number("solver.max_memory", self.solver.max_memory, above=0, optional=True)

    def resolve(self, data: Data, resume: Resume | None = None) -> Any:
        """The search that the settings ask for: an `Automatic`, a `Followed` sampler, or the user's own object."""
        if not isinstance(self.sampler, str):
            if callable(getattr(self.sampler, "search", None)):
                return self.sampler
            return self._followed(self.sampler, resume, isinstance(self.sampler, Metropolis))
        d, max_norm = int(data.x.shape[1]), math.inf if self.max_norm is None else float(self.max_norm)
        own_proposal = None if self.step_size is None and self.adapt_after is None else self._proposal(d)
        if self.sampler == "auto":
            n_steps, patience = (None if each is None else int(each) for each in (self.n_steps, self.patience))
            return Automatic(proposal=own_proposal, max_norm=max_norm, n_steps=n_steps, patience=patience)
        if self.sampler == "descent":
            return self._followed(Descent(max_norm=max_norm), resume)
        exponent = {None: min(3.0 * d - 2.0, EXPONENT_CAP), "paper": 3.0 * d - 2.0}.get(self.exponent, self.exponent)
        if self.sampler == "resampling":
            walk = AnnealedWalk(ScaledWalk(ShapedWalk(DEFAULT.wander)), LAST_STEP, max(2, self._n_steps))
            own_exponent = None if self.exponent is None else float(exponent)
            return self._followed(Resampling(own_proposal or walk, exponent=own_exponent, max_norm=max_norm), resume)
        metropolis = Metropolis(self._proposal(d), float(exponent), int(self.refit_every), max_norm)
        if self.sampler == "fixed":
            return replace(self._followed(metropolis, resume), n_steps=0)
        return self._followed(metropolis, resume, starts_at_zero=True)

    def _followed(self, sampler: Any, resume: Resume | None, starts_at_zero: bool = False) -> Followed:
        patience = PATIENCE if self.patience is None else int(self.patience)
        return Followed(sampler, self._n_steps, int(self.refit_every), patience, starts_at_zero, resume)

    @property
    def _n_steps(self) -> int:
        return N_STEPS if self.n_steps is None else int(self.n_steps)

    def _proposal(self, d: int) -> Proposal:
        """The proposal of Algorithm 1, or of Algorithm 2 with `adapt_after`; δ is the paper's if none is given."""
        paper = 2.4**2 / d
        default = paper if self.adapt_after is None else ADAPTIVE_STEP
        step = float({None: default, "paper": paper}.get(self.step_size, self.step_size))
        return RandomWalk(step) if self.adapt_after is None else AdaptiveWalk(step, int(self.adapt_after))

    def solver_of_fit(self) -> Solver:
        """The user's own solver, or one of the path that was named."""
        if isinstance(self.solver, Solver):
            return self.solver
        is_automatic = self.sampler == "auto" or isinstance(self.sampler, Automatic)
        return Solver(self.solver, "auto" if is_automatic else "double")

    def start(self, features: Features, data: Data, resume: Resume | None) -> Start:
        """What the user, or an earlier fit, has fixed about the first frequencies."""
        d = int(data.x.shape[1])
        n = None if isinstance(self.n_frequencies, str) else int(self.n_frequencies)
        regularization = None if self.regularization == "auto" else float(self.regularization)
        start = Start(n, features.dimension(d), d, regularization=regularization)
        if resume is not None:
            return start._replace(frequencies=resume.best, step=resume.state.step)
        if self.initial is not None and np.ndim(self.initial) > 0:
            return start._replace(frequencies=self._given(start, data))
        if n is None and not (self.sampler == "auto" or callable(getattr(self.sampler, "search", None))):
            start = start._replace(n_frequencies=DEFAULT.usual)
        return start if self.initial is None else start._replace(spread=float(self.initial))

    def _given(self, start: Start, data: Data) -> Array:
        """The user's own frequencies (`initial` as an array), checked."""
        given = np.asarray(to_host(self.initial), dtype=np.float64)
        n = given.shape[0] if start.n_frequencies is None else start.n_frequencies
        if given.shape != (n, start.dimension):
            raise ValueError(
                f"initial must be a number or an array of shape {(n, start.dimension)}, got shape {given.shape}."
            )
        if not np.all(np.isfinite(given)):
            raise ValueError("initial must be finite, got NaN or infinity.")
        return like(given, data.y)
