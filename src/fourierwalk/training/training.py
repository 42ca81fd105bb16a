"""One fit from checked settings and checked data: scale, split, search, and assemble the model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from fourierwalk.arrays.draws import PLACES, placed
from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.arrays.products import PRECISIONS
from fourierwalk.arrays.threads import one_pool
from fourierwalk.chunks.rows import ChunkedRows
from fourierwalk.chunks.whole import Whole
from fourierwalk.data import features as feature_kinds
from fourierwalk.data import scaling as scalings
from fourierwalk.data.columns import Columns
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.parameters import count, number, option
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import AdaptiveWalk, AnnealedWalk, Proposal, RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import PATHS, Solver
from fourierwalk.training.assembly import Assembly, Fit, watch
from fourierwalk.training.automatic import WALK_REGULARIZATION, Automatic, Split, Start
from fourierwalk.training.folds import Folds, folds, row_hash
from fourierwalk.training.followed import Followed, Resume
from fourierwalk.training.history import Decision, Event
from fourierwalk.training.panel import RowsPanel
from fourierwalk.training.policy import DEFAULT, Policy
from fourierwalk.training.progress import Progress
from fourierwalk.training.replay import Journal
from fourierwalk.training.selection import Selection
from fourierwalk.training.starts import Shape

SAMPLERS = ("auto", "metropolis", "resampling", "descent", "fixed")

# Defaults of the parameters of named samplers, for parameters that are None.
EXPONENT_CAP = 10.0  # the largest γ
ADAPTIVE_STEP = 0.1  # δ of Algorithm 2
N_STEPS, PATIENCE = 1000, 30
LAST_STEP = 0.1  # the last step of an annealed walk, relative to its first one


class Data(NamedTuple):
    """Checked data of a fit, not scaled yet; targets have the shape (n, q)."""

    x: Any
    y: Array
    weight: Array | None = None
    x_val: Any = None
    y_val: Array | None = None
    groups: np.ndarray | None = None
    is_fixed: np.ndarray | None = None  # columns that are centred but not scaled: levels of categories, cycles of dates
    whole: Whole | None = None  # rows in chunks; x, y and weight are then a sample of them
    means: Any = None  # `fourierwalk.tables.means.CrossFitted`, if columns of a table are mean targets

    @property
    def identities(self) -> Any:
        """Inputs by which equal rows are recognised: mean targets are replaced by the number of the level."""
        return self.x if self.means is None else self.means.identities()


@dataclass(frozen=True)
class Training:
    """The settings of a fit, under the names of the estimators' parameters; `run` fits data with them."""

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
        if self.n_steps is not None:
            count("n_steps", self.n_steps, 0)
        number("step_size", self.step_size, above=0, words=("paper",), optional=True)
        number("exponent", self.exponent, above=0, words=("paper",), optional=True)
        count("refit_every", self.refit_every, 1)
        if self.adapt_after is not None:
            count("adapt_after", self.adapt_after, 0)
        if self.max_norm != math.inf:
            number("max_norm", self.max_norm, above=0, optional=True)
        if self.initial is not None and np.ndim(self.initial) == 0:
            number("initial", self.initial, at_least=0)
        number("regularization", self.regularization, at_least=0, words=("auto",))
        feature_kinds.named(self.features)
        option("standardize", self.standardize, scalings.KINDS)
        option("early_stopping", self.early_stopping, ("auto", True, False))
        number("validation_fraction", self.validation_fraction, above=0, below=1)
        if self.patience is not None:
            count("patience", self.patience, 1)
        self._check_solver()
        option("clamp", self.clamp, ("auto", True, False))
        number("max_seconds", self.max_seconds, above=0, optional=True)
        if not isinstance(self.verbose, bool | np.bool_):
            count("verbose", self.verbose, 0)

    def _check_sampler(self) -> None:
        if isinstance(self.sampler, str):
            option("sampler", self.sampler, SAMPLERS)
        elif not callable(getattr(self.sampler, "sample", getattr(self.sampler, "search", None))):
            raise TypeError(
                f"sampler must be one of {SAMPLERS} or a sampler object, got {type(self.sampler).__name__}."
            )
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
        if self.solver.batch_size is not None:
            count("solver.batch_size", self.solver.batch_size, 1)
        number("solver.max_memory", self.solver.max_memory, above=0, optional=True)

    def run(
        self,
        data: Data,
        rng: np.random.Generator,
        resume: Resume | None = None,
        watchers: Sequence[Callable[[Event], bool]] = (),
        journal: Journal | None = None,
    ) -> Fit:
        """Fit the data.

        Parameters
        ----------
        data : Data
            Checked data.
        rng : Generator
            The source of all random numbers.
        resume : Resume, optional
            The end of an earlier fit, to continue from.
        watchers : sequence of callables
            Each is called with every event. One that returns True ends the fit.
        journal : Journal, optional
            What a checkpoint is written from. None: there is no checkpoint.
        """
        with one_pool():
            return self._run(data, rng, resume, (Progress(int(self.verbose)).see, *watchers), journal)

    def _run(
        self,
        data: Data,
        rng: np.random.Generator,
        resume: Resume | None,
        watchers: Sequence[Callable[[Event], bool]],
        journal: Journal | None,
    ) -> Fit:
        deadline = math.inf if self.max_seconds is None else time.monotonic() + float(self.max_seconds)
        split_seed = int(rng.spawn(1)[0].integers(2**63)) if resume is None else resume.split_seed
        features, solver = feature_kinds.named(self.features), self._solver()
        search = self.resolve(data, resume)
        start = self._start(features, data, resume)
        scaling, panel, decisions = self._prepared(search, start, data, features, solver, split_seed, resume)
        n_biases = start.dimension - start.n_inputs
        start = start._replace(n_inputs=panel.n_inputs, dimension=panel.n_inputs + n_biases)
        is_walk = isinstance(search, Followed)
        n_values = int(start.n_frequencies or 0) * start.dimension
        draws = placed(rng, solver.draws, panel.rows.y, n_values) if is_walk else rng
        watched = watch(search.search(panel, start, draws), decisions, deadline, watchers, journal)
        is_raw = panel.span is None and not panel.rows.in_chunks
        raw = panel.rows if is_raw else scaling.rows(data.x, data.y, data.weight)
        all_rows = None if data.whole is None else _all_rows(data.whole, scaling, panel)
        knows_groups = data.groups is None or panel.split_by is not None  # leave-one-out would leave their rows in
        assembly = Assembly(
            scaling,
            panel,
            raw,
            features,
            solver,
            search,
            split_seed,
            self._regularization,
            self._bounds(data, search),
            not self.scale_targets,
            self.error_bars and knows_groups,
            data.is_fixed,
            all_rows,
        )
        return assembly.fit(watched)

    @property
    def _regularization(self) -> float | None:
        """The user's λ; None for "auto"."""
        return None if self.regularization == "auto" else float(self.regularization)

    def resolve(self, data: Data, resume: Resume | None = None) -> Any:
        """The search that the settings ask for: an `Automatic`, a `Followed` sampler, or the user's own object."""
        if not isinstance(self.sampler, str):
            if callable(getattr(self.sampler, "search", None)):
                return self.sampler
            return self._followed(self.sampler, resume, isinstance(self.sampler, Metropolis))
        d = int(data.x.shape[1])
        exponent = {None: min(3.0 * d - 2.0, EXPONENT_CAP), "paper": 3.0 * d - 2.0}.get(self.exponent, self.exponent)
        max_norm = math.inf if self.max_norm is None else float(self.max_norm)
        if self.sampler == "auto":
            has_own_steps = self.step_size is not None or self.adapt_after is not None
            return Automatic(
                proposal=self._proposal(d) if has_own_steps else None,
                max_norm=max_norm,
                n_steps=None if self.n_steps is None else int(self.n_steps),
                patience=None if self.patience is None else int(self.patience),
            )
        if self.sampler == "resampling":
            own_exponent = None if self.exponent is None else float(exponent)
            return self._followed(Resampling(self._exploring(d), exponent=own_exponent, max_norm=max_norm), resume)
        if self.sampler == "descent":
            return self._followed(Descent(max_norm=max_norm), resume)
        walk = Metropolis(self._proposal(d), float(exponent), int(self.refit_every), max_norm)
        if self.sampler == "fixed":
            return replace(self._followed(walk, resume), n_steps=0)
        return self._followed(walk, resume, starts_at_zero=True)

    def _followed(self, sampler: Any, resume: Resume | None, starts_at_zero: bool = False) -> Followed:
        patience = PATIENCE if self.patience is None else int(self.patience)
        return Followed(sampler, self._n_steps(), int(self.refit_every), patience, starts_at_zero, resume)

    def _n_steps(self) -> int:
        return N_STEPS if self.n_steps is None else int(self.n_steps)

    def _exploring(self, d: int) -> Proposal:
        """The proposal of "resampling": the user's, or the frequencies' covariance with lengths that shrink."""
        if self.step_size is not None or self.adapt_after is not None:
            return self._proposal(d)
        return AnnealedWalk(ScaledWalk(ShapedWalk(DEFAULT.wander)), LAST_STEP, max(2, self._n_steps()))

    def _proposal(self, d: int) -> Proposal:
        """The proposal of Algorithm 1, or of Algorithm 2 with `adapt_after`; δ is the paper's if none is given."""
        paper = 2.4**2 / d
        default = paper if self.adapt_after is None else ADAPTIVE_STEP
        step = float({None: default, "paper": paper}.get(self.step_size, self.step_size))
        return RandomWalk(step) if self.adapt_after is None else AdaptiveWalk(step, int(self.adapt_after))

    def _solver(self) -> Solver:
        if isinstance(self.solver, Solver):
            return self.solver
        is_automatic = self.sampler == "auto" or isinstance(self.sampler, Automatic)
        return Solver(self.solver, "auto" if is_automatic else "double")

    def _prepared(
        self,
        search: Any,
        start: Start,
        data: Data,
        features: Features,
        solver: Solver,
        split_seed: int,
        resume: Resume | None,
    ) -> tuple[Scaling, RowsPanel, list[Event]]:
        """The scaling, the scaled rows with their splits, and the first decisions.

        For ``sampler="auto"`` kernels are fitted first: they choose among scalings, and find the distribution of the
        first frequencies.
        """
        policy: Any = getattr(search, "policy", None)  # only `Automatic` has one
        if data.whole is not None and solver.batch_size is not None:
            raise ValueError(f"solver.batch_size must be None for rows in blocks, got {solver.batch_size}.")
        split_by, n_together = self._folds(data, split_seed, policy)
        holds_out = split_by is not None or data.x_val is not None
        explores = policy is not None and holds_out and start.frequencies is None and start.spread is None
        tried = []
        for standardize in self._kinds(data, policy if explores else None, resume):
            scaling = self._scaling(data, standardize)
            panel = self._panel(data, scaling, features, solver, split_by, n_together)
            if data.whole is not None and isinstance(search, Followed):
                panel = self._panel_of_all(data.whole, scaling, panel, split_seed)
            if policy is not None and holds_out and start.frequencies is None:
                panel = panel.narrowed()
            tried.append((scaling, *(panel.explored(policy) if explores else (panel, 0.0))))
        scaling, panel, error = tried[0]
        if len(tried) > 1 and tried[1][2] < (1 - policy.other_scaling) * error:
            scaling, panel, _ = tried[1]
        if start.spread is not None:
            panel = replace(panel, shapes=(Shape.isotropic(panel.n_inputs, start.spread),))
        decisions = [Decision(f"inputs scaled: {scaling.kind}"), Decision(self._split_in_words(data, panel))]
        if data.whole is not None:
            decisions.insert(0, Decision(_chunks_in_words(data, panel)))
        if isinstance(panel.span, Columns):
            text = f"{panel.n_inputs} of {panel.span.n_inputs} inputs kept: the others do not help"
            decisions.append(Decision(text))
        return scaling, panel, [*decisions]

    def _scaling(self, data: Data, standardize: Any) -> Scaling:
        """The scaling of the rows, or of all rows that they are a sample of."""
        scaling = Scaling.fit(
            data.x,
            data.y,
            data.weight,
            standardize=standardize,
            scale_targets=self.scale_targets,
            is_fixed=data.is_fixed,
        )
        return scaling if data.whole is None else data.whole.scaled(scaling)

    def _kinds(self, data: Data, policy: Policy | None, resume: Resume | None) -> tuple[Any, ...]:
        """The values of `standardize` to try; several only if kernels are fitted to compare them."""
        if self.standardize != "auto":
            return (self.standardize,)
        if resume is not None:  # the scaling of the earlier fit fixes the units of its frequencies
            return (True if resume.scaling == "columns" else resume.scaling,)
        if policy is None:
            return ("auto",)
        if scipy.sparse.issparse(data.x):
            return ("auto", "common")
        tail = 0.0 if scalings.share_units(data.x, data.is_fixed) else scalings.longest_tail(data.x, data.is_fixed)
        return ("auto", "robust") if tail > policy.heavy_tail else ("auto",)

    def _panel(
        self,
        data: Data,
        scaling: Scaling,
        features: Features,
        solver: Solver,
        split_by: Folds | None,
        n_together: int,
    ) -> RowsPanel:
        """The scaled rows, and how a train-validation split of them becomes a problem and its looks."""
        chosen = self._regularization
        exact = replace(solver, precision="double", batch_size=None)
        shares = None if self.scale_targets else scaling.targets.center
        tie = getattr(self.sampler, "policy", DEFAULT).tie

        def make(seen: Rows, held_out: Rows | None) -> Split:
            problem = LeastSquares(seen, features, WALK_REGULARIZATION if chosen is None else chosen, solver)
            if held_out is None:
                return Split(problem, None)
            return Split(problem, Selection(replace(problem, solver=exact), held_out, chosen, shares, tie))

        validation = None if data.x_val is None else scaling.rows(_as_kept(data.x_val, data.x), data.y_val)
        rows = scaling.rows(data.x, data.y, data.weight)
        if data.means is None:
            return RowsPanel(rows, validation, split_by, make, n_together)

        def without(held_out: np.ndarray) -> Rows:
            return scaling.rows(like(data.means.inputs(held_out), data.y), data.y, data.weight)

        return RowsPanel(rows, validation, split_by, make, n_together, without=without)

    def _panel_of_all(self, whole: Whole, scaling: Scaling, panel: RowsPanel, seed: int) -> RowsPanel:
        """The panel of a sampler whose steps sum over all rows in chunks."""
        if panel.validation is not None or self.early_stopping == "auto" or not self.early_stopping:
            return replace(panel, rows=whole.rows(scaling))
        held_out = whole.held_out(self.validation_fraction, seed)
        return replace(panel, rows=whole.rows(scaling, held_out), validation=whole.validation(scaling, held_out))

    def _folds(self, data: Data, seed: int, policy: Policy | None) -> tuple[Folds | None, int]:
        """The folds (None: no row is held out), and the number of members that choose the width together."""
        if data.x_val is not None:
            if self.early_stopping != "auto" and not self.early_stopping:
                raise ValueError("X_val and y_val need early_stopping 'auto' or True, got False.")
            if policy is None:
                return None, 1
            distinct, unit = np.unique(row_hash(data.identities, seed), return_inverse=True)
            return Folds(unit.reshape(-1), (), int(distinct.size)), 1  # no folds, only a random order of the rows
        if not (policy is not None if self.early_stopping == "auto" else self.early_stopping):
            return None, 1
        if data.whole is not None and policy is None:  # all rows are in chunks: see `_panel_of_all`
            return None, 1
        labels = None if self.scale_targets else np.argmax(to_host(data.y), axis=1)
        few = 0 if policy is None else policy.few_rows
        split_by = folds(data.identities, self.validation_fraction, seed, labels, data.groups, few, policy or DEFAULT)
        return split_by, len(split_by) if split_by is not None and split_by.n_rows < few else 1

    def _split_in_words(self, data: Data, panel: RowsPanel) -> str:
        """The decision that says which rows are validation rows."""
        if data.x_val is not None:
            return "states chosen on X_val, y_val"
        if panel.split_by is None and panel.validation is not None:
            return f"{len(panel.validation)} rows held out to choose by"
        if panel.split_by is None:
            return "no rows held out"
        if panel.n_together > 1:
            return f"{panel.n_together} folds: each part of the rows is held out once to choose by"
        return f"{int(panel.split_by.mask(0).sum())} rows held out to choose by"

    def _start(self, features: Features, data: Data, resume: Resume | None) -> Start:
        """What the user, or an earlier fit, has fixed about the first frequencies."""
        d = int(data.x.shape[1])
        n = None if isinstance(self.n_frequencies, str) else int(self.n_frequencies)
        start = Start(n, features.dimension(d), d, regularization=self._regularization)
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

    def _bounds(self, data: Data, search: Any) -> Array | None:
        """The range of the targets with a margin, (2, q), for `clamp`; None: predictions are not clipped."""
        clamps = isinstance(search, Automatic) if self.clamp == "auto" else bool(self.clamp)
        if not clamps or not self.scale_targets:
            return None
        xp, reached = namespace(data.y), None if data.whole is None else data.whole.bounds
        low, high = (xp.min(data.y, axis=0), xp.max(data.y, axis=0)) if reached is None else (reached[0], reached[1])
        margin = getattr(search, "policy", DEFAULT).margin * (high - low)
        return xp.stack((low - margin, high + margin))


def _all_rows(whole: Whole, scaling: Scaling, panel: RowsPanel) -> Rows | None:
    """The rows of the final amplitudes, in chunks; None: the panel holds all rows in memory."""
    if isinstance(panel.rows, ChunkedRows) and panel.rows.preparation.held_out is None:
        return panel.rows
    return None if whole.is_in_sample and not panel.rows.in_chunks else whole.rows(scaling)


def _chunks_in_words(data: Data, panel: RowsPanel) -> str:
    """The decision that says which rows are used for what."""
    whole: Any = data.whole
    text = f"{whole.n_rows} rows in {len(whole.survey.sizes)} blocks"
    if panel.rows.in_chunks:
        return f"{text}: every step sums over all of them"
    if whole.is_in_sample:
        return f"{text}: all of them were taken into memory"
    return f"{text}: frequencies are chosen on a random sample of {data.x.shape[0]}, amplitudes on all of them"


def _as_kept(x: Any, like_these: Any) -> Any:
    """Inputs x as a sparse matrix if `like_these` is one, else as a dense array."""
    if scipy.sparse.issparse(like_these) == scipy.sparse.issparse(x):
        return x
    return x.toarray() if scipy.sparse.issparse(x) else scipy.sparse.csr_array(x)
