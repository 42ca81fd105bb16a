"""Where frequencies start: their shape, and the ways to draw new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from fourierwalk.sampling.proposals import Proposal

MOST_DOUBLINGS = 14
"""Doublings and halvings of a width that are tried, at most."""


class Shape(NamedTuple):
    """How frequencies are spread: ξ @ root with ξ standard normal; or in all directions alike, N(0, 1/width²)."""

    root: np.ndarray  # (r, d)
    width: float

    @classmethod
    def isotropic(cls, n_inputs: int, spread: float) -> Shape:
        """In all directions alike, and no other."""
        return cls(np.zeros((0, n_inputs)), 1.0 / max(spread, 1e-300))

    @property
    def relevance(self) -> np.ndarray:
        """The variance of each component."""
        return np.einsum("ij,ij->j", self.root, self.root)


class Drawing(NamedTuple):
    """What new frequencies are drawn by: a shape, and the model that they are added to, if there is one."""

    shape: Shape
    frequencies: np.ndarray | None
    amplitudes: np.ndarray | None
    proposal: Proposal
    inputs_together: int


def isotropic(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """N(0, 1/width²): in all directions alike."""
    return rng.standard_normal((n, draw.shape.root.shape[1])) / draw.shape.width


def shaped(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """N(0, M/σ²): along the directions in which the targets change."""
    return rng.standard_normal((n, draw.shape.root.shape[0])) @ draw.shape.root


def long(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """Shaped ones of half to four times their length: what a smooth kernel leaves out of a sharp target."""
    return 0.5 * _lengths(n, rng) * shaped(draw, n, rng)


def sparse(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """Frequencies of one, two or three inputs, picked by their relevance: where tables have their signal."""
    relevance = draw.shape.relevance
    d = relevance.size
    most = min(draw.inputs_together, d)
    drawn = rng.standard_normal((n, d)) * np.sqrt(relevance)
    n_inputs = rng.integers(1, most + 1, n)
    # The largest log(u)/p are a draw without replacement in proportion to p.
    keys = np.log(rng.random((n, d))) / np.maximum(relevance / max(float(np.sum(relevance)), 1e-300), 1e-300)
    order = np.argsort(-keys, axis=1)[:, :most]
    kept = np.zeros((n, d))
    chosen = np.take_along_axis(drawn, order, axis=1) * (np.arange(most)[None, :] < n_inputs[:, None])
    np.put_along_axis(kept, order, chosen, axis=1)
    return kept


def long_sparse(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray:
    """Sparse ones of one to eight times their length: jumps and fine detail along single inputs."""
    return _lengths(n, rng) * sparse(draw, n, rng)


def _lengths(n: int, rng: np.random.Generator) -> np.ndarray:
    """Factors from 1 to 8, of uniform logarithms."""
    return 8.0 ** rng.random((n, 1))


def walked(draw: Drawing, n: int, rng: np.random.Generator) -> np.ndarray | None:
    """One step of the resampling walk: copies of frequencies by the size of their amplitudes, moved by the proposal."""
    if draw.frequencies is None or draw.amplitudes is None:
        return None
    size = np.linalg.norm(draw.amplitudes, axis=1)
    if not np.sum(size) > 0:
        return None
    points = (rng.random() + np.arange(n)) / n
    chosen = np.minimum(np.searchsorted(np.cumsum(size) / np.sum(size), points), size.size - 1)
    state = draw.proposal.update(draw.proposal.init(draw.frequencies), draw.frequencies, draw.amplitudes, 1.0)
    return draw.proposal.propose(rng, state, draw.frequencies[chosen])


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
    """New frequencies of each kind, with normal numbers for components beyond the inputs (a bias)."""
    for kind in kinds:
        frequencies = KINDS[kind](draw, n, rng)
        if frequencies is None:
            continue
        if frequencies.shape[1] == draw.shape.root.shape[1] and extra:
            frequencies = np.concatenate((frequencies, rng.standard_normal((n, extra))), axis=1)
        yield kind, frequencies
