import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.data.affine import Affine


@given(st.integers(1, 40))
def test_inverse(n_rows):
    x = np.random.default_rng(n_rows).standard_normal((n_rows, 2)) * [1.0, 1e3] + [0.0, 1e4]
    affine = Affine(np.array([3.0, -5.0]), np.array([0.1, 70.0]))
    assert_allclose(affine.apply(x), (x - [3.0, -5.0]) / [0.1, 70.0], rtol=1e-15)
    assert_allclose(affine.invert(affine.apply(x)), x, rtol=1e-12, atol=1e-12)


def test_slopes_are_constant_and_nothing_bends(xp):
    affine = Affine(xp.asarray(np.zeros(2)), xp.asarray(np.array([2.0, 4.0])))
    x = xp.asarray(np.ones((3, 2)))
    assert_array_equal(xp.host(affine.derivative(x)), np.tile([0.5, 0.25], (3, 1)))
    assert_array_equal(xp.host(affine.curvature(x)), np.zeros((3, 2)))
