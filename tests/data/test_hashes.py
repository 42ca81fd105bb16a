import itertools

import numpy as np
import scipy.sparse
from numpy.testing import assert_array_equal

from fourierwalk.data.hashes import below, identity_hash, picked_places, place_hash, row_hash


def test_places_have_the_same_hash_however_they_are_divided():
    whole = place_hash(0, 1000, 3)
    assert np.array_equal(np.concatenate([place_hash(0, 300, 3), place_hash(300, 700, 3)]), whole)
    assert np.unique(whole).size == 1000
    assert not np.any(whole == place_hash(0, 1000, 4))


def test_about_the_share_is_below_it():
    picked = below(place_hash(0, 100_000, 0), 0.1)
    assert abs(picked.mean() - 0.1) < 0.005
    halves = picked.reshape(2, -1).mean(axis=1)
    assert abs(halves[0] - halves[1]) < 0.01
    assert below(place_hash(0, 10, 0), 1.0).all()


def test_equal_rows_have_equal_hashes():
    x = np.random.default_rng(0).standard_normal((5, 3))
    assert np.array_equal(row_hash(np.concatenate([x, x]), 1)[:5], row_hash(np.concatenate([x, x]), 1)[5:])


def test_picked_places_do_not_depend_on_the_division():
    whole = picked_places(0, 10_000, 10_000, 700, 3)
    bounds = [0, 1, 1, 2, 999, 5000, 9999, 10_000]
    parts = [picked_places(low, high, 10_000, 700, 3) for low, high in itertools.pairwise(bounds)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(np.unique(whole), whole)
    assert whole.size == 700
    assert not np.array_equal(whole, picked_places(0, 10_000, 10_000, 700, 4))
    assert np.array_equal(picked_places(0, 50, 50, 50, 0), np.arange(50))


def test_every_place_is_picked_equally_often():
    counts = np.bincount(np.concatenate([picked_places(0, 100, 100, 7, seed) for seed in range(3000)]), minlength=100)
    assert np.all(np.abs(counts - 210) < 5 * np.sqrt(210))


def test_identities_of_few_bits_differ():
    """Small whole numbers, one-hot columns: all rows that differ have other hashes, dense or sparse."""
    x = np.array(list(itertools.product([0.0, 1.0, 2.0, 4.0], repeat=5)))
    assert np.unique(identity_hash(x)).size == len(x)
    one_hot = np.eye(3000)
    assert np.unique(identity_hash(one_hot)).size == 3000
    assert_array_equal(identity_hash(scipy.sparse.csr_array(one_hot)), identity_hash(one_hot))
