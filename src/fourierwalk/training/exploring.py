"""Exploring with a kernel: how far frequencies should spread, and in which directions.

A Gaussian kernel of width σ is a model with infinitely many frequencies, drawn from N(0, 1/σ²). Kernel ridge regression
on a sample of the rows finds σ. The gradients of its fit f give the average gradient outer product M = mean of ∇f ∇fᵀ.
The kernel is fitted again with distances measured by M, and so on: a recursive feature machine. Beside it a kernel
with a diagonal M is fitted, which finds a few inputs among many. It begins with the inputs of single waves that are
heard in the targets (`screening`), and so finds fine detail and faint terms too. Frequencies are then drawn from
N(0, M/σ²) of the better one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fourierwalk.arrays.factorisation import eigh
from fourierwalk.arrays.library import Array, float64, like, namespace, to_host
from fourierwalk.data.rows import Rows
from fourierwalk.data.span import Span
from fourierwalk.training.kernel_fit import (
    NO_SLOPE,
    RIDGES,
    KernelFit,
    Sample,
    best_fit,
    best_of,
    distances,
    kernel_fit,
    outer_product,
    sampled,
    single,
)
from fourierwalk.training.policy import Policy
from fourierwalk.training.screening import heard, steepness
from fourierwalk.training.starts import Shape

EVEN = 0.5
"""The share of the inputs' first weights that is the same for all. The first value tried; with 0.1 or 0.2 one of three
inputs that act only together was missed, because no wave of one or two inputs tells of it."""


class Exploration(NamedTuple):
    """The rows, and the best kernel fit so far."""

    sample: Sample
    span: Span | None  # the basis of the coordinates; None: they are the inputs
    root: Array  # R with M = R Rᵀ: distances are those of coordinates times R
    fit: KernelFit
    first_width: float

    @property
    def shape(self) -> Shape:
        """The distribution of this kernel's frequencies."""
        root = to_host(float64(self.root)).T / self.fit.width
        return Shape(root if self.span is None else to_host(self.span.lift(root)), self.first_width)


def sample_size(n_inputs: int, n_kernels: int, policy: Policy) -> int:
    """The number of rows of each kernel; several have fewer, so that they take as long as one (time grows as n³)."""
    return min(int(policy.sample / n_kernels ** (1 / 3)), max(500, int(policy.wide / n_inputs)))


def explore(
    parts: Sequence[tuple[Rows, Rows]], policy: Policy, are_classes: bool = False, deadline: float = math.inf
) -> list[Exploration]:
    """Explore each split into training and validation rows; after the deadline only the first kernels are fitted.

    One exploration begins with all directions alike, a rival with inputs weighed one by one. For classes, a constant
    may be fitted beside the kernels. Either is taken only if its mean error over the splits is much lower: few
    validation rows would often prefer it by chance.
    """
    samples = [sampled(train, held_out) for train, held_out in parts]
    firsts = [first_look(sample, span, policy) for sample, span in samples]
    if are_classes and time.monotonic() < deadline:
        others = [first_look(sample._replace(fits_center=True), span, policy) for sample, span in samples]
        firsts = others if mean_error(others) < (1 - policy.other_kernel) * mean_error(firsts) else firsts
    plain = [sharpened(first, policy, deadline) for first in firsts]
    # Coordinates of a span stand for no input, and a single input has no rival.
    has_rivals = all(first.span is None and first.root.shape[0] > 1 for first in firsts)
    if not has_rivals or time.monotonic() >= deadline:
        return plain
    rivals = [weighed_inputs(first, policy) for first in firsts]
    if mean_error(rivals) >= (1 - policy.other_kernel) * mean_error(plain):
        return plain
    return min(plain, [sharpened(rival, policy, deadline) for rival in rivals], key=mean_error)


def mean_error(explorations: Sequence[Exploration]) -> float:
    """The mean validation error of the kernels."""
    return float(np.mean([exploration.fit.error for exploration in explorations]))


def sharpened(best: Exploration, policy: Policy, deadline: float = math.inf) -> Exploration:
    """Fit kernels, each with distances from the gradients of the one before, as long as the error falls clearly."""
    last = best
    for _ in range(policy.iterations - 1):
        if time.monotonic() >= deadline:
            break
        gradients = outer_product(last.sample.measured(last.root), last.fit)
        root = _root_of(last.root @ gradients @ last.root.T)
        last = last._replace(root=root, fit=best_fit(last.sample.measured(root), last.fit.width, last.fit.ridge))
        gains = last.fit.error < (1 - policy.sharper) * best.fit.error
        best = last if last.fit.error < best.fit.error else best
        if not gains:
            break
    return best


def weighed_inputs(first: Exploration, policy: Policy) -> Exploration:
    """Fit a narrow kernel again and again, each input weighed by its mean squared slope in the fit before.

    The first weights are the same for all inputs. If waves are heard in the targets (`screening`), half of each weight
    is the input's share of their slopes. The width is half of the rows' root mean square distance. Rounds go on
    whatever their error is: if a few of many inputs act only together, their slopes stand out from the first round on,
    but the error falls some rounds later.
    """
    xp, weighed, best = namespace(first.root), first, first
    sample, width = first.sample, first.sample.norm / math.sqrt(2.0)
    waves = heard(sample.near, sample.targets[0], sample.weights[0])
    if len(waves):
        slopes = steepness(sample.near, sample.targets[0], waves)
        weights = EVEN + (1 - EVEN) * slopes / max(float(np.mean(slopes)), NO_SLOPE)
        weighed = first._replace(root=_diagonal(like(np.sqrt(weights).astype(np.float32), first.root)))
    for _ in range(policy.iterations):
        measured = sample.measured(weighed.root)
        squares = distances(measured.near, measured.near), distances(measured.far, measured.near)
        weighed = weighed._replace(fit=kernel_fit(measured, squares, width, RIDGES[1]))
        best = weighed if weighed.fit.error < best.fit.error else best
        products = xp.linalg.diagonal(weighed.root) ** 2 * xp.linalg.diagonal(outer_product(measured, weighed.fit))
        weighed = weighed._replace(root=_diagonal(xp.sqrt(products / xp.mean(products))))
    return best._replace(fit=best_fit(sample.measured(best.root), best.fit.width, best.fit.ridge))


def relevant(best: Exploration, policy: Policy) -> np.ndarray:
    """The indices of the inputs that the kernel needs.

    The least relevant inputs are removed step by step. The smallest set whose validation error is the least, or within
    a tie of it, is returned.
    """
    relevance = to_host(namespace(best.root).sum(best.root * best.root, axis=1))
    order = np.argsort(-relevance)
    n_kept, errors = relevance.size, {relevance.size: best.fit.error}
    while n_kept > 1 and errors[n_kept] <= policy.hopeless * min(errors.values()):
        n_kept = min(n_kept - 1, math.ceil(policy.kept_inputs * n_kept))
        mask = np.zeros((relevance.size, 1), dtype=np.float32)
        mask[order[:n_kept]] = 1.0
        sample = best.sample.measured(best.root * like(mask, best.root))
        errors[n_kept] = best_of(sample, (best.fit.width,), (best.fit.ridge,)).error
    most = (1 + policy.tie) * min(errors.values())
    return np.sort(order[: min(n for n, error in errors.items() if error <= most)])


def first_look(sample: Sample, span: Span | None, policy: Policy) -> Exploration:
    """A kernel with the same width in all directions."""
    near = sample.near
    coarse = best_of(sample.first(max(policy.coarse, near.shape[0] // 2)), sample.widths, RIDGES)
    fit = best_fit(sample, coarse.width, coarse.ridge)
    return Exploration(sample, span, _diagonal(namespace(near).ones_like(near[0, :])), fit, fit.width)


def _diagonal(values: Array) -> Array:
    return like(np.diag(to_host(values)), values)


def _root_of(matrix: Array) -> Array:
    """R with R Rᵀ = M, after M is scaled to mean diagonal one."""
    xp, matrix = namespace(matrix), float64(matrix)
    values, vectors = eigh(matrix * (matrix.shape[0] / max(float(xp.linalg.trace(matrix)), 1e-300)))
    return single(vectors * xp.sqrt(xp.clip(values, 1e-10 * float(values[-1]))))
