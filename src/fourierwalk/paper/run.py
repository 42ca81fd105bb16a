"""Computes a cell: from its settings to plain numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fourierwalk.arrays.draws import Several, placed
from fourierwalk.arrays.library import Array, is_remote, like, namespace, to_host
from fourierwalk.arrays.threads import blas_threads
from fourierwalk.data import features as feature_kinds
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.paper.cases import Cell, Experiment
from fourierwalk.paper.data import Realisation, stream
from fourierwalk.paper.errors import Outcome, describe, errors
from fourierwalk.paper.gradient import StochasticGradient, advance, drawn
from fourierwalk.paper.place import Place
from fourierwalk.paper.theory import CHECKS
from fourierwalk.sampling.proposals import AdaptiveWalk, Proposal, RandomWalk
from fourierwalk.sampling.sampler import Metropolis, State
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training import ahead

TUNED_SPREADS = (0.03, 0.05, 0.07, 0.1, 0.14)
TUNED_REGULARIZATIONS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def run(cell: Cell, place: Place) -> dict[str, Any]:
    """Compute a cell."""
    if cell.experiment.method == "check":
        return CHECKS[cell.experiment.name].compute()
    if cell.experiment.method == "gradient":
        place = place._replace(device="cpu")  # one sample a step is too little work for a GPU
    data = place.rows_of(cell)
    return _result(cell, data, METHODS[cell.experiment.method](cell, data))


def run_together(cells: Sequence[Cell], place: Place) -> list[dict[str, Any]]:
    """Compute realisations of one walk side by side, as one stack of problems. Each counts its share of the seconds."""
    if len(cells) == 1:
        return [run(cells[0], place)]
    data = [place.rows_of(cell) for cell in cells]
    together = walks(cells, data)
    return [_result(*each) for each in zip(cells, data, together, strict=True)]


def _result(cell: Cell, data: Realisation, fitted: Outcome) -> dict[str, Any]:
    measured = errors(fitted.features, fitted.frequencies, fitted.amplitudes, data)
    return {**measured, "seconds": fitted.seconds, **fitted.notes, **describe(cell, fitted)}


MOST_WORK_TOGETHER = 2**23
"""Up to this product of rows and frequencies, realisations of a walk run side by side on a GPU."""


def groups(wanted: Sequence[Cell], together: bool) -> list[list[Cell]]:
    """Cells one by one, or realisations of a small walk together."""
    together_by: dict[Any, list[Cell]] = {}
    for cell in wanted:
        key = (cell.case, cell.experiment, cell.width) if together and can_run_together(cell) else cell
        together_by.setdefault(key, []).append(cell)
    return list(together_by.values())


def can_run_together(cell: Cell) -> bool:
    """Whether realisations of a cell may run as one stack."""
    experiment = cell.experiment
    return (
        experiment.method == "walk"
        and not experiment.look_every
        and cell.case.n_rows * cell.width <= MOST_WORK_TOGETHER
    )


def walk(cell: Cell, data: Realisation) -> Outcome:
    """Algorithms 1 and 2, Experiments 1, 2 and 5."""
    return walks([cell], [data])[0]


def walks(cells: Sequence[Cell], data: Sequence[Realisation]) -> list[Outcome]:
    """One walk, or several realisations of it side by side."""
    cell, experiment, clock = cells[0], cells[0].experiment, _Clock()
    features, sampler = feature_kinds.named(experiment.features), metropolis(experiment)
    shape: tuple[int, ...] = (cell.width, features.dimension(data[0].x.shape[1]))
    x, y, rng = data[0].x, data[0].y, placed(_rng(cell), "auto", data[0].x, shape[0] * shape[1])
    if len(cells) > 1:
        stack, shape = namespace(x).stack, (len(cells), *shape)
        x, y, rng = stack([each.x for each in data]), stack([each.y for each in data]), Several([*map(_rng, cells)])
    exact = LeastSquares(Rows(x, y), features, experiment.regularization)
    minimize = replace(exact, solver=Solver(precision=experiment.precision))
    state, acceptance, trace = sampler.init(minimize, like(np.zeros(shape), x)), 0.0, []
    for n_steps in _spans(experiment):
        state, accepted = clock.time(_advanced, sampler, minimize, state, rng, n_steps)
        acceptance += accepted / experiment.n_steps
        if experiment.look_every:
            trace.append(_look(state.step, clock, features, state.frequencies, state.amplitudes, data[0]))
    state, loss = clock.time(_finished, sampler, exact, state)
    fits = []
    for i in range(len(cells)):
        part: Any = i if len(cells) > 1 else ...
        notes: dict[str, Any] = {
            "acceptance": float(np.asarray(acceptance)[part]),
            "loss": float(np.asarray(loss)[part]),
        }
        notes |= {"trace": trace, "threads": blas_threads()} if trace else {}
        seconds = clock.seconds / len(cells)
        fits.append(Outcome(features, state.frequencies[part], state.amplitudes[part], seconds, notes))
    return fits


def _spans(experiment: Experiment) -> list[int]:
    """The steps between two looks."""
    every = experiment.look_every or experiment.n_steps
    return [min(every, experiment.n_steps - start) for start in range(0, experiment.n_steps, every or 1)]


def _advanced(sampler: Metropolis, minimize: Any, state: State, rng: Any, n_steps: int) -> tuple[State, Any]:
    """The state after n steps, and the sum of their acceptances."""
    accepted: Any = 0.0
    for after, info in ahead.sample(sampler, minimize, state, rng, n_steps):
        state, accepted = after, accepted + info.acceptance
    return state, accepted


def _finished(sampler: Metropolis, minimize: Any, state: State) -> tuple[State, np.ndarray]:
    """The last refit. Its loss is read to the host, so the device is done."""
    state, loss = sampler.refit(state, minimize)
    return state, to_host(loss) if is_remote(loss) else loss


def metropolis(experiment: Experiment) -> Metropolis:
    """The sampler of an experiment."""
    proposal: Proposal = RandomWalk(experiment.step_size)
    if experiment.adapt_after is not None:
        proposal = AdaptiveWalk(experiment.step_size, experiment.adapt_after)
    return Metropolis(proposal, experiment.exponent, experiment.refit_every)


def fixed(cell: Cell, data: Realisation) -> Outcome:
    """Frequencies N(0, σ²), Experiment 3."""
    features, clock = feature_kinds.named(cell.experiment.features), _Clock()
    frequencies = _frequencies(cell, data, cell.experiment.spread)
    minimize = LeastSquares(Rows(data.x, data.y), features, cell.experiment.regularization)
    solution = clock.time(minimize, frequencies)
    return Outcome(features, frequencies, solution.amplitudes, clock.seconds, {})


def tuned(cell: Cell, data: Realisation) -> Outcome:
    """Fixed frequencies whose σ and λ make the fewest mistakes on the last sixth of the training rows."""
    features, clock = feature_kinds.named(cell.experiment.features), _Clock()
    n = data.x.shape[0] * 5 // 6
    inner = Realisation(data.x[:n, :], data.y[:n, :], data.x[n:, :], data.y[n:, :], None)
    best = clock.time(_search, cell, inner, features)
    _, spread, regularization = best
    frequencies = _frequencies(cell, data, spread)
    solution = clock.time(LeastSquares(Rows(data.x, data.y), features, regularization), frequencies)
    notes = {"tuned_spread": spread, "tuned_regularization": regularization}
    return Outcome(features, frequencies, solution.amplitudes, clock.seconds, notes)


def _search(cell: Cell, inner: Realisation, features: Features) -> tuple[float, float, float]:
    """(held-out % misclassified, σ, λ), the best of the grid."""
    tried = []
    for spread in TUNED_SPREADS:
        frequencies = _frequencies(cell, inner, spread)
        problem = LeastSquares(Rows(inner.x, inner.y), features, 0.0)
        for regularization in TUNED_REGULARIZATIONS:
            solution = replace(problem, regularization=regularization)(frequencies)  # of the same equations
            wrong = errors(features, frequencies, solution.amplitudes, inner)["misclassified_modulus"]
            tried.append((wrong, spread, regularization))
    return min(tried)


def gradient(cell: Cell, data: Realisation) -> Outcome:
    """The stochastic gradient method, Experiment 4."""
    experiment, clock = cell.experiment, _Clock()
    method = StochasticGradient(experiment.step_size, experiment.n_steps)
    rng = _rng(cell)
    state = method.init(rng, cell.width, cell.case.d, experiment.spread)
    chunk = experiment.look_every or 100_000
    if cell.case.name == "case3":
        assert data.scaling is not None
        chunks = stream(cell.case, cell.seed, data.scaling, chunk)
    else:
        chunks = drawn(data.x, data.y[:, 0], rng, chunk)
    features, trace = feature_kinds.named("complex"), []
    advance(state, data.x[:1], data.y[:1, 0], experiment.step_size)  # compiled before the clock starts
    while state.step < experiment.n_steps:
        rows = next(chunks)
        state = clock.time(next, method.run(state, [rows]))
        if experiment.look_every:
            trace.append(_look(state.step, clock, features, state.frequencies, state.amplitudes[:, None], data))
    notes = {"trace": trace, "threads": 1} if trace else {}
    return Outcome(features, state.frequencies, state.amplitudes[:, None], clock.seconds, notes)


METHODS: dict[str, Callable[[Cell, Realisation], Outcome]] = {
    "walk": walk,
    "fixed": fixed,
    "tuned": tuned,
    "gradient": gradient,
}


class _Clock:
    """Counts the seconds of the method alone, not those of looking at it.

    `processor` counts those that this process had a processor: other programs on the machine do not lengthen them.
    """

    def __init__(self) -> None:
        self.seconds = self.processor = 0.0

    def time(self, function: Callable[..., Any], *arguments: Any) -> Any:
        start, start_processor = time.perf_counter(), time.process_time()
        try:
            return function(*arguments)
        finally:
            self.seconds += time.perf_counter() - start
            self.processor += time.process_time() - start_processor


def _look(
    step: int, clock: _Clock, features: Features, frequencies: Array, amplitudes: Array, data: Realisation
) -> list[float]:
    measured = errors(features, frequencies, amplitudes, data)
    return [step, round(clock.seconds, 4), measured["rms_modulus"], measured["rms_real"], round(clock.processor, 4)]


def _rng(cell: Cell) -> np.random.Generator:
    """A stream per realisation and width; the data have their own."""
    return np.random.default_rng([cell.seed, cell.width, 2])


def _frequencies(cell: Cell, data: Realisation, spread: float) -> Array:
    return like(spread * _rng(cell).standard_normal((cell.width, data.x.shape[1])), data.x)
