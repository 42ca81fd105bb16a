"""The work estimate with made-up growth, and the closed problem against many rows."""

import math

import numpy as np
import pytest

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.paper.theory import work
from fourierwalk.paper.theory.gaussians import GaussianProblem
from fourierwalk.paper.verdicts import Verdict
from fourierwalk.solving.least_squares import LeastSquares


def numbers(steps, with_rows, fixed):
    """Growth like these powers of σ, in every dimension."""
    every = [(d, sigma) for d, sigmas in work.SIGMAS.items() for sigma in sigmas]
    return {
        "steps": [[d, sigma, steps * math.log(sigma), 0.05] for d, sigma in every],
        "steps_with_rows": [[d, sigma, with_rows * math.log(sigma), 0.05] for d, sigma in every if d == 1],
        "fixed": [[d, sigma, 10 * sigma ** (fixed * d)] for d, sigma in every],
    }


@pytest.mark.parametrize(
    ("steps", "with_rows", "fixed", "verdict"),
    [
        (-2.0, -2.0, -1.0, Verdict.HOLDS),
        (-1.0, -3.0, -1.0, Verdict.PARTLY),
        (-1.0, -1.0, -0.5, Verdict.PARTLY),
        (-4.0, -4.0, -1.0, Verdict.FAILS),
    ],
)
def test_growth(steps, with_rows, fixed, verdict):
    claim = work.ESTIMATE.judge(numbers(steps, with_rows, fixed))
    assert claim.verdict is verdict
    assert f"σ^(−{-steps:.2f} ± " in claim.evidence


@pytest.mark.parametrize("d", [1, 2])
def test_the_closed_problem_is_that_of_many_rows(d):
    rng, sigma = np.random.default_rng(0), 0.5
    problem, omega = GaussianProblem(sigma), rng.standard_normal((5, d))
    x = problem.width / sigma * rng.standard_normal((200_000, d))
    y = np.exp(-np.sum(x**2, axis=1, keepdims=True) * sigma**2 / 2)
    many = LeastSquares(Rows(x, y / np.sqrt(np.mean(y**2))), ComplexExponentials(), problem.regularization)(omega)
    exact = problem(omega)
    assert exact.loss == pytest.approx(many.loss, abs=0.01)
    np.testing.assert_allclose(exact.amplitudes, many.amplitudes, atol=0.02)


def test_a_stack_is_its_problems():
    omega = np.random.default_rng(0).standard_normal((3, 4, 2))
    together = GaussianProblem(0.5)(omega)
    np.testing.assert_allclose(together.loss, [GaussianProblem(0.5)(each).loss for each in omega])


def test_another_gamma_does_not_hold():
    assert work.EXPONENT.judge({"rough": [[2, 3.0]], "exact": [[2, 3.0]]}).verdict is Verdict.FAILS
    assert work.EXPONENT.judge({"rough": [[2, 4.0]], "exact": [[2, 4.0]]}).verdict is Verdict.HOLDS
