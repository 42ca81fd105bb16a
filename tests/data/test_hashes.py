import numpy as np

from fourierwalk.data.hashes import below, place_hash, row_hash


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
