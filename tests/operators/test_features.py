import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables import Plain, slopes

from fourierwalk.data.rows import Rows
from fourierwalk.operators import Condition, Domain, at, d, divergence, identity, laplacian
from fourierwalk.operators.posed import Posed
from fourierwalk.operators.solver import model_of
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.orthogonal import Orthogonal
from fourierwalk.solving.solver import Solver

BOX = Domain([0, -1], [2, 1])
CONDITIONS = {
    "one output": [
        Condition((lambda x: 1 + x[:, 0] ** 2) * laplacian(0, 1) + d(1), BOX.inside(30), lambda x: x[:, 0]),
        Condition(identity() - at(2.0, 0.0), BOX.face(0, "lower", 9), 0.5),
        Condition(d(0), BOX.face(1, "upper", 8), 1.0),
    ],
    "two outputs": [
        Condition(divergence(2), BOX.inside(30)),
        Condition(identity(), BOX.inside(20), lambda x: x[:, 0]),
        Condition(3 * identity().of(1), BOX.inside(20), lambda x: x[:, 1]),
    ],
}
every_problem = pytest.mark.parametrize("conditions", CONDITIONS.values(), ids=CONDITIONS)


def posed(conditions, backend, make=Orthogonal, **options):
    problem = Posed.of(conditions)
    rows = problem.rows(problem.sizes(2.0), backend.asarray(np.zeros(1)))
    return make(rows, problem.features, 1e-3, **options)


def omega():
    return 2 * np.random.default_rng(0).standard_normal((6, 2))


@every_problem
def test_columns_are_operators_of_waves(conditions, anywhere):
    """The columns are what the operators are of the model with these amplitudes."""
    problem = Posed.of(conditions)
    rng, q = np.random.default_rng(1), problem.features.n_outputs
    beta = rng.standard_normal((6, q)) + 1j * rng.standard_normal((6, q))
    rows = problem.rows(np.ones(len(conditions)), anywhere.asarray(np.zeros(1)))
    features, frequencies = problem.features, anywhere.asarray(omega())
    values = features.columns(rows.whole(), frequencies) @ features.coefficients(anywhere.asarray(beta))
    model = model_of(problem, omega(), beta)
    expected = np.concatenate([one.operator(model, one.points) for one in conditions])
    assert_allclose(anywhere.host(values)[:, 0], expected, atol=1e-9)


@every_problem
def test_gradient(conditions, anywhere):
    plain, minimize = posed(conditions, Plain), posed(conditions, anywhere)
    frequencies = anywhere.asarray(omega())
    found = anywhere.host(minimize.gradient(frequencies, minimize(frequencies).amplitudes))
    assert_allclose(found, slopes(lambda at: plain(at).loss, omega()), atol=1e-6)
    assert_allclose(found, plain.gradient(omega(), plain(omega()).amplitudes), rtol=1e-9, atol=1e-11)


@every_problem
@pytest.mark.parametrize("path", ["direct", "dual"])
def test_every_path_finds_the_same_amplitudes(conditions, path, anywhere):
    frequencies = anywhere.asarray(omega())
    found = posed(conditions, anywhere, LeastSquares, solver=Solver(path))(frequencies)
    expected = posed(conditions, anywhere)(frequencies)
    assert found.info.path == path
    assert_allclose(anywhere.host(found.amplitudes), anywhere.host(expected.amplitudes), atol=1e-6)
    assert_allclose(float(found.loss), expected.loss, rtol=1e-6)
    plain = posed(conditions, Plain, LeastSquares, solver=Solver(path))(omega())
    assert_allclose(anywhere.host(found.amplitudes), plain.amplitudes, rtol=1e-9, atol=1e-11)


@every_problem
def test_amplitudes_and_coefficients_are_inverse(conditions):
    features = Posed.of(conditions).features
    unknowns = np.random.default_rng(0).standard_normal((features.n_unknowns * 5, 1))
    assert_allclose(features.coefficients(features.amplitudes(unknowns)), unknowns)


def test_rows_keep_their_operators_when_taken():
    problem = Posed.of(CONDITIONS["one output"])
    rows = problem.rows(np.ones(3), np.zeros(1))
    some = rows.take(np.array([40, 0]))
    assert isinstance(some, Rows)
    columns = problem.features.columns(rows.whole(), omega())
    assert_allclose(problem.features.columns(some.whole(), omega()), columns[[40, 0]])
