"""Adaptive random Fourier features with Metropolis sampling: Algorithms 1 and 2 of Kammonen et al. (2020).

The algorithm never sees the data. It sees ``minimize(frequencies)``, which solves problem (28) of the paper for the
amplitudes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from fourierwalk.arrays.draws import Draws
from fourierwalk.arrays.library import Array, like, namespace, scalar
from fourierwalk.sampling.proposals import Proposal

Minimize = Callable[[Array], Any]

MOST_NORM = 1e100
"""Frequencies of this norm or more are rejected: sums of their squares would overflow."""


class State(NamedTuple):
    """The state of a walk: all that the next step needs."""

    step: int  # i
    frequencies: Array  # ω, (K, d)
    amplitudes: Array  # β̂, (K, q)
    proposal: Any  # what the proposal has learnt


class Info(NamedTuple):
    """The report of one step.

    On a GPU the numbers are arrays on the device, until `ahead.gathered` copies those of many steps together.
    """

    step: int
    acceptance: Any  # share of the frequencies that moved
    step_size: Any  # δ of the proposal
    loss: Any  # of the proposed frequencies, or of the refitted ones where the step ended with a refit
    solve: Any = None  # the `SolveInfo` of the proposed frequencies
    phase: str = "walk"  # the kind of step: "walk", "resampling" or "descent"


@dataclass(frozen=True)
class Metropolis:
    """The walk of Algorithm 1, and of Algorithm 2 with an `AdaptiveWalk` and a `max_norm`.

    Parameters
    ----------
    proposal : Proposal
        How frequencies move: ``RandomWalk(δ)`` for Algorithm 1, ``AdaptiveWalk(δ, t0)`` for Algorithm 2.
    exponent : float
        γ of the Metropolis test ``(|β'ₖ|/|βₖ|)^γ > r``.
    refit_every : int
        m: after every m-th step the amplitudes are solved for again.
    max_norm : float
        ω_max: frequencies of this norm or more are rejected.

    See Also
    --------
    Resampling : Copies frequencies of large amplitude instead of testing each move.
    Descent : Moves frequencies along the gradient.

    Notes
    -----
    In each step ω' = ω + δr is proposed, and the amplitudes β̂' of ω' are solved for: problem (28) of [1]_. Frequency k
    moves to ω'ₖ, with amplitude β̂'ₖ, if ``(|β̂'ₖ|/|β̂ₖ|)^γ > r`` for a uniform r. Every m-th step ends with new
    amplitudes of the frequencies that were reached. ALGORITHM.md lists each line of the paper beside the code.

    References
    ----------
    .. [1] Kammonen, Kiessling, Plecháč, Sandberg, Szepessy: *Adaptive random Fourier features with Metropolis
       sampling* (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data.features import ComplexExponentials
    >>> from fourierwalk.solving.least_squares import LeastSquares
    >>> from fourierwalk.sampling.proposals import RandomWalk
    >>> from fourierwalk.data.rows import Rows
    >>> x = np.random.default_rng(0).normal(size=(300, 1))
    >>> minimize = LeastSquares(Rows(x, np.sin(5 * x)), ComplexExponentials(), regularization=0.01)
    >>> walk, rng = Metropolis(RandomWalk(1.0), exponent=3.0, refit_every=10), np.random.default_rng(1)
    >>> state = walk.init(minimize, np.zeros((32, 1)))
    >>> for state, info in walk.sample(minimize, state, rng, n_steps=200):
    ...     pass
    >>> bool(minimize(state.frequencies).loss < 0.2 * minimize(np.zeros((32, 1))).loss)
    True
    """

    proposal: Proposal
    exponent: float
    refit_every: int = 10
    max_norm: float = math.inf

    def init(self, minimize: Minimize, frequencies: Array) -> State:
        """β̂ ← minimiser given ω (the paper starts at ω = 0)."""
        return State(0, frequencies, minimize(frequencies).amplitudes, self.proposal.init(frequencies))

    def step(self, rng: Draws, state: State, minimize: Minimize) -> tuple[State, Info]:
        """One pass of the outer loop. The loop over k is done by array operations."""
        i, omega, beta = state.step + 1, state.frequencies, state.amplitudes
        xp = namespace(omega)
        proposed = self.proposal.propose(rng, state.proposal, omega)  # ω' ← ω + δ r_N
        solution = minimize(proposed)  # β̂' ← minimiser given ω'
        # |β̂'ₖ|^γ / |β̂ₖ|^γ > r_U, with no power, division or logarithm that could overflow (γ is 2,350 on MNIST).
        threshold = like(rng.random(tuple(omega.shape[:-1])) ** (1.0 / self.exponent), omega)
        accept = norms(solution.amplitudes) > threshold * norms(beta)
        accept = accept & (norms(proposed) < min(self.max_norm, MOST_NORM))  # ω_max
        omega = xp.where(accept[..., None], proposed, omega)  # ωₖ ← ω'ₖ
        beta = xp.where(accept[..., None], solution.amplitudes, beta)  # β̂ₖ ← β̂'ₖ
        acceptance = scalar(xp.mean(xp.astype(accept, xp.float64), axis=-1))
        info = Info(i, acceptance, self.proposal.length(state.proposal), solution.loss, solution.info)
        state = State(i, omega, beta, self.proposal.update(state.proposal, omega, beta, acceptance))
        if i % self.refit_every:
            return state, info
        state, loss = self.refit(state, minimize)  # i mod m = 0
        return state, info._replace(loss=loss)

    def refit(self, state: State, minimize: Minimize) -> tuple[State, Any]:
        """β̂ ← minimiser with adaptive ω; also the last line of the algorithm."""
        solution = minimize(state.frequencies)
        return state._replace(amplitudes=solution.amplitudes), solution.loss

    def sample(
        self,
        minimize: Minimize,
        state: State,
        rng: Draws,
        n_steps: int | None = None,
        sampling_time: float | None = None,
    ) -> Iterator[tuple[State, Info]]:
        """Yield (State, Info) after every step, for M = `n_steps` steps, or for ⌊T/δ²⌋ with the sampling time T."""
        if n_steps is None:
            if sampling_time is None:
                raise ValueError("sample needs n_steps or sampling_time, got neither.")
            n_steps = int(sampling_time / self.proposal.length(state.proposal) ** 2)
        for _ in range(n_steps):
            state, info = self.step(rng, state, minimize)
            yield state, info


def norms(amplitudes: Array) -> Array:
    """|β̂ₖ|; with several outputs the Euclidean norm over them (Case 4)."""
    return namespace(amplitudes).linalg.vector_norm(amplitudes, axis=-1)
