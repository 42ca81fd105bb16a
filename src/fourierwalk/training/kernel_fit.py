"""Kernel ridge regression on a sample of the rows: its width and λ by the validation error, and its gradients.

All of it runs in single precision, on the device that holds the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.factorisation import cholesky_solve, factorised, shifted
from fourierwalk.arrays.library import Array, float64, is_remote, like, namespace, to_host
from fourierwalk.data.rows import Rows
from fourierwalk.data.span import Span
from fourierwalk.training.starts import MOST_DOUBLINGS

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

    @property
    def norm(self) -> float:
        """The root mean square norm of the rows."""
        xp, weight = namespace(self.near), self.weights[0]
        squares = xp.sum(self.near * self.near, axis=1)
        mean = xp.mean(squares) if weight is None else xp.sum(squares * weight) / xp.sum(weight)
        return math.sqrt(max(float(mean), 1e-12))

    @property
    def widths(self) -> list[float]:
        """Widths far apart, from four times the norm down to 1/64 of it: wide kernels see sharp targets as noise."""
        norm = self.norm
        return [norm * 4.0**power for power in range(-3, 2)]


class KernelFit(NamedTuple):
    """Kernel ridge regression with one width and λ: its validation error, and what its gradients need."""

    error: float
    width: float
    ridge: float
    kernel: Array
    dual: Array  # coefficients of the rows, (n, q)
    center: Array  # the constant beside the kernel, (q,)


def sampled(train: Rows, held_out: Rows) -> tuple[Sample, Span | None]:
    """The rows as a `Sample`. Sparse rows, and rows with more columns than rows, become coordinates of their span."""
    span: Span | None = None
    if train.center is None and train.x.shape[1] <= len(train):
        inputs = [_dense(rows) for rows in (train, held_out)]
    else:
        span = Span.of(train)
        inputs = [like(span.coordinates(rows), rows.y) for rows in (train, held_out)]
    is_small = len(train) < ON_HOST
    near, far, y, y_far = (single(values, is_small) for values in (*inputs, train.y, held_out.y))
    weights = tuple(None if rows.weight is None else single(rows.weight, is_small) for rows in (train, held_out))
    return Sample(near, far, (y, y_far), weights), span  # type: ignore[arg-type]


def _dense(rows: Rows) -> Array:
    """The inputs as one dense array; streamed inputs are copied to the device."""
    blocks = [block.x for block in rows.blocks(int(rows.x.shape[1]))]
    return namespace(*blocks).concat(blocks, axis=0)


def single(values: Any, on_host: bool = False) -> Array:
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
