import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.weights import weights


@pytest.mark.parametrize(
    ("given_weight", "expected"),
    [
        ([1, 2, 0, 5], [1, 2, 0, 5]),
        ([1.0, 2.0, 0.0, 5.0], [1, 2, 0, 5]),
        ([0.5, 1.5, 0.0, 1.0], [0.5, 1.5, 0.0, 1.0]),
        ([0.1, 0.1, 0.0, 0.4], [0.5, 0.5, 0.0, 2.0]),
    ],
    ids=str,
)
def test_whole_weights_stay_and_others_have_a_mean_of_one(given_weight, expected):
    assert_allclose(weights(given_weight, 4), expected)


@pytest.mark.parametrize(
    ("given_weight", "expected"),
    [
        ([2, 2, 2, 2], [1, 1, 1, 1]),
        ([0.5] * 4, [1, 1, 1, 1]),
        ([3, 0, 3, 3], [1, 0, 1, 1]),
        ([0.1, 0.1, 0.0, 0.1], [1, 1, 0, 1]),
        ([0, 0, 7, 0], [0, 0, 1, 0]),
        (3, [1, 1, 1, 1]),
        (0.3, [1, 1, 1, 1]),
        ([True, False, True, True], [1, 0, 1, 1]),
    ],
    ids=str,
)
def test_equal_weights_of_any_size_are_one(given_weight, expected):
    found = weights(given_weight, 4)
    assert found.dtype == np.float64
    assert_array_equal(found, expected)
