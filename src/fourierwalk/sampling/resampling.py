"""The resampling walk (arXiv 2410.06399, 2509.03151): frequencies multiply where their amplitudes are large."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fourierwalk.arrays.draws import Draws
from fourierwalk.arrays.library import Array, like, namespace, scalar
from fourierwalk.sampling.proposals import Proposal
from fourierwalk.sampling.sampler import MOST_NORM, Info, Minimize, State, norms


@dataclass(frozen=True)
class Resampling:
    """Resample frequencies by their amplitudes, move all of them, solve for the amplitudes; and again.

    Parameters
    ----------
    proposal : Proposal
        How frequencies move.
    threshold : float
        Frequencies are resampled where the effective sample size is at most this share of their number; 1: always.
    exponent : float, optional
        γ of a Metropolis test of the moves, at the price of a second solve. None: every move is kept. Of several copies
        of a frequency one is tested and the others move, so that no two stay equal.
    max_norm : float
        No frequency moves to this norm or beyond; a copy that would is not made.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data.features import CosineSine
    >>> from fourierwalk.solving.least_squares import LeastSquares
    >>> from fourierwalk.sampling.proposals import ShapedWalk
    >>> from fourierwalk.data.rows import Rows
    >>> x = np.random.default_rng(0).normal(size=(300, 1))
    >>> minimize = LeastSquares(Rows(x, np.sin(5 * x)), CosineSine(), regularization=0.01)
    >>> walk, rng = Resampling(ShapedWalk(0.5)), np.random.default_rng(1)
    >>> start = rng.normal(size=(16, 1))
    >>> for state, info in walk.sample(minimize, walk.init(minimize, start), rng, n_steps=50):
    ...     pass
    >>> bool(minimize(state.frequencies).loss < 0.2 * minimize(start).loss)
    True
    """

    proposal: Proposal
    threshold: float = 1.0
    exponent: float | None = None
    max_norm: float = math.inf

    def init(self, minimize: Minimize, frequencies: Array) -> State:
        """Amplitudes of the first frequencies."""
        return State(0, frequencies, minimize(frequencies).amplitudes, self.proposal.init(frequencies))

    def step(self, rng: Draws, state: State, minimize: Minimize) -> tuple[State, Info]:
        """Resample where it is due, move, solve."""
        omega, beta = state.frequencies, state.amplitudes
        xp, n = namespace(omega), omega.shape[0]
        size = norms(beta)
        chosen = xp.arange(n, device=omega.device)
        is_copy = chosen < 0
        if self.threshold >= 1 or effective_size(size) <= self.threshold * n:  # rounding decides nothing
            chosen = systematic(rng, size)
            omega, beta, is_copy = _copies(omega, beta, chosen)
        proposed = self.proposal.propose(rng, state.proposal, omega)
        inside = norms(proposed) < min(self.max_norm, MOST_NORM)
        proposed = xp.where(inside[:, None], proposed, state.frequencies)
        is_copy = is_copy | xp.take(~inside, chosen, axis=0)  # of one that stays: it is there already
        solution = minimize(proposed)
        acceptance: Any = 1.0
        if self.exponent is not None:
            threshold = like(rng.random(n) ** (1.0 / self.exponent), omega)
            accept = (norms(solution.amplitudes) > threshold * norms(beta)) | is_copy
            acceptance = scalar(xp.mean(xp.astype(accept, xp.float64)))
            proposed = xp.where(accept[:, None], proposed, omega)
            solution = minimize(proposed)
        length = self.proposal.length(state.proposal)
        learnt = self.proposal.update(state.proposal, proposed, solution.amplitudes, acceptance)
        info = Info(state.step + 1, acceptance, length, solution.loss, solution.info, "resampling")
        return State(state.step + 1, proposed, solution.amplitudes, learnt), info

    def refit(self, state: State, minimize: Minimize) -> tuple[State, Any]:
        """Amplitudes of the state's frequencies."""
        solution = minimize(state.frequencies)
        return state._replace(amplitudes=solution.amplitudes), solution.loss

    def sample(self, minimize: Minimize, state: State, rng: Draws, n_steps: int) -> Iterator[tuple[State, Info]]:
        """Yield (State, Info) after every step."""
        for _ in range(n_steps):
            state, info = self.step(rng, state, minimize)
            yield state, info


def effective_size(size: Array) -> float:
    """(Σ|βₖ|)² / Σ|βₖ|²: between one and the number of frequencies."""
    xp = namespace(size)
    largest = float(xp.max(size))
    if not largest > 0:
        return float(size.shape[0])
    size = size / largest  # squares of any amplitude stay finite
    return float(xp.sum(size)) ** 2 / float(xp.sum(size * size))


def systematic(rng: Draws, size: Array) -> Array:
    """Indices drawn in proportion to size with one uniform number: k comes ⌊K pₖ⌋ or ⌈K pₖ⌉ times."""
    xp, n = namespace(size), size.shape[0]
    even, total = xp.arange(n, device=size.device), xp.sum(size)
    points = like((rng.random() + xp.astype(even, xp.float64)) / n, size)
    chosen = xp.searchsorted(xp.cumulative_sum(size) / xp.where(total > 0, total, 1.0 + 0 * total), points)
    return xp.where(total > 0, xp.clip(chosen, 0, n - 1), even)


def _copies(omega: Array, beta: Array, chosen: Array) -> tuple[Array, Array, Array]:
    """The chosen frequencies, their amplitudes shared among copies (the same model), and which are not the first."""
    xp = namespace(omega)
    first, after = xp.searchsorted(chosen, chosen), xp.searchsorted(chosen, chosen, side="right")
    shared = xp.take(beta, chosen, axis=0) / xp.astype(after - first, xp.float64)[:, None]
    is_copy = xp.arange(chosen.shape[0], device=chosen.device) > first
    return xp.take(omega, chosen, axis=0), shared, is_copy
