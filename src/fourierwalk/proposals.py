"""How a frequency moves. A proposal is a frozen object; what it has learnt on the way is its state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from fourierwalk._arrays import Array, like, namespace


class Proposal(Protocol):
    """What a walk asks of its proposal."""

    def init(self, frequencies: Array) -> Any:
        """The state before the first step."""

    def propose(self, rng: np.random.Generator, state: Any, frequencies: Array) -> Array:
        """ω' from ω, (K, d)."""

    def update(self, state: Any, frequencies: Array, amplitudes: Array, acceptance: float) -> Any:
        """The state after a step that ended at these frequencies and amplitudes and accepted this share."""

    def length(self, state: Any) -> float:
        """The step length δ of the next proposal."""


@dataclass(frozen=True)
class RandomWalk:
    """ω' = ω + δ r, r standard normal (Algorithm 1).

    Examples
    --------
    >>> import numpy as np
    >>> walk, start = RandomWalk(0.5), np.zeros((3, 2))
    >>> walk.propose(np.random.default_rng(0), walk.init(start), start).round(2)
    array([[ 0.06, -0.07],
           [ 0.32,  0.05],
           [-0.27,  0.18]])
    """

    step_size: float

    def init(self, frequencies: Array) -> None:
        """Nothing is learnt."""

    def propose(self, rng: np.random.Generator, state: None, frequencies: Array) -> Array:
        """ω + δ r."""
        return frequencies + self.step_size * _normal(rng, frequencies)

    def update(self, state: None, frequencies: Array, amplitudes: Array, acceptance: float) -> None:
        """Nothing is learnt."""

    def length(self, state: None) -> float:
        """δ."""
        return self.step_size


class Covariance(NamedTuple):
    """The sums over all past frequencies that Algorithm 2 keeps, and the root of the covariance in use."""

    n_steps: int  # i
    total: Array  # S_ω
    products: Array  # S_C
    root: Array  # L with L Lᵀ = C̄


@dataclass(frozen=True)
class AdaptiveWalk:
    """ω' = ω + δ r, r ~ N(0, C̄), with C̄ the covariance of all past frequencies after t₀ steps (Algorithm 2)."""

    step_size: float
    adapt_after: int

    def init(self, frequencies: Array) -> Covariance:
        """S_ω = 0, S_C = 0, C̄ = I."""
        xp, d = namespace(frequencies), frequencies.shape[1]
        zero, identity = xp.zeros_like(frequencies[0, :]), like(np.eye(d), frequencies)
        return Covariance(0, zero, 0 * identity, identity)

    def propose(self, rng: np.random.Generator, state: Covariance, frequencies: Array) -> Array:
        """ω + δ L r."""
        return frequencies + self.step_size * (_normal(rng, frequencies) @ state.root.T)

    def update(self, state: Covariance, frequencies: Array, amplitudes: Array, acceptance: float) -> Covariance:
        """Add the frequencies to the sums; past t₀ their covariance is the one in use."""
        xp = namespace(frequencies)
        i = state.n_steps + 1
        total, products = state.total + xp.sum(frequencies, axis=0), state.products + frequencies.T @ frequencies
        if i <= self.adapt_after:
            return Covariance(i, total, products, state.root)
        count = i * frequencies.shape[0]
        mean = total / count
        return Covariance(i, total, products, covariance_root(products / count - mean[:, None] * mean[None, :]))

    def length(self, state: Covariance) -> float:
        """δ."""
        return self.step_size


class Pace(NamedTuple):
    """How far a steered walk has got: steps seen, the factor on its inner walk's steps, the inner walk's state."""

    n_steps: int
    factor: float
    inner: Any


@dataclass(frozen=True)
class _Paced:
    """Another walk with its steps times a factor c."""

    walk: Proposal

    def init(self, frequencies: Array) -> Pace:
        """The inner walk as it is."""
        return Pace(0, 1.0, self.walk.init(frequencies))

    def propose(self, rng: np.random.Generator, state: Pace, frequencies: Array) -> Array:
        """ω + c (inner proposal − ω)."""
        return frequencies + state.factor * (self.walk.propose(rng, state.inner, frequencies) - frequencies)

    def length(self, state: Pace) -> float:
        """c δ."""
        return state.factor * self.walk.length(state.inner)


@dataclass(frozen=True)
class TargetedWalk(_Paced):
    """Another walk with its steps scaled to an acceptance target: log c ← log c + i^(−1/2) (acceptance − target)."""

    target: float

    def update(self, state: Pace, frequencies: Array, amplitudes: Array, acceptance: float) -> Pace:
        """Longer steps where more than the target is accepted, shorter ones where less is."""
        i = state.n_steps + 1
        factor = state.factor * math.exp((acceptance - self.target) / math.sqrt(i))
        return Pace(i, factor, self.walk.update(state.inner, frequencies, amplitudes, acceptance))


@dataclass(frozen=True)
class ShapedWalk:
    """ω' = ω + δ r, r ~ N(0, C), with C the second moment of the current frequencies, weighted by ``|βₖ|^power``.

    ω and −ω are one frequency of a real function, so C is taken about zero.

    Parameters
    ----------
    step_size : float
        δ, relative to the frequencies' own spread.
    power : float
        0: the current covariance. 1: weighted by amplitudes. 2: the shape of the average gradient outer product, which
        is Σ|βₖ|² ωₖωₖᵀ where frequencies are apart.
    """

    step_size: float
    power: float = 1.0

    def init(self, frequencies: Array) -> Array:
        """The root of the plain second moment."""
        return self._root(frequencies, 1.0)

    def propose(self, rng: np.random.Generator, state: Array, frequencies: Array) -> Array:
        """ω + δ L r."""
        return frequencies + self.step_size * (_normal(rng, frequencies) @ state.T)

    def update(self, state: Array, frequencies: Array, amplitudes: Array, acceptance: float) -> Array:
        """The root of the weighted second moment."""
        norm = namespace(amplitudes).linalg.vector_norm(amplitudes, axis=1)
        return self._root(frequencies, norm[:, None] ** self.power)

    def length(self, state: Array) -> float:
        """δ times the root mean square of a component of r."""
        xp = namespace(state)
        return self.step_size * math.sqrt(float(xp.sum(state * state)) / state.shape[0])

    def _root(self, frequencies: Array, weight: Any) -> Array:
        xp = namespace(frequencies)
        weight = weight * xp.ones_like(frequencies[:, :1])
        total = float(xp.sum(weight))
        weight = weight / total if total > 0 else xp.ones_like(weight) / weight.shape[0]
        return covariance_root((weight * frequencies).T @ frequencies)


@dataclass(frozen=True)
class ScaledWalk:
    """Another walk with each frequency's step times exp(s z), z standard normal: short and long steps side by side."""

    walk: Proposal
    spread: float = 1.0

    def init(self, frequencies: Array) -> Any:
        """The inner walk's."""
        return self.walk.init(frequencies)

    def propose(self, rng: np.random.Generator, state: Any, frequencies: Array) -> Array:
        """ω + exp(s z) (inner proposal − ω)."""
        factor = like(np.exp(self.spread * rng.standard_normal((frequencies.shape[0], 1))), frequencies)
        return frequencies + factor * (self.walk.propose(rng, state, frequencies) - frequencies)

    def update(self, state: Any, frequencies: Array, amplitudes: Array, acceptance: float) -> Any:
        """The inner walk's."""
        return self.walk.update(state, frequencies, amplitudes, acceptance)

    def length(self, state: Any) -> float:
        """The inner walk's, times the mean factor exp(s²/2)."""
        return math.exp(self.spread**2 / 2) * self.walk.length(state)


@dataclass(frozen=True)
class AnnealedWalk(_Paced):
    """Another walk whose steps shrink geometrically, to the share `last` of them after `n_steps` steps."""

    last: float
    n_steps: int

    def update(self, state: Pace, frequencies: Array, amplitudes: Array, acceptance: float) -> Pace:
        """Shorter steps, until `n_steps` are done."""
        i = state.n_steps + 1
        factor = self.last ** min(i / max(1, self.n_steps - 1), 1.0)
        return Pace(i, factor, self.walk.update(state.inner, frequencies, amplitudes, acceptance))


def covariance_root(covariance: Array) -> Array:
    """The lower L with L Lᵀ = C + ε, ε a tiny share of its mean variance, because C̄ of Algorithm 2 can be singular.

    Where rounding has left C no covariance at all (its mean far larger than its spread), its diagonal alone is used.
    """
    xp, d = namespace(covariance), covariance.shape[0]
    spread = max(float(xp.linalg.trace(covariance)) / d, 1e-12)
    try:
        return xp.linalg.cholesky(covariance + like(1e-10 * spread * np.eye(d), covariance))
    except (np.linalg.LinAlgError, RuntimeError):  # torch's is a RuntimeError
        variances = xp.clip(xp.linalg.diagonal(covariance), 1e-10 * spread, None)
        return xp.sqrt(variances)[:, None] * like(np.eye(d), covariance)


def _normal(rng: np.random.Generator, frequencies: Array) -> Array:
    """Drawn on the host, so that one seed walks one walk on every back end."""
    return like(rng.standard_normal(tuple(frequencies.shape)), frequencies)
