from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_differentiable_kind

from fourierwalk.calculus import derivatives
from fourierwalk.data.affine import Affine
from fourierwalk.data.columns import Columns
from fourierwalk.data.rows import BLOCK_BYTES
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.smooth_clip import SmoothClip
from fourierwalk.model import FourierModel

CENTER, SCALE = np.array([3.0, -20.0, 0.5]), np.array([2.0, 0.1, 1.0])
FOURIER = ["complex", "cos-sin"]
SCALINGS = {
    "columns": lambda array: Affine(array(CENTER), array(SCALE)),
    "robust": lambda array: SmoothClip(array(CENTER), array(SCALE), array(np.array([True, True, False]))),
}
every_scaling = pytest.mark.parametrize("scaling", SCALINGS)
every_fourier_kind = pytest.mark.parametrize("kind", [FEATURES[name] for name in FOURIER], ids=FOURIER)


def model_of(kind, backend, scaling="columns", n_outputs=2):
    rng = np.random.default_rng(1)
    drawn = rng.standard_normal((5 * kind.features.n_unknowns, n_outputs))
    if kind is FEATURES["complex"]:
        drawn = drawn + 1j * rng.standard_normal(drawn.shape)
    targets = Affine(backend.asarray(np.zeros(n_outputs)), backend.asarray(np.ones(n_outputs)))
    omega, beta = kind.frequencies(5, 3), kind.amplitudes(drawn)
    offset = backend.asarray(np.full(n_outputs, 7.0))
    scaled = Scaling(SCALINGS[scaling](backend.asarray), targets, scaling)
    return FourierModel(backend.asarray(omega), backend.asarray(beta), offset, kind.features, scaled)


def inputs(n_rows=6):
    return np.random.default_rng(0).standard_normal((n_rows, 3)) * 2 * SCALE + CENTER


def differences(function, x, step=1e-5):
    """∂/∂xⱼ of a function of rows, by central differences, as the second axis."""
    moves = np.eye(3) * step * SCALE
    return np.stack(
        [(function(x + move) - function(x - move)) / (2 * step * SCALE[j]) for j, move in enumerate(moves)], 1
    )


@every_scaling
@every_differentiable_kind
def test_gradient(kind, scaling, anywhere):
    found = model_of(kind, anywhere, scaling).gradient(anywhere.asarray(inputs()))
    expected = differences(model_of(kind, Plain, scaling), inputs())
    assert found.shape == (6, 3, 2)
    assert_allclose(anywhere.host(found), expected, rtol=1e-6, atol=1e-6 * np.max(np.abs(expected)))


@every_scaling
@every_fourier_kind
def test_hessian_and_laplacian(kind, scaling, anywhere):
    model, x = model_of(kind, anywhere, scaling), anywhere.asarray(inputs())
    expected = differences(lambda x: model_of(kind, Plain, scaling).gradient(x), inputs())
    found = anywhere.host(model.hessian(x))
    assert found.shape == (6, 3, 3, 2)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.max(np.abs(expected)))
    assert_array_equal(found, np.swapaxes(found, 1, 2))
    trace = np.einsum("njjq->nq", found)
    assert_allclose(anywhere.host(model.laplacian(x)), trace, rtol=1e-9, atol=1e-11 * np.max(np.abs(trace)))


@every_scaling
@every_fourier_kind
def test_every_library_says_what_numpy_says(kind, scaling, foreign):
    model, plain = model_of(kind, foreign, scaling), model_of(kind, Plain, scaling)
    for what in ("gradient", "hessian", "laplacian"):
        expected = getattr(plain, what)(inputs())
        found = foreign.host(getattr(model, what)(foreign.asarray(inputs())))
        assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.max(np.abs(expected)))


@every_scaling
def test_one_output_has_no_axis_of_outputs(scaling):
    model = model_of(FEATURES["cos-sin"], Plain, scaling, n_outputs=1)
    assert model.gradient(inputs()).shape == (6, 3)
    assert model.hessian(inputs()).shape == (6, 3, 3)
    assert model.laplacian(inputs()).shape == (6,)


def test_derivatives_ignore_the_bounds():
    model = model_of(FEATURES["cos-sin"], Plain)
    clipped = replace(model, bounds=np.array([[0.0, 0.0], [1e-9, 1e-9]]))
    assert_array_equal(clipped.gradient(inputs()), model.gradient(inputs()))


def test_blocks_change_nothing():
    """Features that are not waves are taken block by block: here four, and one for a quarter of the rows."""
    model, n = model_of(FEATURES["sigmoid"], Plain), BLOCK_BYTES // (2 * 8 * 32)
    rng = np.random.default_rng(0)
    model = replace(model, frequencies=rng.standard_normal((n, 4)), amplitudes=rng.standard_normal((n, 1)) / n)
    x = np.resize(inputs(), (4 * 32, 3))
    at_once = np.concatenate([model.gradient(x[i : i + 32]) for i in range(0, 128, 32)])
    assert_allclose(model.gradient(x), at_once, rtol=1e-12, atol=1e-12)


def test_sparse_inputs():
    model, x = model_of(FEATURES["cos-sin"], Plain), np.round(inputs())
    assert_allclose(model.gradient(scipy.sparse.csr_array(x)), model.gradient(x), rtol=1e-9)


def test_inputs_that_were_dropped_have_no_derivative():
    model = model_of(FEATURES["cos-sin"], Plain)
    lifted = Columns(np.array([0, 2]), 3).lift(model.frequencies[:, [0, 2]])
    model = replace(model, frequencies=lifted)
    assert_array_equal(model.gradient(inputs())[:, 1], 0.0)
    assert_array_equal(model.hessian(inputs())[:, 1], 0.0)


@pytest.mark.parametrize("what", ["hessian", "laplacian"])
def test_second_derivatives_need_waves(what):
    with pytest.raises(ValueError, match=rf"^{what} needs Fourier features .* got 'sigmoid'\.$"):
        getattr(derivatives, what)(model_of(FEATURES["sigmoid"], Plain), inputs())


def test_features_without_slopes():
    with pytest.raises(ValueError, match=r"^gradient needs features with slopes, got 'cosines', which have none\.$"):
        model_of(FEATURES["user's own"], Plain).gradient(inputs())
