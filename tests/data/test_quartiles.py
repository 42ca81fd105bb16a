"""Median, interquartile range, and which columns are clipped."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.data.affine import Affine
from fourierwalk.data.quartiles import clip_by_quartiles, column_blocks
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.spread import mean_and_spread


def tailed(n_rows=201):
    """A column with heavy tails, a normal one, one of two values, one of one value, one that is nearly always zero."""
    rng = np.random.default_rng(0)
    mostly = np.where(rng.random(n_rows) < 0.1, rng.standard_normal(n_rows), 0.0)
    x = (
        rng.standard_cauchy(n_rows) ** 3,
        rng.standard_normal(n_rows),
        rng.integers(0, 2, n_rows),
        np.ones(n_rows),
        mostly,
    )
    y, weight = rng.standard_normal((n_rows, 1)), rng.integers(0, 4, n_rows).astype(float)
    return np.stack([7 + 3 * column for column in x], axis=1), y, weight


def robust(x, y, weight=None):
    return Scaling.fit(x, y, weight, standardize="robust")


def test_robust_statistics_are_those_of_the_repeated_rows(xp):
    x, y, weight = tailed()
    scaling = robust(*(xp.asarray(part) for part in (x, y, weight)))
    repeated = np.repeat(x, weight.astype(int), axis=0)
    first, median, third = np.quantile(repeated, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    center, scale = xp.host(scaling.inputs.center), xp.host(scaling.inputs.scale)
    assert_array_equal(center[:2], median[:2])
    assert_allclose(scale[:2], (third - first)[:2] / 1.349, rtol=1e-15)
    assert_allclose(center[2:], repeated.mean(axis=0)[2:], rtol=1e-13)
    assert_allclose(scale[[2, 4]], repeated.std(axis=0)[[2, 4]], rtol=1e-13)
    assert scale[3] == 1.0
    assert_array_equal(xp.host(scaling.inputs.clipped), [True, True, False, False, True])
    assert scaling.kind == "robust"
    assert not scaling.is_affine


@given(st.integers(1, 40), st.integers(0, 5), st.booleans())
def test_whole_number_weights_are_repetitions_to_the_last_digit(n_rows, seed, few):
    """Also of rows of weight zero, and of columns of few values."""
    rng = np.random.default_rng(seed)
    x = rng.standard_cauchy((n_rows, 3))
    x = np.round(x) if few else x
    weight = rng.integers(0, 4, n_rows).astype(float)
    weight[0] = 1
    again = np.repeat(np.arange(n_rows), weight.astype(int))
    weighted, repeated = robust(x, x[:, :1], weight).inputs, robust(x[again], x[again, :1]).inputs
    assert_array_equal(weighted.clipped, repeated.clipped)
    assert_allclose(weighted.center, repeated.center, rtol=1e-12, atol=1e-12)
    assert_allclose(weighted.scale, repeated.scale, rtol=1e-12)
    by_quartiles = repeated.clipped & (repeated.center == np.quantile(x[again], 0.5, axis=0, method="inverted_cdf"))
    assert_array_equal(weighted.center[by_quartiles], repeated.center[by_quartiles])
    assert_array_equal(weighted.scale[by_quartiles], repeated.scale[by_quartiles])


@pytest.mark.parametrize("weighted", [True, False])
def test_the_order_of_rows_does_not_matter_to_robust_statistics(weighted):
    x, y, _ = tailed()
    x[:, 0] = np.round(x[:, 0])  # equal values with different weights
    rng = np.random.default_rng(1)
    weight, order = rng.random(len(x)) if weighted else None, rng.permutation(len(x))
    one, other = robust(x, y, weight).inputs, robust(x[order], y[order], weight[order] if weighted else None).inputs
    assert_array_equal(one.center[:2], other.center[:2])
    assert_array_equal(one.scale[:2], other.scale[:2])


def test_the_order_of_equal_values_does_not_matter_where_sums_of_weights_are_rounded():
    """20,000 tiny weights vanish one by one after a large weight, and move the median before it."""
    x = np.r_[np.zeros(20_001), 1.0, 2.0][:, None]
    weight = np.r_[1.0, np.full(20_000, 1e-16), 1 + 3e-12, 1e-20]
    forth, back = robust(x, x, weight).inputs, robust(x[::-1], x[::-1], weight[::-1]).inputs
    assert forth.clipped
    assert forth.center == back.center


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 7.0])
@pytest.mark.parametrize("n_rows", [4, 20, 40, 1000])
def test_equal_weights_of_any_size_change_no_quartile(weight, n_rows):
    x = np.random.default_rng(0).standard_normal((n_rows, 1))
    plain, weighted = robust(x, x).inputs, robust(x, x, np.full(n_rows, weight)).inputs
    assert plain.center == weighted.center
    assert plain.scale == weighted.scale


def test_a_normal_column_keeps_its_standard_deviation():
    x = 5 + 2 * np.random.default_rng(0).standard_normal((100_000, 1))
    inputs = robust(x, x).inputs
    assert_allclose(inputs.scale, 2.0, rtol=0.02)
    assert_allclose(inputs.center, 5.0, atol=0.02)


def test_heavy_tails_end_at_three_and_small_values_stay(xp):
    x, y, _ = tailed()
    scaling = robust(xp.asarray(x), xp.asarray(y))
    rows = xp.host(scaling.rows(xp.asarray(x)).x)
    z = (x - xp.host(scaling.inputs.center)) / xp.host(scaling.inputs.scale)
    assert np.abs(z[:, 0]).max() > 1000
    assert 2.99 < np.abs(rows[:, 0]).max() <= 3.0
    assert_allclose(rows[:, :2], (z / np.sqrt(1 + (z / 3) ** 2))[:, :2], rtol=1e-12)
    assert_allclose(rows[:, 4], (z / np.sqrt(1 + (z / 3) ** 2))[:, 4], rtol=1e-12)
    assert_array_equal(rows[:, 2:4], z[:, 2:4])


def test_new_values_of_a_column_of_two_values_are_not_clipped():
    x, y, _ = tailed()
    inputs = robust(x, y).inputs
    far = np.full((1, 5), 1e6)
    assert_array_equal(inputs.apply(far)[:, 2:4], Affine(inputs.center, inputs.scale).apply(far)[:, 2:4])
    assert inputs.apply(far)[0, 2] > 1e5
    assert np.all(inputs.apply(far)[0, [0, 1, 4]] <= 3)


def test_rounding_is_no_interquartile_range():
    """Around 0.3 most values differ in their last digit only; the spread of the others counts."""
    x = np.r_[np.full(40, 0.3), np.full(40, 0.1 + 0.2), np.linspace(0, 1, 20)][:, None]
    assert 0 < np.subtract(*np.quantile(x, [0.75, 0.25])) < 1e-15
    inputs = robust(x, x).inputs
    assert_allclose(inputs.scale, x.std(), rtol=1e-12)
    assert_allclose(inputs.center, x.mean(), rtol=1e-12)
    assert inputs.clipped.all()


def test_a_constant_column_far_from_zero_is_not_blown_up():
    x = 1e15 + np.tile([0.0, 0.125, 0.25, 0.5], 50)[:, None]
    assert np.unique(x).size > 2
    inputs = robust(x, np.arange(200.0)[:, None]).inputs
    assert inputs.scale == 1.0
    assert not inputs.clipped


def test_columns_are_sorted_in_blocks(xp):
    x, y, weight = (xp.asarray(part) for part in tailed())
    statistics = [xp.host(part) for part in mean_and_spread(Rows(x, weight=weight), 0)]
    one_by_one = clip_by_quartiles(x, weight, *statistics, most_bytes=8)
    at_once = robust(x, y, weight).inputs
    assert [len(block) for block in column_blocks(x, 8 * 201 * 2)] == [2, 2, 1]
    assert [len(block) for block in column_blocks(x)] == [5]
    for part in ("center", "scale", "clipped"):
        assert_array_equal(getattr(one_by_one, part), xp.host(getattr(at_once, part)))


def test_a_robust_scaling_pickles():
    x, y, _ = tailed()
    scaling = robust(x, y)
    assert_array_equal(pickle.loads(pickle.dumps(scaling)).rows(x).x, scaling.rows(x).x)


def test_sparse_inputs_are_not_clipped():
    x, y, _ = tailed()
    with pytest.raises(ValueError, match=r"^standardize='robust' needs a dense X.*got a sparse csr_array\.$"):
        robust(scipy.sparse.csr_array(x), y)
    with pytest.raises(ValueError, match=r"^standardize='robust' needs a dense X.*got a sparse csc_matrix\.$"):
        robust(x, y).rows(scipy.sparse.csc_matrix(x))
