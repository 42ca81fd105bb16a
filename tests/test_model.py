import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_kind

from fourierwalk import model as model_module
from fourierwalk import rows as rows_module
from fourierwalk.features import ComplexExponentials, CosineSine
from fourierwalk.model import FourierModel
from fourierwalk.scaling import Affine, Scaling

CENTER, SCALE, OFFSET = np.array([3.0, -20.0]), np.array([2.0, 0.1]), np.array([100.0, -7.0])
FOURIER = ["complex", "cos-sin"]
N_FREQUENCIES = 4


def inputs(n_rows=9):
    return np.random.default_rng(0).standard_normal((n_rows, 2)) * SCALE + CENTER


def unknowns(kind):
    rng = np.random.default_rng(1)
    drawn = rng.standard_normal((N_FREQUENCIES * kind.features.n_unknowns, 2))
    return drawn + 1j * rng.standard_normal(drawn.shape) if kind is FEATURES["complex"] else drawn


def model_of(kind, backend):
    center, scale, offset = (backend.asarray(part) for part in (CENTER, SCALE, OFFSET))
    scaling = Scaling(Affine(center, scale), Affine(offset, backend.asarray(np.ones(2))), "columns")
    omega, amplitudes = kind.frequencies(N_FREQUENCIES, 2), kind.amplitudes(unknowns(kind))
    return FourierModel(backend.asarray(omega), backend.asarray(amplitudes), offset, kind.features, scaling)


def design(kind):
    return kind.design((inputs() - CENTER) / SCALE, kind.frequencies(N_FREQUENCIES, 2))


@every_kind
def test_values_are_the_definition(kind, anywhere):
    values = model_of(kind, anywhere)(anywhere.asarray(inputs()))
    assert_allclose(anywhere.host(values), OFFSET + (design(kind) @ unknowns(kind)).real, atol=1e-11)


@every_kind
def test_blocks_change_nothing(kind, xp, monkeypatch):
    model, x = model_of(kind, xp), xp.asarray(inputs())
    at_once = xp.host(model(x))
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * N_FREQUENCIES * 2 * 2)
    assert_allclose(xp.host(model(x)), at_once, atol=1e-12)


@pytest.mark.parametrize("name", FOURIER)
def test_complex_values(name, anywhere):
    """Σ βₖ exp(iωₖ·x̃) + offset, from the amplitudes of either kind."""
    kind = FEATURES[name]
    values = model_of(kind, anywhere).complex_values(anywhere.asarray(inputs()))
    waves = FEATURES["complex"].design((inputs() - CENTER) / SCALE, kind.frequencies(N_FREQUENCIES, 2))
    assert_allclose(anywhere.host(values), OFFSET + waves @ kind.amplitudes(unknowns(kind)), atol=1e-11)


@pytest.mark.parametrize("name", sorted(set(FEATURES) - set(FOURIER)))
def test_complex_values_of_real_features_are_their_values(name, anywhere):
    model, x = model_of(FEATURES[name], anywhere), anywhere.asarray(inputs())
    assert anywhere.dtype(model.complex_values(x)) == "complex128"
    assert_array_equal(anywhere.host(model.complex_values(x)), anywhere.host(model(x)))


@every_kind
def test_columns(kind, anywhere):
    columns = model_of(kind, anywhere).columns(anywhere.asarray(inputs()))
    expected = design(kind)
    if np.iscomplexobj(expected):
        expected = np.hstack([expected.real, expected.imag])
    assert_allclose(anywhere.host(columns), expected, atol=1e-11)


@pytest.mark.parametrize("name", FOURIER)
def test_spectrum_is_in_the_inputs_own_units(name, anywhere):
    model = model_of(FEATURES[name], anywhere)
    omega, beta = (anywhere.host(part) for part in model.spectrum())
    values = OFFSET + (np.exp(1j * inputs() @ omega.T) @ beta).real
    assert_allclose(anywhere.host(model(anywhere.asarray(inputs()))), values, atol=1e-11)
    assert_allclose(omega, FEATURES[name].frequencies(N_FREQUENCIES, 2) / SCALE)
    assert_allclose(np.abs(beta), np.abs(FEATURES[name].amplitudes(unknowns(FEATURES[name]))))


@pytest.mark.parametrize("name", sorted(set(FEATURES) - set(FOURIER)))
def test_other_features_have_no_spectrum(name, xp):
    with pytest.raises(ValueError, match=f"spectrum needs Fourier features .*got {FEATURES[name].features.name!r}"):
        model_of(FEATURES[name], xp).spectrum()


@every_kind
def test_sparse_inputs(kind):
    model = model_of(kind, Plain)
    assert_allclose(model(scipy.sparse.csr_array(inputs())), model(inputs()), atol=1e-10)


@every_kind
def test_models_pickle(kind, xp):
    model, x = model_of(kind, xp), xp.asarray(inputs())
    assert_array_equal(xp.host(pickle.loads(pickle.dumps(model))(x)), xp.host(model(x)))


@pytest.mark.parametrize("features", [ComplexExponentials(), CosineSine()], ids=lambda f: f.name)
def test_values_through_a_transform_are_those_of_the_sum(features, monkeypatch):
    pytest.importorskip("finufft")
    rng = np.random.default_rng(0)
    x = 3 + 5 * rng.standard_normal((400, 2))
    scaling = Scaling.fit(x, x)
    beta = rng.standard_normal((20, 2)) + 1j * rng.standard_normal((20, 2))
    model = FourierModel(rng.standard_normal((20, 2)), beta, np.array([1.0, -2.0]), features, scaling)
    direct = model(x)
    called = []
    evaluate = model_module.spectral.evaluate
    monkeypatch.setattr(model_module.spectral, "evaluate", lambda *a: called.append(1) or evaluate(*a))
    monkeypatch.setattr(model_module, "LEAST_WORK", 1.0)
    np.testing.assert_allclose(model(x), direct, atol=1e-9)
    assert called
