"""Student's t of variance one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from fourierwalk.uncertainty import tails


@pytest.mark.parametrize("degrees", tails.DEGREES)
def test_slopes_and_information(degrees):
    squares = np.array([0.0, 0.3, 4.0])
    for exponent in (-1.0, 0.5):
        numeric = [
            approx_fprime([exponent], lambda g, s=s: float(tails.losses(g[0], s, degrees)), 1e-6)[0] for s in squares
        ]
        assert_allclose(tails.slopes(np.full(3, exponent), squares, degrees), numeric, atol=1e-4)
    draws = tails.draws(np.random.default_rng(0), np.array([degrees]), (200_000, 1, 1)).ravel()
    assert_allclose(
        np.mean(tails.slopes(np.zeros(draws.size), draws**2, degrees) ** 2), tails.information(degrees), rtol=0.05
    )
    if degrees > 4:
        assert_allclose(np.var(draws), 1, rtol=0.1)
