"""One fit from checked settings and checked data: scale, split, walk, choose, solve."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fourierwalk import features as feature_kinds
from fourierwalk import scaling as scalings
from fourierwalk._arrays import Array, like, to_host
from fourierwalk.features import Features
from fourierwalk.history import History
from fourierwalk.least_squares import LeastSquares, Minibatch
from fourierwalk.model import FourierModel
from fourierwalk.parameters import count, number, option
from fourierwalk.proposals import AdaptiveWalk, Proposal, RandomWalk, TargetedWalk
from fourierwalk.rows import Rows
from fourierwalk.sampler import Info, Metropolis, State
from fourierwalk.scaling import Scaling
from fourierwalk.selection import Check, Selection, choose_regularization, held_out_mask
from fourierwalk.solver import PATHS, PRECISIONS, Solver

SAMPLERS = ("auto", "metropolis", "fixed")

# What "auto" and None stand for until they are learnt from the data: chosen on held-out rows of five targets (Cases 1
# and 2 with N = 2,000, two noisy ones, diabetes).
AUTO_STEPS = 300
FEW_ROWS_STEPS = 20
WALK_REGULARIZATION = 0.01
ACCEPTANCE_TARGET = 0.5
EXPONENT_CAP = 10.0
FIRST_STEP = 0.3  # over √d: in scaled units a step of 1/√d turns a typical phase by one radian


class Data(NamedTuple):
    """Checked raw data; targets are (n, q)."""

    x: Any
    y: Array
    weight: Array | None = None
    x_val: Any = None
    y_val: Array | None = None


class Resume(NamedTuple):
    """Where a warm start goes on: the last state and its proposal, the draw of held-out rows, the best frequencies."""

    state: State
    proposal: Any
    split_seed: int
    best_step: int
    best: Array

    def onward(self, walk: Any, minimize: Any, n_outputs: int) -> State:
        """The last state, or a new one at its frequencies where the proposal or the outputs have changed since."""
        same = getattr(walk, "proposal", walk) == self.proposal
        if same and self.state.amplitudes.shape[1] == n_outputs:
            return self.state
        return walk.init(minimize, self.state.frequencies)._replace(step=self.state.step)


class Fit(NamedTuple):
    """All that a fit has learnt."""

    model: FourierModel
    regularization: float
    history: History
    total_weight: float
    resume: Resume


@dataclass(frozen=True)
class Training:
    """The settings of a fit, under the estimators' names; `check` says what is wrong with them."""

    n_frequencies: int
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
    patience: int
    solver: Any
    verbose: int
    scale_targets: bool = True

    def check(self) -> None:
        """Raise one clear sentence for the first setting that makes no sense."""
        count("n_frequencies", self.n_frequencies, 1)
        if isinstance(self.sampler, str):
            option("sampler", self.sampler, SAMPLERS)
        elif not callable(getattr(self.sampler, "sample", None)):
            raise TypeError(
                f"sampler must be one of {SAMPLERS} or a sampler object, got {type(self.sampler).__name__}."
            )
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
        count("patience", self.patience, 1)
        self._check_solver()
        count("verbose", self.verbose, 0)

    def _check_solver(self) -> None:
        if not isinstance(self.solver, Solver):
            option("solver", self.solver, PATHS)
            return
        option("solver.path", self.solver.path, PATHS)
        option("solver.precision", self.solver.precision, PRECISIONS)
        if self.solver.batch_size is not None:
            count("solver.batch_size", self.solver.batch_size, 1)
        number("solver.max_memory", self.solver.max_memory, above=0, optional=True)

    def run(self, data: Data, rng: np.random.Generator, resume: Resume | None = None) -> Fit:
        """Fit the data; `resume` continues the walk of an earlier fit."""
        features = feature_kinds.named(self.features)
        scaling = Scaling.fit(
            data.x, data.y, data.weight, standardize=self.standardize, scale_targets=self.scale_targets
        )
        rows = scaling.rows(data.x, data.y, data.weight)
        split_seed = int(rng.spawn(1)[0].integers(2**63)) if resume is None else resume.split_seed
        seen, held_out, decisions = self._split(data, rows, scaling, split_seed)
        chosen = None if self.regularization == "auto" else float(self.regularization)
        solver = self.solver if isinstance(self.solver, Solver) else Solver(self.solver)
        exact = replace(solver, precision="double", batch_size=None)
        minimize = LeastSquares(seen, features, WALK_REGULARIZATION if chosen is None else chosen, solver)
        selection = None if held_out is None else Selection(replace(minimize, solver=exact), held_out, chosen)
        on_batches: Any = minimize if solver.batch_size is None else Minibatch(minimize, rng.spawn(1)[0])
        walk = self._walk(int(data.x.shape[1]))
        if resume is None:
            state = walk.init(on_batches, self._start(features, data, rng))
        else:
            state = resume.onward(walk, on_batches, data.y.shape[1])
        earlier = [] if resume is None else [(resume.best_step, resume.best)]
        n_steps = self._n_steps(0.0 if held_out is None else rows.total_weight)
        infos, checks, state = self._loop(
            walk.sample(on_batches, state, rng, n_steps), state, selection, n_steps, earlier
        )
        decisions.extend(_solves(infos))
        best_step, best = state.step, state.frequencies
        if checks:
            winner = min(checks, key=lambda check: check.error)
            best_step, best = winner.step, winner.frequencies
            decisions.append(f"the state of step {winner.step} was kept, with held-out error {winner.error:.4g}")
        amplitudes, regularization = self._final(LeastSquares(rows, features, 0.0, exact), best, chosen, decisions)
        model = FourierModel(
            best, amplitudes * scaling.targets.scale[None, :], scaling.targets.center, features, scaling
        )
        history = History(infos, checks, tuple(decisions))
        resumable = Resume(state, getattr(walk, "proposal", walk), split_seed, best_step, best)
        return Fit(model, regularization, history, rows.total_weight, resumable)

    def _final(
        self, problem: LeastSquares, frequencies: Array, chosen: float | None, decisions: list[str]
    ) -> tuple[Array, float]:
        """Amplitudes on all rows, at the user's λ or at one by cross-validation."""
        if chosen is not None:
            return replace(problem, regularization=chosen)(frequencies).amplitudes, chosen
        eigensystem = problem.eigensystem(frequencies)
        regularization = choose_regularization(eigensystem)
        decisions.append(f"regularization {regularization:.3g} by generalised cross-validation at these frequencies")
        return eigensystem.amplitudes(regularization), regularization

    def _loop(
        self,
        steps: Iterator[tuple[State, Info]],
        state: State,
        selection: Selection | None,
        n_steps: int,
        earlier: list[tuple[int, Array]],
    ) -> tuple[list[Info], list[Check], State]:
        """Walk, and look every `refit_every` steps, until `patience` looks bring no new best."""
        infos: list[Info] = []
        first = state.step
        starts = [] if selection is None else [*earlier, (first, state.frequencies)]
        checks = [selection.check(step, frequencies) for step, frequencies in starts if selection is not None]
        for state, info in steps:
            infos.append(info)
            if selection is None or (info.step % self.refit_every and info.step - first < n_steps):
                continue
            checks.append(selection.check(info.step, state.frequencies))
            if self.verbose:
                print(f"step {info.step}: acceptance {info.acceptance:.2f}, held-out error {checks[-1].error:.4g}")
            since_best = len(checks) - 1 - int(np.argmin([check.error for check in checks]))
            if since_best >= self.patience:
                break
        return infos, checks, state

    def _split(self, data: Data, rows: Rows, scaling: Scaling, seed: int) -> tuple[Rows, Rows | None, list[str]]:
        """The rows of the walk and those held out from it; the draw of rows leaves the walk's random numbers alone."""
        decisions = [f"inputs scaled: {scaling.kind}"]
        if data.x_val is not None:
            if self.early_stopping != "auto" and not self.early_stopping:
                raise ValueError("X_val and y_val need early_stopping 'auto' or True, got False.")
            return rows, scaling.rows(data.x_val, data.y_val), [*decisions, "states chosen on X_val, y_val"]
        if not (self.sampler == "auto" if self.early_stopping == "auto" else self.early_stopping):
            return rows, None, decisions
        mask = held_out_mask(data.x, self.validation_fraction, seed)
        if mask is None:
            return rows, None, [*decisions, "no rows held out: too few distinct ones"]
        return rows.pick(~mask), rows.pick(mask), [*decisions, f"{int(mask.sum())} rows held out to choose states by"]

    def _n_steps(self, n_to_choose_by: float) -> int:
        """M; "auto" takes a step per four rows where it can choose among states, and few where it cannot."""
        if self.sampler == "fixed":
            return 0
        if self.n_steps is not None:
            return int(self.n_steps)
        if self.sampler != "auto":
            return 1000
        return int(min(AUTO_STEPS, max(FEW_ROWS_STEPS, n_to_choose_by // 4)))

    def _start(self, features: Features, data: Data, rng: np.random.Generator) -> Array:
        """ω = 0 (the paper), N(0, σ²), or the user's own."""
        shape = (int(self.n_frequencies), features.dimension(int(data.x.shape[1])))
        initial = (1.0 if self.sampler == "fixed" else 0.0) if self.initial is None else self.initial
        if np.ndim(initial) == 0:
            drawn = initial * rng.standard_normal(shape) if initial else np.zeros(shape)
        else:
            drawn = np.asarray(to_host(initial), dtype=np.float64)
        if drawn.shape != shape:
            raise ValueError(f"initial must be a number or an array of shape {shape}, got shape {drawn.shape}.")
        if not np.all(np.isfinite(drawn)):
            raise ValueError("initial must be finite, got NaN or infinity.")
        return like(drawn, data.y)

    def _walk(self, d: int) -> Any:
        """The sampler; δ and γ of the paper are those of the data's dimension d, also where a bias adds a component."""
        if not isinstance(self.sampler, str):
            return self.sampler
        paper_step = 2.4**2 / d
        step = {None: FIRST_STEP / math.sqrt(d), "paper": paper_step}.get(self.step_size, self.step_size)
        exponent = {None: min(3.0 * d - 2.0, EXPONENT_CAP), "paper": 3.0 * d - 2.0}.get(self.exponent, self.exponent)
        proposal: Proposal = RandomWalk(step) if self.adapt_after is None else AdaptiveWalk(step, int(self.adapt_after))
        if self.step_size is None:
            proposal = TargetedWalk(proposal, ACCEPTANCE_TARGET)
        max_norm = math.inf if self.max_norm is None else float(self.max_norm)
        return Metropolis(proposal, float(exponent), int(self.refit_every), max_norm)


def _solves(infos: list[Info]) -> Iterator[str]:
    """What the walk's solves were, in words."""
    solves = [info.solve for info in infos if info.solve is not None]
    for path, precision in sorted({(solve.path, solve.precision) for solve in solves}):
        n = sum((solve.path, solve.precision) == (path, precision) for solve in solves)
        yield f"{n} steps solved on the {path} path in {precision} precision"
    raised, fallen = sum(solve.raised for solve in solves), sum(solve.fallback for solve in solves)
    if raised:
        yield f"{raised} of them repeated in double precision, because single could not be trusted"
    if fallen:
        yield f"{fallen} of them singular: solved for the minimum norm"
