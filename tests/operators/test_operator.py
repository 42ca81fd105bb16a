import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables import FEATURES, Plain

from fourierwalk.data.affine import Affine
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.smooth_clip import SmoothClip
from fourierwalk.model import FourierModel
from fourierwalk.operators import at, d, divergence, identity, laplacian
from fourierwalk.operators.operator import Derivative

CENTER, SCALE = np.array([3.0, -2.0]), np.array([2.0, 0.5])
OPERATORS = {
    "identity": (identity(), lambda f, x: f(x)[:, 0]),
    "first": (d(1), lambda f, x: slope(lambda x: f(x)[:, 0], x, 1)),
    "mixed": (d(0, 1), lambda f, x: slope(lambda x: slope(lambda x: f(x)[:, 0], x, 0), x, 1)),
    "sum": (2 * d(0) - identity().of(1), lambda f, x: 2 * slope(lambda x: f(x)[:, 0], x, 0) - f(x)[:, 1]),
    "function": ((lambda x: x[:, 0] ** 2) * d(0), lambda f, x: x[:, 0] ** 2 * slope(lambda x: f(x)[:, 0], x, 0)),
    "periodic": (identity() - at(1.0, 0.5), lambda f, x: (f(x) - f(x + np.array([1.0, 0.5])))[:, 0]),
    "divergence": (
        divergence(2),
        lambda f, x: slope(lambda x: f(x)[:, 0], x, 0) + slope(lambda x: f(x)[:, 1], x, 1),
    ),
}


def slope(function, x, j, step=1e-4):
    move = np.eye(2)[j] * step
    return (function(x + move) - function(x - move)) / (2 * step)


def model_of(backend, clips=False, name="cos-sin"):
    rng, kind = np.random.default_rng(0), FEATURES[name]
    beta = kind.amplitudes(rng.standard_normal((4 * kind.features.n_unknowns, 2)))
    center, scale = backend.asarray(CENTER), backend.asarray(SCALE)
    inputs = SmoothClip(center, scale, backend.asarray(np.ones(2, dtype=bool))) if clips else Affine(center, scale)
    offset = backend.asarray(np.array([5.0, -1.0]))
    scaling = Scaling(inputs, Affine(offset, backend.asarray(np.ones(2))), "robust" if clips else "columns")
    return FourierModel(backend.asarray(kind.frequencies(4, 2)), backend.asarray(beta), offset, kind.features, scaling)


def points():
    return np.random.default_rng(1).standard_normal((7, 2)) * SCALE + CENTER


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_a_model(name, anywhere):
    operator, expected = OPERATORS[name]
    if name == "function" and anywhere.name == "array-api-strict":
        operator = (lambda x: np.asarray(x)[:, 0] ** 2) * d(0)
    found = anywhere.host(operator(model_of(anywhere), anywhere.asarray(points())))
    assert_allclose(found, expected(model_of(Plain), points()), rtol=1e-5, atol=1e-5)
    assert_allclose(found, OPERATORS[name][0](model_of(Plain), points()), rtol=1e-9, atol=1e-11)


def test_a_laplacian_is_the_models_own():
    model = model_of(Plain)
    assert_allclose(laplacian(0, 1)(model, points()), model.laplacian(points())[:, 0], atol=1e-9)


@pytest.mark.parametrize(
    "one", [Derivative((0, 0, 1)), Derivative((1,), 0, (0.3, -2.0)), Derivative((), 0, (1.0, 0.0))]
)
def test_slopes_of_symbols(one, anywhere):
    omega, step = np.random.default_rng(0).standard_normal((5, 2)), 1e-6
    found = anywhere.host(one.slopes(anywhere.asarray(omega)))
    for j, move in enumerate(np.eye(2) * step):
        assert_allclose(found[:, j], (one.symbol(omega + move) - one.symbol(omega - move)) / (2 * step), atol=1e-8)


def test_operators_read_as_they_are_written():
    assert repr(d(1) - 3 * laplacian(0, 2)) == "d(1) - 3·d(0, 0) - 3·d(2, 2)"
    assert repr(np.float64(2) * identity().of(1)) == "2·identity.of(1)"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: d(), ValueError, r"^d\(…\) needs one or more inputs, as integers from 0, got none\.$"),
        (lambda: d(-1), ValueError, r"got -1\.$"),
        (lambda: laplacian(), ValueError, r"^laplacian\(…\) needs the inputs"),
        (lambda: np.ones(3) * d(0), TypeError, r"multiplied by a real number or by a function of x, got ndarray"),
        (lambda: d(2)(model_of(Plain), points()), ValueError, r"^d\(2\) needs an input 2, got points of 2 inputs"),
        (lambda: at(1.0)(model_of(Plain), points()), ValueError, r"^at\(shift\) must have one entry for each of 2"),
        (lambda: d(0).of(2)(model_of(Plain), points()), ValueError, r"^an operator of output 2 needs a model with it"),
        (
            lambda: d(0)(model_of(Plain, clips=True), points()),
            ValueError,
            r"^an operator needs inputs that are scaled w",
        ),
        (lambda: d(0)(model_of(Plain, name="sigmoid"), points()), ValueError, r"^an operator needs Fourier features"),
        (
            lambda: ((lambda x: x) * d(0))(model_of(Plain), points()),
            ValueError,
            r"^a function that multiplies an operator must return one number for each of 7 points",
        ),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_operators_are_summed_but_not_multiplied():
    assert repr(sum([d(0, 0), d(1, 1)])) == repr(d(0, 0) + d(1, 1))
    with pytest.raises(TypeError, match=r"operators cannot be multiplied by each other: write d\(0, 1\)"):
        d(0) * d(1)
