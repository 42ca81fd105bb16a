import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fourierwalk.operators import Domain

BOX = Domain([0, -2], [1, 3])


def test_points_are_inside():
    points = BOX.inside(500)
    assert points.shape == (500, 2)
    assert np.all((points > [0, -2]) & (points < [1, 3]))
    assert np.all(np.ptp(points, axis=0) > [0.9, 4.5])


def test_faces():
    assert_array_equal(BOX.face(1, "lower", 4)[:, 1], -2.0)
    assert_array_equal(BOX.face(1, "upper", 4)[:, 1], 3.0)


def test_the_boundary_has_points_on_every_face():
    points = BOX.boundary(40)
    at_end = (points == [0, -2]) | (points == [1, 3])
    assert np.all(np.any(at_end, axis=1))
    assert np.all(np.sum(points == [0, -2], axis=0) == 10)
    assert_array_equal(np.isin(BOX.boundary(6, [0])[:, 0], [0, 1]), True)


def test_seeds():
    assert_array_equal(BOX.inside(3), BOX.inside(3))
    assert np.all(BOX.inside(3) != Domain([0, -2], [1, 3], seed=1).inside(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BOX.face(0, "left", 2), r"^side must be 'lower' or 'upper', got 'left'\.$"),
        (lambda: BOX.face(2, "lower", 2), r"^face\(j\) must be an input from 0 to 1, got 2\.$"),
        (lambda: Domain([0, 0], [1, 0]).inside(2), r"^upper must be above lower"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
