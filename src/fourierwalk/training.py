"""One fit from checked settings and checked data: scale, split, resolve, search, solve, assemble."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from fourierwalk import features as feature_kinds
from fourierwalk import scaling as scalings
from fourierwalk._arrays import Array, like, namespace, one_pool, to_host
from fourierwalk.automatic import WALK_REGULARIZATION, Automatic, Found, Split, Start, averaged
from fourierwalk.descent import Descent
from fourierwalk.draws import PLACES, placed
from fourierwalk.features import Features
from fourierwalk.folds import Folds, folds, row_hash
from fourierwalk.following import Ending, Phase, follow
from fourierwalk.history import Decision, Event, History
from fourierwalk.least_squares import LeastSquares, Minibatch
from fourierwalk.model import FourierModel, mean_squared_gradients
from fourierwalk.parameters import count, number, option
from fourierwalk.policy import DEFAULT, Policy
from fourierwalk.products import PRECISIONS
from fourierwalk.progress import Progress
from fourierwalk.proposals import AdaptiveWalk, AnnealedWalk, Proposal, RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.resampling import Resampling
from fourierwalk.rows import Rows
from fourierwalk.sampler import Info, Metropolis, State
from fourierwalk.scaling import Scaling
from fourierwalk.selection import Candidate, Look, Selection, choose_regularization, left_out_values, values_at
from fourierwalk.solver import PATHS, Solver
from fourierwalk.span import Span
from fourierwalk.starts import Shape, explore, sample_size
from fourierwalk.streaming import Streamed

SAMPLERS = ("auto", "metropolis", "resampling", "descent", "fixed")

# What None stands for with a sampler of a name.
EXPONENT_CAP = 10.0
ADAPTIVE_STEP = 0.1
N_STEPS, PATIENCE = 1000, 30
LAST_STEP = 0.1  # of an annealed walk, relative to its first

MOST_LEFT_OUT = 1000
"""Up to so many rows a calibration without held-out rows is by leave-one-out; beyond, on rows of the fit."""

SPANNING_ROWS = 2000
"""Rows whose span wide rows are projected to, at most."""

GRADIENT_ROWS = 2000
"""Rows at which the inputs' relevance is measured, at most."""


class Calibration(NamedTuple):
    """Values of the kept model at rows that it was not fitted to, their targets and weights, on the host."""

    values: np.ndarray
    targets: np.ndarray
    weight: np.ndarray | None


class Data(NamedTuple):
    """Checked raw data; targets are (n, q)."""

    x: Any
    y: Array
    weight: Array | None = None
    x_val: Any = None
    y_val: Array | None = None
    groups: np.ndarray | None = None


class Resume(NamedTuple):
    """Where a warm start goes on: the last state and its sampler, the draw of held-out rows, the best frequencies."""

    state: State
    sampler: Any
    split_seed: int
    best_step: int
    best: Array
    is_robust: bool = False  # whether its inputs were clipped

    def onward(self, walk: Any, minimize: Any, n_outputs: int) -> State:
        """The last state, or a new one at its frequencies where the proposal or the outputs have changed since.

        The last state of an average has the frequencies of one member: a walk goes on from those of all.
        """
        same = walk == self.sampler
        if same and self.state.amplitudes.shape[1] == n_outputs:
            return self.state
        is_whole = self.state.frequencies.shape == self.best.shape
        frequencies = self.state.frequencies if is_whole else self.best
        return walk.init(minimize, frequencies)._replace(step=self.state.step)


class Fit(NamedTuple):
    """All that a fit has learnt; `interrupted`: the user ended it before its time."""

    model: FourierModel
    regularization: float
    history: History
    total_weight: float
    resume: Resume
    calibration: Calibration | None
    interrupted: bool = False


@dataclass(frozen=True)
class Followed:
    """A sampler that is followed from one start: what every sampler but "auto" does.

    Parameters
    ----------
    sampler : sampler object
        What takes the steps.
    n_steps, look_every, patience : int
        Steps at most, steps between two looks at held-out rows, looks without a gain after which it ends.
    starts_at_zero : bool
        Whether frequencies start at zero (the paper) where no start is given.
    resume : Resume, optional
        Where an earlier fit was left.
    """

    sampler: Any
    n_steps: int
    look_every: int
    patience: int
    starts_at_zero: bool = False
    resume: Resume | None = None

    def search(self, panel: Any, start: Start, rng: Any) -> Generator[Event | Found, None, Found]:
        """Follow the sampler; the last state is kept, or the best on held-out rows."""
        problem, selection, _ = panel.split(0)
        on_batches: Any = problem
        if problem.solver.batch_size is not None and not isinstance(self.sampler, Descent):
            on_batches = Minibatch(problem, rng.spawn(1)[0])
        state, candidates = self._begin(on_batches, start, problem.rows.y, rng)
        looked = [] if selection is None else [selection.look(*candidate) for candidate in candidates]
        for candidate in looked:
            yield candidate.look
        best = min(looked, key=lambda candidate: candidate.look.error) if looked else None
        phase = Phase(self.sampler, on_batches, self.n_steps, self.look_every, self.patience)
        trail = yield from follow(phase, selection, best, state, rng)
        kept = trail.best
        if trail.ending is Ending.RUNAWAY:
            warnings.warn(
                "The frequencies ran away from the data and the walk was ended: a smaller step_size, a max_norm, or a "
                "larger regularization keeps them in reach.",
                RuntimeWarning,
                stacklevel=2,
            )
        yield Decision(f"{len(candidates)} start, {trail.state.step} steps: {trail.ending.value}")
        if kept is None:
            look = Look(trail.state.step, math.nan, problem.regularization)
            kept = Candidate(look, trail.state.frequencies, trail.state.amplitudes)
        elif selection is not None:
            kept = selection.refined(kept)
            yield Decision(f"the state of step {kept.look.step} was kept, with held-out error {kept.look.error:.4g}")
        return Found((kept,), (selection,), trail.state)

    def _begin(self, minimize: Any, start: Start, reference: Any, rng: Any) -> tuple[State, list[tuple[int, Array]]]:
        """The first state, and what may be kept already."""
        if self.resume is not None:
            state = self.resume.onward(self.sampler, minimize, int(reference.shape[1]))
            return state, [(self.resume.best_step, self.resume.best), (state.step, state.frequencies)]
        frequencies = start.frequencies
        if frequencies is None:
            spread = (0.0 if self.starts_at_zero else 1.0) if start.spread is None else start.spread
            shape = (start.n_frequencies, start.dimension)
            frequencies = like(spread * rng.standard_normal(shape) if spread else np.zeros(shape), reference)
        state = self.sampler.init(minimize, frequencies)
        return state, [(0, state.frequencies)]


@dataclass(frozen=True)
class RowsPanel:
    """The rows of every member: scaled, and split by folds or by the user's own validation rows.

    Parameters
    ----------
    rows : Rows
        All rows, scaled.
    validation : Rows, optional
        The user's own rows to choose by.
    split_by : Folds, optional
        Which rows are held out, and the random order of rows; none: nothing is, and rows stay as they come.
    make : callable
        Rows to learn from and rows held out to a `Split`.
    n_together : int
        Members whose held-out rows decide together.
    shapes : tuple of Shape
        The shapes of the starts, by member; the first one holds for those that have none.
    span : Span, optional
        What the rows' coordinates are of, where they are not the inputs themselves.
    """

    rows: Rows
    validation: Rows | None
    split_by: Folds | None
    make: Callable[[Rows, Rows | None], Split]
    n_together: int = 1
    shapes: tuple[Shape, ...] = ()
    span: Span | None = None

    @property
    def n_inputs(self) -> int:
        """The columns of the rows: of wide ones, their coordinates."""
        return int(self.rows.x.shape[1])

    def narrowed(self) -> RowsPanel:
        """The same with wide rows in coordinates of their span, or of some of them."""
        if self.n_inputs <= len(self.rows) or isinstance(self.rows.x, Streamed):
            return self
        some = np.arange(len(self.rows))
        if self.split_by is not None:
            some = self.split_by.shuffled(some)
        span = Span.of(self.rows.take(some[:SPANNING_ROWS]))
        validation = None if self.validation is None else span.rows(self.validation)
        return replace(self, rows=span.rows(self.rows), validation=validation, span=span)

    def lifted(self, frequencies: Array) -> Array:
        """Frequencies of these rows as frequencies of the inputs."""
        return frequencies if self.span is None else self.span.lift(frequencies)

    @property
    def n_rows(self) -> int:
        """The distinct rows."""
        return len(self.rows) if self.split_by is None else self.split_by.n_rows

    @property
    def holds_out(self) -> bool:
        """Whether there are rows to choose by."""
        return self.validation is not None or self.split_by is not None

    def parts(self, member: int) -> tuple[Rows, Rows | None]:
        """Rows to learn from, in a random order, and rows held out."""
        if self.split_by is None:
            return self.rows, self.validation
        if self.validation is not None:
            return self.rows.take(self.split_by.shuffled(np.arange(len(self.rows)))), self.validation
        mask = self.split_by.mask(member)
        seen, held_out = (self.split_by.shuffled(np.flatnonzero(part)) for part in (~mask, mask))
        return self.rows.take(seen), self.rows.take(held_out)

    def split(self, member: int) -> Split:
        """The rows of a member."""
        split = self.make(*self.parts(member))
        if not self.shapes:
            return split
        return split._replace(shape=self.shapes[member if member < len(self.shapes) else 0])

    def explored(self, policy: Policy) -> tuple[RowsPanel, float]:
        """The same with shapes of starts, and the mean held-out error of the exploring kernels."""
        found = []
        n = np.arange(sample_size(self.n_inputs, policy))
        for member in range(self.n_together):
            train, held_out = (rows.take(n[: len(rows)]) for rows in self.parts(member) if rows is not None)
            found.append(explore(train, held_out, policy))
        panel = replace(self, shapes=tuple(each.shape for each in found))
        return panel, float(np.mean([each.fit.error for each in found]))


@dataclass(frozen=True)
class Training:
    """The settings of a fit, under the estimators' names; `check` says what is wrong with them."""

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

    def check(self) -> None:
        """Raise one clear sentence for the first setting that makes no sense."""
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

    def run(self, data: Data, rng: np.random.Generator, resume: Resume | None = None) -> Fit:
        """Fit the data; `resume` continues the walk of an earlier fit."""
        with one_pool():
            return self._run(data, rng, resume)

    def _run(self, data: Data, rng: np.random.Generator, resume: Resume | None) -> Fit:
        deadline = math.inf if self.max_seconds is None else time.monotonic() + float(self.max_seconds)
        split_seed = int(rng.spawn(1)[0].integers(2**63)) if resume is None else resume.split_seed
        features, solver = feature_kinds.named(self.features), self._solver()
        search = self.resolve(data, resume)
        start = self._start(features, data, resume)
        scaling, panel, decisions = self._prepared(search, start, data, features, solver, split_seed, resume)
        extra = start.dimension - start.n_inputs  # a bias
        start = start._replace(n_inputs=panel.n_inputs, dimension=panel.n_inputs + extra)
        draws = rng
        if isinstance(search, Followed):
            n_values = int(start.n_frequencies or 0) * start.dimension
            draws = placed(rng, solver.draws, panel.rows.y, n_values)
        watched = _watched(search.search(panel, start, draws), decisions, deadline, Progress(int(self.verbose)))
        members = [
            self._final(panel.rows, features, solver, member, watched.events) for member in watched.found.members
        ]
        return self._assembled(data, scaling, panel, features, solver, search, watched, members, split_seed)

    def resolve(self, data: Data, resume: Resume | None = None) -> Any:
        """What searches for frequencies: decided here, and nowhere else."""
        if not isinstance(self.sampler, str):
            if callable(getattr(self.sampler, "search", None)):
                return self.sampler
            return self._followed(self.sampler, resume, isinstance(self.sampler, Metropolis))
        d = int(data.x.shape[1])
        exponent = {None: min(3.0 * d - 2.0, EXPONENT_CAP), "paper": 3.0 * d - 2.0}.get(self.exponent, self.exponent)
        max_norm = math.inf if self.max_norm is None else float(self.max_norm)
        if self.sampler == "auto":
            own = self.step_size is not None or self.adapt_after is not None
            return Automatic(
                proposal=self._proposal(d) if own else None,
                max_norm=max_norm,
                n_steps=None if self.n_steps is None else int(self.n_steps),
                patience=None if self.patience is None else int(self.patience),
            )
        if self.sampler == "resampling":
            tested = None if self.exponent is None else float(exponent)
            return self._followed(Resampling(self._exploring(d), exponent=tested, max_norm=max_norm), resume)
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
        """The user's steps, or steps shaped by the frequencies, of log-normal lengths, that grow shorter."""
        if self.step_size is not None or self.adapt_after is not None:
            return self._proposal(d)
        return AnnealedWalk(ScaledWalk(ShapedWalk(DEFAULT.wander)), LAST_STEP, max(2, self._n_steps()))

    def _proposal(self, d: int) -> Proposal:
        """The steps of Algorithm 1, or of Algorithm 2; without a length those of the paper's cases."""
        paper = 2.4**2 / d
        missing = paper if self.adapt_after is None else ADAPTIVE_STEP
        step = float({None: missing, "paper": paper}.get(self.step_size, self.step_size))
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
        """Scaled and split rows; where the search explores, with the scaling and the shape of start that it found."""
        policy: Any = getattr(search, "policy", None)  # of a search that chooses everything itself
        split_by, n_together = self._folds(data, split_seed, policy)
        holds_out = split_by is not None or data.x_val is not None
        explores = policy is not None and holds_out and start.frequencies is None and start.spread is None
        tried = []
        for standardize in self._kinds(data, explores, resume):
            scaling = Scaling.fit(
                data.x, data.y, data.weight, standardize=standardize, scale_targets=self.scale_targets
            )
            panel = self._panel(data, scaling, features, solver, split_by, n_together)
            if policy is not None and holds_out and start.frequencies is None:
                panel = panel.narrowed()
            tried.append((scaling, *(panel.explored(policy) if explores else (panel, 0.0))))
        is_other_better = tried[-1][2] < (1 - DEFAULT.other_scaling) * tried[0][2]
        scaling, panel, _ = tried[-1 if is_other_better else 0]
        if start.spread is not None:
            panel = replace(panel, shapes=(Shape.isotropic(panel.n_inputs, start.spread),))
        return scaling, panel, [Decision(f"inputs scaled: {scaling.kind}"), Decision(self._told(data, panel))]

    def _kinds(self, data: Data, explores: bool, resume: Resume | None) -> tuple[Any, ...]:
        """The ways to scale inputs that are tried."""
        if self.standardize != "auto":
            return (self.standardize,)
        if scipy.sparse.issparse(data.x):
            return ("auto", "common") if explores else ("auto",)
        if resume is not None and resume.is_robust:
            return ("robust",)
        is_heavy = explores and not scalings.share_units(data.x) and scalings.longest_tail(data.x) > DEFAULT.heavy_tail
        return ("auto", "robust") if is_heavy else ("auto",)

    def _panel(
        self,
        data: Data,
        scaling: Scaling,
        features: Features,
        solver: Solver,
        split_by: Folds | None,
        n_together: int,
    ) -> RowsPanel:
        chosen = None if self.regularization == "auto" else float(self.regularization)
        exact = replace(solver, precision="double", batch_size=None)
        shares = None if self.scale_targets else scaling.targets.center

        def make(seen: Rows, held_out: Rows | None) -> Split:
            problem = LeastSquares(seen, features, WALK_REGULARIZATION if chosen is None else chosen, solver)
            if held_out is None:
                return Split(problem, None)
            return Split(problem, Selection(replace(problem, solver=exact), held_out, chosen, shares))

        validation = None if data.x_val is None else scaling.rows(_as_kept(data.x_val, data.x), data.y_val)
        return RowsPanel(scaling.rows(data.x, data.y, data.weight), validation, split_by, make, n_together)

    def _folds(self, data: Data, seed: int, policy: Policy | None) -> tuple[Folds | None, int]:
        """Which rows are held out, and how many folds decide together."""
        if data.x_val is not None:
            if self.early_stopping != "auto" and not self.early_stopping:
                raise ValueError("X_val and y_val need early_stopping 'auto' or True, got False.")
            if policy is None:
                return None, 1
            distinct, unit = np.unique(row_hash(data.x, seed), return_inverse=True)
            return Folds(unit.reshape(-1), (), int(distinct.size)), 1  # for the random order alone
        if not (policy is not None if self.early_stopping == "auto" else self.early_stopping):
            return None, 1
        labels = None if self.scale_targets else np.argmax(to_host(data.y), axis=1)
        few = 0 if policy is None else policy.few_rows
        found = folds(data.x, self.validation_fraction, seed, labels, data.groups, few)
        return found, len(found) if found is not None and found.n_rows < few else 1

    def _told(self, data: Data, panel: RowsPanel) -> str:
        """What states are chosen by, in words."""
        if data.x_val is not None:
            return "states chosen on X_val, y_val"
        if panel.split_by is None:
            return "no rows held out"
        if panel.n_together > 1:
            return f"{panel.n_together} folds: each part of the rows is held out once to choose by"
        return f"{int(panel.split_by.mask(0).sum())} rows held out to choose by"

    def _start(self, features: Features, data: Data, resume: Resume | None) -> Start:
        """What the search may choose itself, and what the user or an earlier fit has chosen."""
        d = int(data.x.shape[1])
        n = None if isinstance(self.n_frequencies, str) else int(self.n_frequencies)
        chosen = None if self.regularization == "auto" else float(self.regularization)
        start = Start(n, features.dimension(d), d, regularization=chosen)
        if resume is not None:
            return start._replace(frequencies=resume.best, step=resume.state.step)
        if self.initial is not None and np.ndim(self.initial) > 0:
            return start._replace(frequencies=self._given(start, data))
        if n is None and not (self.sampler == "auto" or callable(getattr(self.sampler, "search", None))):
            start = start._replace(n_frequencies=DEFAULT.usual)
        return start if self.initial is None else start._replace(spread=float(self.initial))

    def _given(self, start: Start, data: Data) -> Array:
        """The user's own frequencies, checked."""
        given = np.asarray(to_host(self.initial), dtype=np.float64)
        n = given.shape[0] if start.n_frequencies is None else start.n_frequencies
        if given.shape != (n, start.dimension):
            raise ValueError(
                f"initial must be a number or an array of shape {(n, start.dimension)}, got shape {given.shape}."
            )
        if not np.all(np.isfinite(given)):
            raise ValueError("initial must be finite, got NaN or infinity.")
        return like(given, data.y)

    def _final(
        self, rows: Rows, features: Features, solver: Solver, member: Candidate, events: list[Event]
    ) -> Candidate:
        """The member with amplitudes of all rows: at the user's λ, the one of the held-out rows, or one by GCV."""
        look = member.look
        if member.is_constant:
            return member
        problem = LeastSquares(rows, features, 0.0, replace(solver, precision="double", batch_size=None))
        if self.regularization != "auto":
            regularization = float(self.regularization)
        elif not math.isnan(look.error):
            regularization = look.regularization
        else:
            eigensystem = problem.eigensystem(member.frequencies)
            regularization = choose_regularization(eigensystem)
            events.append(
                Decision(f"regularization {regularization:.3g} by generalised cross-validation at these frequencies")
            )
            amplitudes = eigensystem.amplitudes(regularization)
            return member._replace(look=look._replace(regularization=regularization), amplitudes=amplitudes)
        amplitudes = replace(problem, regularization=regularization)(member.frequencies).amplitudes
        return member._replace(look=look._replace(regularization=regularization), amplitudes=amplitudes)

    def _assembled(
        self,
        data: Data,
        scaling: Scaling,
        panel: RowsPanel,
        features: Features,
        solver: Solver,
        search: Any,
        watched: Watched,
        members: Sequence[Candidate],
        split_seed: int,
    ) -> Fit:
        """The model and all that is told about it."""
        found, events = watched.found, [*watched.events, *_solves(watched.events)]
        rows = panel.rows
        if all(member.is_constant for member in members) and isinstance(search, Automatic):
            warnings.warn(
                "Nothing was found that predicts the targets better than their mean: the model is constant. More rows, "
                "other inputs or less noise may help.",
                UserWarning,
                stacklevel=2,
            )
        frequencies, amplitudes = averaged([(member.frequencies, member.amplitudes) for member in members])
        frequencies, importances = panel.lifted(frequencies), None
        if hasattr(features, "slopes"):
            raw = rows if panel.span is None else scaling.rows(data.x, data.y, data.weight)
            some = raw.take(np.linspace(0, len(rows) - 1, min(len(rows), GRADIENT_ROWS)).astype(np.int64))
            importances = _relevance(mean_squared_gradients(some, features, frequencies, amplitudes))
        model = FourierModel(
            frequencies,
            amplitudes * scaling.targets.scale[None, :],
            scaling.targets.center,
            features,
            scaling,
            bounds=self._bounds(data, search),
            importances=importances,
        )
        resume = Resume(
            found.state,
            getattr(search, "sampler", search),
            split_seed,
            found.members[0].look.step,
            frequencies,
            scaling.kind == "robust",
        )
        if self.regularization != "auto":
            regularization = float(self.regularization)
        else:
            regularization = float(np.exp(np.mean([np.log(member.look.regularization) for member in members])))
        calibration = None
        if not self.scale_targets:
            whole = LeastSquares(rows, features, 0.0, replace(solver, precision="double", batch_size=None))
            calibration = _calibration(whole, found, members, scaling)
        return Fit(
            model, regularization, History.of(events), rows.total_weight, resume, calibration, watched.interrupted
        )

    def _bounds(self, data: Data, search: Any) -> Array | None:
        """The targets' range and a margin, which predictions of a regression do not leave."""
        clamps = isinstance(search, Automatic) if self.clamp == "auto" else bool(self.clamp)
        if not clamps or not self.scale_targets:
            return None
        xp = namespace(data.y)
        low, high = xp.min(data.y, axis=0), xp.max(data.y, axis=0)
        margin = DEFAULT.margin * (high - low)
        return xp.stack((low - margin, high + margin))


class Watched(NamedTuple):
    """What a search had found when it ended, all that it told, and whether the user ended it."""

    found: Found
    events: list[Event]
    interrupted: bool


def _watched(
    search: Generator[Event | Found, None, Found], decisions: list[Event], deadline: float, progress: Progress
) -> Watched:
    """Run a search to its end, to a deadline or to an interrupt, whichever comes first."""
    events, found, interrupted = list(decisions), None, False
    try:
        while found is None or time.monotonic() < deadline:
            event = next(search)
            if isinstance(event, Found):
                found = event
                continue
            events.append(event)
            progress.see(event)
        search.close()
        events.append(Decision("max_seconds have passed: the best model so far"))
    except StopIteration as end:
        found = end.value
    except KeyboardInterrupt:
        if found is None:
            raise
        interrupted = True
        events.append(Decision("interrupted: the best model so far"))
    return Watched(found, events, interrupted)


def _as_kept(x: Any, like_these: Any) -> Any:
    """Inputs as sparse, or as dense, as others."""
    if scipy.sparse.issparse(like_these) == scipy.sparse.issparse(x):
        return x
    return x.toarray() if scipy.sparse.issparse(x) else scipy.sparse.csr_array(x)


def _relevance(squares: Array) -> Array:
    """As shares of their sum; all alike where there is nothing to share."""
    xp = namespace(squares)
    total = xp.sum(squares)
    alike = xp.ones_like(squares) / squares.shape[0]
    return xp.where(total > 0, squares / xp.where(total > 0, total, xp.ones_like(total)), alike)


def _calibration(whole: LeastSquares, found: Found, final: Sequence[Candidate], scaling: Scaling) -> Calibration:
    """The members' values at rows that they were not fitted to, as far as there are any."""
    if found.judges[0] is None:
        parts = [_own_values(whole, final)]
    else:
        features = whole.features
        parts = [
            (
                values_at(judge.held_out, features, member.frequencies, features.coefficients(member.amplitudes)),
                judge.held_out,
            )
            for judge, member in zip(found.judges, found.members, strict=True)
            if judge is not None
        ]
    shares = to_host(scaling.targets.center)
    values = np.concatenate([to_host(value) for value, _ in parts]) + shares
    targets = np.concatenate([to_host(rows.y) for _, rows in parts]) + shares
    if whole.rows.weight is None:
        return Calibration(values, targets, None)
    weights = [np.ones(len(rows)) if rows.weight is None else to_host(rows.weight) for _, rows in parts]
    return Calibration(values, targets, np.concatenate(weights))


def _own_values(whole: LeastSquares, final: Sequence[Candidate]) -> tuple[Any, Rows]:
    """Values at the rows of the fit: of few rows with each left out in turn."""
    rows = whole.rows
    if len(final) == 1 and rows.total_weight <= MOST_LEFT_OUT:
        return left_out_values(whole, final[0].frequencies, final[0].look.regularization), rows
    if len(rows) > 10 * MOST_LEFT_OUT:  # from all over: they may be sorted by class
        rows = rows.take(np.linspace(0, len(rows) - 1, 10 * MOST_LEFT_OUT).astype(np.int64))
    frequencies, amplitudes = averaged([(member.frequencies, member.amplitudes) for member in final])
    return values_at(rows, whole.features, frequencies, whole.features.coefficients(amplitudes)), rows


def _solves(events: Sequence[Event]) -> Iterator[Decision]:
    """What the walk's solves were, in words."""
    solves = [event.solve for event in events if isinstance(event, Info) and event.solve is not None]
    for path, precision in sorted({(solve.path, solve.precision) for solve in solves}):
        n = sum((solve.path, solve.precision) == (path, precision) for solve in solves)
        yield Decision(f"{n} steps solved on the {path} path in {precision} precision")
    raised, fallen = sum(solve.raised for solve in solves), sum(solve.fallback for solve in solves)
    if raised:
        yield Decision(
            f"{raised} of them repeated in a higher precision, because the one asked for could not be trusted"
        )
    if fallen:
        yield Decision(f"{fallen} of them singular: solved for the minimum norm")
