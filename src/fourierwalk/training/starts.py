"""The first frequencies: what the user has fixed, their distribution, and the ways to draw new ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace
from fourierwalk.sampling.proposals import Proposal
from fourierwalk.sampling.resampling import systematic
from fourierwalk.sampling.sampler import norms
from fourierwalk.training.selection import Candidate

MOST_DOUBLINGS = 14
"""The most doublings, or halvings, of a width that are tried."""


class Start(NamedTuple):
    """What the user has fixed about the first frequencies; None is left to the search."""

    n_frequencies: int | None
    dimension: int  # components of a frequency: the inputs, and a bias if the features have one
    n_inputs: int
    frequencies: Array | None = None  # the first frequencies themselves
    spread: float | None = None  # the standard deviation of their components
    regularization: float | None = None  # λ
    step: int = 0  # steps of earlier fits


class Shape(NamedTuple):
    """Two distributions of frequencies: ξ @ root with ξ standard normal, and the isotropic N(0, 1/width²)."""

    root: np.ndarray  # (r, d)
    width: float

    @classmethod
    def isotropic(cls, n_inputs: int, spread: float) -> Shape:
        """Only the isotropic distribution, of a given standard deviation."""
        return cls(np.zeros((0, n_inputs)), 1.0 / max(spread, 1e-300))

    @property
    def relevance(self) -> np.ndarray:
        """The variance of each component."""
        return np.einsum("ij,ij->j", self.root, self.root)


class Drawing(NamedTuple):
    """What new frequencies are drawn from."""

    shape: Shape
    frequencies: np.ndarray | None  # of the model that they are added to; None: there is no model yet
    amplitudes: np.ndarray | None  # of that model
    proposal: Proposal  # how the kind "walk" moves frequencies
    inputs_together: int  # the most inputs of a sparse frequency


def isotropic(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """Isotropic frequencies, N(0, 1/width²)."""
    return rng.standard_normal((n, draw.shape.root.shape[1])) / draw.shape.width


def shaped(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """Frequencies N(0, M/σ²), along the directions in which the targets change."""
    return rng.standard_normal((n, draw.shape.root.shape[0])) @ draw.shape.root


def long(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """Shaped frequencies, 0.5 to 4 times as long: a smooth kernel misses the high frequencies of a sharp target."""
    return 0.5 * _lengths(n, rng) * shaped(draw, n, rng)


def sparse(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """Frequencies of few inputs (by default up to three), picked by relevance: tables often have such a signal."""
    relevance = draw.shape.relevance
    d = relevance.size
    most = min(draw.inputs_together, d)
    drawn = rng.standard_normal((n, d)) * np.sqrt(relevance)
    n_inputs = rng.integers(1, most + 1, n)
    # Sampling without replacement in proportion to p: take the largest log(u)/p, with u uniform.
    keys = np.log(rng.random((n, d))) / np.maximum(relevance / max(float(np.sum(relevance)), 1e-300), 1e-300)
    order = np.argsort(-keys, axis=1)[:, :most]
    kept = np.zeros((n, d))
    chosen = np.take_along_axis(drawn, order, axis=1) * (np.arange(most)[None, :] < n_inputs[:, None])
    np.put_along_axis(kept, order, chosen, axis=1)
    return kept


def long_sparse(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """Sparse frequencies, 1 to 8 times as long: for jumps and fine detail along single inputs."""
    return _lengths(n, rng) * sparse(draw, n, rng)


def _lengths(n: int, rng: np.random.Generator) -> np.ndarray:
    """Factors from 1 to 8, log-uniform, (n, 1)."""
    return 8.0 ** rng.random((n, 1))


def walked(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray | None:
    """One step of the resampling walk: frequencies are copied in proportion to |βₖ|, and the copies move.

    None if there is no model yet, or if its amplitudes are zero.
    """
    if draw.frequencies is None or draw.amplitudes is None:
        return None
    size = np.linalg.norm(draw.amplitudes, axis=1)
    if not np.sum(size) > 0:
        return None
    state = draw.proposal.update(draw.proposal.init(draw.frequencies), draw.frequencies, draw.amplitudes, 1.0)
    return draw.proposal.propose(rng, state, draw.frequencies[systematic(rng, size, n)])


KINDS: dict[str, Callable[[Drawing, int, np.random.Generator], np.ndarray | None]] = {
    "shaped": shaped,
    "isotropic": isotropic,
    "sparse": sparse,
    "long": long,
    "long sparse": long_sparse,
    "walk": walked,
}
"""The ways to draw new frequencies, by name."""


def drawn(
    kinds: tuple[str, ...], draw: Drawing, n: int, extra: int, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """The name of each kind and n new frequencies; the `extra` components beyond the inputs (a bias) are N(0, 1)."""
    for kind in kinds:
        frequencies = KINDS[kind](draw, n, rng)
        if frequencies is None:
            continue
        if frequencies.shape[1] == draw.shape.root.shape[1] and extra:
            frequencies = np.concatenate((frequencies, rng.standard_normal((n, extra))), axis=1)
        yield kind, frequencies


def inside(frequencies: Array, max_norm: float) -> Array:
    """New frequencies; those of a norm beyond `max_norm` are shortened."""
    if math.isinf(max_norm):
        return frequencies
    xp, lengths = namespace(frequencies), norms(frequencies)
    factors = xp.where(lengths < max_norm, xp.ones_like(lengths), 0.99 * max_norm / lengths)
    return frequencies * factors[:, None]


def spread_by_trial(
    look: Callable[[Array], Candidate], start: Start, reference: Any, rng: np.random.Generator
) -> Candidate:
    """The candidate with the least error among frequencies (2ⁱ/√d) ξ, for one draw ξ of normal numbers and some i.

    The user's own frequencies, or frequencies of the user's spread, are taken as they are.
    """
    if start.frequencies is not None:
        return look(start.frequencies)
    normal = like(rng.standard_normal((start.n_frequencies, start.dimension)), reference)  # type: ignore[arg-type]
    if start.spread is not None:
        return look(start.spread * normal)
    unit = 1.0 / math.sqrt(start.dimension)
    tried = {power: look(unit * 2.0**power * normal) for power in (0, 1)}
    direction = 1 if tried[1].look.error < tried[0].look.error else -1
    power = max(0, direction)
    while abs(power) < MOST_DOUBLINGS:
        tried[power + direction] = look(unit * 2.0 ** (power + direction) * normal)
        if not tried[power + direction].look.error < tried[power].look.error:
            break
        power += direction
    return tried[power]
