"""The formulas at points that can be computed by hand, and the ranges of their inputs."""

import numpy as np
import pytest

from fourierwalk.comparison import surrogates
from fourierwalk.comparison.surrogates import SURROGATES

INPUTS = {"borehole": 8, "piston": 7, "wing-weight": 10, "otl-circuit": 6, "robot-arm": 8, "friedman1": 10}


@pytest.mark.parametrize("name", SURROGATES)
def test_rows_lie_in_the_ranges_and_targets_vary(name):
    surrogate = SURROGATES[name]
    x, y = surrogate.draw(500, np.random.default_rng(0))
    assert x.shape == (500, INPUTS[name])
    low, high = np.array(surrogate.ranges).T
    assert np.all((x >= low) & (x <= high))
    assert np.all(x.max(axis=0) - x.min(axis=0) > 0.95 * (high - low))
    assert np.all(np.isfinite(y))
    assert np.std(y) > 0.01 * abs(np.mean(y))
    exact = surrogate.function(x)
    assert (np.std(y - exact) == pytest.approx(surrogate.noise, rel=0.1)) if surrogate.noise else np.all(y == exact)


def test_a_stretched_arm_reaches_its_length():
    arm = np.array([[0.3, 0, 0, 0, 0.1, 0.2, 0.3, 0.4], [0, np.pi, 0, 0, 0.5, 0.5, 0, 0]])
    np.testing.assert_allclose(surrogates.robot_arm(arm), [1.0, 0.0], atol=1e-12)


def test_the_piston_solves_its_equation_of_force():
    """V is the volume at which gas, spring and weight balance: A V/S + k(V/S)² = P₀V₀Tₐ/T₀."""
    mass, surface, volume, k, pressure, ambient, gas = x = np.array([45.0, 0.01, 0.005, 3000.0, 1e5, 293.0, 350.0])
    seconds = surrogates.piston(x[None])[0]
    stiffness = mass * (2 * np.pi / seconds) ** 2
    energy = pressure * volume * ambient / gas
    height = np.sqrt(energy / (stiffness - k))  # V/S
    a = pressure * surface + 19.62 * mass - k * volume / surface
    assert a * height + k * height**2 == pytest.approx(energy, rel=1e-9)


def test_circuit_and_wing_at_simple_points():
    # β → ∞: only 12 R_b2/(R_b1 + R_b2) + 0.74 + 0.74 R_f/R_c1 is left
    circuit = surrogates.otl_circuit(np.array([[50.0, 50.0, 1.0, 2.0, 1.0, 1e12]]))
    np.testing.assert_allclose(circuit, 6 + 0.74 + 0.37, rtol=1e-9)
    wing = surrogates.wing_weight(np.array([[1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.01, 1.0, 1.0, 2.0]]))
    np.testing.assert_allclose(wing, 0.036 + 2.0)
    np.testing.assert_allclose(surrogates.friedman1(np.array([[0.5, 1.0, 0.0, 1.0, 1.0, 9.0]])), 10 + 5 + 10 + 5)


def test_the_signal_of_the_noise_sets_is_standardised():
    y = surrogates.three_inputs(np.random.default_rng(0).standard_normal((400_000, 4)))
    assert np.mean(y) == pytest.approx(0, abs=0.005)
    assert np.var(y) == pytest.approx(1, abs=0.01)
