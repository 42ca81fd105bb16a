"""The checks of the theory: verdicts, and the proximal solver against its optimality conditions."""

import numpy as np
import pytest

from fourierwalk.paper import theory

EXPECTED = {
    "variance-formula": "holds",
    "error-bound": "holds",
    "example-1": "holds for the bound only",
    "example-2": "holds",
    "optimal-density": "holds",
    "exponent": "holds for the bound only",
    "penalty": "holds",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_verdicts(name):
    result = theory.CHECKS[name]()
    assert result["verdict"] == EXPECTED[name], result["measured"]
    assert set(result) == {"claim", "measured", "verdict", "numbers"}


def test_a_wrong_formula_would_not_hold(monkeypatch):
    density = theory._normal_density
    monkeypatch.setattr(theory, "_normal_density", lambda omega, spread: 1.2 * density(omega, spread))
    assert theory.variance_formula()["verdict"] == "does not hold"


def test_proximal_amplitudes_are_a_minimum():
    rng = np.random.default_rng(0)
    x, omega = rng.standard_normal((200, 1)), rng.standard_normal((6, 1))
    y = np.cos(3 * x) + 0.3 * rng.standard_normal(x.shape)
    s = np.exp(1j * x @ omega.T)

    def objective(zeta):
        penalty = 0.05 * np.sum(np.maximum(0, np.abs(zeta) - 0.2))
        return np.mean(np.abs(s @ zeta - y) ** 2) + 1e-3 * np.sum(np.abs(zeta) ** 2) + penalty

    zeta = theory.proximal_amplitudes(x, y, omega, 1e-3, 0.05, 0.2, n_steps=20_000)
    least = objective(zeta)
    for _ in range(300):
        step = rng.standard_normal(zeta.shape) + 1j * rng.standard_normal(zeta.shape)
        assert objective(zeta + 1e-3 * step) >= least - 1e-9
