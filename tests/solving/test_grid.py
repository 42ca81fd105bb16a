"""Rows spread onto a grid."""

import numpy as np
from numpy.testing import assert_allclose

from fourierwalk.arrays import nufft
from fourierwalk.solving.grid import spread


def test_spreading_keeps_the_total():
    rng = np.random.default_rng(0)
    positions, weight = rng.uniform(-20, 20, (50, 1)), rng.random(50)
    grid = spread(positions, [weight, 2 * weight], (80,))
    assert grid.shape == (2, 80)
    assert_allclose(grid[0], weight @ nufft.window(np.arange(-40, 40) - positions[:, 0, None]), atol=1e-9)
    assert_allclose(grid[1], 2 * grid[0])
