"""The proximal solver against its optimality conditions, and the penalty's promise against made-up numbers."""

import numpy as np
import pytest

from fourierwalk.paper.theory import penalty
from fourierwalk.paper.verdicts import Verdict


def test_proximal_amplitudes_are_a_minimum():
    rng = np.random.default_rng(0)
    x, omega = rng.standard_normal((200, 1)), rng.standard_normal((6, 1))
    y = np.cos(3 * x) + 0.3 * rng.standard_normal(x.shape)
    s = np.exp(1j * x @ omega.T)

    def objective(zeta):
        penalised = 0.05 * np.sum(np.maximum(0, np.abs(zeta) - 0.2))
        return np.mean(np.abs(s @ zeta - y) ** 2) + 1e-3 * np.sum(np.abs(zeta) ** 2) + penalised

    zeta = penalty.proximal_amplitudes(x, y, omega, 1e-3, 0.05, 0.2, n_steps=20_000)
    least = objective(zeta)
    for _ in range(300):
        step = rng.standard_normal(zeta.shape) + 1j * rng.standard_normal(zeta.shape)
        assert objective(zeta + 1e-3 * step) >= least - 1e-9


def test_without_strength_amplitudes_are_not_bounded():
    assert penalty.PENALTY.judge(penalty.penalised(strength=0.0)).verdict is not Verdict.HOLDS


@pytest.mark.parametrize(
    ("most", "error", "verdict"), [(4.0, 0.1, "holds"), (9.0, 0.1, "partly"), (9.0, 0.3, "does not hold")]
)
def test_both_promises_count(most, error, verdict):
    numbers = {"plain": [300.0, 800.0, 0.01], "penalised": [1.6, most, error], "most": 4.1, "promised": 0.14}
    assert penalty.PENALTY.judge(numbers).verdict == verdict
