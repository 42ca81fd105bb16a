import numpy as np
from numpy.testing import assert_array_equal
from tables import problem

from fourierwalk import AdaptiveFourierRegressor, inputs


def test_equal_weights_are_no_weights():
    x, y, _ = problem(4)
    found = inputs.data(AdaptiveFourierRegressor(), x, y, [3, 0, 3, 3], None, None)
    assert found.weight is None
    assert_array_equal(found.x, x[[0, 2, 3]])


def test_rows_without_weight_are_left_out(xp):
    x, y, _ = problem(6)
    found = inputs.data(AdaptiveFourierRegressor(), xp.asarray(x), xp.asarray(y), [1, 0, 2, 0, 1, 1], None, None)
    assert_array_equal(xp.host(found.x), x[[0, 2, 4, 5]])
    assert_array_equal(xp.host(found.y), y[[0, 2, 4, 5]])
    assert_array_equal(xp.host(found.weight), [1, 2, 1, 1])
    assert inputs.data(AdaptiveFourierRegressor(), xp.asarray(x), xp.asarray(y), np.ones(6), None, None).weight is None
