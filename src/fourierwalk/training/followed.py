"""The search of every sampler but "auto": the sampler runs once, from one start."""

from __future__ import annotations

import math
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.sampler import State
from fourierwalk.solving.minibatch import Minibatch
from fourierwalk.training.ensemble import Ensemble, Searching
from fourierwalk.training.following import Ending, Phase, Trail, follow
from fourierwalk.training.history import Decision
from fourierwalk.training.replay import Request, Work
from fourierwalk.training.selection import Candidate, Look, refined
from fourierwalk.training.starts import Start

LEAST_GAIN = 1e-3
"""The share of the error below which a gain is none for early stopping: a walk gains little by little."""


class Resume(NamedTuple):
    """What a warm start needs of the last fit."""

    state: State
    sampler: Any
    split_seed: int  # of the train-validation split
    best_step: int
    best: Array  # the best frequencies
    scaling: str = "columns"  # the kind of scaling: it fixes the units of the frequencies


@dataclass(frozen=True)
class Followed:
    """The search of every sampler but "auto": the sampler runs once, from one start.

    Parameters
    ----------
    sampler : sampler object
        The sampler.
    n_steps : int
        The most steps.
    look_every : int
        Steps between two looks at the validation rows.
    patience : int
        Looks without a gain after which the search ends (early stopping).
    starts_at_zero : bool
        Whether frequencies start at zero, as in the paper, if the user gives no start.
    resume : Resume, optional
        The end of an earlier fit, to continue from.
    """

    sampler: Any
    n_steps: int
    look_every: int
    patience: int
    starts_at_zero: bool = False
    resume: Resume | None = None

    def search(self, panel: Any, start: Start, rng: Any) -> Searching:
        """Run the sampler. The state with the least validation error is kept; without validation rows, the last one."""
        problem, selection, _ = panel.split(0)
        on_batches: Any = problem
        if problem.solver.batch_size is not None and not isinstance(self.sampler, Descent):
            on_batches = Minibatch(problem, rng.spawn(1)[0])
        state, candidates = self._begin(on_batches, start, problem.rows.y, rng)
        looked = [] if selection is None else [selection.look(*candidate) for candidate in candidates]
        for candidate in looked:
            yield candidate.look
        best = min(looked, key=lambda candidate: candidate.look.error) if looked else None
        phase = Phase(self.sampler, on_batches, self.n_steps, self.look_every, self.patience, LEAST_GAIN)
        trail = yield from self._so_far(follow(phase, selection, best, state, rng), problem, selection)
        kept = trail.best
        if trail.ending is Ending.RUNAWAY:
            warnings.warn(
                "The frequencies ran away from the data and the walk was ended: a smaller step_size, a max_norm, or a "
                "larger regularization keeps them in reach.",
                RuntimeWarning,
                stacklevel=2,
            )
        yield Decision(f"{trail.state.step} steps: {trail.ending.value}")
        if kept is None:
            kept = _last(trail.state, problem)
        elif selection is not None:
            (kept,) = refined([kept], [selection])
            yield Decision(f"the state of step {kept.look.step} was kept, with held-out error {kept.look.error:.4g}")
        return Ensemble((kept,), (selection,), trail.state)

    def _so_far(self, work: Work[Trail], problem: Any, selection: Any) -> Generator[Any, Any, Trail]:
        """The same, with the result so far at each point where the run can be continued."""
        answer: Any = None
        while True:
            try:
                event = work.send(answer)
            except StopIteration as end:
                return end.value
            answer = yield event
            if isinstance(event, Request) and event.waypoint is not None:
                state, best = event.waypoint.state, event.waypoint.best
                yield Ensemble((best or _last(state, problem),), (selection,), state)

    def _begin(self, minimize: Any, start: Start, reference: Any, rng: Any) -> tuple[State, list[tuple[int, Array]]]:
        """The first state, and the (step, frequencies) that may be kept if no step is better."""
        if self.resume is not None:
            state, best = self.resume.state, self.resume.best
            if self.sampler != self.resume.sampler or state.amplitudes.shape[1] != reference.shape[1]:
                # After an average of several models the last state is one of them; `best` has the frequencies of all.
                frequencies = state.frequencies if state.frequencies.shape == best.shape else best
                state = self.sampler.init(minimize, frequencies)._replace(step=state.step)
            return state, [(self.resume.best_step, best), (state.step, state.frequencies)]
        frequencies = start.frequencies
        if frequencies is None:
            spread = (0.0 if self.starts_at_zero else 1.0) if start.spread is None else start.spread
            shape = (start.n_frequencies, start.dimension)
            frequencies = like(spread * rng.standard_normal(shape) if spread else np.zeros(shape), reference)
        state = self.sampler.init(minimize, frequencies)
        return state, [(0, state.frequencies)]


def _last(state: State, problem: Any) -> Candidate:
    """The last state as a candidate: without validation rows no look tells the best one."""
    return Candidate(Look(state.step, math.nan, problem.regularization), state.frequencies, state.amplitudes)
