"""Kernel fits are their definition, in plain loops, in every library."""

import math
from dataclasses import replace

import numpy as np
import pytest
from kernel_fits import (
    halves,
    plain_fit,
    plain_gradients,
    plain_kernel,
    plain_outer_product,
    single,
    squares_of,
    table,
)
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.training import kernel_fit as module
from fourierwalk.training.exploring import first_look
from fourierwalk.training.kernel_fit import (
    RIDGES,
    Sample,
    best_fit,
    best_of,
    distances,
    kernel_fit,
    outer_product,
    sampled,
)
from fourierwalk.training.policy import Policy


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
@pytest.mark.parametrize(("width", "ridge"), [(0.7, 1e-6), (1.5, 1e-4), (3.0, 1e-2)])
def test_a_kernel_fit_is_a_ridge_regression(width, ridge, weighted):
    x, y = table()
    weight = np.random.default_rng(1).integers(1, 5, len(x)).astype(float) if weighted else None
    train, held_out = halves(x, y, weight)
    sample, _ = sampled(train, held_out)
    fit = kernel_fit(sample, squares_of(sample), width, ridge)
    weights = train.weight, held_out.weight
    error, dual = plain_fit(train.x, held_out.x, (train.y, held_out.y), weights, width, (ridge,))
    assert (fit.width, fit.ridge) == (width, ridge)
    assert fit.error == pytest.approx(error, rel=1e-3)
    assert_allclose(fit.kernel, plain_kernel(train.x, train.x, width), atol=1e-5)
    assert_allclose(fit.kernel @ fit.dual, fit.kernel @ dual, atol=1e-3)  # the dual itself is ill-conditioned


def test_the_best_of_widths_and_ridges_is_taken():
    train, held_out = halves(*table())
    sample, _ = sampled(train, held_out)
    widths = 0.2, 1.0, 2.0
    fit = best_of(sample, widths, RIDGES)
    errors = {
        (width, ridge): plain_fit(train.x, held_out.x, (train.y, held_out.y), (None, None), width, (ridge,))[0]
        for width in widths
        for ridge in RIDGES
    }
    assert (fit.width, fit.ridge) == min(errors, key=errors.get)
    assert fit.error == pytest.approx(min(errors.values()), rel=5e-3)
    assert best_fit(sample, 1.0, RIDGES[0]).error <= best_of(sample, [1.0], RIDGES[:1]).error


def test_distances_are_squared_and_not_negative():
    a, b = np.random.default_rng(0).standard_normal((2, 7, 3))
    assert_allclose(distances(a, b), [[np.sum((one - other) ** 2) for other in b] for one in a], atol=1e-12)
    far = single(1e3 + 1e-3 * a)[0]
    assert np.min(distances(far, far)) >= 0


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_the_outer_product_is_that_of_the_gradients(weighted):
    x, y = table(60)
    weight = np.linspace(0.2, 3, 40) if weighted else None
    train, held_out = halves(x, y)
    train = replace(train, weight=weight)
    look = first_look(*sampled(train, held_out), Policy())
    expected = plain_outer_product(train.x, look.fit.dual.astype(float), look.fit.width, weight)
    found = outer_product(look.sample, look.fit)
    assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert np.trace(found) == pytest.approx(3)
    if weighted:
        unweighted = look.sample._replace(weights=(None, None))
        assert np.max(np.abs(outer_product(unweighted, look.fit) - expected)) > 0.01


@pytest.mark.parametrize("factor", [1e-21, 0.0])
def test_slopes_of_nothing_have_no_direction(factor):
    """In single precision the trace of tiny ones has hardly any inverse."""
    look = first_look(*sampled(*halves(*table(60))), Policy())
    found = outer_product(look.sample, look.fit._replace(dual=(look.fit.dual * factor).astype(np.float32)))
    assert found.dtype == np.float32
    assert_array_equal(found, np.eye(3))


def test_the_closed_form_of_the_gradients_is_right():
    """By central differences, so that the transcription itself is checked."""
    x, y = table(30)
    width, dual = 1.3, y[:, 0]
    slopes = np.zeros_like(x)
    for j in range(x.shape[1]):
        move = 1e-5 * np.eye(x.shape[1])[j]
        slopes[:, j] = (plain_kernel(x + move, x, width) @ dual - plain_kernel(x - move, x, width) @ dual) / 2e-5
    assert_allclose(plain_gradients(x, dual, width), slopes, atol=1e-8)


def test_a_constant_fit_has_no_directions():
    x, y = table(30)
    look = first_look(*sampled(*halves(x, 0 * y)), Policy())
    assert_array_equal(outer_product(look.sample, look.fit._replace(dual=0 * look.fit.dual)), np.eye(3))


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_constant_is_that_of_generalised_least_squares(is_weighted):
    x, y = table(80)
    weight = np.random.default_rng(3).uniform(0.5, 2, 80) if is_weighted else None
    sample = sampled(*halves(x, y + 3, weight))[0]._replace(fits_center=True)
    fit = kernel_fit(sample, squares_of(sample), 1.5, 1e-2)
    near, targets = (values.astype(float) for values in (sample.near, sample.targets[0]))
    matrix = np.exp(-np.sum((near[:, None] - near[None]) ** 2, axis=2) / (2 * 1.5**2))
    weights = np.ones(len(near)) if sample.weights[0] is None else sample.weights[0].astype(float)
    inverse = np.linalg.inv(matrix + np.diag(1e-2 * np.sum(weights) / weights))
    center = np.sum(inverse @ targets, axis=0) / np.sum(inverse)
    assert_allclose(fit.center, center, rtol=1e-3)
    assert_allclose(fit.dual, inverse @ (targets - center), atol=1e-3 * np.max(np.abs(fit.dual)))


def test_without_a_constant_the_kernel_tends_to_zero():
    x, y = table(80)
    sample, _ = sampled(*halves(x, y + 3))
    assert_array_equal(kernel_fit(sample, squares_of(sample), 1.5, 1e-2).center, [0.0, 0.0])


def nothing():
    x = np.zeros((2, 1), dtype=np.float32)
    return Sample(x, x, (x, x), (None, None))


def test_widths_have_an_end(monkeypatch):
    asked = []

    def always_better(sample, squares, width, ridge):
        asked.append(width)
        return module.KernelFit(1.0 / len(asked), width, ridge, *squares, squares[0][0])

    monkeypatch.setattr(module, "kernel_fit", always_better)
    assert best_fit(nothing(), 1.0, RIDGES[0]).width == 0.5**module.MOST_DOUBLINGS
    assert len(asked) == 2 * module.MOST_DOUBLINGS + len(RIDGES)


def test_widths_are_tried_both_ways_and_then_ridges(monkeypatch):
    """A sharp target looks to wide kernels like noise: doubling may seem to help a little, halving helps a lot."""
    errors = {0.25: 0.1, 0.5: 0.2, 1.0: 0.52, 2.0: 0.51}

    def fit(sample, squares, width, ridge):
        return module.KernelFit(errors.get(width, 1.0) + ridge, width, ridge, *squares, squares[0][0])

    monkeypatch.setattr(module, "kernel_fit", fit)
    best = best_fit(nothing(), 1.0, RIDGES[1])
    assert (best.width, best.ridge) == (0.25, RIDGES[0])


def test_a_kernel_without_a_fit_has_an_infinite_error():
    x = np.full((4, 1), np.nan, dtype=np.float32)
    sample = Sample(x, x, (x, x), (None, None))
    fit = kernel_fit(sample, squares_of(sample), 1.0, 1e-4)
    assert fit.error == math.inf
    assert_array_equal(fit.dual, np.zeros((4, 1)))


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_a_kernel_fit_is_alike_in_every_library(foreign, weighted):
    """On a GPU too: large samples stay there."""
    x, y = table()
    weight = np.random.default_rng(1).integers(1, 5, len(x)).astype(float) if weighted else None
    here, _ = sampled(*halves(x, y, weight))
    parts = [None if part is None else foreign.asarray(part) for part in (*here.targets, *here.weights)]
    there = Sample(foreign.asarray(here.near), foreign.asarray(here.far), tuple(parts[:2]), tuple(parts[2:]))
    fits = [kernel_fit(sample, squares_of(sample), 1.0, 1e-2) for sample in (here, there)]
    assert fits[1].error == pytest.approx(fits[0].error, rel=1e-3)
    assert_allclose(foreign.host(fits[1].dual), fits[0].dual, atol=1e-3)
