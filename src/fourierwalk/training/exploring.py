"""Exploring with a kernel: how far frequencies should spread, and in which directions.

A Gaussian kernel of width σ is a model with infinitely many frequencies, drawn from N(0, 1/σ²). Kernel ridge regression
on a sample of the rows finds σ. The gradients of its fit f give the average gradient outer product M = mean of ∇f ∇fᵀ.
The kernel is fitted again with distances measured by M, and so on: a recursive feature machine. Beside it a kernel
with a diagonal M is fitted, which finds a few inputs among many. It begins with the inputs of single waves that are
heard in the targets (`screening`), and so finds fine detail and faint terms too. Frequencies are then drawn from
N(0, M/σ²) of the better one. All of it runs in single precision, on the device that holds the rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.factorisation import cholesky_solve, eigh, factorised, shifted
from fourierwalk.arrays.library import Array, float64, is_remote, like, namespace, to_host
from fourierwalk.data.rows import Rows
from fourierwalk.data.span import Span
from fourierwalk.training.policy import Policy
from fourierwalk.training.screening import heard, steepness
from fourierwalk.training.starts import MOST_DOUBLINGS, Shape

RIDGES = (1e-6, 1e-4, 1e-2)
"""The values of λ that are tried in kernel ridge regression."""


ON_HOST = 1000
"""With fewer rows than this, kernels are fitted in NumPy: a GPU gains nothing, and every library explores alike."""

FLOOR = 1e-12
"""Added to every value of a kernel, far below its rounding. Without it the values of a factor fall through numbers
below 1e-38, which have less than full precision. A processor takes up to forty times as long for these."""

NO_SLOPE = 1e-30
"""Sums of squared slopes up to this are zero: targets have a spread of one, and single precision cannot hold 1e-39."""


class Sample(NamedTuple):
    """Rows that a kernel is fitted to (near), and validation rows (far), both in coordinates."""

    near: Array  # (n, r)
    far: Array  # (m, r)
    targets: tuple[Array, Array]  # of near and far rows
    weights: tuple[Array | None, Array | None]  # of near and far rows
    fits_center: bool = False  # whether a constant is fitted beside the kernel, which then tends to it far from rows

    def measured(self, root: Array) -> Sample:
        """The same rows after a linear map, which changes their distances."""
        return self._replace(near=self.near @ root, far=self.far @ root)

    def first(self, n: int) -> Sample:
        """The same with at most n rows to fit to."""
        n = min(n, int(self.near.shape[0]))
        targets, weights = (self.targets[0][:n, :], self.targets[1]), self.weights
        if weights[0] is not None:
            weights = weights[0][:n], weights[1]
        return self._replace(near=self.near[:n, :], targets=targets, weights=weights)


class KernelFit(NamedTuple):
    """Kernel ridge regression with one width and λ: its validation error, and what its gradients need."""

    error: float
    width: float
    ridge: float
    kernel: Array
    dual: Array  # coefficients of the rows, (n, q)
    center: Array  # the constant beside the kernel, (q,)


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

    The first weights are half those of the waves that are heard in the targets, if any are, and half the same for all
    inputs. The width is half of the rows' root mean square distance. Rounds go on whatever their error is: if a few of
    many inputs act only together, their slopes stand out from the first round on, but the error falls some rounds
    later.
    """
    xp, weighed, best = namespace(first.root), first, first
    sample, width = first.sample, _norm(first.sample) / math.sqrt(2.0)
    waves = heard(sample.near, sample.targets[0], sample.weights[0])
    if len(waves):
        slopes = steepness(sample.near, sample.targets[0], waves)
        weights = 0.5 + 0.5 * slopes / max(float(np.mean(slopes)), NO_SLOPE)
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
    coarse = best_of(sample.first(max(policy.coarse, near.shape[0] // 2)), _widths(sample), RIDGES)
    fit = best_fit(sample, coarse.width, coarse.ridge)
    return Exploration(sample, span, _diagonal(namespace(near).ones_like(near[0, :])), fit, fit.width)


def _widths(sample: Sample) -> list[float]:
    """Widths far apart, from the rows' norm times four down to 1/64 of it: wide kernels see sharp targets as noise."""
    norm = _norm(sample)
    return [norm * 4.0**power for power in range(-3, 2)]


def _norm(sample: Sample) -> float:
    """The root mean square norm of the rows."""
    xp, weight = namespace(sample.near), sample.weights[0]
    squares = xp.sum(sample.near * sample.near, axis=1)
    mean = xp.mean(squares) if weight is None else xp.sum(squares * weight) / xp.sum(weight)
    return math.sqrt(max(float(mean), 1e-12))


def _diagonal(values: Array) -> Array:
    return like(np.diag(to_host(values)), values)


def sampled(train: Rows, held_out: Rows) -> tuple[Sample, Span | None]:
    """The rows as a `Sample`. Sparse rows, and rows with more columns than rows, become coordinates of their span."""
    span: Span | None = None
    if train.center is None and train.x.shape[1] <= len(train):
        inputs = [_dense(rows) for rows in (train, held_out)]
    else:
        span = Span.of(train)
        inputs = [like(span.coordinates(rows), rows.y) for rows in (train, held_out)]
    is_small = len(train) < ON_HOST
    near, far, y, y_far = (_single(values, is_small) for values in (*inputs, train.y, held_out.y))
    weights = tuple(None if rows.weight is None else _single(rows.weight, is_small) for rows in (train, held_out))
    return Sample(near, far, (y, y_far), weights), span  # type: ignore[arg-type]


def _dense(rows: Rows) -> Array:
    """The inputs as one dense array; streamed inputs are copied to the device."""
    blocks = [block.x for block in rows.blocks(int(rows.x.shape[1]))]
    return namespace(*blocks).concat(blocks, axis=0)


def _single(values: Any, on_host: bool = False) -> Array:
    """The values in single precision: large ones on a GPU where they are, else in NumPy.

    Every library explores alike in NumPy, and few rows gain nothing on a GPU.
    """
    if on_host or not is_remote(values):
        return to_host(values).astype(np.float32)
    xp = namespace(values)
    return xp.astype(values, xp.float32)


def best_of(sample: Sample, widths: Sequence[float], ridges: Sequence[float]) -> KernelFit:
    """The fit with the least validation error among some widths and λ."""
    squares = distances(sample.near, sample.near), distances(sample.far, sample.near)
    fits = (kernel_fit(sample, squares, width, ridge) for width in widths for ridge in ridges)
    return min(fits, key=lambda fit: fit.error)


def best_fit(sample: Sample, width: float, ridge: float) -> KernelFit:
    """A local search: double the width as long as the error falls, or halve it; then try the other λ."""
    squares = distances(sample.near, sample.near), distances(sample.far, sample.near)
    best = start = kernel_fit(sample, squares, width, ridge)
    for factor in (2.0, 0.5):
        last = start
        for _ in range(MOST_DOUBLINGS):
            tried = kernel_fit(sample, squares, last.width * factor, ridge)
            if not tried.error < last.error:
                break
            last = tried
        best = min(best, last, key=lambda fit: fit.error)
    others = (kernel_fit(sample, squares, best.width, other) for other in RIDGES if other != ridge)
    return min(best, *others, key=lambda fit: fit.error)


def kernel_fit(sample: Sample, squares: tuple[Array, Array], width: float, ridge: float) -> KernelFit:
    """Kernel ridge regression from squared distances; an infinite error where the equations are singular."""
    xp, weight, weight_far = namespace(squares[0]), *sample.weights
    kernel, kernel_far = (xp.exp(square * (-0.5 / (width * width))) + FLOOR for square in squares)
    n = kernel.shape[0]
    if weight is None:
        matrix = shifted(xp.asarray(kernel, copy=True), ridge * n)
    else:
        unit = xp.eye(n, dtype=kernel.dtype, device=kernel.device)
        matrix = kernel + unit * (ridge * float(xp.sum(weight)) / weight)[None, :]
    factor, succeeded = factorised(matrix, margin=0.0)
    y, center = sample.targets[0], xp.zeros_like(sample.targets[0][0, :])
    if not bool(succeeded):
        return KernelFit(math.inf, width, ridge, kernel, xp.zeros_like(y), center)
    dual = cholesky_solve(factor, y)
    if sample.fits_center:  # generalised least squares: rows that are near each other count less
        ones = cholesky_solve(factor, xp.ones_like(y[:, :1]))
        center = xp.sum(dual, axis=0) / xp.sum(ones)
        dual = dual - ones * center[None, :]
    errors = xp.sum(float64(kernel_far @ dual + center[None, :] - sample.targets[1]) ** 2, axis=1)
    mean = xp.mean(errors) if weight_far is None else xp.sum(errors * weight_far) / xp.sum(weight_far)
    error = float(mean)
    return KernelFit(error if math.isfinite(error) else math.inf, width, ridge, kernel, dual, center)


def outer_product(sample: Sample, fit: KernelFit) -> Array:
    """The average gradient outer product of the fit at its own rows, summed over outputs, with mean diagonal one."""
    z, xp, weight = sample.near, namespace(sample.near), sample.weights[0]
    d = z.shape[1]
    total: Any = 0.0
    for i in range(fit.dual.shape[1]):
        dual = fit.dual[:, i : i + 1]
        gradients = fit.kernel @ (dual * z) - (fit.kernel @ dual) * z
        total = total + gradients.T @ (gradients if weight is None else gradients * weight[:, None])
    trace = float(xp.linalg.trace(total))
    return total * (d / trace) if trace > NO_SLOPE else like(to_host(xp.eye(d, dtype=xp.float32)), z)


def distances(a: Array, b: Array) -> Array:
    """The squared distances between the rows of a and the rows of b."""
    xp = namespace(a)
    squares = xp.sum(a * a, axis=1)[:, None] + xp.sum(b * b, axis=1)[None, :]
    return xp.clip(squares - 2.0 * (a @ b.T), 0.0)


def _root_of(matrix: Array) -> Array:
    """R with R Rᵀ = M, after M is scaled to mean diagonal one."""
    xp, matrix = namespace(matrix), float64(matrix)
    values, vectors = eigh(matrix * (matrix.shape[0] / max(float(xp.linalg.trace(matrix)), 1e-300)))
    return _single(vectors * xp.sqrt(xp.clip(values, 1e-10 * float(values[-1]))))
