"""Mean targets: drawn to the mean of all as far as they are uncertain, and never of the row itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.tables.means import N_FOLDS, Coded, CrossFitted, Grouped, smoothed

LABELS = st.lists(st.tuples(st.integers(0, 4), st.floats(-3, 3), st.integers(1, 3)), min_size=2, max_size=30)


def grouped(codes, y, weight=None, n_levels=None):
    codes = np.array(codes)
    return Grouped.of(codes, n_levels or int(codes.max()) + 1, np.reshape(y, (codes.size, -1)).astype(float), weight)


def rows(n=300, n_levels=20, seed=0, weight=None):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_levels, size=n)
    y = rng.standard_normal((n, 2)) + codes[:, None] / 5
    part = np.random.default_rng(codes).integers(N_FOLDS, size=n)
    x = np.column_stack((np.arange(n), np.zeros((n, 2)))).astype(float)
    return CrossFitted(x, [Coded(codes, n_levels, slice(1, 3))], y, weight, part)


@given(LABELS)
def test_weights_are_repetitions(triples):
    codes, y, weight = (np.array(part) for part in zip(*triples, strict=True))
    weighted = smoothed(grouped(codes, y, weight.astype(float)))
    repeated = smoothed(grouped(np.repeat(codes, weight), np.repeat(y, weight)))
    for one, other in zip(weighted, repeated, strict=True):
        assert_allclose(one, other, atol=1e-6)


@given(LABELS)
def test_means_lie_between_the_level_and_all(triples):
    codes, y, _ = (np.array(part) for part in zip(*triples, strict=True))
    means, mean = smoothed(grouped(codes, y, n_levels=6))
    assert_allclose(mean, y.mean())
    assert np.all(np.isfinite(means))
    assert_allclose(means[5], mean)  # a level without rows
    for level in np.unique(codes):
        own = y[codes == level].mean()
        assert min(own, mean[0]) - 1e-9 <= means[level, 0] <= max(own, mean[0]) + 1e-9


def test_noise_is_drawn_to_the_mean_and_signal_is_not():
    rng = np.random.default_rng(0)
    codes = rng.integers(50, size=1000)
    noise, signal = rng.standard_normal(1000), codes + 1e-3 * rng.standard_normal(1000)
    (kept, _), (drawn, _) = smoothed(grouped(codes, signal)), smoothed(grouped(codes, noise))
    assert_allclose(kept[:, 0], np.arange(50), atol=1e-2)
    raw = np.bincount(codes, noise) / np.bincount(codes)
    assert np.std(drawn) < 0.3 * np.std(raw)


def test_levels_of_one_row_each_say_nothing():
    means, mean = smoothed(grouped(np.arange(10), np.arange(10)))
    assert_allclose(means, np.full((10, 1), mean))


def test_a_row_does_not_see_its_own_target():
    whole = rows()
    before = whole.inputs()
    assert_array_equal(before[:, 0], whole.x[:, 0])
    for row in (0, 7, 100):
        y = whole.y.copy()
        y[row] += 100.0
        after = CrossFitted(whole.x, whole.coded, y, None, whole.part).inputs()
        assert_array_equal(after[row], before[row])
        same_level = whole.coded[0].codes == whole.coded[0].codes[row]
        others = same_level & (whole.part != whole.part[row])
        assert np.all(after[others, 1:] != before[others, 1:])


def test_no_row_sees_targets_that_are_held_out():
    whole = rows()
    held_out = np.arange(300) % 4 == 0
    y = np.where(held_out[:, None], 1e6, whole.y)
    changed = CrossFitted(whole.x, whole.coded, y, None, whole.part)
    assert_array_equal(changed.inputs(held_out), whole.inputs(held_out))
    assert np.any(changed.inputs() != whole.inputs())


def test_held_out_rows_are_encoded_by_all_that_are_seen():
    whole = rows()
    held_out = np.arange(300) % 4 == 0
    codes = whole.coded[0].codes
    means, _ = smoothed(Grouped.of(codes[~held_out], 20, whole.y[~held_out], None))
    assert_allclose(whole.inputs(held_out)[held_out, 1:], means[codes[held_out]])


def test_rows_of_weight_zero_do_not_count():
    weight = np.where(np.arange(300) % 3 == 0, 0.0, 1.0)
    whole = rows(weight=weight)
    y = np.where(weight[:, None] == 0, 1e6, whole.y)
    changed = CrossFitted(whole.x, whole.coded, y, weight, whole.part)
    assert_array_equal(changed.inputs(), whole.inputs())


def test_one_part_alone_sees_itself():
    whole = rows(n=10)
    alone = CrossFitted(whole.x, whole.coded, whole.y, None, np.zeros(10, dtype=int))
    assert np.all(np.isfinite(alone.inputs()))


def test_identities_have_codes():
    whole = rows(n=10)
    assert_array_equal(whole.identities()[:, 1], whole.coded[0].codes)


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_constant_targets(value):
    means, mean = smoothed(grouped([0, 0, 1, 2], np.full(4, value)))
    assert_allclose(means, value)
    assert_allclose(mean, value)
