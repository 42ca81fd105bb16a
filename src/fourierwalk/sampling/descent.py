"""Descent on the projected loss: min over β of N⁻¹|Sβ − y|² + λ|β|² as a function of ω.

At the minimiser the derivative in β is zero, so the gradient in ω is the one at fixed amplitudes (variable projection).
The method is limited-memory BFGS. Its first approximation of the Hessian is diagonal: the curvature in ωₖ is about
``|βₖ|²`` for inputs of unit variance. This makes steps independent of the scale of the amplitudes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from fourierwalk.arrays.library import Array, is_remote, like, namespace, to_host
from fourierwalk.sampling.sampler import Info, State, norms


class Differentiable(Protocol):
    """What descent needs: the minimiser, and the gradient of the loss. `LeastSquares` has both."""

    def __call__(self, frequencies: Array) -> Any:
        """The minimiser: amplitudes, loss, info."""

    def gradient(self, frequencies: Array, amplitudes: Array) -> Array:
        """∂/∂ωₖ of the loss, (K, d), at the amplitudes of these frequencies."""


class Curvature(NamedTuple):
    """The state of limited-memory BFGS."""

    loss: float
    gradient: Array
    moves: tuple[Array, ...] = ()  # the last changes of ω
    changes: tuple[Array, ...] = ()  # the changes of the gradient by these moves
    stuck: bool = False  # whether no direction lowers the loss any more


@dataclass(frozen=True)
class Descent:
    """Limited-memory BFGS on the projected loss, with backtracking: the loss never rises.

    Parameters
    ----------
    memory : int
        The number of past moves that approximate the Hessian.
    first_step : float
        The root mean square of the first move, relative to that of the frequencies.
    longest_step : float
        The largest root mean square of a move, relative to that of the frequencies.
    damping : float
        This share of the mean ``|β|²`` is added to each ``|βₖ|²``, so that frequencies of small amplitude do not move
        too far.
    max_norm : float
        Frequencies stay below this norm.
    most_bytes : float
        The memory for past moves: 16 K d bytes for each. If `memory` moves need more, fewer are kept, but at least two.

    See Also
    --------
    Metropolis : The paper's sampler.

    Notes
    -----
    The projected loss is L(ω) = min over β of N⁻¹|Sβ − y|² + λ|β|². With the minimiser β(ω), its gradient ∇L(ω) is
    ∂/∂ω of N⁻¹|Sβ − y|² at fixed β = β(ω).

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data.features import CosineSine
    >>> from fourierwalk.solving.least_squares import LeastSquares
    >>> from fourierwalk.data.rows import Rows
    >>> x = np.random.default_rng(0).normal(size=(300, 1))
    >>> minimize = LeastSquares(Rows(x, np.sin(3 * x)), CosineSine(), regularization=1e-4)
    >>> descent, rng = Descent(), np.random.default_rng(1)
    >>> start = 2.0 + 0.2 * rng.normal(size=(4, 1))
    >>> for state, info in descent.sample(minimize, descent.init(minimize, start), rng, n_steps=30):
    ...     pass
    >>> bool(info.loss < 0.01 * minimize(start).loss)
    True
    """

    memory: int = 20
    first_step: float = 0.03
    longest_step: float = 0.3
    damping: float = 1.0
    max_norm: float = math.inf
    most_bytes: float = 2e8

    def init(self, minimize: Differentiable, frequencies: Array) -> State:
        """The state at the first frequencies: amplitudes, loss and gradient."""
        solution = minimize(frequencies)
        gradient = minimize.gradient(frequencies, solution.amplitudes)
        return State(0, frequencies, solution.amplitudes, Curvature(float(solution.loss), gradient))

    def step(self, rng: np.random.Generator | None, state: State, minimize: Differentiable) -> tuple[State, Info]:
        """One step with a lower loss.

        If no trial lowers the loss, the past moves are dropped and the frequencies stay. If there were none to drop,
        descent is stuck.
        """
        omega, at = state.frequencies, state.proposal
        direction = self._direction(omega, state.amplitudes, at)
        for trial in range(MOST_TRIALS):
            proposed = self._inside(omega, omega + SHORTENING**trial * direction)
            solution = minimize(proposed)
            move = proposed - omega
            loss, slope, square = _floats(solution.loss, _dot(move, at.gradient), _dot(move, move))
            if slope < 0 and loss <= at.loss + LEAST_DECREASE * slope:
                gradient = minimize.gradient(proposed, solution.amplitudes)
                learnt = self._learnt(at, move, loss, gradient)
                length = math.sqrt(square / (omega.shape[0] * omega.shape[1]))
                info = Info(state.step + 1, 1.0, length, loss, solution.info, "descent")
                return State(state.step + 1, proposed, solution.amplitudes, learnt), info
        forgotten = Curvature(at.loss, at.gradient, stuck=not at.moves)
        info = Info(state.step + 1, 0.0, 0.0, at.loss, solution.info, "descent")
        return State(state.step + 1, omega, state.amplitudes, forgotten), info

    def refit(self, state: State, minimize: Differentiable) -> tuple[State, float]:
        """Amplitudes, loss and gradient for a problem that may have another λ; the past moves are kept."""
        fresh = self.init(minimize, state.frequencies)
        learnt = state.proposal._replace(loss=fresh.proposal.loss, gradient=fresh.proposal.gradient, stuck=False)
        return state._replace(amplitudes=fresh.amplitudes, proposal=learnt), fresh.proposal.loss

    def sample(
        self, minimize: Differentiable, state: State, rng: np.random.Generator | None, n_steps: int
    ) -> Iterator[tuple[State, Info]]:
        """Yield (State, Info) after every step, at most `n_steps` times; end earlier if descent is stuck."""
        for _ in range(n_steps):
            if state.proposal.stuck:
                return
            state, info = self.step(rng, state, minimize)
            yield state, info

    def _direction(self, omega: Array, beta: Array, at: Curvature) -> Array:
        """The direction −H g, with H from the two-loop recursion that starts at the diagonal 1/(|βₖ|² + damping)."""
        xp = namespace(omega)
        squares = norms(beta)[:, None] ** 2
        diagonal = 1.0 / (squares + self.damping * xp.mean(squares) + TINY)
        turn = diagonal * at.gradient
        if at.moves:
            moves, changes = xp.stack(at.moves), xp.stack(at.changes)
            scaled = diagonal * changes
            right = xp.concat((changes, scaled, at.gradient[None, ...], turn[None, ...]))
            factor, shares, shifts = two_loops(to_host(_flat(xp.concat((moves, changes))) @ _flat(right).T))
            shares, shifts = (like(part[:, None, None], omega) for part in (factor * shares, shifts))
            turn = factor * turn - xp.sum(shares * scaled, axis=0) + xp.sum(shifts * moves, axis=0)
        size, length = (math.sqrt(square) for square in _floats(_dot(omega, omega), _dot(turn, turn)))
        most = (self.longest_step if at.moves else self.first_step) * size
        if not at.moves or length > most:
            turn = turn * (most / length) if length > 0 and math.isfinite(length) else 0 * omega
        return -turn

    def _inside(self, omega: Array, proposed: Array) -> Array:
        if self.max_norm == math.inf:
            return proposed
        xp = namespace(omega)
        return xp.where(xp.linalg.vector_norm(proposed, axis=1)[:, None] < self.max_norm, proposed, omega)

    def _learnt(self, at: Curvature, move: Array, loss: float, gradient: Array) -> Curvature:
        """The next BFGS state; the pair of move and change is added if the curvature along the move is positive."""
        change = gradient - at.gradient
        curvature, *squares = _floats(_dot(move, change), _dot(move, move), _dot(change, change))
        if curvature <= 1e-10 * math.sqrt(squares[0] * squares[1]):
            return at._replace(loss=loss, gradient=gradient)
        n_pairs = self._n_pairs(move)
        return Curvature(loss, gradient, (*at.moves, move)[-n_pairs:], (*at.changes, change)[-n_pairs:])

    def _n_pairs(self, move: Array) -> int:
        """The number of pairs of moves and changes that are kept."""
        return int(min(self.memory, max(2, self.most_bytes / (2 * 8 * math.prod(move.shape)))))


def two_loops(products: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The two-loop recursion of limited-memory BFGS: f, a and b of H g = f (D g − Σ aᵢ D cᵢ) + Σ bᵢ mᵢ.

    `products` holds the scalar products of n moves m and n changes c (rows) with c, D c, g and D g (columns). The
    recursion needs no other vectors, so a device is read once.
    """
    n = products.shape[0] // 2
    moves, changes = products[:n], products[n:]
    by_change, by_gradient = moves[:, :n], moves[:, 2 * n]
    curvature = np.diagonal(by_change)
    factor = float(curvature[-1] / changes[-1, 2 * n - 1])
    shares, shifts = np.zeros(n), np.zeros(n)
    for i in reversed(range(n)):
        shares[i] = (by_gradient[i] - by_change[i] @ shares) / curvature[i]
    for i in range(n):
        on_turn = factor * (changes[i, 2 * n + 1] - changes[i, n : 2 * n] @ shares) + by_change[:, i] @ shifts
        shifts[i] = shares[i] - on_turn / curvature[i]
    return factor, shares, shifts


MOST_TRIALS = 8
"""The most lengths of a move that are tried in backtracking."""

SHORTENING = 0.3
"""The length of each trial, relative to the one before."""

LEAST_DECREASE = 1e-4
"""A move is accepted if the loss falls by this share of what the slope predicts (Armijo's condition)."""

TINY = 1e-300
"""Avoids a division by zero if all amplitudes are zero."""


def _dot(a: Array, b: Array) -> Array:
    return namespace(a).sum(a * b)


def _flat(arrays: Array) -> Array:
    return namespace(arrays).reshape(arrays, (arrays.shape[0], -1))


def _floats(*values: Any) -> list[float]:
    """The values as floats; those on a device are read from it together."""
    remote = [value for value in values if is_remote(value)]
    read = iter(to_host(namespace(*remote).stack(remote)).tolist() if remote else ())
    return [next(read) if is_remote(value) else float(value) for value in values]
