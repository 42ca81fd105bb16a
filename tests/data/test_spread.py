import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables import problem

from fourierwalk.data.rows import Rows
from fourierwalk.data.spread import common_spread, mean_and_spread, spread_of


@pytest.mark.parametrize("weighted", [True, False])
def test_blocks_change_nothing(weighted, xp):
    x, _, weight = (xp.asarray(part) for part in problem(30, n_inputs=3))
    weight = weight if weighted else None
    at_once = mean_and_spread(Rows(x, weight=weight), 0)
    in_blocks = mean_and_spread(Rows(x, weight=weight, block_bytes=8 * 3 * 2), 0)
    for one, other in zip(at_once, in_blocks, strict=True):
        assert_allclose(xp.host(one), xp.host(other), rtol=1e-12)


def test_a_small_spread_far_from_zero_is_a_spread():
    x = 1e6 + np.linspace(0, 1e-3, 50)[:, None]
    _, spread, constant = mean_and_spread(Rows(x), 0)
    assert_allclose(spread, x.std(), rtol=1e-3)
    assert not constant


def test_the_spread_of_sums_is_that_of_the_rows():
    x, _, weight = problem(30, n_inputs=3)
    x[:, 1] = 1e7
    mean = np.average(x, axis=0, weights=weight)
    found = spread_of(mean, weight @ (x - mean) ** 2, weight.sum())
    assert_allclose(found, mean_and_spread(Rows(x, weight=weight), 0)[1])
    assert found[1] == 1.0
    assert common_spread(np.array([1.0, 7.0])) == 5.0
