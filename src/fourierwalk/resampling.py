"""The resampling walk (arXiv 2410.06399, 2509.03151): frequencies multiply where their amplitudes are large."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fourierwalk._arrays import Array, like, namespace, to_host
from fourierwalk.proposals import Proposal
from fourierwalk.sampler import MOST_NORM, Info, Minimize, State, norms


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
    >>> from fourierwalk.features import CosineSine
    >>> from fourierwalk.least_squares import LeastSquares
    >>> from fourierwalk.proposals import ShapedWalk
    >>> from fourierwalk.rows import Rows
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

    def step(self, rng: np.random.Generator, state: State, minimize: Minimize) -> tuple[State, Info]:
        """Resample where it is due, move, solve."""
        omega, beta = state.frequencies, state.amplitudes
        xp, n = namespace(omega), omega.shape[0]
        size, is_copy, chosen = norms(beta), like(np.zeros(n, dtype=bool), omega), np.arange(n)
        if self.threshold >= 1 or effective_size(size) <= self.threshold * n:  # rounding decides nothing
            chosen = systematic(rng, to_host(size))
            omega, beta, is_copy = _copies(omega, beta, chosen)
        proposed = self.proposal.propose(rng, state.proposal, omega)
        inside = xp.linalg.vector_norm(proposed, axis=1) < min(self.max_norm, MOST_NORM)
        proposed = xp.where(inside[:, None], proposed, state.frequencies)
        is_copy = is_copy | xp.take(~inside, like(chosen, omega), axis=0)  # of one that stays: it is there already
        solution = minimize(proposed)
        acceptance = 1.0
        if self.exponent is not None:
            threshold = like(rng.random(n) ** (1.0 / self.exponent), omega)
            accept = (norms(solution.amplitudes) > threshold * norms(beta)) | is_copy
            acceptance = float(xp.mean(xp.astype(accept, xp.float64)))
            proposed = xp.where(accept[:, None], proposed, omega)
            solution = minimize(proposed)
        length = self.proposal.length(state.proposal)
        learnt = self.proposal.update(state.proposal, proposed, solution.amplitudes, acceptance)
        info = Info(state.step + 1, acceptance, length, solution.loss, solution.info, "resampling")
        return State(state.step + 1, proposed, solution.amplitudes, learnt), info

    def refit(self, state: State, minimize: Minimize) -> tuple[State, float]:
        """Amplitudes of the state's frequencies."""
        solution = minimize(state.frequencies)
        return state._replace(amplitudes=solution.amplitudes), solution.loss

    def sample(
        self, minimize: Minimize, state: State, rng: np.random.Generator, n_steps: int
    ) -> Iterator[tuple[State, Info]]:
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


def systematic(rng: np.random.Generator, size: np.ndarray) -> np.ndarray:
    """Indices drawn in proportion to size with one uniform number: k comes ⌊K pₖ⌋ or ⌈K pₖ⌉ times."""
    n = size.size
    if not float(size.sum()) > 0:
        return np.arange(n)
    points = (rng.random() + np.arange(n)) / n
    return np.minimum(np.searchsorted(np.cumsum(size) / size.sum(), points), n - 1)


def _copies(omega: Array, beta: Array, chosen: np.ndarray) -> tuple[Array, Array, Array]:
    """The chosen frequencies, their amplitudes shared among copies (the same model), and which are not the first."""
    xp = namespace(omega)
    counts = np.bincount(chosen, minlength=chosen.size)[chosen]
    is_copy = np.concatenate(([False], chosen[1:] == chosen[:-1]))
    index = like(chosen, omega)
    shared = xp.take(beta, index, axis=0) / like(counts[:, None].astype(np.float64), omega)
    return xp.take(omega, index, axis=0), shared, like(is_copy, omega)
