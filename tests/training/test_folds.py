"""Rows held out in turn."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from tables import problem

from fourierwalk.data import hashes
from fourierwalk.training import folds as module
from fourierwalk.training.folds import Folds, row_hash
from fourierwalk.training.policy import DEFAULT

FEW = 1000


def plain_rows(n_rows, seed=0):
    return np.random.default_rng(seed).standard_normal((n_rows, 2))


def folds(x, fraction, seed, *others, **named):
    """The folds of some rows."""
    return module.folds(row_hash(x, seed), fraction, seed, *others, **named)


def masks(split):
    """Which rows each fold holds out, (n_folds, n_rows)."""
    return np.array([split.mask(fold) for fold in range(len(split))])


# Hashes


@given(order=st.permutations(range(12)), repeat=st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_equal_rows_have_equal_hashes_wherever_they_stand(order, repeat):
    x = problem(12)[0]
    places = np.repeat(order, repeat)
    assert_array_equal(row_hash(x[places], 1), row_hash(x, 1)[places])


def test_other_rows_have_other_hashes():
    x = np.round(np.random.default_rng(0).standard_normal((5000, 3)), 6)
    assert np.unique(row_hash(x, 0)).size == 5000
    assert np.unique(row_hash(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, -2.0], [0.0, 0.0]]), 0)).size == 4


def test_hashes_know_their_seed():
    x = problem(50)[0]
    assert not np.any(row_hash(x, 0) == row_hash(x, 1))
    assert_array_equal(row_hash(x, 0), row_hash(x, 0))


def test_hashes_are_the_same_in_every_library(xp):
    x = problem(50)[0]
    assert_array_equal(row_hash(xp.asarray(x), 3), row_hash(x, 3))


def test_hashes_are_the_same_in_either_precision():
    x = problem(50)[0].astype(np.float32)
    assert_array_equal(row_hash(x, 3), row_hash(x.astype(np.float64), 3))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_hashes_of_many_rows_are_those_of_few(n_threads, monkeypatch):
    """They are made in blocks, and where there are very many entries in several threads."""
    monkeypatch.setattr(hashes, "blas_threads", lambda: n_threads)
    x = np.random.default_rng(0).standard_normal((9000, 120))
    assert_array_equal(row_hash(x, 0)[4000:4200], row_hash(x[4000:4200], 0))


def test_the_two_zeros_are_one():
    assert_array_equal(row_hash(np.array([[0.0, 1.0]]), 0), row_hash(np.array([[-0.0, 1.0]]), 0))


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_sparse_rows_hash_like_dense_ones(kind):
    x = scipy.sparse.random_array((60, 9), density=0.3, rng=np.random.default_rng(0)).toarray()
    x[3] = 0
    assert_array_equal(row_hash(kind(x), 7), row_hash(x, 7))


def test_stored_zeros_and_duplicates_do_not_change_a_sparse_hash():
    stored = scipy.sparse.csr_array((np.array([0.0, 2.0, 1.0, 2.0, -0.0]), ([0, 0, 1, 1, 1], [0, 1, 0, 0, 1])), (2, 2))
    odd = scipy.sparse.csr_array(
        (np.array([0.0, 2.0, 1.0, 2.0]), np.array([0, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2)
    )
    before = odd.data.copy()
    assert_array_equal(row_hash(stored, 0), row_hash(np.array([[0.0, 2.0], [3.0, 0.0]]), 0))
    assert_array_equal(row_hash(odd, 0), row_hash(np.array([[0.0, 2.0], [3.0, 0.0]]), 0))
    assert_array_equal(odd.data, before)


# What folds are


def test_masks_and_the_random_order():
    split = Folds(np.array([2, 0, 2, 1, 3]), [np.array([2]), np.array([0, 1])], 4)
    assert len(split) == 2
    assert_array_equal(split.mask(0), [True, False, True, False, False])
    assert_array_equal(split.mask(1), [False, True, False, True, False])
    assert_array_equal(split.mask(2), split.mask(0))  # further members begin again
    assert split.mask(0).dtype == bool
    assert_array_equal(split.shuffled(np.arange(5)), [1, 3, 0, 2, 4])
    assert_array_equal(split.shuffled(np.array([4, 2, 1])), [1, 2, 4])


def test_the_random_order_is_random_and_that_of_the_contents():
    x = np.sort(plain_rows(500), axis=0)
    split = folds(x, 0.1, 0)
    order = split.shuffled(np.arange(500))
    assert_array_equal(np.sort(order), np.arange(500))
    assert abs(np.corrcoef(order, np.arange(500))[0, 1]) < 0.2
    assert_array_equal(folds(x[::-1], 0.1, 0).shuffled(np.arange(500)), 499 - order)
    assert np.mean(folds(x, 0.1, 1).shuffled(np.arange(500)) == order) < 0.1


# Shares of the rows


@pytest.mark.parametrize(("fraction", "n_folds"), [(0.05, 20), (0.1, 10), (0.3, 3), (0.5, 2), (0.9, 1)])
def test_each_fold_has_its_share(fraction, n_folds):
    x = plain_rows(2000)
    held = masks(folds(x, fraction, 0))
    assert held.shape == (n_folds, 2000)
    assert_array_equal(held.sum(axis=1), np.full(n_folds, round(2000 * fraction)))
    others = masks(folds(x, fraction, 1))
    assert np.mean(held[0] & others[0]) == pytest.approx(fraction**2, abs=0.02)


@given(n_rows=st.integers(100, 300), fraction=st.floats(0.02, 0.98), seed=st.integers(0, 99))
def test_folds_are_disjoint(n_rows, fraction, seed):
    """Together they hold out what whole shares there are."""
    split = folds(plain_rows(n_rows, seed), fraction, seed)
    held = masks(split)
    assert held.sum(axis=0).max() == 1
    assert np.all(np.abs(held.sum(axis=1) - fraction * n_rows) <= 1)
    assert len(split) == int(1 / fraction + 1e-9)


@given(n_rows=st.integers(100, 300), seed=st.integers(0, 99))
def test_every_row_is_held_out_once_where_rows_are_few(n_rows, seed):
    x = plain_rows(n_rows, seed)
    held = masks(folds(x, 0.1, seed, few=FEW))
    assert len(held) == DEFAULT.folds
    assert_array_equal(held.sum(axis=0), np.ones(n_rows))
    assert np.ptp(held.sum(axis=1)) <= 1


def test_few_counts_distinct_rows():
    x = plain_rows(200)
    assert len(folds(x, 0.1, 0, few=201)) == DEFAULT.folds
    assert len(folds(x, 0.1, 0, few=200)) == 10
    assert len(folds(np.tile(x, (3, 1)), 0.1, 0, few=201)) == DEFAULT.folds
    assert folds(np.tile(x, (3, 1)), 0.1, 0).n_rows == 200


def test_too_few_distinct_rows_are_not_split():
    for few, least in ((0, DEFAULT.least_split), (FEW, DEFAULT.least_rows)):
        x = plain_rows(least)
        assert folds(x, 0.2, 0, few=few) is not None
        assert folds(x[1:], 0.2, 0, few=few) is None
        assert folds(np.tile(x[1:], (50, 1)), 0.2, 0, few=few) is None


@pytest.mark.parametrize("fraction", [1e-12, 1e-4, 1 - 1e-12])
def test_a_split_with_an_empty_side_is_none(fraction):
    assert folds(plain_rows(200), fraction, 0) is None


@given(seed=st.integers(0, 99), few=st.sampled_from([0, FEW]))
def test_equal_rows_stay_together_in_any_order(seed, few):
    """Repeated rows in another order have the folds of the rows that they repeat."""
    x, rng = plain_rows(150, seed), np.random.default_rng(seed)
    again = rng.permutation(np.repeat(np.arange(150), rng.integers(1, 4, 150)))
    expected = masks(folds(x, 0.1, seed, few=few))
    assert_array_equal(masks(folds(x[again], 0.1, seed, few=few)), expected[:, again])


def test_folds_are_the_same_in_every_library(xp):
    x = plain_rows(150)
    assert_array_equal(masks(folds(xp.asarray(x), 0.1, 0)), masks(folds(x, 0.1, 0)))
    assert_array_equal(masks(folds(scipy.sparse.csr_array(x), 0.1, 0)), masks(folds(x, 0.1, 0)))


# Classes


def labelled(counts, seed):
    """Distinct rows whose labels come so many times each, in any order, and each row up to thrice."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    again = rng.permutation(np.repeat(np.arange(labels.size), rng.integers(1, 4, labels.size)))
    return rng.standard_normal((labels.size, 2)), labels, again


CLASSES = st.lists(st.integers(0, 90), min_size=1, max_size=5).filter(lambda counts: sum(counts) >= 100)


@given(
    counts=CLASSES,
    seed=st.integers(0, 99),
    fraction=st.sampled_from([0.1, 0.2, 0.3, 0.5]),
    few=st.sampled_from([0, FEW]),
)
def test_every_fold_has_its_share_of_every_class(counts, seed, fraction, few):
    x, labels, again = labelled(counts, seed)
    split = folds(x, fraction, seed, labels, few=few)
    held = masks(split)
    share = 1 / DEFAULT.folds if few else fraction
    assert held.sum(axis=0).max() == 1
    for name, count in enumerate(counts):
        of_class = held[:, labels == name].sum(axis=1)
        if count < len(split):
            assert_array_equal(of_class, 0)
        else:
            assert of_class.min() >= 1
            assert np.all(np.abs(of_class - share * count) < 1)
            assert of_class.sum() == (count if few else int(share * len(split) * count + 0.5))
    assert_array_equal(masks(folds(x[again], fraction, seed, labels[again], few=few)), held[:, again])


@pytest.mark.parametrize(("few", "n_folds"), [(0, 10), (FEW, DEFAULT.folds)])
def test_too_small_a_class_is_never_held_out(few, n_folds):
    """With fewer distinct rows than folds some members would not know it, or could not be judged by it."""
    for n_small in range(1, 2 * n_folds):
        x, labels, _ = labelled([300, n_small], n_small)
        held = masks(folds(x, 0.1, 0, labels, few=few))
        assert len(held) == n_folds
        assert np.any(held[:, labels == 1]) == (n_small >= n_folds)
        assert np.any(held[:, labels == 0], axis=1).all()


def test_repeats_do_not_make_a_small_class_large():
    x, labels, _ = labelled([300, 4], 0)
    again = np.repeat(np.arange(304), np.where(labels == 1, 20, 1))
    assert not masks(folds(x[again], 0.1, 0, labels[again]))[:, labels[again] == 1].any()


def test_a_large_share_leaves_rows_of_every_class():
    x, labels, _ = labelled([300, 4, 20], 0)
    mask = folds(x, 0.9, 0, labels).mask(0)
    assert [int(mask[labels == name].sum()) for name in range(3)] == [270, 0, 18]


def test_many_classes_of_few_rows_are_not_split():
    x, labels, _ = labelled([3] * 50, 0)
    assert folds(x, 0.1, 0, labels) is None
    assert folds(x, 0.1, 0, labels, few=FEW) is None


def test_equal_rows_of_different_labels_stay_together():
    rng = np.random.default_rng(0)
    x = np.tile(rng.standard_normal((150, 2)), (2, 1))
    labels = np.repeat([0, 1], 150)
    order = rng.permutation(300)
    held = masks(folds(x, 0.2, 0, labels))
    assert_array_equal(held[:, :150], held[:, 150:])
    assert_array_equal(held.sum(axis=1), np.full(5, 60))
    assert_array_equal(masks(folds(x[order], 0.2, 0, labels[order])), held[:, order])


# Groups


@given(n_groups=st.integers(5, 60), seed=st.integers(0, 99), few=st.sampled_from([0, FEW]))
def test_rows_of_a_group_stay_together(n_groups, seed, few):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.arange(300) % n_groups)
    x = plain_rows(300, seed)
    held = masks(folds(x, 0.1, seed, None, groups, few))
    for name in range(n_groups):
        assert_array_equal(held[:, groups == name].any(axis=1), held[:, groups == name].all(axis=1))
    assert_array_equal(held.sum(axis=0), np.ones(300))
    assert held.any(axis=1).all()
    n_held = [np.unique(groups[mask]).size for mask in held]
    assert max(n_held) - min(n_held) <= 1
    order = rng.permutation(300)
    assert_array_equal(masks(folds(x[order], 0.1, seed, None, groups[order], few)), held[:, order])


def test_groups_keep_equal_rows_of_two_groups_apart_and_count_rows_not_groups():
    x, groups = plain_rows(150), np.arange(300) % 20
    split = folds(np.tile(x, (2, 1)), 0.1, 0, None, groups)
    assert split.n_rows == 150
    assert np.unique(split.unit).size == 20
    assert folds(x[:90], 0.1, 0, None, groups[:90]) is None  # of too few rows, however many groups there are


def test_groups_come_before_classes():
    """Every group is held out, also those of a class that only few groups have."""
    x, groups = plain_rows(300), np.arange(300) // 15
    labels = (groups >= 15).astype(int)
    assert_array_equal(masks(folds(x, 0.1, 0, labels, groups)), masks(folds(x, 0.1, 0, None, groups)))


@pytest.mark.parametrize(("few", "n_folds"), [(0, 10), (FEW, DEFAULT.folds)])
def test_fewer_groups_than_folds(few, n_folds):
    """Five are enough: each is then held out once."""
    x, least = plain_rows(300), DEFAULT.folds
    assert len(folds(x, 0.1, 0, None, np.arange(300) % 40, few)) == n_folds
    for n_groups in range(least, n_folds + 1):
        found = folds(x, 0.1, 0, None, np.arange(300) % n_groups, few)
        assert len(found) == min(n_groups, n_folds)
        assert_array_equal(masks(found).sum(axis=0), np.ones(300))
    sentence = f"groups must name at least {least} groups, one for each fold, got {least - 1}."
    with pytest.raises(ValueError, match=sentence):
        folds(x, 0.1, 0, None, np.arange(300) % (least - 1), few)
