"""Where frequencies start: their shape, explored with an exact kernel, and the ways to draw new ones.

A Gaussian kernel is infinitely many frequencies. Kernel ridge regression on a sample of the rows says how wide they
spread, and the gradients of its fit say in which directions: M = mean of ∇f ∇fᵀ. Fitted again with distances measured
by M, and so on, it is a recursive feature machine; frequencies are then drawn from N(0, M/σ²).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from fourierwalk.arrays.library import to_host
from fourierwalk.data.rows import Rows
from fourierwalk.data.span import Span
from fourierwalk.sampling.proposals import Proposal
from fourierwalk.training.policy import Policy

RIDGES = (1e-6, 1e-4, 1e-2)
"""The λ that an exploring kernel is fitted with."""

MOST_DOUBLINGS = 14
"""Doublings and halvings of a width that are tried, at most."""

WIDE = 1e7
"""Entries of a sample of wide rows, at most: fewer rows are taken, but 500 at least."""


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


class Exploration(NamedTuple):
    """The rows in coordinates, and the best of the exploring kernels so far."""

    near: np.ndarray  # rows that the kernel is fitted to, (n, r)
    far: np.ndarray  # held-out rows
    targets: tuple[np.ndarray, np.ndarray]
    weights: tuple[np.ndarray | None, np.ndarray | None]
    span: Span | None  # what the coordinates are of, where they are not the inputs
    root: np.ndarray  # coordinates times this are what distances are measured in
    fit: KernelFit
    first_width: float

    @property
    def shape(self) -> Shape:
        """How frequencies of such a kernel are spread."""
        root = (self.root / self.fit.width).T
        return Shape(root if self.span is None else to_host(self.span.lift(root)), self.first_width)


class KernelFit(NamedTuple):
    """Kernel ridge regression with one width: its held-out error and what its gradients are made of."""

    error: float
    width: float
    kernel: np.ndarray
    dual: np.ndarray  # coefficients of the rows, (n, q)


def sample_size(n_inputs: int, policy: Policy) -> int:
    """The rows that an exploring kernel is fitted to."""
    return min(policy.sample, max(500, int(WIDE / n_inputs)))


def first_look(train: Rows, held_out: Rows) -> Exploration:
    """A kernel with the same width in all directions."""
    near, far, span = coordinates(train, held_out)
    near, far = (part.astype(np.float32) for part in (near, far))
    targets = tuple(to_host(rows.y).astype(np.float32) for rows in (train, held_out))
    weights = tuple(None if rows.weight is None else to_host(rows.weight) for rows in (train, held_out))
    width = math.sqrt(max(float(np.average(np.sum(near * near, axis=1), weights=weights[0])), 1e-12))
    widths = [width * 4.0**power for power in range(-3, 2)]  # a sharp target may look like noise to a wide kernel
    fit = best_width(near, far, targets, weights, widths)  # type: ignore[arg-type]
    return Exploration(near, far, targets, weights, span, np.eye(near.shape[1]), fit, fit.width)  # type: ignore[arg-type]


def explore(train: Rows, held_out: Rows, policy: Policy) -> Exploration:
    """Fit kernels, each with distances by the gradients of the one before, until that gains no more."""
    best = last = first_look(train, held_out)
    for _ in range(policy.iterations - 1):
        root = _root_of(last.root @ outer_product(last.near @ last.root, last.fit, last.weights[0]) @ last.root.T)
        near, far = ((part @ root).astype(np.float32) for part in (last.near, last.far))
        last = last._replace(root=root, fit=best_width(near, far, last.targets, last.weights, [last.fit.width]))
        gains = last.fit.error < (1 - policy.sharper) * best.fit.error
        best = last if last.fit.error < best.fit.error else best
        if not gains:
            break
    return best


def coordinates(train: Rows, held_out: Rows) -> tuple[np.ndarray, np.ndarray, Span | None]:
    """Rows as they are, or, of sparse rows and of more columns than rows, in an orthonormal basis of their span."""
    if train.center is None and train.x.shape[1] <= len(train):
        return _on_host(train), _on_host(held_out), None
    span = Span.of(train)
    return span.coordinates(train), span.coordinates(held_out), span


def _on_host(rows: Rows) -> np.ndarray:
    """Dense inputs, streamed ones too."""
    return np.concatenate([to_host(block.x) for block in rows.blocks(int(rows.x.shape[1]))])


def best_width(
    near: np.ndarray,
    far: np.ndarray,
    targets: tuple[Any, Any],
    weights: tuple[Any, Any],
    widths: Sequence[float],
) -> KernelFit:
    """The best fit of some widths, and from there while doubling the width, or halving it, helps."""
    square, square_far = distances(near, near), distances(far, near)
    fits = [kernel_fit(square, square_far, targets, weights, width) for width in widths]
    best = start = min(fits, key=lambda fit: fit.error)
    for factor in (2.0, 0.5):
        last = start
        for _ in range(MOST_DOUBLINGS):
            tried = kernel_fit(square, square_far, targets, weights, last.width * factor)
            if not tried.error < last.error:
                break
            last = tried
        best = min(best, last, key=lambda fit: fit.error)
    return best


def kernel_fit(
    square: np.ndarray, square_far: np.ndarray, targets: tuple[Any, Any], weights: tuple[Any, Any], width: float
) -> KernelFit:
    """Kernel ridge regression with the best of some λ, in single precision; an infinite error where none works."""
    kernel, kernel_far = (np.exp(each * np.float32(-0.5 / (width * width))) for each in (square, square_far))
    n = kernel.shape[0]
    shares = np.ones(n) if weights[0] is None else np.sum(weights[0]) / n / weights[0]
    best = KernelFit(math.inf, width, kernel, np.zeros_like(targets[0]))
    for ridge in RIDGES:
        matrix = kernel.copy()
        matrix[np.diag_indices(n)] += ridge * n * shares
        try:
            factor = scipy.linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            continue
        dual = scipy.linalg.cho_solve(factor, targets[0], check_finite=False)
        squares = np.sum((kernel_far @ dual - targets[1]).astype(np.float64) ** 2, axis=1)
        error = float(np.average(squares, weights=weights[1]))
        if error < best.error:
            best = KernelFit(error, width, kernel, dual)
    return best


def outer_product(z: np.ndarray, fit: KernelFit, weight: np.ndarray | None = None) -> np.ndarray:
    """The mean outer product of the fit's gradients at its own rows, summed over outputs, of mean diagonal one."""
    total = np.zeros((z.shape[1], z.shape[1]))
    for dual in fit.dual.T:
        gradients = fit.kernel @ (dual[:, None] * z) - (fit.kernel @ dual)[:, None] * z
        total += gradients.astype(np.float64).T @ (gradients if weight is None else gradients * weight[:, None])
    trace = float(np.trace(total))
    return total * (z.shape[1] / trace) if trace > 0 else np.eye(z.shape[1])


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared distances of rows."""
    squares = np.sum(a * a, axis=1)[:, None] + np.sum(b * b, axis=1)[None, :]
    return np.maximum(squares - 2.0 * (a @ b.T), 0.0)


def _root_of(matrix: np.ndarray) -> np.ndarray:
    """R with R Rᵀ = M, of mean diagonal one."""
    values, vectors = np.linalg.eigh(matrix * (matrix.shape[0] / max(float(np.trace(matrix)), 1e-300)))
    return vectors * np.sqrt(np.clip(values, 1e-10 * values[-1], None))


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
