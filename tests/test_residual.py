"""Descent on the residual of the ridge's amplitudes, against its definition."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables import FEATURES, every_differentiable_kind, slopes

from fourierwalk.descent import Descent
from fourierwalk.least_squares import LeastSquares
from fourierwalk.residual import Residual
from fourierwalk.rows import Rows
from fourierwalk.solver import Solver

REGULARIZATION = 0.1


def data(n_rows=40, n_outputs=2):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((n_rows, 2))
    y = np.column_stack([np.sin((2 + j) * x[:, 0]) + 0.3 * x[:, 1] for j in range(n_outputs)])
    return x, y, rng.uniform(0.5, 2.0, n_rows)


def plain(kind, x, y, weight, omega):
    """N⁻¹Σw|Sβ − y|² of the β that minimises it with λ|β|² added."""
    matrix = kind.design(x, omega)
    left = matrix.conj().T @ (weight[:, None] * matrix) + REGULARIZATION * weight.sum() * np.eye(matrix.shape[1])
    unknowns = np.linalg.solve(left, matrix.conj().T @ (weight[:, None] * y))
    return np.sum(weight[:, None] * np.abs(matrix @ unknowns - y) ** 2) / weight.sum(), kind.amplitudes(unknowns)


@pytest.mark.parametrize("path", ["direct", "dual"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 2])
@every_differentiable_kind
def test_loss_and_gradient_are_those_of_the_definition(kind, n_outputs, weighted, path):
    x, y, weight = data(40 if path == "direct" else 9, n_outputs)
    omega = kind.frequencies(4 if path == "direct" else 12, 2)
    rows = Rows(x, y, weight if weighted else None)
    residual = Residual.of(LeastSquares(rows, kind.features, REGULARIZATION, Solver(path)))
    weight = weight if weighted else np.ones(len(x))
    solution = residual(omega)
    loss, amplitudes = plain(kind, x, y, weight, omega)
    assert_allclose(solution.loss, loss, rtol=1e-10)
    assert_allclose(solution.amplitudes, amplitudes, rtol=0, atol=1e-10)
    expected = slopes(lambda near: plain(kind, x, y, weight, near)[0], omega)
    gradient = residual.gradient(omega, solution.amplitudes)
    assert_allclose(gradient, expected, rtol=0, atol=1e-7)
    assert np.abs(expected).max() > 1e-3
    penalised = LeastSquares(rows, kind.features, REGULARIZATION, Solver(path)).gradient(omega, solution.amplitudes)
    assert np.abs(gradient - penalised).max() > 1e-3  # another one than that of the penalised loss


def test_in_fourier_space_too():
    pytest.importorskip("finufft")
    kind, (x, y, weight) = FEATURES["cos-sin"], data()
    omega = kind.frequencies(5, 2)
    residual = Residual.of(LeastSquares(Rows(x, y, weight), kind.features, REGULARIZATION, Solver("spectral")))
    assert residual(omega).info.path == "spectral"
    expected = slopes(lambda near: plain(kind, x, y, weight, near)[0], omega)
    assert_allclose(residual.gradient(omega, residual(omega).amplitudes), expected, rtol=0, atol=1e-6)


@every_differentiable_kind
def test_the_same_in_every_library(kind, anywhere):
    x, y, weight = data()
    omega = kind.frequencies(4, 2)
    here = Residual(Rows(x, y, weight), kind.features, REGULARIZATION)
    there = Residual(Rows(*map(anywhere.asarray, (x, y, weight))), kind.features, REGULARIZATION)
    frequencies = anywhere.asarray(omega)
    solution = there(frequencies)
    assert_allclose(float(there.ahead(frequencies).loss), here(omega).loss, rtol=1e-10)
    assert_allclose(float(solution.loss), here(omega).loss, rtol=1e-10)
    expected = here.gradient(omega, here(omega).amplitudes)
    assert_allclose(anywhere.host(there.gradient(frequencies, solution.amplitudes)), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("precision", ["auto", "single", "double"])
def test_the_residual_of_a_problem_is_that_problem_in_double_precision(precision):
    x, y, weight = data()
    problem = LeastSquares(Rows(x, y, weight), FEATURES["cos-sin"].features, 0.3, Solver("direct", precision))
    residual = Residual.of(problem)
    assert residual.solver == Solver("direct", "double")
    assert (residual.rows, residual.features, residual.regularization) == (problem.rows, problem.features, 0.3)
    assert residual.latest is problem.latest  # what was summed for one serves the other
    lighter = replace(residual, regularization=0.03)
    assert isinstance(lighter, Residual)
    assert lighter(0.5 * x[:3]).loss < residual(0.5 * x[:3]).loss


def test_descent_follows_the_targets_where_the_penalty_would_shorten_amplitudes():
    """From one start, at one λ: the penalised loss falls by either, and the residual further by its own descent."""
    x, _, _ = data(60)
    y = np.sign(x[:, :1]) * np.exp(-0.5 * np.sum(x**2, axis=1, keepdims=True))  # needs many frequencies
    penalised = LeastSquares(Rows(x, y), FEATURES["cos-sin"].features, 0.1)
    residual, start = Residual.of(penalised), FEATURES["cos-sin"].frequencies(40, 2)

    def descended(minimize):
        state = Descent().init(minimize, start)
        losses = [state.proposal.loss]
        for after, info in Descent().sample(minimize, state, None, 30):
            losses.append(info.loss)
            state = after
        assert np.all(np.diff(losses) <= 0)
        return state.frequencies

    by_penalised, by_residual = descended(penalised), descended(residual)
    assert residual(by_residual).loss < 0.7 * residual(by_penalised).loss
    assert penalised(by_penalised).loss < penalised(by_residual).loss
