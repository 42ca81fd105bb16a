"""Targets and their transforms against formulas written out here."""

import numpy as np
from scipy.integrate import quad

from fourierwalk.paper import targets


def test_sine_integral_by_quadrature():
    x = np.array([[0.3, -0.2], [-1.0, 0.5]])
    expected = []
    for row in x:
        si = quad(lambda t: np.sinc(t / np.pi), 0, row[0] / 0.1, limit=500)[0]
        expected.append(si * np.exp(-np.sum(row**2) / 2))
    np.testing.assert_allclose(targets.sine_integral(x, 0.1), expected, rtol=1e-8)


def test_anisotropic_gaussian_varies_fast_in_the_first_input():
    x = np.array([[1 / 32, 0.0], [0.0, 32.0]])
    np.testing.assert_allclose(targets.anisotropic_gaussian(x), np.exp(-0.5))


def test_transform_of_a_gaussian():
    omega, modulus = targets.transform_modulus(targets.gaussian, 4096)
    near = omega < 4
    np.testing.assert_allclose(modulus[near], np.exp(-(omega[near] ** 2) / 2), atol=1e-6)


def test_the_steps_transform_ends_at_1_over_a():
    omega, modulus = targets.transform_modulus(lambda x: targets.sine_integral(x, 1e-3), 20_000)
    assert modulus[omega > 1100].max() < 1e-2 * modulus[(omega > 800) & (omega < 900)].min()
