"""Proposals: how frequencies move. A proposal is a frozen object; what it learns during a walk is its state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.complexes import transposed
from fourierwalk.arrays.draws import Draws
from fourierwalk.arrays.factorisation import factorised
from fourierwalk.arrays.library import Array, like, namespace, scalar


class Proposal(Protocol):
    """The methods that a sampler needs of a proposal."""

    def init(self, frequencies: Array) -> Any:
        """The state before the first step."""

    def propose(self, rng: Draws, state: Any, frequencies: Array) -> Array:
        """ω' from ω, (K, d)."""

    def update(self, state: Any, frequencies: Array, amplitudes: Array, acceptance: Any) -> Any:
        """The state after a step that ended at these frequencies and amplitudes and accepted this share."""

    def length(self, state: Any) -> Any:
        """The step length δ of the next proposal."""


@dataclass(frozen=True)
class RandomWalk:
    """ω' = ω + δ r, r standard normal (Algorithm 1).

    Parameters
    ----------
    step_size : float
        δ.

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

    def propose(self, rng: Draws, state: None, frequencies: Array) -> Array:
        """ω + δ r."""
        return frequencies + self.step_size * _normal(rng, frequencies)

    def update(self, state: None, frequencies: Array, amplitudes: Array, acceptance: Any) -> None:
        """Nothing is learnt."""

    def length(self, state: None) -> float:
        """δ."""
        return self.step_size


class Covariance(NamedTuple):
    """The state of Algorithm 2: sums over all past frequencies, and the root of the covariance in use."""

    n_steps: int  # i
    total: Array  # S_ω
    products: Array  # S_C
    root: Array  # L with L Lᵀ = C̄


@dataclass(frozen=True)
class AdaptiveWalk:
    """ω' = ω + δ r, r ~ N(0, C̄), with C̄ the covariance of all past frequencies after t₀ steps (Algorithm 2).

    Parameters
    ----------
    step_size : float
        δ.
    adapt_after : int
        t₀. Up to this step C̄ is the identity.
    """

    step_size: float
    adapt_after: int

    def init(self, frequencies: Array) -> Covariance:
        """S_ω = 0, S_C = 0, C̄ = I."""
        xp, d = namespace(frequencies), frequencies.shape[-1]
        zero = xp.zeros_like(frequencies[..., 0, :])
        identity = zero[..., None] + like(np.eye(d), frequencies)
        return Covariance(0, zero, 0 * identity, identity)

    def propose(self, rng: Draws, state: Covariance, frequencies: Array) -> Array:
        """ω + δ L r."""
        return frequencies + self.step_size * (_normal(rng, frequencies) @ transposed(state.root))

    def update(self, state: Covariance, frequencies: Array, amplitudes: Array, acceptance: Any) -> Covariance:
        """Add the frequencies to the sums; after t₀ steps C̄ becomes their covariance."""
        xp = namespace(frequencies)
        i = state.n_steps + 1
        total = state.total + xp.sum(frequencies, axis=-2)
        products = state.products + transposed(frequencies) @ frequencies
        if i <= self.adapt_after:
            return Covariance(i, total, products, state.root)
        count = i * frequencies.shape[-2]
        mean = total / count
        spread = products / count - mean[..., :, None] * mean[..., None, :]
        return Covariance(i, total, products, covariance_root(spread))

    def length(self, state: Covariance) -> float:
        """δ."""
        return self.step_size


class Pace(NamedTuple):
    """The state of a walk whose steps are another walk's times a factor."""

    n_steps: int
    factor: Any  # c
    inner: Any  # the state of the other walk


@dataclass(frozen=True)
class _Paced:
    """Another walk with its steps times a factor c."""

    walk: Proposal

    def init(self, frequencies: Array) -> Pace:
        """c = 1 at the start."""
        return Pace(0, 1.0, self.walk.init(frequencies))

    def propose(self, rng: Draws, state: Pace, frequencies: Array) -> Array:
        """ω + c (inner proposal − ω)."""
        return frequencies + state.factor * (self.walk.propose(rng, state.inner, frequencies) - frequencies)

    def length(self, state: Pace) -> Any:
        """c δ."""
        return state.factor * self.walk.length(state.inner)


@dataclass(frozen=True)
class TargetedWalk(_Paced):
    """Another walk with its steps scaled to an acceptance target: log c ← log c + i^(−1/2) (acceptance − target).

    Parameters
    ----------
    walk : Proposal
        The inner walk.
    target : float
        The share of moves that should be accepted.
    most : float
        c stays within [1/most, most]. If the acceptance does not depend on the step length, no c meets the target;
        without a bound c then grew until frequencies had a norm of 1e5.
    """

    target: float
    most: float = 10.0

    def update(self, state: Pace, frequencies: Array, amplitudes: Array, acceptance: Any) -> Pace:
        """Steps grow if the acceptance is above the target, and shrink if it is below."""
        i = state.n_steps + 1
        change = (acceptance - self.target) / math.sqrt(i)
        factor = state.factor * (math.exp(change) if isinstance(change, float) else namespace(change).exp(change))
        return Pace(i, self._bounded(factor), self.walk.update(state.inner, frequencies, amplitudes, acceptance))

    def _bounded(self, factor: Any) -> Any:
        if isinstance(factor, float):
            return min(max(factor, 1 / self.most), self.most)
        return namespace(factor).clip(factor, 1 / self.most, self.most)


@dataclass(frozen=True)
class ShapedWalk:
    """ω' = ω + δ r, r ~ N(0, C), with C the second moment of the current frequencies, weighted by ``|βₖ|^power``.

    For a real function ω and −ω are the same frequency, so the mean is taken to be zero. The state is a factor F with
    FᵀF = C, of shape (r, d) with r = min(K, d); no matrix is larger than the frequencies. With fewer frequencies than
    inputs, every move is a linear combination of the current frequencies.

    Parameters
    ----------
    step_size : float
        δ, relative to the spread of the frequencies.
    power : float
        0: no weights. 1: weighted by amplitudes. 2: in proportion to the average gradient outer product, which is
        Σ|βₖ|² ωₖωₖᵀ if no two frequencies are close.
    """

    step_size: float
    power: float = 1.0

    def init(self, frequencies: Array) -> Array:
        """The factor of the plain second moment."""
        return self._factor(frequencies, 1.0)

    def propose(self, rng: Draws, state: Array, frequencies: Array) -> Array:
        """ω + δ ξ F, ξ standard normal. The number of frequencies may differ from that in the last `update`."""
        normal = like(rng.standard_normal((frequencies.shape[0], state.shape[0])), frequencies)
        return frequencies + self.step_size * (normal @ state)

    def update(self, state: Array, frequencies: Array, amplitudes: Array, acceptance: Any) -> Array:
        """The factor of the weighted second moment."""
        norm = namespace(amplitudes).linalg.vector_norm(amplitudes, axis=1)
        return self._factor(frequencies, norm[:, None] ** self.power)

    def length(self, state: Array) -> Any:
        """δ times the root mean square of a component of r."""
        xp = namespace(state)
        return scalar(self.step_size * xp.sqrt(xp.sum(state * state) / state.shape[1]))

    def _factor(self, frequencies: Array, weight: Any) -> Array:
        xp, (n, d) = namespace(frequencies), frequencies.shape
        weight = weight * xp.ones_like(frequencies[:, :1])
        weight = xp.where(xp.sum(weight) > 0, weight, xp.ones_like(weight))
        share = weight / xp.sum(weight)
        return xp.sqrt(share) * frequencies if d > n else covariance_root((share * frequencies).T @ frequencies).T


@dataclass(frozen=True)
class ScaledWalk:
    """Another walk, with the step of each frequency times exp(s z), z standard normal: short and long steps together.

    Parameters
    ----------
    walk : Proposal
        The inner walk.
    spread : float
        s.
    """

    walk: Proposal
    spread: float = 1.0

    def init(self, frequencies: Array) -> Any:
        """The state of the inner walk."""
        return self.walk.init(frequencies)

    def propose(self, rng: Draws, state: Any, frequencies: Array) -> Array:
        """ω + exp(s z) (inner proposal − ω)."""
        powers = like(self.spread * rng.standard_normal((frequencies.shape[0], 1)), frequencies)
        return frequencies + namespace(powers).exp(powers) * (self.walk.propose(rng, state, frequencies) - frequencies)

    def update(self, state: Any, frequencies: Array, amplitudes: Array, acceptance: Any) -> Any:
        """The next state of the inner walk."""
        return self.walk.update(state, frequencies, amplitudes, acceptance)

    def length(self, state: Any) -> Any:
        """The length of the inner walk, times the mean factor exp(s²/2)."""
        return math.exp(self.spread**2 / 2) * self.walk.length(state)


@dataclass(frozen=True)
class AnnealedWalk(_Paced):
    """Another walk whose steps shrink geometrically.

    Parameters
    ----------
    walk : Proposal
        The inner walk.
    last : float
        The length of the last step, relative to the inner walk's.
    n_steps : int
        The number of steps until then.
    """

    last: float
    n_steps: int

    def update(self, state: Pace, frequencies: Array, amplitudes: Array, acceptance: Any) -> Pace:
        """Shrink the steps until `n_steps` steps are done."""
        i = state.n_steps + 1
        factor = self.last ** min(i / max(1, self.n_steps - 1), 1.0)
        return Pace(i, factor, self.walk.update(state.inner, frequencies, amplitudes, acceptance))


def covariance_root(covariance: Array) -> Array:
    """The lower triangular L with L Lᵀ = C + ε, where ε is a tiny share of the mean variance.

    C̄ of Algorithm 2 can be singular, hence ε. Only the diagonal of C is used if rounding has made C indefinite, as
    with a mean far larger than the spread.
    """
    xp, d = namespace(covariance), covariance.shape[-1]
    identity = xp.eye(d, dtype=covariance.dtype, device=compat.device(covariance))
    least = 1e-10 * xp.clip(xp.linalg.trace(covariance)[..., None, None] / d, 1e-12, None)
    factor, is_root = factorised(covariance + least * identity, margin=0.0)
    spreads = xp.sqrt(xp.clip(xp.linalg.diagonal(covariance)[..., None], 0.0, None) + least)
    return xp.where(like(is_root, covariance)[..., None, None], xp.tril(factor), spreads * identity)


def _normal(rng: Draws, frequencies: Array) -> Array:
    """Normal numbers in the frequencies' library. A NumPy generator gives the same walk in every library."""
    return like(rng.standard_normal(tuple(frequencies.shape)), frequencies)
