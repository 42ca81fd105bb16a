import pickle

import numpy as np
import oracle
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_digits
from tables import problem

from fourierwalk.data import rows as rows_module
from fourierwalk.data.scaling import Affine, Scaling, SmoothClip, longest_tail, share_units


def raw(n_rows=30):
    x, y, weight = problem(n_rows, n_inputs=3)
    return x * [1.0, 20.0, 1e-3] + [5.0, -100.0, 0.0], 7 * y + 3, weight


def scaled(scaling, x, y):
    return scaling.inputs.apply(x), scaling.targets.apply(y)


def test_algorithm_3(anywhere):
    x, y, _ = raw()
    there = anywhere.asarray(x), anywhere.asarray(y)
    scaling = Scaling.fit(*there, ddof=1)
    for ours, printed in zip(scaled(scaling, *there), oracle.algorithm_3(x, y), strict=True):
        assert_allclose(anywhere.host(ours), printed, rtol=0, atol=1e-12)
    assert scaling.kind == "columns"


def test_without_a_correction_the_spread_divides_by_the_number_of_rows(xp):
    x, y, _ = raw()
    scaling = Scaling.fit(xp.asarray(x), xp.asarray(y))
    assert_allclose(xp.host(scaling.inputs.center), x.mean(axis=0))
    assert_allclose(xp.host(scaling.inputs.scale), x.std(axis=0))
    assert_allclose(xp.host(scaling.targets.scale), y.std(axis=0))


@given(st.integers(2, 40), st.sampled_from([0, 1]))
def test_inverse(n_rows, ddof):
    x, y, _ = raw(n_rows)
    scaling = Scaling.fit(x, y, ddof=ddof)
    assert_allclose(scaling.inputs.invert(scaling.inputs.apply(x)), x, rtol=1e-12, atol=1e-12)
    assert_allclose(scaling.targets.invert(scaling.targets.apply(y)), y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("ddof", [0, 1])
def test_weights_are_repetitions(sparse, ddof):
    x, y, weight = raw()
    again = np.repeat(np.arange(len(x)), weight.astype(int))
    kind = scipy.sparse.csr_array if sparse else np.asarray
    weighted = Scaling.fit(kind(x), y, weight, ddof=ddof)
    repeated = Scaling.fit(kind(x[again]), y[again], ddof=ddof)
    for one, other in [(weighted.inputs, repeated.inputs), (weighted.targets, repeated.targets)]:
        assert_allclose(one.center, other.center, rtol=1e-12)
        assert_allclose(one.scale, other.scale, rtol=1e-12)
    assert not np.allclose(weighted.inputs.center, x.mean(axis=0), rtol=1e-3)


def test_blocks_change_nothing(xp, monkeypatch):
    x, y, weight = (xp.asarray(part) for part in raw())
    at_once = Scaling.fit(x, y, weight)
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * 3 * 4)
    in_blocks = Scaling.fit(x, y, weight)
    assert_allclose(xp.host(in_blocks.inputs.scale), xp.host(at_once.inputs.scale), rtol=1e-12)
    assert_allclose(xp.host(in_blocks.inputs.center), xp.host(at_once.inputs.center), rtol=1e-12)


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -1e-30, 1e30, 123456.789])
@pytest.mark.parametrize("sparse", [False, True])
def test_constant_columns_are_centred_and_not_divided(constant, sparse):
    """0.1 summed 30 times is not 3: what rounding leaves is no spread."""
    x, y, _ = raw()
    x[:, 1], y[:, 0] = constant, constant
    scaling = Scaling.fit(scipy.sparse.csr_array(x) if sparse else x, y, standardize=True)
    assert scaling.inputs.scale[1] == scaling.targets.scale[0] == 1.0
    assert scaling.inputs.scale[0] != 1.0
    columns, targets = scaled(scaling, x, y)
    assert_allclose(columns[:, 1], 0, atol=1e-12 * max(1, abs(constant)))
    assert_allclose(targets[:, 0], 0, atol=1e-12 * max(1, abs(constant)))


def test_one_row(xp):
    scaling = Scaling.fit(xp.asarray([[3.0, 4.0]]), xp.asarray([[5.0]]))
    assert_array_equal(xp.host(scaling.inputs.apply(xp.asarray([[3.0, 4.0]]))), [[0.0, 0.0]])


def test_small_spread_far_from_zero_is_a_spread():
    x = 1e6 + np.linspace(0, 1e-3, 50)[:, None]
    assert_allclose(Scaling.fit(x, x).inputs.scale, x.std(), rtol=1e-3)


def test_nothing_is_changed_where_nothing_is_wanted(xp):
    x, y, weight = (xp.asarray(part) for part in raw())
    scaling = Scaling.fit(x, y, weight, standardize=False)
    assert scaling.kind == "none"
    rows = scaling.rows(x, y, weight)
    assert_array_equal(xp.host(rows.x), raw()[0])
    assert_array_equal(xp.host(rows.y), raw()[1])


def test_targets_can_be_centred_only(xp):
    x, y, _ = raw()
    scaling = Scaling.fit(xp.asarray(x), xp.asarray(y), scale_targets=False)
    assert_array_equal(xp.host(scaling.targets.scale), [1.0, 1.0])
    assert_allclose(xp.host(scaling.targets.apply(xp.asarray(y))), y - y.mean(axis=0))


def test_rows_are_scaled_once(xp):
    x, y, weight = raw()
    rows = Scaling.fit(xp.asarray(x), xp.asarray(y)).rows(*(xp.asarray(part) for part in (x, y, weight)))
    assert_allclose(xp.host(rows.x), (x - x.mean(axis=0)) / x.std(axis=0))
    assert_allclose(xp.host(rows.y), (y - y.mean(axis=0)) / y.std(axis=0))
    assert_array_equal(xp.host(rows.weight), weight)
    assert rows.center is rows.scale is None


def test_single_precision_is_scaled_in_double(xp):
    x = (1000 + raw()[0]).astype(np.float32)
    scaling = Scaling.fit(xp.asarray(x), xp.asarray(raw()[1]))
    wide = x.astype(np.float64)
    assert_allclose(xp.host(scaling.inputs.center), wide.mean(axis=0), rtol=1e-14)
    assert xp.dtype(scaling.rows(xp.asarray(x)).x) == "float64"


# Sparse inputs


@pytest.mark.parametrize("standardize", [True, False, "auto"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_phases_are_the_dense_ones(standardize, weighted, dtype):
    rng = np.random.default_rng(0)
    x = scipy.sparse.random_array((50, 20), density=0.2, rng=rng).astype(dtype).tocsr()
    y, weight = problem(50)[1:]
    omega = rng.standard_normal((6, 20))
    phases = []
    for kind in (x, x.toarray()):
        scaling = Scaling.fit(kind, y, weight if weighted else None, standardize=standardize)
        phases.append(scaling.rows(kind).whole().project(omega))
    assert scipy.sparse.issparse(scaling.rows(x).x)
    assert_allclose(phases[0], phases[1], atol=1e-11)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.csr_matrix])
def test_sparse_kinds(kind):
    x, y, _ = raw()
    assert_allclose(Scaling.fit(kind(x), y).inputs.scale, x.std(axis=0), rtol=1e-12)


# One common scale


def test_pixels_share_units_and_measurements_do_not():
    pixels, tabular = load_digits().data, load_diabetes().data
    assert share_units(pixels)
    assert share_units(scipy.sparse.csr_array(pixels))
    assert not share_units(tabular)
    assert not share_units(pixels[:, :8])  # too few columns that vary to tell
    assert not share_units(np.random.default_rng(0).standard_normal((100, 20)))


def test_counts_of_different_size_do_not_share_units():
    x = np.random.default_rng(0).random((100, 12)) * np.geomspace(1, 1e6, 12)
    x[0] = 0
    assert not share_units(x)


def test_auto_divides_pixels_by_one_common_scale(xp):
    pixels = load_digits().data[:300]
    y = xp.asarray(np.ones((300, 1)))
    scaling = Scaling.fit(xp.asarray(pixels), y, standardize="auto")
    assert scaling.kind == "common"
    spread = np.where(pixels.std(axis=0) > 0, pixels.std(axis=0), 1.0)
    assert_allclose(xp.host(scaling.inputs.scale), np.full(64, np.sqrt(np.mean(spread**2))))
    assert np.abs(xp.host(scaling.inputs.apply(xp.asarray(pixels)))).max() < 4
    by_column = Scaling.fit(xp.asarray(pixels), y, standardize=True)
    assert by_column.kind == "columns"
    assert np.abs(xp.host(by_column.inputs.apply(xp.asarray(pixels)))).max() > 10


def test_auto_scales_measurements_by_column():
    x, y, _ = raw()
    auto, plain = Scaling.fit(x, y, standardize="auto"), Scaling.fit(x, y, standardize=True)
    assert auto.kind == "columns"
    assert_array_equal(auto.inputs.scale, plain.inputs.scale)


# Median, interquartile range and a smooth clip


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


def test_columns_are_sorted_in_blocks(xp, monkeypatch):
    x, y, weight = (xp.asarray(part) for part in tailed())
    at_once = robust(x, y, weight).inputs
    monkeypatch.setattr("fourierwalk.data.scaling.BLOCK_BYTES", 8 * 201 * 2)
    in_blocks = robust(x, y, weight).inputs
    for part in ("center", "scale", "clipped"):
        assert_array_equal(xp.host(getattr(in_blocks, part)), xp.host(getattr(at_once, part)))


def some_clip(backend):
    parts = np.array([1.0, -2.0]), np.array([0.5, 3.0]), np.array([True, False])
    return SmoothClip(*(backend.asarray(part) for part in parts))


@pytest.mark.parametrize("clips", [True, False])
def test_the_derivative_is_that_of_the_scaled_values(clips, xp):
    x, step = 3 * np.random.default_rng(0).standard_normal((20, 2)), 1e-6
    inputs = some_clip(xp)
    inputs = inputs if clips else Affine(inputs.center, inputs.scale)
    differences = xp.host(inputs.apply(xp.asarray(x + step)) - inputs.apply(xp.asarray(x - step))) / (2 * step)
    derivative = xp.host(inputs.derivative(xp.asarray(x)))
    assert derivative.shape == x.shape
    assert_allclose(derivative, differences, rtol=1e-6, atol=1e-9)
    assert inputs.is_affine is not clips


@given(st.floats(-60, 60))
def test_a_clip_can_be_inverted(value):
    x = np.full((1, 2), value)
    clip = some_clip(np)
    assert_allclose(clip.invert(clip.apply(x)), x, rtol=1e-9, atol=1e-9)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_a_clip_keeps_the_order_and_the_bound(one, other):
    clip = SmoothClip(np.zeros(1), np.ones(1), np.array([True]))
    lower, upper = (clip.apply(np.array([[value]])).item() for value in sorted((one, other)))
    assert -3 <= lower <= upper <= 3
    assert np.isfinite(clip.invert(np.array([[upper]]))).all()
    assert 0 <= clip.derivative(np.array([[one]])).item() <= 1


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


def test_the_other_scalings_are_affine():
    x, y, _ = raw()
    for standardize in (True, False, "auto"):
        assert Scaling.fit(x, y, standardize=standardize).is_affine


# Values whose squares overflow


@pytest.mark.parametrize("standardize", [True, False, "auto", "robust"])
@pytest.mark.parametrize("name", ["X", "y"])
@pytest.mark.parametrize("huge", [1e160, -1e160])
def test_huge_values_are_refused(name, huge, standardize, anywhere):
    x, y, _ = raw()
    (x if name == "X" else y)[3, 1] = huge
    with pytest.raises(ValueError, match=rf"^{name} must have values of a magnitude below 1e\+150.*got 1e\+160\.$"):
        Scaling.fit(anywhere.asarray(x), anywhere.asarray(y), standardize=standardize)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_huge_sparse_values_are_refused(kind):
    x, y, _ = raw()
    x[3, 1] = -1e151
    with pytest.raises(ValueError, match=r"^X must have .*got 1e\+151\.$"):
        Scaling.fit(kind(x), y)


def test_large_values_are_scaled():
    x, y, _ = raw()
    large, plain = Scaling.fit(1e140 * x, 1e140 * y), Scaling.fit(x, y)
    assert_allclose(large.inputs.apply(1e140 * x), plain.inputs.apply(x), rtol=1e-10, atol=1e-10)
    empty = Scaling.fit(scipy.sparse.csr_array((30, 3)), y)
    assert_array_equal(empty.inputs.scale, np.ones(3))


def test_a_common_scale_can_be_asked_for():
    x = np.array([[0.0, 0.0], [2.0, 20.0], [4.0, 40.0]])
    inputs = Scaling.fit(x, np.arange(3.0)[:, None], standardize="common").inputs
    assert inputs.scale[0] == inputs.scale[1]
    np.testing.assert_allclose(inputs.scale[0], np.sqrt(np.mean(np.var(x, axis=0))))


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_the_longest_tail_is_in_standard_deviations(make):
    x = np.zeros((100, 2))
    x[:50, 0] = 1.0  # one standard deviation either way
    x[7, 1] = 5.0
    expected = (5.0 - 0.05) / np.std(x[:, 1])
    assert longest_tail(make(x)) == pytest.approx(expected)
    assert longest_tail(make(-x)) == pytest.approx(expected)
    assert longest_tail(make(x[:, :1])) == pytest.approx(1.0)


@pytest.mark.parametrize("standardize", [True, "auto", "common", "robust"])
def test_columns_of_a_designed_spread_are_centred_and_no_more(standardize, xp):
    rng = np.random.default_rng(0)
    x = np.column_stack((10 * rng.standard_normal((200, 2)), rng.random(200) < 0.05, rng.random(200) < 0.5)).astype(
        float
    )
    is_fixed = np.array([False, False, True, True])
    y = np.zeros((200, 1))
    found = Scaling.fit(xp.asarray(x), xp.asarray(y), standardize=standardize, is_fixed=is_fixed)
    scaled_x = xp.host(found.inputs.apply(xp.asarray(x)))
    assert_allclose(scaled_x[:, 2:], x[:, 2:] - x[:, 2:].mean(axis=0), atol=1e-12)
    alone = Scaling.fit(xp.asarray(x[:, :2]), xp.asarray(y), standardize=standardize)
    assert_allclose(scaled_x[:, :2], xp.host(alone.inputs.apply(xp.asarray(x[:, :2]))))


def test_columns_of_a_designed_spread_say_nothing_about_units_and_tails():
    levels = np.eye(20)[np.random.default_rng(0).integers(20, size=300)]
    assert share_units(levels)
    assert not share_units(levels, np.ones(20, dtype=bool))
    assert longest_tail(levels) > 3
    assert longest_tail(levels, np.ones(20, dtype=bool)) == 0.0
