"""The exploring kernel is its definition, in plain loops and in double precision; and each kind of draw."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from conftest import Backend
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.data.rows import Rows
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.training import starts
from fourierwalk.training.policy import Policy
from fourierwalk.training.starts import (
    KINDS,
    RIDGES,
    Drawing,
    Shape,
    best_width,
    coordinates,
    distances,
    drawn,
    explore,
    first_look,
    kernel_fit,
    outer_product,
    sample_size,
)


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


# The definition


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


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
@pytest.mark.parametrize(("width", "ridge"), [(0.7, 1e-6), (1.5, 1e-4), (3.0, 1e-2)])
def test_a_kernel_fit_is_a_ridge_regression(width, ridge, weighted, monkeypatch):
    monkeypatch.setattr(starts, "RIDGES", (ridge,))
    x, y = table()
    weight = np.random.default_rng(1).integers(1, 5, len(x)).astype(float) if weighted else None
    train, held_out = halves(x, y, weight)
    near, far, *targets = single(train.x, held_out.x, train.y, held_out.y)
    weights = train.weight, held_out.weight
    fit = kernel_fit(distances(near, near), distances(far, near), tuple(targets), weights, width)
    error, dual = plain_fit(train.x, held_out.x, (train.y, held_out.y), weights, width, (ridge,))
    assert fit.width == width
    assert fit.error == pytest.approx(error, rel=1e-3)
    assert_allclose(fit.kernel, plain_kernel(train.x, train.x, width), atol=1e-5)
    assert_allclose(fit.kernel @ fit.dual, fit.kernel @ dual, atol=1e-3)  # the dual itself is ill-conditioned


@pytest.mark.parametrize("width", [0.2, 1.0, 2.0])
def test_the_best_ridge_is_taken(width):
    train, held_out = halves(*table())
    near, far, *targets = single(train.x, held_out.x, train.y, held_out.y)
    fit = kernel_fit(distances(near, near), distances(far, near), tuple(targets), (None, None), width)
    errors = [
        plain_fit(train.x, held_out.x, (train.y, held_out.y), (None, None), width, (ridge,))[0] for ridge in RIDGES
    ]
    assert fit.error == pytest.approx(min(errors), rel=5e-3)
    assert max(errors) > 1.01 * min(errors)  # else the test shows nothing


def test_whole_weights_equal_repeated_rows():
    x, y = table()
    times = np.random.default_rng(1).integers(1, 4, len(x))
    train, held_out = halves(x, y, times.astype(float))
    again = [np.repeat(np.arange(len(rows)), rows.weight.astype(int)) for rows in (train, held_out)]
    repeated = [Rows(rows.x[rows_of], rows.y[rows_of]) for rows, rows_of in zip((train, held_out), again, strict=True)]
    weighted, plain = first_look(train, held_out), first_look(*repeated)
    ignored = first_look(*(replace(rows, weight=None) for rows in (train, held_out)))
    assert weighted.fit.width == pytest.approx(plain.fit.width, rel=1e-5)
    assert weighted.fit.error == pytest.approx(plain.fit.error, rel=1e-3)
    assert abs(ignored.fit.error / plain.fit.error - 1) > 5e-3  # else the test shows nothing
    fitted = [look.fit.kernel @ look.fit.dual for look in (weighted, plain)]
    assert_allclose(fitted[0][again[0]], fitted[1], atol=2e-3)
    policy = replace(Policy(), iterations=2, sharper=0.0)
    roots = [explore(*both, policy).shape.root for both in ((train, held_out), repeated)]
    assert_allclose(roots[0].T @ roots[0], roots[1].T @ roots[1], rtol=0.01, atol=1e-3 * np.max(roots[1]) ** 2)


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
    look = first_look(train, held_out)
    expected = plain_outer_product(train.x, look.fit.dual.astype(float), look.fit.width, weight)
    found = outer_product(look.near, look.fit, weight)
    assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert np.trace(found) == pytest.approx(3)
    if weighted:
        assert np.max(np.abs(outer_product(look.near, look.fit) - expected)) > 0.01


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
    fit = first_look(*halves(x, 0 * y)).fit
    assert_array_equal(outer_product(*single(x[:20]), fit._replace(dual=0 * fit.dual)), np.eye(3))


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
    first = first_look(train, held_out)
    near, far, targets, weights = train.x, held_out.x, (train.y, held_out.y), (None, None)
    start = math.sqrt(np.mean(np.sum(near**2, axis=1)))
    error, dual, width = plain_width(near, far, targets, weights, start)
    assert first.fit.error == pytest.approx(error, rel=5e-3)
    assert first.fit.width == pytest.approx(width, rel=1e-5)
    assert first.first_width == first.fit.width
    assert_allclose(first.shape.root, np.eye(3) / width, rtol=1e-5)

    found = explore(train, held_out, replace(Policy(), iterations=2))
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

    thrice = explore(
        train, held_out, replace(Policy(), iterations=3, sharper=0.0)
    )  # gradients of the kernel with this metric
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
    first = first_look(*halves(*table()))
    for errors, sharper, n_fits, best in (
        ((0.9, 0.8, 0.7), 0.05, 3, 0.7),
        ((0.9, 0.89, 0.1), 0.05, 2, 0.89),
        ((0.9, 2.0, 0.1), 0.05, 2, 0.9),
        ((2.0, 0.5, 0.1), 0.05, 1, 1.0),
    ):
        asked = []

        def fitted(near, far, targets, weights, width, errors=errors, asked=asked):
            asked.append(width)
            return first.fit._replace(error=errors[len(asked) - 1])

        monkeypatch.setattr(starts, "best_width", fitted)
        begin = first._replace(fit=first.fit._replace(error=1.0))
        monkeypatch.setattr(starts, "first_look", lambda *_, begin=begin: begin)
        assert explore(None, None, replace(Policy(), iterations=4, sharper=sharper)).fit.error == best
        assert len(asked) == n_fits
    assert explore(None, None, replace(Policy(), iterations=1)) is begin


def test_widths_have_an_end(monkeypatch):
    asked = []

    def always_better(square, square_far, targets, weights, width):
        asked.append(width)
        return starts.KernelFit(1.0 / len(asked), width, square, square)

    monkeypatch.setattr(starts, "kernel_fit", always_better)
    x = np.zeros((2, 1), dtype=np.float32)
    assert best_width(x, x, (x, x), (None, None), [1.0]).width == 0.5**starts.MOST_DOUBLINGS
    assert len(asked) == 2 * starts.MOST_DOUBLINGS + 1


def test_widths_are_tried_both_ways(monkeypatch):
    """A sharp target looks to wide kernels like noise: doubling may seem to help a little, halving helps a lot."""

    def error(square, square_far, targets, weights, width):
        errors = {0.25: 0.1, 0.5: 0.2, 1.0: 0.52, 2.0: 0.51}
        return starts.KernelFit(errors.get(width, 1.0), width, square, square)

    monkeypatch.setattr(starts, "kernel_fit", error)
    x = np.zeros((2, 1), dtype=np.float32)
    assert best_width(x, x, (x, x), (None, None), [1.0]).width == 0.25


def test_a_kernel_without_a_fit_has_an_infinite_error():
    x = np.full((4, 1), np.nan, dtype=np.float32)
    fit = kernel_fit(distances(x, x), distances(x, x), (x, x), (None, None), 1.0)
    assert fit.error == math.inf
    assert_array_equal(fit.dual, np.zeros((4, 1)))


@pytest.mark.parametrize(("d", "expected"), [(3, 700), (1000, 700), (1600, 625), (5000, 500)])
def test_wide_rows_are_fewer(d, expected, monkeypatch):
    monkeypatch.setattr(starts, "WIDE", 1e6)
    assert sample_size(d, replace(Policy(), sample=700)) == expected


# Coordinates


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
    near, far, span = coordinates(*sparse)
    basis = span.lift(np.eye(near.shape[1]))
    assert_allclose(distances(near, near), distances(dense[0].x, dense[0].x), atol=1e-8)
    assert_allclose(near @ basis, dense[0].x, atol=1e-8)
    assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-8)
    assert_allclose(far, dense[1].x @ basis.T, atol=1e-8)
    assert near.shape[1] <= min(d, len(near))
    assert_same_exploration(sparse, dense)


def assert_same_exploration(rows, others, rel=1e-3):
    one, other = first_look(*rows), first_look(*others)
    assert one.fit.error == pytest.approx(other.fit.error, rel=rel)
    assert one.first_width == pytest.approx(other.first_width, rel=1e-4)
    # In all directions alike: of wide rows, in those of the rows' span.
    assert_allclose((one.near / one.fit.width) @ one.near.T, (other.near / other.fit.width) @ other.near.T, atol=1e-2)
    policy = replace(Policy(), iterations=2, sharper=0.0)
    a, b = (explore(*both, policy).shape for both in (rows, others))
    assert isinstance(a.root, np.ndarray)
    scale = np.max(b.relevance)
    assert_allclose(a.root.T @ a.root, b.root.T @ b.root, rtol=0.02, atol=0.02 * scale)


def test_wide_rows_are_measured_in_a_basis_of_their_span():
    x, y = table(60, 100)
    train, held_out = halves(x, y)
    near, far, span = coordinates(train, held_out)
    basis = span.lift(np.eye(40))
    assert near.shape == (40, 40)
    assert far.shape == (20, 40)
    assert basis.shape == (40, 100)
    assert_allclose(distances(near, near), distances(train.x, train.x), atol=1e-8)
    assert_allclose(near @ basis, train.x, atol=1e-8)
    assert_allclose(far @ basis, held_out.x @ basis.T @ basis, atol=1e-8)
    shape = explore(train, held_out, replace(Policy(), iterations=2)).shape
    assert shape.root.shape == (40, 100)


def test_dense_rows_are_their_own_coordinates(xp):
    train, held_out = halves(*table(), make=xp.asarray)
    train, held_out = (replace(rows, y=xp.asarray(rows.y)) for rows in (train, held_out))
    near, far, basis = coordinates(train, held_out)
    assert basis is None
    for found, rows in ((near, train), (far, held_out)):
        assert isinstance(found, np.ndarray)
        assert_array_equal(found, xp.host(rows.x))


@pytest.mark.parametrize("d", [3, 70], ids=["narrow", "wide"])
def test_every_library_explores_alike(foreign, d):
    both = []
    for backend in (foreign, Backend("numpy")):
        train, held_out = halves(*table(90, d), make=backend.asarray)
        both.append([replace(rows, y=backend.asarray(rows.y)) for rows in (train, held_out)])
    assert_same_exploration(*both)


# Draws


def drawing(root=None, width=2.0, frequencies=None, amplitudes=None, step=0.1, together=3):
    root = np.diag([1.0, 2.0, 0.0, 0.5]) if root is None else root
    return Drawing(Shape(root, width), frequencies, amplitudes, RandomWalk(step), together)


def draw(kind, n=20_000, seed=0, **settings):
    return KINDS[kind](drawing(**settings), n, np.random.default_rng(seed))


def test_every_kind_draws_as_many_as_wanted():
    with_model = {"frequencies": np.ones((3, 4)), "amplitudes": np.ones((3, 2), dtype=complex)}
    for kind in KINDS:
        assert draw(kind, 7, **with_model).shape == (7, 4), kind
        assert np.all(np.isfinite(draw(kind, 7, **with_model)))


def test_isotropic_ones_spread_alike_in_all_directions():
    omega = draw("isotropic")
    assert_allclose(omega.T @ omega / len(omega), np.eye(4) / 2.0**2, atol=0.01)


def test_shaped_ones_have_the_covariance_of_the_shape():
    root = np.random.default_rng(1).standard_normal((2, 4))
    omega = draw("shaped", root=root)
    assert_allclose(omega.T @ omega / len(omega), root.T @ root, atol=0.05 * np.max(root.T @ root))
    assert_allclose(Shape(root, 1.0).relevance, np.diag(root.T @ root))


@pytest.mark.parametrize(("kind", "low", "high"), [("long", 0.5, 4.0), ("long sparse", 1.0, 8.0)])
def test_long_ones_are_longer_by_factors_of_uniform_logarithms(kind, low, high):
    """Along one input all the rest is a normal number."""
    omega = draw(kind, 200_000, root=np.array([[1.0]]), together=1)
    factors = np.exp(np.linspace(math.log(low), math.log(high), 10_001))
    assert np.mean(omega**2) == pytest.approx(np.mean(factors**2), rel=0.03)
    assert np.mean(np.abs(omega)) == pytest.approx(math.sqrt(2 / math.pi) * np.mean(factors), rel=0.02)
    assert np.max(np.abs(omega)) < high * 5.5


@pytest.mark.parametrize("together", [1, 2, 3, 9])
@pytest.mark.parametrize("kind", ["sparse", "long sparse"])
def test_sparse_ones_have_few_inputs_picked_by_relevance(kind, together):
    omega = draw(kind, together=together)
    assert set(np.count_nonzero(omega, axis=1)) == set(range(1, min(together, 3) + 1))
    assert not np.any(omega[:, 2])  # the third of the four inputs has no relevance
    picked = np.mean(omega != 0, axis=0)
    assert picked[1] > picked[0] > picked[3] > 0


def test_one_two_or_three_inputs_are_equally_likely():
    n_inputs = np.count_nonzero(draw("sparse", root=np.eye(5)), axis=1)
    assert_allclose(np.bincount(n_inputs, minlength=6) / len(n_inputs), [0, 1 / 3, 1 / 3, 1 / 3, 0, 0], atol=0.02)


def test_sparse_ones_of_one_input_follow_the_relevance():
    omega = draw("sparse", together=1)
    relevance = np.array([1.0, 4.0, 0.0, 0.25])
    assert_allclose(np.mean(omega != 0, axis=0), relevance / np.sum(relevance), atol=0.02)
    spread = [math.sqrt(np.mean(omega[omega[:, j] != 0, j] ** 2)) for j in (0, 1, 3)]
    assert_allclose(spread, [1.0, 2.0, 0.5], rtol=0.1)


def test_inputs_are_drawn_without_replacement_in_proportion_to_their_relevance():
    """Of two of three inputs of shares p, both of i and j are picked with pᵢpⱼ/(1 − pᵢ) + pⱼpᵢ/(1 − pⱼ)."""
    p = np.array([0.6, 0.3, 0.1])
    omega = draw("sparse", 60_000, root=np.diag(np.sqrt(p)), together=2)
    pairs = omega[np.count_nonzero(omega, axis=1) == 2] != 0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        expected = p[i] * p[j] / (1 - p[i]) + p[j] * p[i] / (1 - p[j])
        assert np.mean(pairs[:, i] & pairs[:, j]) == pytest.approx(expected, abs=0.01)


def test_a_walk_needs_a_model():
    assert draw("walk", 5) is None
    assert draw("walk", 5, frequencies=np.ones((3, 4)), amplitudes=np.zeros((3, 1), dtype=complex)) is None


def test_a_walk_copies_frequencies_by_the_size_of_their_amplitudes():
    frequencies = np.array([[1.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
    amplitudes = np.array([[3.0 + 4.0j], [0.0], [5.0j]]) * [[1.0, 0.0]]  # of sizes 5, 0 and 5
    moved = draw("walk", 100, frequencies=frequencies, amplitudes=amplitudes, step=1e-6)
    nearest = np.argmin(np.linalg.norm(moved[:, None] - frequencies[None], axis=2), axis=1)
    assert_array_equal(np.bincount(nearest, minlength=3), [50, 0, 50])
    steps = (moved - frequencies[nearest]) / 1e-6
    assert np.std(steps) == pytest.approx(1.0, abs=0.2)


def test_new_frequencies_of_each_kind_in_turn():
    named = list(drawn(("sparse", "walk", "isotropic"), drawing(), 6, 0, np.random.default_rng(0)))
    assert [kind for kind, _ in named] == ["sparse", "isotropic"]  # nothing to walk from
    assert [omega.shape for _, omega in named] == [(6, 4), (6, 4)]


def test_a_bias_is_a_normal_number_beside():
    model = {"frequencies": np.full((3, 5), 7.0), "amplitudes": np.ones((3, 1))}
    named = dict(drawn(("shaped", "sparse", "walk"), drawing(**model), 5000, 1, np.random.default_rng(0)))
    assert {kind: omega.shape for kind, omega in named.items()} == dict.fromkeys(
        ("shaped", "sparse", "walk"), (5000, 5)
    )
    for kind in ("shaped", "sparse"):
        assert np.std(named[kind][:, -1]) == pytest.approx(1.0, abs=0.05)
        assert abs(np.mean(named[kind][:, -1])) < 0.06
    assert np.mean(named["walk"][:, -1]) == pytest.approx(7.0, abs=0.1)  # a walk moves the bias that there is


def test_the_relevance_lies_on_the_inputs_that_matter():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((600, 10))
    y = (np.sin(2 * x[:, 3]) * x[:, 7])[:, None] + 0.1 * rng.standard_normal((600, 1))
    first = first_look(*halves(x, y))
    found = explore(*halves(x, y), replace(Policy(), iterations=4))
    assert_allclose(first.shape.relevance, 1 / first.first_width**2, rtol=1e-4)
    shares = found.shape.relevance / np.sum(found.shape.relevance)
    assert shares[3] + shares[7] > 0.8
    assert min(shares[3], shares[7]) > 0.1
    assert found.fit.error < 0.7 * first.fit.error
