"""The resampling walk (arXiv 2410.06399, 2509.03151): frequencies are copied in proportion to their amplitudes."""

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
    """Each step resamples frequencies in proportion to ``|βₖ|``, moves all of them, and solves for the amplitudes.

    Parameters
    ----------
    proposal : Proposal
        How frequencies move.
    threshold : float
        Frequencies are resampled if the effective sample size is at most this share of their number. 1: always.
    exponent : float, optional
        γ of a Metropolis test of the moves, which costs a second solve. None: every move is accepted. If a frequency
        has several copies, one of them is tested and the others always move: no two frequencies stay equal.
    max_norm : float
        Frequencies stay below this norm. A copy that would move beyond is replaced by an old frequency.

    See Also
    --------
    Metropolis : The paper's sampler.
    ShapedWalk : The proposal that "resampling" uses by default.

    References
    ----------
    .. [1] arXiv:2410.06399
    .. [2] arXiv:2509.03151

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
        """The state at the first frequencies, with their amplitudes."""
        return State(0, frequencies, minimize(frequencies).amplitudes, self.proposal.init(frequencies))

    def step(self, rng: Draws, state: State, minimize: Minimize) -> tuple[State, Info]:
        """Resample if the effective sample size is low, move all frequencies, and solve."""
        omega, beta = state.frequencies, state.amplitudes
        xp, n = namespace(omega), omega.shape[0]
        size = norms(beta)
        chosen = xp.arange(n, device=omega.device)
        is_copy = chosen < 0
        if self.threshold >= 1 or effective_size(size) <= self.threshold * n:  # at 1 always, whatever the rounding
            chosen = systematic(rng, size, n)
            omega, beta, is_copy = _copies(omega, beta, chosen)
        proposed = self.proposal.propose(rng, state.proposal, omega)
        inside = norms(proposed) < min(self.max_norm, MOST_NORM)
        proposed = xp.where(inside[:, None], proposed, state.frequencies)
        is_copy = is_copy | xp.take(~inside, chosen, axis=0)  # the original stays in place: this is a second copy
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
        """The state with amplitudes solved for again, and their loss."""
        solution = minimize(state.frequencies)
        return state._replace(amplitudes=solution.amplitudes), solution.loss

    def sample(self, minimize: Minimize, state: State, rng: Draws, n_steps: int) -> Iterator[tuple[State, Info]]:
        """Yield (State, Info) after every step."""
        for _ in range(n_steps):
            state, info = self.step(rng, state, minimize)
            yield state, info


def effective_size(size: Array) -> float:
    """The effective sample size (Σ|βₖ|)² / Σ|βₖ|², between 1 and K."""
    xp = namespace(size)
    largest = float(xp.max(size))
    if not largest > 0:
        return float(size.shape[0])
    size = size / largest  # so that squares cannot overflow
    return float(xp.sum(size)) ** 2 / float(xp.sum(size * size))


def systematic(rng: Draws, size: Array, n: int) -> Array:
    """Systematic resampling: n indices in proportion to size, by one uniform number. k comes ⌊n pₖ⌋ or ⌈n pₖ⌉ times."""
    xp = namespace(size)
    even, total = xp.arange(n, device=size.device), xp.sum(size)
    points = like((rng.random() + xp.astype(even, xp.float64)) / n, size)
    chosen = xp.searchsorted(xp.cumulative_sum(size) / xp.where(total > 0, total, 1.0 + 0 * total), points)
    return xp.where(total > 0, xp.clip(chosen, 0, size.shape[0] - 1), even)


def _copies(omega: Array, beta: Array, chosen: Array) -> tuple[Array, Array, Array]:
    """The chosen frequencies, their amplitudes divided by the number of copies, and which are not the first copy."""
    xp = namespace(omega)
    first, after = xp.searchsorted(chosen, chosen), xp.searchsorted(chosen, chosen, side="right")
    shared = xp.take(beta, chosen, axis=0) / xp.astype(after - first, xp.float64)[:, None]
    is_copy = xp.arange(chosen.shape[0], device=chosen.device) > first
    return xp.take(omega, chosen, axis=0), shared, is_copy
