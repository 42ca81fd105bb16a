import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fourierwalk.operators import Condition, d, identity

POINTS = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("values", [2.0, [2.0, 2.0, 2.0], np.full((3, 1), 2.0), lambda x: 0 * x[:, 0] + 2])
def test_values(values, xp):
    condition = Condition(identity(), xp.asarray(POINTS), values)
    assert_array_equal(condition.values, [2.0, 2.0, 2.0])
    assert_array_equal(condition.points, POINTS)


def test_take():
    some = Condition(identity(), POINTS, [1.0, 2.0, 3.0], "data").take(np.array([2, 0]))
    assert_array_equal(some.values, [3.0, 1.0])
    assert_array_equal(some.points, POINTS[[2, 0]])
    assert some.label == "data"


def test_a_condition_without_a_name_is_called_by_its_operator():
    assert Condition(d(0), POINTS).label == "d(0)"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("u", POINTS), TypeError, r"must be an Operator, such as identity\(\), got str\.$"),
        ((identity(), POINTS[0]), ValueError, r"must have the shape \(n, d\), got \(2,\)\.$"),
        ((identity(), POINTS * np.nan), ValueError, r"points=…\) must be finite"),
        ((d(2), POINTS), ValueError, r"^d\(2\) needs an input 2, got points of 2 inputs: they are counted from 0\.$"),
        ((identity(), POINTS, [1.0, 2.0]), ValueError, r"one entry for each of 3 points, got the shape \(2,\)\.$"),
        ((identity(), POINTS, np.inf), ValueError, r"values=…\) must be finite"),
    ],
)
def test_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        Condition(*arguments)
