"""Kernel ridge regression in plain loops, and small tables for it."""

import math

import numpy as np

from fourierwalk.data.rows import Rows
from fourierwalk.training.kernel_fit import RIDGES, distances


def table(n_rows=80, d=3, q=2, seed=0):
    """Inputs, of which the first matters most, and targets."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, d))
    y = np.stack([np.sin(2 * x[:, 0]) + 0.3 * x[:, 1], np.cos(x[:, 0])][:q], axis=1)
    return x, y + 0.1 * rng.standard_normal(y.shape)


def halves(x, y, weight=None, make=lambda values: values):
    """Rows to fit to, and every third row held out."""
    held = np.arange(len(y)) % 3 == 0
    return tuple(Rows(make(x[part]), y[part], None if weight is None else weight[part]) for part in (~held, held))


def plain_kernel(a, b, width):
    return np.array([[math.exp(-np.sum((one - other) ** 2) / (2 * width**2)) for other in b] for one in a])


def plain_fit(near, far, targets, weights, width, ridges=RIDGES):
    """The best of some ridges: (K + λW/w) α = y, by its error on the rows held out."""
    kernel, n = plain_kernel(near, near, width), len(near)
    weight, weight_far = (
        np.ones(len(y)) if given is None else given for given, y in zip(weights, targets, strict=True)
    )
    fits = []
    for ridge in ridges:
        penalty = np.diag([ridge * np.sum(weight) / weight[i] for i in range(n)])
        dual = np.linalg.solve(kernel + penalty, targets[0])
        squares = np.sum((plain_kernel(far, near, width) @ dual - targets[1]) ** 2, axis=1)
        fits.append((np.sum(weight_far * squares) / np.sum(weight_far), dual))
    return min(fits, key=lambda fit: fit[0])


def plain_gradients(near, dual, width):
    """∇f(xᵢ) = Σⱼ αⱼ k(xᵢ, xⱼ) (xⱼ − xᵢ)/σ², (n, d)."""
    kernel = plain_kernel(near, near, width)
    return np.array(
        [
            sum(dual[j] * kernel[i, j] * (near[j] - near[i]) for j in range(len(near))) / width**2
            for i in range(len(near))
        ]
    )


def plain_outer_product(near, duals, width, weight=None):
    """Σₒ mean of ∇f ∇fᵀ, divided by its mean diagonal."""
    weight = np.ones(len(near)) if weight is None else weight
    total = np.zeros((near.shape[1],) * 2)
    for dual in duals.T:
        for share, gradient in zip(weight, plain_gradients(near, dual, width), strict=True):
            total += share * np.outer(gradient, gradient)
    return total / (np.trace(total) / near.shape[1])


def single(*arrays):
    return tuple(np.asarray(array, dtype=np.float32) for array in arrays)


def squares_of(sample):
    return distances(sample.near, sample.near), distances(sample.far, sample.near)
