"""Mean targets: drawn to the mean of all as far as they are uncertain, and never of the row itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.tables.means import (
    N_FOLDS,
    Coded,
    CrossFitted,
    Grouped,
    apart,
    by_part,
    parts_of_places,
    rounded,
    smoothed,
    whole,
)

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
    every = rows()
    before = every.inputs()
    assert_array_equal(before[:, 0], every.x[:, 0])
    for row in (0, 7, 100):
        y = every.y.copy()
        y[row] += 100.0
        after = CrossFitted(every.x, every.coded, y, None, every.part).inputs()
        assert_array_equal(after[row], before[row])
        same_level = every.coded[0].codes == every.coded[0].codes[row]
        others = same_level & (every.part != every.part[row])
        assert np.all(after[others, 1:] != before[others, 1:])


def test_no_row_sees_targets_that_are_held_out():
    every = rows()
    held_out = np.arange(300) % 4 == 0
    y = np.where(held_out[:, None], 1e6, every.y)
    changed = CrossFitted(every.x, every.coded, y, None, every.part)
    assert_array_equal(changed.inputs(held_out), every.inputs(held_out))
    assert np.any(changed.inputs() != every.inputs())


def test_held_out_rows_are_encoded_by_all_that_are_seen():
    every = rows()
    held_out = np.arange(300) % 4 == 0
    codes = every.coded[0].codes
    means, _ = smoothed(Grouped.of(codes[~held_out], 20, every.y[~held_out], None))
    assert_allclose(every.inputs(held_out)[held_out, 1:], means[codes[held_out]])


def test_rows_of_weight_zero_do_not_count():
    weight = np.where(np.arange(300) % 3 == 0, 0.0, 1.0)
    every = rows(weight=weight)
    y = np.where(weight[:, None] == 0, 1e6, every.y)
    changed = CrossFitted(every.x, every.coded, y, weight, every.part)
    assert_array_equal(changed.inputs(), every.inputs())


def test_one_part_alone_sees_itself():
    every = rows(n=10)
    alone = CrossFitted(every.x, every.coded, every.y, None, np.zeros(10, dtype=int))
    assert np.all(np.isfinite(alone.inputs()))


def test_identities_have_codes():
    every = rows(n=10)
    assert_array_equal(every.identities()[:, 1], every.coded[0].codes)


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_constant_targets(value):
    means, mean = smoothed(grouped([0, 0, 1, 2], np.full(4, value)))
    assert_allclose(means, value)
    assert_allclose(mean, value)


def test_each_part_is_encoded_by_the_others():
    every = rows(n_levels=4)
    codes = by_part(every.coded[0].codes, every.part, 4)
    sums = Grouped.of(codes, 4 * N_FOLDS, every.y, None)
    means = apart(sums, 4)
    assert means.shape == (N_FOLDS + 1, 5, 2)
    for part in range(N_FOLDS):
        others = every.part != part
        wanted, mean = smoothed(Grouped.of(every.coded[0].codes[others], 4, every.y[others], None))
        assert_allclose(means[part], np.vstack((wanted, mean)))
    assert_allclose(means[N_FOLDS], np.vstack(smoothed(whole(sums, 4))))


def test_sums_over_other_rows_count():
    """A sample with the sums over all other rows is encoded as it is among all rows, but for rounding to 24 bits."""
    every, chosen = rows(), np.arange(300) % 3 == 0
    coded = every.coded[0]
    codes = by_part(coded.codes, every.part, coded.n_levels)[~chosen]
    beyond = [Grouped.of(codes, N_FOLDS * coded.n_levels, every.y[~chosen], None)]
    own = [Coded(coded.codes[chosen], coded.n_levels, coded.place)]
    sample = CrossFitted(every.x[chosen], own, every.y[chosen], None, every.part[chosen], beyond=beyond)
    assert_allclose(sample.inputs(), every.inputs()[chosen], atol=1e-6)
    held_out = np.arange(100) % 2 == 0
    among_all = np.zeros(300, dtype=bool)
    among_all[np.flatnonzero(chosen)[held_out]] = True
    assert_allclose(sample.inputs(held_out), every.inputs(among_all)[chosen], atol=1e-6)


def test_rounding_forgets_the_order_of_sums():
    means = np.random.default_rng(0).standard_normal((N_FOLDS + 1, 9, 2)) + np.array([0, 1e3])
    noisy = means * (1 + 1e-15)
    assert np.any(means != noisy)
    assert_array_equal(rounded(means), rounded(noisy))
    assert_allclose(rounded(means), means, rtol=0, atol=np.ptp(means, axis=(0, 1)).max() * 2.0**-23)
    assert_array_equal(rounded(np.full((6, 2, 1), 0.1)), np.full((6, 2, 1), 0.1))


def test_parts_of_places_do_not_depend_on_where_a_block_begins():
    assert_array_equal(parts_of_places(np.arange(50))[20:], parts_of_places(np.arange(20, 50)))


def test_targets_far_from_zero_lose_no_digits():
    codes, y = np.arange(300) % 20, np.random.default_rng(0).standard_normal((300, 1))
    (means, mean), (far, far_mean) = (
        smoothed(Grouped.of(codes, 20, y + shift, None, np.full(1, shift))) for shift in (0.0, 2.0**30)
    )
    assert_allclose(far - 2.0**30, means, atol=1e-6)
    assert_allclose(far_mean - 2.0**30, mean, atol=1e-6)
