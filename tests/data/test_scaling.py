import numpy as np
import oracle
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_digits
from tables import problem

from fourierwalk.data.scaling import Scaling, longest_tail, share_units


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


@pytest.mark.parametrize("name", ["X", "y"])
def test_tiny_values_are_refused(name, anywhere):
    """Their squares are zero. But zeros are fine, and so is a single tiny column."""
    x, y, _ = raw()
    given = {"X": x, "y": y}
    small = {**given, name: 1e-160 * given[name]}
    with pytest.raises(
        ValueError, match=rf"^{name} must have values of a magnitude above 1e-150, .*: multiply them by"
    ):
        Scaling.fit(*map(anywhere.asarray, small.values()))
    Scaling.fit(*map(anywhere.asarray, {**given, name: 0 * given[name]}.values()))
    given[name][:, 0] *= 1e-160
    Scaling.fit(*map(anywhere.asarray, given.values()))


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


def test_targets_may_be_measured_from_another_center():
    x, y, _ = problem(30, 2, 2)
    scaling = Scaling.fit(x, y)
    moved = scaling.recentred(np.array([0.5, -2.0]))
    assert_allclose(moved.rows(x, y).y, scaling.rows(x, y).y - [[0.5, -2.0]], atol=1e-12)
    assert_allclose(moved.targets.invert(moved.targets.apply(y)), y)
    assert_array_equal(moved.rows(x, y).x, scaling.rows(x, y).x)
