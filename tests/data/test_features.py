import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables import FEATURES, OnlyCosines, every_differentiable_kind, every_kind, problem, slopes

from fourierwalk.data.features import KINDS, Activation, CosineSine, Features, named, sigmoid
from fourierwalk.data.rows import Block, Rows
from fourierwalk.solving.least_squares import LeastSquares


def columns_and_design(kind, backend, n_rows=12, n_frequencies=4):
    x, omega = problem(n_rows)[0], kind.frequencies(n_frequencies, 2)
    columns = kind.features.columns(Block(backend.asarray(x)), backend.asarray(omega))
    return columns, kind.design(x, omega)


@every_kind
def test_matrix_is_the_definition(kind, anywhere):
    columns, design = columns_and_design(kind, anywhere)
    assert_allclose(anywhere.host(kind.features.matrix(columns)), design, atol=1e-13)


@every_kind
def test_counts_of_columns_and_unknowns(kind, xp):
    columns, design = columns_and_design(kind, xp)
    assert tuple(columns.shape) == (12, 4 * kind.features.n_columns)
    assert design.shape == (12, 4 * kind.features.n_unknowns)
    assert kind.features.dimension(2) == 2 + kind.extra


@every_kind
def test_system_of_the_sums_is_that_of_the_matrix(kind, anywhere):
    columns, design = columns_and_design(kind, anywhere)
    y = problem(12)[1]
    matrix, right = kind.features.system(columns.T @ columns, columns.T @ anywhere.asarray(y))
    assert_allclose(anywhere.host(matrix), design.conj().T @ design, atol=1e-12)
    assert_allclose(anywhere.host(right), design.conj().T @ y, atol=1e-12)


@every_kind
def test_coefficients_of_the_columns_give_the_real_part(kind, anywhere):
    columns, design = columns_and_design(kind, anywhere)
    rng = np.random.default_rng(3)
    unknowns = rng.standard_normal((design.shape[1], 2))
    if np.iscomplexobj(design):
        unknowns = unknowns + 1j * rng.standard_normal(unknowns.shape)
    amplitudes = kind.features.amplitudes(anywhere.asarray(unknowns))
    assert_allclose(anywhere.host(amplitudes), kind.amplitudes(unknowns))
    values = columns @ kind.features.coefficients(amplitudes)
    assert_allclose(anywhere.host(values), (design @ unknowns).real, atol=1e-12)


@every_kind
def test_names_are_words(kind):
    assert kind.features.name.isprintable()
    assert kind.features.name


@pytest.mark.parametrize("n_outputs", [1, 3, 5])
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
@every_differentiable_kind
def test_the_gradient_at_any_amplitudes(kind, weighted, n_outputs, anywhere):
    """Half of ∂/∂ω of Σw|Sβ − y|², also where β is no minimiser.

    With one output waves sum moments. With five they do not, because there are only four frequencies.
    """
    x, y, weight = problem(15, n_outputs=n_outputs)
    omega = kind.frequencies(4, 2)
    rng = np.random.default_rng(3)
    unknowns = rng.standard_normal((kind.design(x, omega).shape[1], n_outputs))
    if kind.features.name == "complex":
        unknowns = unknowns + 1j * rng.standard_normal(unknowns.shape)
    block = Block(*(anywhere.asarray(part) for part in (x, y)), anywhere.asarray(weight) if weighted else None)
    amplitudes = kind.features.amplitudes(anywhere.asarray(unknowns))
    gradient = anywhere.host(kind.features.gradient(block, anywhere.asarray(omega), amplitudes))
    assert gradient.shape == omega.shape == (4, 2 + kind.extra)

    def half(omega):
        squares = np.sum(abs(kind.design(x, omega) @ unknowns - y) ** 2, axis=1)
        return np.sum(squares * weight if weighted else squares) / 2

    assert_allclose(gradient, slopes(half, omega), rtol=1e-7, atol=1e-6)


@every_differentiable_kind
def test_slopes_are_the_derivatives_in_each_phase(kind, anywhere):
    """A shift of one phase, which is x times its frequency, moves the real part by the slope."""
    x, omega, step = problem(7)[0], kind.frequencies(4, 2), 1e-6
    rng = np.random.default_rng(3)
    unknowns = rng.standard_normal(kind.design(x, omega).shape[1])
    if kind.features.name == "complex":
        unknowns = unknowns + 1j * rng.standard_normal(unknowns.shape)
    beta = kind.amplitudes(unknowns)
    block = Block(anywhere.asarray(x))
    found = anywhere.host(kind.features.slopes(block, anywhere.asarray(omega), anywhere.asarray(beta)))
    assert found.shape == (7, 4)
    for row in range(7):
        for k in range(4):
            move = np.zeros_like(omega)
            move[k, :2] = step * x[row] / (x[row] @ x[row])  # the phase of this row moves by the step
            values = [(kind.design(x[row : row + 1], omega + way * move) @ unknowns).real.item() for way in (1, -1)]
            assert_allclose(found[row, k], (values[0] - values[1]) / (2 * step), rtol=1e-6, atol=1e-8)


def test_the_derivative_that_is_given_is_used():
    x, y, _ = problem(15)
    omega, beta = FEATURES["no bias"].frequencies(4, 2), np.ones((4, 2))
    plain, zero, own = (
        Activation(np.tanh, bias=False, derivative=derivative).gradient(Block(x, y), omega, beta)
        for derivative in (None, np.zeros_like, lambda phases: np.cosh(phases) ** -2)
    )
    assert_allclose(own, plain, atol=1e-8)
    assert np.all(zero == 0)
    assert np.abs(own).max() > 0.1


def test_the_amplitude_of_a_pair_has_its_norm():
    pair = CosineSine().amplitudes(np.array([[3.0], [4.0]]))
    assert_allclose(abs(pair), 5.0)


def test_sigmoid_neither_overflows_nor_leaves_its_range(xp):
    phases = xp.asarray(np.array([[-1e4], [-30.0], [0.0], [30.0], [1e4]]))
    values = xp.host(sigmoid().columns(Block(phases), xp.asarray(np.array([[1.0, 0.0]]))))
    assert_allclose(values[:, 0], [0, np.exp(-30.0), 0.5, 1, 1], atol=1e-15)


def test_the_bias_is_the_last_component():
    columns = Activation(np.asarray).columns(Block(np.array([[10.0, 20.0]])), np.array([[1.0, 2.0, 0.5]]))
    assert columns.item() == 50.5


@pytest.mark.parametrize("name", KINDS)
def test_named(name):
    assert named(name).name == name == FEATURES[name].features.name


def test_an_object_names_itself():
    mine = OnlyCosines()
    assert named(mine) is mine


def test_an_unknown_name_gets_the_allowed_ones():
    with pytest.raises(ValueError, match=r"features must be one of \['complex', 'cos-sin', 'sigmoid'\].*got 'wavelet'"):
        named("wavelet")


@pytest.mark.parametrize("thing", [3, None, object(), ["complex"]])
def test_what_has_no_columns_is_no_features_object(thing):
    with pytest.raises(TypeError, match=f"features must be .*got {type(thing).__name__}, one without .*columns"):
        named(thing)


def test_what_features_lack_is_named():
    kept = [name for name in vars(OnlyCosines) if not name.startswith("__") and name not in ("matrix", "slopes")]
    almost = type("Almost", (), {name: vars(OnlyCosines)[name] for name in kept})()
    with pytest.raises(TypeError, match=r"got Almost, one without slopes, matrix\.$"):
        named(almost)


def test_a_class_is_no_features_object():
    with pytest.raises(TypeError, match="got CosineSine, the class itself"):
        named(CosineSine)


def test_who_derives_from_features_declares_nothing_that_is_not_there():
    class Derived(Features):
        name, n_columns, n_unknowns = "derived", 1, 1
        dimension, columns, system = OnlyCosines.dimension, OnlyCosines.columns, OnlyCosines.system
        matrix, amplitudes, coefficients = OnlyCosines.matrix, OnlyCosines.amplitudes, OnlyCosines.coefficients

    features = named(Derived())
    assert (features.gradient, features.slopes, features.single_columns) == (None, None, None)
    x, y, _ = problem(20)
    ours, same = (LeastSquares(Rows(x, y), each, 0.1)(np.ones((2, 2))).loss for each in (features, OnlyCosines()))
    assert ours == same
