"""The equations' known solutions satisfy their conditions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fourierwalk.benchmarks.equations import EQUATIONS, case_2, case_2_gradient, ishigami, ishigami_indices
from fourierwalk.benchmarks.operators import by_monte_carlo

STEP = 1e-3


def differentiated(function, inputs):
    """The mixed derivative of a function of rows, by central differences."""
    for j in inputs:
        before = function

        def function(x, before=before, j=j):
            move = np.eye(x.shape[1])[j] * STEP
            return (before(x + move) - before(x - move)) / (2 * STEP)

    return function


@pytest.mark.parametrize("name", EQUATIONS)
def test_solutions(name):
    equation = EQUATIONS[name]
    for condition in equation.conditions():
        some = condition.take(np.arange(0, len(condition.points), 100))
        if name == "torsion":  # its series converges slowly, with its derivatives, at the boundary
            middle = np.all(np.abs(some.points - 0.5) < 0.4, axis=1)
            some = some.take(np.flatnonzero(middle if condition.operator.order else ~middle))
        values, size = np.zeros(len(some.points)), 1.0
        for term in some.operator.terms:
            shift = np.array(term.derivative.shift or [0.0])
            part = differentiated(equation.solution, term.derivative.inputs)(some.points + shift)
            values += term.at(some.points) * part
            size = max(size, float(np.max(np.abs(term.number * part))))
        assert_allclose(values, some.values, atol=1e-3 * size)


def test_case_2():
    x = np.random.default_rng(0).standard_normal((20, 5))
    for j in range(5):
        move = np.eye(5)[j] * 1e-6
        assert_allclose(case_2_gradient(x)[:, j], (case_2(x + move) - case_2(x - move)) / 2e-6, atol=1e-6)


def test_indices_by_monte_carlo():
    found = by_monte_carlo(ishigami, np.full(3, -np.pi), np.full(3, np.pi), 200_000, np.random.default_rng(0))
    for index, exact in zip(found, ishigami_indices(), strict=True):
        assert_allclose(index, exact, atol=0.02)
