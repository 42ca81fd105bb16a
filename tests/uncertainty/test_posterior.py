"""The posterior of the amplitudes against the textbook's Bayesian linear regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables import FEATURES, every_kind

from fourierwalk.data.rows import Rows
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.uncertainty import posterior
from fourierwalk.uncertainty.posterior import Posterior, factor_of_eigensystem, factor_of_system

RNG = np.random.default_rng(0)


def posed(kind, path="direct", n=60, weight=None, regularization=0.01):
    x, y = RNG.normal(size=(n, 2)), RNG.normal(size=(n, 1))
    omega = RNG.normal(size=(7, kind.features.dimension(2)))
    return LeastSquares(Rows(x, y, weight), kind.features, regularization, Solver(path)), omega


def variance(problem, omega, points, ridge, weight):
    """s(x) (SᴴWS + λN)⁻¹ s(x)ᴴ, computed directly."""
    matrix = problem.features.matrix(problem.features.columns(problem.rows.whole(), omega))
    inverse = np.linalg.inv((matrix.conj().T * weight) @ matrix + ridge * np.eye(matrix.shape[1]))
    there = problem.features.matrix(problem.features.columns(Rows(points).whole(), omega))
    return np.einsum("ni,ij,nj->n", there, inverse, there.conj()).real


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
@pytest.mark.parametrize("path", ["direct", "dual"])
@every_kind
def test_the_variance_is_that_of_the_textbook(kind, path, weighted):
    weight = RNG.uniform(0.5, 2, 60) if weighted else None
    problem, omega = posed(kind, path, weight=weight)
    system = problem.system(omega)
    points = RNG.normal(size=(9, 2)) * 3
    ridge = 0.01 * system.weight
    n_columns = kind.features.n_columns * 7
    want = variance(problem, omega, points, ridge, np.ones(60) if weight is None else weight)
    columns = kind.features.columns(Rows(points).whole(), omega)
    for factor in (
        factor_of_system(system, kind.features, ridge, n_columns),
        factor_of_eigensystem(problem.eigensystem(omega), kind.features, ridge, n_columns),
    ):
        assert_allclose(Posterior((factor,)).variance(0, columns), want, rtol=1e-4)


def test_singular_equations_leave_out_what_no_row_has():
    kind = FEATURES["cos-sin"]
    problem, omega = posed(kind, n=5, regularization=0.0)
    factor = factor_of_system(problem.system(omega), kind.features, 0.0, 14)
    assert factor.shape == (5, 14)
    assert np.all(np.isfinite(Posterior((factor,)).variance(0, RNG.normal(size=(3, 14)))))


def test_a_tiny_ridge_is_kept_in_double_precision():
    kind = FEATURES["cos-sin"]
    problem, omega = posed(kind, n=5)
    system = problem.system(omega)
    assert factor_of_system(system, kind.features, 1.0, 14).dtype == np.float32
    assert factor_of_system(system, kind.features, 1e-10, 14).dtype == np.float64
    assert posterior.ROUNDING < 0.1


@pytest.mark.parametrize("n_columns", [6, 70, 300])
def test_a_triangle_and_a_full_factor_agree(n_columns):
    lower = np.tril(RNG.normal(size=(n_columns, n_columns)))
    columns = RNG.normal(size=(50, n_columns))
    full = np.linalg.qr(RNG.normal(size=(n_columns, n_columns)))[0] @ lower
    both = Posterior((lower, full))
    assert len(both._panels[0]) == min(8, max(1, n_columns // 32))
    assert len(both._panels[1]) == 1
    assert_allclose(both.variance(0, columns), both.variance(1, columns))
    assert_allclose(np.sum(both.rotated(0, columns) ** 2, axis=1), both.variance(0, columns))
