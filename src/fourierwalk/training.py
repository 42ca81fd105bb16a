"""One fit from checked settings and checked data: scale, split, walk, choose, solve."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fourierwalk import features as feature_kinds
from fourierwalk import scaling as scalings
from fourierwalk._arrays import Array, like, one_pool, to_host
from fourierwalk.automatic import WALK_REGULARIZATION, Automatic, Found, Split, Start, averaged, exploring
from fourierwalk.descent import Descent
from fourierwalk.draws import PLACES, placed
from fourierwalk.features import Features
from fourierwalk.following import Phase, follow, patience
from fourierwalk.history import History
from fourierwalk.least_squares import LeastSquares, Minibatch
from fourierwalk.model import FourierModel
from fourierwalk.parameters import count, number, option
from fourierwalk.products import PRECISIONS
from fourierwalk.proposals import (
    AdaptiveWalk,
    Proposal,
    RandomWalk,
    TargetedWalk,
)
from fourierwalk.resampling import Resampling
from fourierwalk.rows import Rows
from fourierwalk.sampler import Info, Metropolis, State
from fourierwalk.scaling import Scaling
from fourierwalk.selection import (
    Candidate,
    Look,
    Selection,
    choose_regularization,
    held_out_mask,
    left_out_values,
    values_at,
)
from fourierwalk.solver import PATHS, Solver

SAMPLERS = ("auto", "metropolis", "resampling", "descent", "fixed")

# What None stands for in a Metropolis walk.
ACCEPTANCE_TARGET = 0.5
EXPONENT_CAP = 10.0
FIRST_STEP = 0.3  # over √d: in scaled units a step of 1/√d turns a typical phase by one radian


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


class Resume(NamedTuple):
    """Where a warm start goes on: the last state and its sampler, the draw of held-out rows, the best frequencies."""

    state: State
    sampler: Any
    split_seed: int
    best_step: int
    best: Array

    def onward(self, walk: Any, minimize: Any, n_outputs: int) -> State:
        """The last state, or a new one at its frequencies where the proposal or the outputs have changed since."""
        same = walk == self.sampler
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
    calibration: Calibration | None


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
        elif not callable(getattr(self.sampler, "sample", getattr(self.sampler, "search", None))):
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
        option("solver.precision", self.solver.precision, (*PRECISIONS, "auto"))
        option("solver.draws", self.solver.draws, PLACES)
        if self.solver.batch_size is not None:
            count("solver.batch_size", self.solver.batch_size, 1)
        number("solver.max_memory", self.solver.max_memory, above=0, optional=True)

    def run(self, data: Data, rng: np.random.Generator, resume: Resume | None = None) -> Fit:
        """Fit the data; `resume` continues the walk of an earlier fit."""
        with one_pool():
            return self._run(data, rng, resume)

    def _run(self, data: Data, rng: Any, resume: Resume | None) -> Fit:
        features = feature_kinds.named(self.features)
        scaling = Scaling.fit(
            data.x, data.y, data.weight, standardize=self.standardize, scale_targets=self.scale_targets
        )
        rows = scaling.rows(data.x, data.y, data.weight)
        split_seed = int(rng.spawn(1)[0].integers(2**63)) if resume is None else resume.split_seed
        chosen = None if self.regularization == "auto" else float(self.regularization)
        precision = "auto" if isinstance(self.sampler_object(data), Automatic) else "double"
        solver = self.solver if isinstance(self.solver, Solver) else Solver(self.solver, precision)
        exact = replace(solver, precision="double", batch_size=None)
        n_values = int(self.n_frequencies) * features.dimension(int(data.x.shape[1]))
        rng = placed(rng, solver.draws, rows.y, n_values)

        def split(fold: int) -> Split:
            seen, held_out = self._split(data, rows, scaling, split_seed, fold)
            problem = LeastSquares(seen, features, WALK_REGULARIZATION if chosen is None else chosen, solver)
            if held_out is None:
                return Split(problem, None)
            shares = None if self.scale_targets else scaling.targets.center
            return Split(problem, Selection(replace(problem, solver=exact), held_out, chosen, shares))

        first = split(0)
        selection = first.selection
        decisions = [f"inputs scaled: {scaling.kind}", self._told(data, selection)]
        other = split if data.x_val is None else lambda _: first
        search = self._search(lambda fold: other(fold) if fold else first, features, data, rng, resume)
        found = self._watched(search)
        first.problem.forget()
        if selection is not None:
            selection.held_out.kept.forget()
        decisions.extend((*found.decisions, *_solves(found.infos)))
        whole = LeastSquares(rows, features, 0.0, exact)
        sampler = self.sampler_object(data)
        finished = found.members
        if isinstance(sampler, Automatic) and selection is not None:
            near = replace(whole, solver=solver.for_descent)
            finished = tuple(sampler.finish(near, member, rng) for member in found.members)
        members = [self._final(whole, member, chosen, selection is not None, decisions) for member in finished]
        frequencies, amplitudes = averaged([(member.frequencies, member.amplitudes) for member in members])
        model = FourierModel(
            frequencies, amplitudes * scaling.targets.scale[None, :], scaling.targets.center, features, scaling
        )
        history = History(found.infos, found.looks, tuple(decisions))
        kept = found.members[0].look.step
        resumable = Resume(found.state, sampler, split_seed, kept, frequencies)
        regularization = chosen
        if regularization is None:  # one number for several members: the geometric mean
            regularization = float(np.exp(np.mean([np.log(member.look.regularization) for member in members])))
        calibration = (
            None
            if self.scale_targets
            else _calibration(whole, selection, found.judged or found.members, members, scaling)
        )
        return Fit(model, regularization, history, rows.total_weight, resumable, calibration)

    def _search(
        self,
        splits: Callable[[int], Split],
        features: Features,
        data: Data,
        rng: Any,
        resume: Resume | None,
    ) -> Generator[Look, None, Found]:
        """The automatic search, or one sampler followed."""
        sampler = self.sampler_object(data)
        if isinstance(sampler, Automatic):
            start = self._automatic_start(features, data, resume)
            return sampler.search(splits, start, rng)
        return self._followed(sampler, splits(0), features, data, rng, resume)

    def _followed(
        self,
        sampler: Any,
        split: Split,
        features: Features,
        data: Data,
        rng: Any,
        resume: Resume | None,
    ) -> Generator[Look, None, Found]:
        """One sampler from the start, or from where it was left; its last state, or the best on held-out rows."""
        problem, selection = split
        on_batches: Any = problem
        if problem.solver.batch_size is not None and not isinstance(sampler, Descent):
            on_batches = Minibatch(problem, rng.spawn(1)[0])
        if resume is None:
            state = sampler.init(on_batches, self._start(features, data, rng))
            candidates = [(0, state.frequencies)]
        else:
            state = resume.onward(sampler, on_batches, data.y.shape[1])
            candidates = [(resume.best_step, resume.best), (state.step, state.frequencies)]
        looked = [] if selection is None else [selection.look(*candidate) for candidate in candidates]
        best = min(looked, key=lambda candidate: candidate.look.error) if looked else None
        phase = Phase(sampler, on_batches, self._n_steps(), int(self.refit_every), patience(int(self.patience)))
        trail = yield from follow(phase, selection, best, state, rng)
        kept, decisions = trail.best, []
        if kept is None:
            look = Look(trail.state.step, math.nan, problem.regularization)
            kept = Candidate(look, trail.state.frequencies, trail.state.amplitudes)
        elif selection is not None:
            kept = selection.refined(kept)
            decisions = [f"the state of step {kept.look.step} was kept, with held-out error {kept.look.error:.4g}"]
        looks = [*(candidate.look for candidate in looked), *trail.looks]
        return Found((kept,), trail.state, trail.infos, looks, decisions)

    def _watched(self, search: Generator[Look, None, Found]) -> Found:
        """Run a search to its end, printing its looks where the user wants to see them."""
        while True:
            try:
                look = next(search)
            except StopIteration as end:
                return end.value
            if self.verbose:
                print(f"{look.phase}, step {look.step}: held-out error {look.error:.4g}, λ {look.regularization:.1g}")

    def _final(
        self, problem: LeastSquares, member: Candidate, chosen: float | None, was_held_out: bool, decisions: list[str]
    ) -> Candidate:
        """The member with amplitudes of all rows: at the user's λ, the one of the held-out rows, or one by GCV."""
        look = member.look
        if math.isinf(look.regularization):
            return member
        if chosen is not None:
            regularization = chosen
        elif was_held_out or look.phase == "leave-one-out":
            regularization = look.regularization
        else:
            eigensystem = problem.eigensystem(member.frequencies)
            regularization = choose_regularization(eigensystem)
            decisions.append(
                f"regularization {regularization:.3g} by generalised cross-validation at these frequencies"
            )
            amplitudes = eigensystem.amplitudes(regularization)
            return member._replace(look=look._replace(regularization=regularization), amplitudes=amplitudes)
        amplitudes = replace(problem, regularization=regularization)(member.frequencies).amplitudes
        return member._replace(look=look._replace(regularization=regularization), amplitudes=amplitudes)

    def _split(self, data: Data, rows: Rows, scaling: Scaling, seed: int, fold: int) -> tuple[Rows, Rows | None]:
        """The rows of the walk and those held out from it; the draw of rows leaves the walk's random numbers alone."""
        if data.x_val is not None:
            if self.early_stopping != "auto" and not self.early_stopping:
                raise ValueError("X_val and y_val need early_stopping 'auto' or True, got False.")
            return rows, scaling.rows(data.x_val, data.y_val)
        if not self._holds_out:
            return rows, None
        labels = None if self.scale_targets else np.argmax(to_host(data.y), axis=1)
        mask = held_out_mask(data.x, self.validation_fraction, seed, labels, fold)
        return (rows, None) if mask is None else (rows.pick(~mask), rows.pick(mask))

    @property
    def _holds_out(self) -> bool:
        """Whether rows are held out where there are enough of them."""
        if self.early_stopping == "auto":
            return self.sampler == "auto" or isinstance(self.sampler, Automatic)
        return bool(self.early_stopping)

    def _told(self, data: Data, selection: Selection | None) -> str:
        """What states are chosen by, in words."""
        if data.x_val is not None:
            return "states chosen on X_val, y_val"
        if selection is not None:
            return f"{len(selection.held_out)} rows held out to choose states by"
        return "no rows held out: too few distinct ones" if self._holds_out else "no rows held out"

    def _n_steps(self) -> int:
        """M."""
        if self.sampler == "fixed":
            return 0
        return 1000 if self.n_steps is None else int(self.n_steps)

    def _automatic_start(self, features: Features, data: Data, resume: Resume | None) -> Start:
        """What "auto" may choose itself, and what the user or an earlier fit has chosen."""
        shape = (int(self.n_frequencies), features.dimension(int(data.x.shape[1])))
        start = Start(shape, regularization=None if self.regularization == "auto" else float(self.regularization))
        if resume is not None:
            return start._replace(frequencies=resume.best, step=resume.state.step)
        if self.initial is None:
            return start
        if np.ndim(self.initial) == 0:
            return start._replace(spread=float(self.initial))
        return start._replace(frequencies=self._given(shape, data))

    def _start(self, features: Features, data: Data, rng: Any) -> Array:
        """ω = 0 (the paper), N(0, σ²), or the user's own."""
        shape = (int(self.n_frequencies), features.dimension(int(data.x.shape[1])))
        is_walk = self.sampler == "metropolis" or isinstance(self.sampler, Metropolis)
        initial = (0.0 if is_walk else 1.0) if self.initial is None else self.initial
        if np.ndim(initial) != 0:
            return self._given(shape, data)
        return like(initial * rng.standard_normal(shape) if initial else np.zeros(shape), data.y)

    def _given(self, shape: tuple[int, int], data: Data) -> Array:
        """The user's own frequencies, checked."""
        given = np.asarray(to_host(self.initial), dtype=np.float64)
        if given.shape != shape:
            raise ValueError(f"initial must be a number or an array of shape {shape}, got shape {given.shape}.")
        if not np.all(np.isfinite(given)):
            raise ValueError("initial must be finite, got NaN or infinity.")
        return like(given, data.y)

    def sampler_object(self, data: Data) -> Any:
        """The sampler; δ and γ of the paper are those of the data's dimension d, also where a bias adds a component."""
        if not isinstance(self.sampler, str):
            return self.sampler
        d = int(data.x.shape[1])
        exponent = {None: min(3.0 * d - 2.0, EXPONENT_CAP), "paper": 3.0 * d - 2.0}.get(self.exponent, self.exponent)
        max_norm = math.inf if self.max_norm is None else float(self.max_norm)
        tested = None if self.exponent is None else float(exponent)
        if self.sampler == "auto":
            own = self.step_size is not None or self.adapt_after is not None
            n_steps = None if self.n_steps is None else int(self.n_steps)
            return Automatic(
                proposal=self._proposal(d) if own else None,
                exponent=tested,
                max_norm=max_norm,
                n_steps=n_steps,
                patience=int(self.patience),
            )
        if self.sampler == "resampling":
            return Resampling(self._proposal(d), exponent=tested, max_norm=max_norm)
        if self.sampler == "descent":
            return Descent(max_norm=max_norm)
        return Metropolis(self._proposal(d), float(exponent), int(self.refit_every), max_norm)

    def _proposal(self, d: int) -> Proposal:
        """How frequencies move, by the user's step size, or by one that is adapted."""
        if self.step_size is None and self.adapt_after is None and self.sampler == "resampling":
            return exploring(max(2, self._n_steps()))
        step = float({None: FIRST_STEP / math.sqrt(d), "paper": 2.4**2 / d}.get(self.step_size, self.step_size))
        proposal: Proposal = RandomWalk(step) if self.adapt_after is None else AdaptiveWalk(step, int(self.adapt_after))
        is_tested = self.sampler == "metropolis" or self.exponent is not None  # without a test all moves are accepted
        return TargetedWalk(proposal, ACCEPTANCE_TARGET) if self.step_size is None and is_tested else proposal


MOST_LEFT_OUT = 1000
"""Up to so many rows a calibration without held-out rows is by leave-one-out; beyond, on rows of the fit."""


def _calibration(
    whole: LeastSquares,
    selection: Selection | None,
    chosen: Sequence[Candidate],
    final: Sequence[Candidate],
    scaling: Scaling,
) -> Calibration:
    """The model's values at rows that it was not fitted to, as far as there are any."""
    rows = whole.rows if selection is None else selection.held_out
    if selection is None and len(final) == 1 and rows.total_weight <= MOST_LEFT_OUT:
        values = left_out_values(whole, final[0].frequencies, final[0].look.regularization)
    else:
        if len(rows) > 10 * MOST_LEFT_OUT:  # from all over: they may be sorted by class
            rows = rows.take(np.linspace(0, len(rows) - 1, 10 * MOST_LEFT_OUT).astype(np.int64))
        members = final if selection is None else chosen
        frequencies, amplitudes = averaged([(member.frequencies, member.amplitudes) for member in members])
        values = to_host(values_at(rows, whole.features, frequencies, whole.features.coefficients(amplitudes)))
    shares = to_host(scaling.targets.center)
    return Calibration(values + shares, to_host(rows.y) + shares, None if rows.weight is None else to_host(rows.weight))


def _solves(infos: list[Info]) -> Iterator[str]:
    """What the walk's solves were, in words."""
    solves = [info.solve for info in infos if info.solve is not None]
    for path, precision in sorted({(solve.path, solve.precision) for solve in solves}):
        n = sum((solve.path, solve.precision) == (path, precision) for solve in solves)
        yield f"{n} steps solved on the {path} path in {precision} precision"
    raised, fallen = sum(solve.raised for solve in solves), sum(solve.fallback for solve in solves)
    if raised:
        yield f"{raised} of them repeated in a higher precision, because the one asked for could not be trusted"
    if fallen:
        yield f"{fallen} of them singular: solved for the minimum norm"
