"""The exploring kernel is its definition, in plain loops and in double precision."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from conftest import Backend
from kernel_fits import halves, plain_fit, plain_gradients, plain_outer_product, single, table
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.arrays.library import to_host
from fourierwalk.data.rows import Rows
from fourierwalk.training import exploring
from fourierwalk.training.exploring import (
    explore,
    first_look,
    relevant,
    sample_size,
    sharpened,
    weighed_inputs,
)
from fourierwalk.training.kernel_fit import ON_HOST, RIDGES, distances, sampled
from fourierwalk.training.policy import Policy
from fourierwalk.training.screening import heard, steepness


def explored(train, held_out, policy):
    """The exploration of a single split."""
    (found,) = explore([(train, held_out)], policy)
    return found


def test_whole_weights_equal_repeated_rows():
    x, y = table()
    times = np.random.default_rng(1).integers(1, 4, len(x))
    train, held_out = halves(x, y, times.astype(float))
    again = [np.repeat(np.arange(len(rows)), rows.weight.astype(int)) for rows in (train, held_out)]
    repeated = [Rows(rows.x[rows_of], rows.y[rows_of]) for rows, rows_of in zip((train, held_out), again, strict=True)]
    weighted, plain = first_look(*sampled(train, held_out), Policy()), first_look(*sampled(*repeated), Policy())
    ignored = first_look(*sampled(*(replace(rows, weight=None) for rows in (train, held_out))), Policy())
    assert weighted.fit.width == pytest.approx(plain.fit.width, rel=1e-5)
    assert weighted.fit.error == pytest.approx(plain.fit.error, rel=1e-3)
    assert abs(ignored.fit.error / plain.fit.error - 1) > 5e-3  # else the test shows nothing
    fitted = [look.fit.kernel @ look.fit.dual for look in (weighted, plain)]
    assert_allclose(fitted[0][again[0]], fitted[1], atol=2e-3)
    policy = replace(Policy(), iterations=2, sharper=0.0)
    roots = [explored(*both, policy).shape.root for both in ((train, held_out), repeated)]
    assert_allclose(roots[0].T @ roots[0], roots[1].T @ roots[1], rtol=0.01, atol=1e-3 * np.max(roots[1]) ** 2)


def plain_width(near, far, targets, weights, width):
    """Doubled while that helps; halved while that does, if doubling never did."""
    error, dual = plain_fit(near, far, targets, weights, width)
    for factor in (2.0, 0.5):
        helped = False
        while True:
            after = plain_fit(near, far, targets, weights, factor * width)
            if not after[0] < error:
                break
            (error, dual), width, helped = after, factor * width, True
        if helped:
            break
    return error, dual, width


def test_the_exploration_is_its_definition():
    x, y = table()
    train, held_out = halves(x, y)
    first = first_look(*sampled(train, held_out), Policy())
    near, far, targets, weights = train.x, held_out.x, (train.y, held_out.y), (None, None)
    start = math.sqrt(np.mean(np.sum(near**2, axis=1)))
    error, dual, width = plain_width(near, far, targets, weights, start)
    assert first.fit.error == pytest.approx(error, rel=5e-3)
    assert first.fit.width == pytest.approx(width, rel=1e-5)
    assert first.first_width == first.fit.width
    assert_allclose(first.shape.root, np.eye(3) / width, rtol=1e-5)

    found = sharpened(first, replace(Policy(), iterations=2))
    metric = plain_outer_product(near, dual, width)  # R Rᵀ = M: distances are (x − x')ᵀ M (x − x')
    values, vectors = np.linalg.eigh(metric)
    root = vectors * np.sqrt(values)
    error, dual, again = plain_width(near @ root, far @ root, targets, weights, width)
    assert error < first.fit.error  # else the first would be returned
    assert found.fit.error == pytest.approx(error, rel=1e-2)
    assert found.fit.width == pytest.approx(again, rel=1e-5)
    assert found.first_width == first.first_width
    assert_allclose(found.root @ found.root.T, metric, rtol=5e-3, atol=5e-3)
    assert_allclose(found.shape.root.T @ found.shape.root, metric / again**2, rtol=5e-3, atol=5e-3 / again**2)

    thrice = sharpened(first, replace(Policy(), iterations=3, sharper=0.0))  # gradients of the kernel with this metric
    inner = plain_outer_product(near @ root, dual, again)
    metric = root @ inner @ root.T
    metric /= np.trace(metric) / 3
    values, vectors = np.linalg.eigh(metric)
    error = plain_width(near @ (vectors * np.sqrt(values)), far @ (vectors * np.sqrt(values)), targets, weights, again)[
        0
    ]
    if error < found.fit.error:
        assert thrice.fit.error == pytest.approx(error, rel=2e-2)
        assert_allclose(thrice.root @ thrice.root.T, metric, rtol=0.02, atol=0.02)
    else:
        assert thrice.fit.error == found.fit.error


def test_the_exploration_ends_where_it_gains_no_more(monkeypatch):
    """The best is returned, not the last."""
    first = first_look(*sampled(*halves(*table())), Policy())
    for errors, sharper, n_fits, best in (
        ((0.9, 0.8, 0.7), 0.05, 3, 0.7),
        ((0.9, 0.89, 0.1), 0.05, 2, 0.89),
        ((0.9, 2.0, 0.1), 0.05, 2, 0.9),
        ((2.0, 0.5, 0.1), 0.05, 1, 1.0),
    ):
        asked = []

        def fitted(sample, width, ridge, errors=errors, asked=asked):
            asked.append(width)
            return first.fit._replace(error=errors[len(asked) - 1])

        monkeypatch.setattr(exploring, "best_fit", fitted)
        begin = first._replace(fit=first.fit._replace(error=1.0))
        assert sharpened(begin, replace(Policy(), iterations=4, sharper=sharper)).fit.error == best
        assert len(asked) == n_fits
    assert sharpened(begin, replace(Policy(), iterations=1)) is begin


def plain_weights(near, targets, weight, n_rounds):
    """The weights of the inputs in each round: products of mean squared slopes, divided by their mean.

    The first ones are half those of the waves that are heard (`screening` has their definition), and half alike.
    """
    width, weights, rounds = math.sqrt(np.mean(np.sum(near**2, axis=1)) / 2), np.ones(near.shape[1]), []
    waves = heard(near, targets, weight)
    if len(waves):
        slopes = steepness(near, targets, waves)
        weights = 0.5 * weights + 0.5 * slopes / np.mean(slopes)
    for _ in range(n_rounds):
        rounds.append(weights)
        scaled = near * np.sqrt(weights)
        _, dual = plain_fit(scaled, scaled, (targets, targets), (weight, weight), width, RIDGES[1:2])
        slopes = np.zeros_like(weights)
        for output in dual.T:
            slopes += np.mean(plain_gradients(scaled, output, width) ** 2, axis=0)
        weights = weights * slopes / np.mean(weights * slopes)
    return rounds


def test_after_the_deadline_only_the_first_kernel_is_fitted():
    """Its distances are those of the inputs. Without a deadline they are not."""
    (whole,), (first,) = (explore([halves(*table())], Policy(), deadline=end) for end in (math.inf, -math.inf))
    assert_array_equal(first.root, np.eye(len(first.root)))
    assert first.fit.error >= whole.fit.error
    assert not np.array_equal(whole.root, first.root)


def test_weighed_inputs_are_their_definition():
    train, held_out = halves(*table())
    first = first_look(*sampled(train, held_out), Policy())
    rounds = plain_weights(train.x, train.y, None, 3)
    found = weighed_inputs(first, replace(Policy(), iterations=3))
    width = math.sqrt(np.mean(np.sum(train.x**2, axis=1)) / 2)
    errors = [
        plain_fit(
            train.x * np.sqrt(weights),
            held_out.x * np.sqrt(weights),
            (train.y, held_out.y),
            (None, None),
            width,
            RIDGES[1:2],
        )[0]
        for weights in rounds
    ]
    assert np.argmin(errors) > 0  # else nothing is weighed
    assert_allclose(np.diagonal(found.root) ** 2, rounds[np.argmin(errors)], rtol=0.02, atol=1e-3)
    assert np.count_nonzero(found.root) == 3
    assert found.fit.error <= 1.01 * min(errors)  # the width and λ are then improved
    assert found.first_width == first.first_width


def together(seed, d=32, n_rows=1800):
    """Many inputs, of which two act together only; next to nothing shows in each of them alone."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.7, 1.7, (n_rows, d))
    y = x[:, 3:4] * np.cos(2.2 * x[:, 7:8])
    return halves(x, y / np.std(y) + 0.3 * rng.standard_normal((n_rows, 1)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_of_many_inputs_that_act_together_are_found(seed):
    train, held_out = together(seed)
    first = first_look(*sampled(train, held_out), Policy())
    assert sharpened(first, Policy()).fit.error > 0.8
    found = explored(train, held_out, Policy())
    assert found.fit.error < 0.25  # the noise alone is 0.09
    assert set(np.argsort(-found.shape.relevance)[:2]) == {3, 7}


@pytest.mark.parametrize(
    ("times", "is_taken"), [((0.8,), True), ((0.95,), False), ((0.3, 1.2), True), ((0.8, 1.2), False)]
)
def test_weighed_inputs_are_taken_where_their_mean_error_is_much_lower(times, is_taken, monkeypatch):
    parts = [halves(*table(seed=seed)) for seed in range(len(times))]
    policy = replace(Policy(), iterations=1, other_kernel=0.1)  # nothing is sharpened
    shares = iter(times)

    def weighed(first, policy):
        assert first.fit.error > 0
        return first._replace(root=2 * first.root, fit=first.fit._replace(error=next(shares)))

    real = exploring.first_look

    def of_error_one(*given):
        first = real(*given)
        return first._replace(fit=first.fit._replace(error=1.0))

    monkeypatch.setattr(exploring, "first_look", of_error_one)
    monkeypatch.setattr(exploring, "weighed_inputs", weighed)
    assert [each.root[0, 0] for each in explore(parts, policy)] == [2.0 if is_taken else 1.0] * len(times)


@pytest.mark.parametrize(
    ("times", "is_taken"), [((0.8,), True), ((0.95,), False), ((0.3, 1.2), True), ((0.8, 1.2), False)]
)
def test_a_constant_beside_the_kernels_is_taken_where_their_mean_error_is_much_lower(times, is_taken, monkeypatch):
    parts = [halves(*table(seed=seed)) for seed in range(len(times))]
    policy = replace(Policy(), iterations=1, other_kernel=0.1)  # nothing is sharpened
    real, shares = exploring.first_look, iter(times)

    def of_error(sample, span, policy):
        first = real(sample, span, policy)
        return first._replace(fit=first.fit._replace(error=next(shares) if sample.fits_center else 1.0))

    monkeypatch.setattr(exploring, "first_look", of_error)
    monkeypatch.setattr(exploring, "weighed_inputs", lambda first, policy: first)
    assert [bool(np.any(each.fit.center)) for each in explore(parts, policy, True)] == [is_taken] * len(times)
    assert not any(np.any(each.fit.center) for each in explore(parts, policy))  # not for regression


def test_several_kernels_take_as_long_as_one():
    policy = replace(Policy(), sample=1000)
    assert [sample_size(4, n, policy) for n in (1, 8)] == [1000, 500]
    assert sample_size(10**7, 1, policy) == 500


def test_coordinates_and_a_single_input_are_not_weighed(monkeypatch):
    monkeypatch.setattr(exploring, "weighed_inputs", None)
    assert explored(*halves(*table(60, 100)), Policy()).span is not None
    x, y = table(60)
    assert explored(*halves(x[:, :1], y), Policy()).root.shape == (1, 1)


def noisy(seed):
    """Twelve inputs, of which three matter."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((600, 12))
    y = np.sin(2 * x[:, 3:4]) + x[:, 7:8] * x[:, 9:10] + 0.1 * rng.standard_normal((600, 1))
    return halves(x, y)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_inputs_that_do_not_matter_are_left_out(seed):
    best = explored(*noisy(seed), Policy())
    kept = relevant(best, Policy())
    assert {3, 7, 9} <= set(kept)
    assert kept.size <= 5
    assert_array_equal(relevant(best._replace(fit=best.fit._replace(error=0.0)), Policy()), np.arange(12))


def test_the_fewest_of_equally_good_inputs_are_kept():
    train, held_out = noisy(0)
    train, held_out = (replace(rows, x=rows.x * (np.arange(12) == 3)) for rows in (train, held_out))
    assert_array_equal(relevant(explored(train, held_out, Policy()), Policy()), [3])


@pytest.mark.parametrize(("tie", "n_kept"), [(0.0, 9), (1e-3, 7), (1e-2, 6)])
def test_the_fewest_inputs_within_a_tie_are_kept(tie, n_kept, monkeypatch):
    """Of twelve inputs, 9, 7, 6, 5 and 4 are tried; the last error is hopeless."""
    train, held_out = noisy(0)
    best = first_look(*sampled(train, held_out), Policy())
    errors = iter([0.4996, 0.4999, 0.5003, 0.51, 2.0])
    monkeypatch.setattr(exploring, "best_of", lambda *given: best.fit._replace(error=next(errors)))
    kept = relevant(best._replace(fit=best.fit._replace(error=0.5)), replace(Policy(), tie=tie))
    assert kept.size == n_kept


@pytest.mark.parametrize(("d", "expected"), [(3, 700), (1000, 700), (1600, 625), (5000, 500)])
def test_wide_rows_are_fewer(d, expected):
    assert sample_size(d, 1, replace(Policy(), sample=700, wide=1e6)) == expected


def as_sparse(train, held_out):
    """The same rows, sparse, with a scaling beside that dense ones have had."""
    center, scale = np.linspace(0.5, 1.5, train.x.shape[1]), np.linspace(1, 3, train.x.shape[1])
    sparse = [replace(rows, x=scipy.sparse.csr_array(rows.x), center=center, scale=scale) for rows in (train, held_out)]
    return sparse, [replace(rows, x=(rows.x - center) / scale) for rows in (train, held_out)]


@pytest.mark.parametrize("d", [4, 90], ids=["narrow", "wide"])
def test_sparse_rows_have_the_coordinates_of_dense_ones(d):
    x, y = table(90, d)
    x *= np.random.default_rng(3).random(x.shape) < 0.5
    sparse, dense = as_sparse(*halves(x, y))
    (near, far, *_), span = sampled(*sparse)
    basis = span.lift(np.eye(near.shape[1]))
    assert_allclose(distances(near, near), distances(dense[0].x, dense[0].x), rtol=1e-5, atol=1e-5)
    assert_allclose(near @ basis, dense[0].x, rtol=1e-5, atol=1e-5)
    assert_allclose(basis @ basis.T, np.eye(len(basis)), rtol=1e-5, atol=1e-5)
    assert_allclose(far, dense[1].x @ basis.T, rtol=1e-5, atol=1e-5)
    assert near.shape[1] <= min(d, len(near))
    assert_same_exploration(sparse, dense)


def of_rows(look):
    near = to_host(look.sample.near)
    return (near / look.fit.width) @ near.T


def assert_same_exploration(rows, others, rel=1e-3):
    one, other = (first_look(*sampled(*both), Policy()) for both in (rows, others))
    assert one.fit.error == pytest.approx(other.fit.error, rel=rel)
    assert one.first_width == pytest.approx(other.first_width, rel=1e-4)
    # In all directions alike: of wide rows, in those of the rows' span.
    assert_allclose(of_rows(one), of_rows(other), atol=1e-2)
    policy = replace(Policy(), iterations=2, sharper=0.0)
    a, b = (explored(*both, policy).shape for both in (rows, others))
    assert isinstance(a.root, np.ndarray)
    scale = np.max(b.relevance)
    assert_allclose(a.root.T @ a.root, b.root.T @ b.root, rtol=0.02, atol=0.02 * scale)


def test_wide_rows_are_measured_in_a_basis_of_their_span():
    x, y = table(60, 100)
    train, held_out = halves(x, y)
    (near, far, *_), span = sampled(train, held_out)
    basis = span.lift(np.eye(40))
    assert near.shape == (40, 40)
    assert far.shape == (20, 40)
    assert basis.shape == (40, 100)
    assert_allclose(distances(near, near), distances(train.x, train.x), rtol=1e-5, atol=1e-4)  # of up to 250
    assert_allclose(near @ basis, train.x, rtol=1e-5, atol=1e-5)
    assert_allclose(far @ basis, held_out.x @ basis.T @ basis, rtol=1e-5, atol=1e-5)
    shape = explored(train, held_out, replace(Policy(), iterations=2)).shape
    assert shape.root.shape == (40, 100)


def test_dense_rows_are_their_own_coordinates(xp):
    """In NumPy; on a GPU many rows stay where they are."""
    for n_rows in (100, 2 * ON_HOST):
        train, held_out = halves(*table(n_rows), make=xp.asarray)
        train, held_out = (replace(rows, y=xp.asarray(rows.y)) for rows in (train, held_out))
        (near, far, *_), span = sampled(train, held_out)
        assert span is None
        for part, rows in ((near, train), (far, held_out)):
            assert xp.owns(part) if xp.on_gpu and len(train) >= ON_HOST else type(part) is np.ndarray
            assert_array_equal(to_host(part), single(xp.host(rows.x))[0])


@pytest.mark.parametrize("d", [3, 70], ids=["narrow", "wide"])
def test_every_library_explores_alike(foreign, d):
    both = []
    for backend in (foreign, Backend("numpy")):
        train, held_out = halves(*table(90, d), make=backend.asarray)
        both.append([replace(rows, y=backend.asarray(rows.y)) for rows in (train, held_out)])
    assert_same_exploration(*both)


def test_the_relevance_lies_on_the_inputs_that_matter():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((600, 10))
    y = (np.sin(2 * x[:, 3]) * x[:, 7])[:, None] + 0.1 * rng.standard_normal((600, 1))
    first = first_look(*sampled(*halves(x, y)), Policy())
    found = explored(*halves(x, y), replace(Policy(), iterations=4))
    assert_allclose(first.shape.relevance, 1 / first.first_width**2, rtol=1e-4)
    shares = found.shape.relevance / np.sum(found.shape.relevance)
    assert shares[3] + shares[7] > 0.8
    assert min(shares[3], shares[7]) > 0.1
    assert found.fit.error < 0.7 * first.fit.error
