import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_differentiable_kind, every_kind, problem

from fourierwalk import model as model_module
from fourierwalk.data.affine import Affine
from fourierwalk.data.features import ComplexExponentials, CosineSine
from fourierwalk.data.rows import BLOCK_BYTES, Block, Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.smooth_clip import SmoothClip
from fourierwalk.model import FourierModel, mean_squared_gradients

CENTER, SCALE, OFFSET = np.array([3.0, -20.0]), np.array([2.0, 0.1]), np.array([100.0, -7.0])
FOURIER = ["complex", "cos-sin"]
N_FREQUENCIES = 4
TRANSFORMED = int(model_module.LEAST_WORK) // 200
"""As many rows, with 200 frequencies, are worth a non-uniform FFT."""


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


@pytest.mark.parametrize("name", ["cos-sin", "sigmoid"])
def test_blocks_change_nothing(name, xp):
    """All rows make several blocks, the first of them are one."""
    kind, n = FEATURES[name], BLOCK_BYTES // (8 * 96)
    rng, features = np.random.default_rng(0), FEATURES[name].features
    amplitudes = (rng.standard_normal((n, 2)) + 0j if kind.extra == 0 else rng.standard_normal((n, 2))) / n
    omega = xp.asarray(kind.frequencies(n, 2))
    model = replace(model_of(kind, xp), frequencies=omega, amplitudes=xp.asarray(amplitudes))
    x = xp.asarray(inputs(96 * 4 // features.n_columns))
    few = 96 // features.n_columns
    blocks = list(model.scaling.rows(x).blocks(features.n_columns * n))
    assert [int(block.x.shape[0]) for block in blocks] == 4 * [few]
    parts = [xp.host(model(x[i * few : (i + 1) * few, :])) for i in range(4)]
    assert_allclose(xp.host(model(x)), np.concatenate(parts), atol=1e-12)


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
    x = 3 + 5 * rng.standard_normal((TRANSFORMED, 2))
    scaling = Scaling.fit(x, x)
    beta = rng.standard_normal((200, 2)) + 1j * rng.standard_normal((200, 2))
    model = FourierModel(rng.standard_normal((200, 2)), beta, np.array([1.0, -2.0]), features, scaling)
    called = []
    evaluate = model_module.nufft.evaluate
    monkeypatch.setattr(model_module.nufft, "evaluate", lambda *a: called.append(1) or evaluate(*a))
    direct = model(x[:400])
    assert not called  # too few rows
    np.testing.assert_allclose(model(x)[:400], direct, atol=1e-9)
    assert called


# Clipped inputs


def widened(model, n_frequencies=200):
    """A model of cosines and sines with more frequencies."""
    rng = np.random.default_rng(2)
    beta = rng.standard_normal((n_frequencies, 2)) + 1j * rng.standard_normal((n_frequencies, 2))
    return replace(model, frequencies=rng.standard_normal((n_frequencies, 2)), amplitudes=beta)


def clipped_model(kind, backend):
    model = model_of(kind, backend)
    inputs = SmoothClip(model.scaling.inputs.center, model.scaling.inputs.scale, backend.asarray([True, False]))
    return replace(model, scaling=replace(model.scaling, inputs=inputs, kind="robust"))


def clipped_design(kind):
    scaled = (inputs() - CENTER) / SCALE
    scaled[:, 0] /= np.sqrt(1 + (scaled[:, 0] / 3) ** 2)
    return kind.design(scaled, kind.frequencies(N_FREQUENCIES, 2))


@every_kind
def test_values_of_clipped_inputs(kind, xp):
    model, x = clipped_model(kind, xp), xp.asarray(inputs())
    expected = OFFSET + (clipped_design(kind) @ unknowns(kind)).real
    assert_allclose(xp.host(model(x)), expected, atol=1e-11)
    assert np.abs(expected - xp.host(model_of(kind, xp)(x))).max() > 0.01
    assert_array_equal(xp.host(pickle.loads(pickle.dumps(model))(x)), xp.host(model(x)))
    assert_allclose(model.on_host()(inputs()), expected, atol=1e-11)
    assert_allclose(xp.host(clipped_model(kind, Plain).on_device_of(x)(x)), expected, atol=1e-11)


@pytest.mark.parametrize("name", FOURIER)
def test_clipped_inputs_have_no_spectrum(name, xp):
    with pytest.raises(ValueError, match=r"^spectrum needs .*clips them: fit with standardize=True for a spectrum\.$"):
        clipped_model(FEATURES[name], xp).spectrum()


def test_clipped_inputs_go_through_a_transform_too():
    pytest.importorskip("finufft")
    model, x = widened(clipped_model(FEATURES["cos-sin"], Plain)), inputs(TRANSFORMED)
    assert model._transform_pays(x)
    assert not model._transform_pays(x[:400])
    assert_allclose(model(x)[:400], model(x[:400]), atol=1e-9)


# Bounds and importances


@every_kind
def test_values_stay_within_the_bounds_of_their_output(kind, anywhere):
    model, x = model_of(kind, anywhere), anywhere.asarray(inputs())
    free = anywhere.host(model(x))
    bounds = np.quantile(free, [0.3, 0.6], axis=0)
    bounded = replace(model, bounds=anywhere.asarray(bounds))
    assert_array_equal(anywhere.host(bounded(x)), np.clip(free, *bounds))
    assert not np.array_equal(anywhere.host(bounded(x)), free)
    assert_array_equal(anywhere.host(bounded.complex_values(x)), anywhere.host(model.complex_values(x)))
    assert_array_equal(anywhere.host(bounded.columns(x)), anywhere.host(model.columns(x)))


def test_bounds_hold_through_a_transform_too():
    pytest.importorskip("finufft")
    model, x = widened(model_of(FEATURES["cos-sin"], Plain)), inputs(TRANSFORMED)
    assert model._transform_pays(x)
    bounds = np.array([[99.9, -7.1], [100.1, -6.9]])
    values = replace(model, bounds=bounds)(x)
    assert_array_equal(values.min(axis=0), bounds[0])
    assert_array_equal(values.max(axis=0), bounds[1])


def test_bounds_and_importances_move(xp):
    bounds, importances = np.array([[0.0, -1.0], [1.0, 2.0]]), np.array([0.25, 0.75])
    model = replace(model_of(FEATURES["cos-sin"], Plain), bounds=bounds, importances=importances)
    there = model.on_device_of(xp.asarray(inputs()))
    assert_array_equal(xp.host(there.bounds), bounds)
    assert_array_equal(xp.host(there.relevance()), importances)
    back = there.on_host()
    assert isinstance(back.bounds, np.ndarray)
    assert_array_equal(back.bounds, bounds)
    assert_array_equal(back.relevance(), importances)
    plain = model_of(FEATURES["cos-sin"], Plain).on_device_of(xp.asarray(inputs()))
    assert plain.bounds is plain.importances is None


def test_a_model_without_importances_says_so():
    with pytest.raises(ValueError, match=r"^relevance needs a model with importances, got one without"):
        model_of(FEATURES["cos-sin"], Plain).relevance()


# Gradients with respect to the inputs


def amplitudes_of(kind, n_outputs=3):
    rng = np.random.default_rng(1)
    drawn = rng.standard_normal((N_FREQUENCIES * kind.features.n_unknowns, n_outputs))
    return drawn + 1j * rng.standard_normal(drawn.shape) if kind is FEATURES["complex"] else drawn


def expected_squares(kind, x, weight, step=1e-6):
    """By central differences of the definition."""
    omega, unknowns = kind.frequencies(N_FREQUENCIES, x.shape[1]), amplitudes_of(kind)
    means = []
    for move in step * np.eye(x.shape[1]):
        values = [(kind.design(x + way * move, omega) @ unknowns).real for way in (1, -1)]
        squares = np.sum(((values[0] - values[1]) / (2 * step)) ** 2, axis=1)
        means.append(np.average(squares, weights=weight))
    return np.array(means)


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_squares_are_summed_for_some_rows_at_a_time(weighted, xp):
    rng = np.random.default_rng(0)
    slopes, vectors, weight = rng.standard_normal((23, 4)), rng.standard_normal((4, 3)), rng.random(23)
    expected = (weight if weighted else np.ones(23)) @ (slopes @ vectors) ** 2
    there = [xp.asarray(slopes), xp.asarray(vectors), xp.asarray(weight) if weighted else None]
    for most in (1, 3 * 5, 10**6):
        assert_allclose(xp.host(model_module._summed_squares(*there, most_entries=most)), expected, rtol=1e-12)


@pytest.mark.parametrize("blocks", ["one block", "blocks"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
@every_differentiable_kind
def test_mean_squared_gradients(kind, weighted, blocks, xp):
    x, _, weight = problem(23, n_inputs=3)
    block_bytes = 8 * 3 * N_FREQUENCIES * 5 if blocks == "blocks" else None
    rows = Rows(xp.asarray(x), weight=xp.asarray(weight) if weighted else None, block_bytes=block_bytes)
    omega, beta = kind.frequencies(N_FREQUENCIES, 3), kind.amplitudes(amplitudes_of(kind))
    found = mean_squared_gradients(rows, kind.features, xp.asarray(omega), xp.asarray(beta))
    assert_allclose(xp.host(found), expected_squares(kind, x, weight if weighted else None), rtol=1e-6)


@every_differentiable_kind
def test_mean_squared_gradients_of_sparse_rows_are_in_scaled_units(kind):
    rng = np.random.default_rng(0)
    raw = scipy.sparse.random_array((30, 3), density=0.5, rng=rng).tocsr() * 50
    rows = Scaling.fit(raw, np.ones((30, 1))).rows(raw)
    assert scipy.sparse.issparse(rows.x)
    dense = (raw.toarray() - rows.center) / rows.scale
    omega, beta = kind.frequencies(N_FREQUENCIES, 3), kind.amplitudes(amplitudes_of(kind))
    found = mean_squared_gradients(rows, kind.features, omega, beta)
    assert_allclose(found, expected_squares(kind, dense, None), rtol=1e-6)


def test_gradients_in_raw_units_by_the_chain_rule():
    """The derivative of the scaling times the gradient in scaled units is that of the model."""
    model, x, step = clipped_model(FEATURES["cos-sin"], Plain), inputs(), 1e-6
    block = Block(model.scaling.rows(x).x)
    slopes = model.features.slopes(block, model.frequencies, model.amplitudes[:, 1])
    gradient = (slopes @ model.frequencies) * model.scaling.inputs.derivative(x)
    moves = step * np.eye(2)
    differences = [(model(x + move)[:, 1] - model(x - move)[:, 1]) / (2 * step) for move in moves]
    assert_allclose(gradient, np.stack(differences, axis=1), rtol=1e-5, atol=1e-6)
