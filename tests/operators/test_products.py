"""The least residual of products of functions, against problems whose answer is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fourierwalk.operators import Condition, Domain, at, d, identity, laplacian
from fourierwalk.operators.posed import Posed
from fourierwalk.operators.products import ProductResidual

CUBE = Domain([0] * 3, [1] * 3)
PI = np.pi


def residual(*conditions, sizes=None):
    posed = Posed.of(conditions)
    sizes = posed.sizes(PI).tolist() if sizes is None else sizes
    return ProductResidual.of(posed.blocks, sizes, posed.features.derivatives)


def helmholtz(number):
    """Δu + number · u inside, u around. On the unit cube it is singular for the number 3π²."""
    inside = np.concatenate((CUBE.inside(100), np.zeros((1, 3)), np.ones((1, 3))))  # the box of the points is the cube
    return [Condition(laplacian(0, 1, 2) + number * identity(), inside), Condition(identity(), CUBE.boundary(600))]


def test_values_everywhere_leave_the_residual_of_one():
    """The six points that span the box are taken to be on its faces, where the function may be zero."""
    found = residual(Condition(2 * identity(), CUBE.inside(50)), sizes=[4.0]).least()
    assert_allclose(found, 0.5 * (44 / 50) ** 0.5, rtol=1e-3)


def test_a_derivative_alone_leaves_a_constant_open():
    assert residual(*(Condition(d(j), CUBE.inside(50)) for j in range(3))).least() < 1e-6


def test_the_least_slope_of_a_function_that_is_zero_at_both_ends():
    """Of functions of one input that vanish at −1 and 1, cos(πx/2) has the least mean squared slope, (π/2)²."""
    line = Domain([-1], [1])
    slope, ends = Condition(d(0), np.linspace(-1, 1, 400)[1:-1, None]), Condition(identity(), line.boundary(100))
    found = residual(slope, ends, sizes=[2**-0.5, 1e-4]).least()  # two conditions: each has half of the weight
    assert_allclose(found, PI / 2, rtol=1e-4)


@pytest.mark.parametrize(("number", "is_open"), [(3 * PI**2, True), (2.5 * PI**2, False)])
def test_an_eigenvalue_of_the_laplacian(number, is_open):
    assert (residual(*helmholtz(number)).least() < 1e-4) is is_open


def test_periodic_functions_stay_open():
    periodic = Condition(identity() - at(1.0, 0.0, 0.0), np.concatenate([CUBE.face(0, "lower", 50), np.ones((1, 3))]))
    assert residual(Condition(d(1), CUBE.inside(50)), periodic).least() < 1e-6


def test_several_outputs():
    """The sum of two outputs is zero: the second may be minus the first."""
    both = Condition(identity() + identity().of(1), CUBE.inside(50))
    assert residual(both).least() < 1e-6
    assert residual(both, Condition(identity() - identity().of(1), CUBE.inside(50)), sizes=[1.0, 1.0]).least() > 0.5


def test_coefficients_that_depend_on_x_are_left_alone():
    assert residual(Condition((lambda x: 1 + x[:, 0]) * d(0), CUBE.inside(50))) is None
