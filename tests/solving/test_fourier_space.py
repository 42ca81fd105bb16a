"""A grid that is made when first asked for, and made anew when it is outgrown."""

import numpy as np
import pytest

from fourierwalk.data.rows import Rows
from fourierwalk.solving.fourier_space import FourierSpace


def drawn(make=np.asarray):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 1))
    return FourierSpace(Rows(make(x), make(np.sin(2 * x))), 1e9), make(rng.standard_normal((5, 1)))


@pytest.fixture(params=["numpy", "torch"])
def make(request):
    return np.asarray if request.param == "numpy" else pytest.importorskip("torch").asarray


def test_the_grid_is_kept_and_grows_when_outgrown(make):
    space, small = drawn(make)
    needed = space.measured(small)
    first = space.grid_for(needed)
    assert 0 < first.coefficients.nbytes <= space.needed_bytes(needed)
    assert space.grid_for(space.measured(1.2 * small)) is first
    second = space.grid_for(space.measured(10 * small))
    assert space.grid is second is not first
    assert second.bandwidth[0] >= 20 * float(abs(small).max())


def test_the_grid_of_tensors_lies_where_they_do():
    torch = pytest.importorskip("torch")
    space, small = drawn(torch.asarray)
    grid = space.grid_for(space.measured(small))
    assert all(torch.is_tensor(part) and part.device == small.device for part in (grid.coefficients, grid.spacing))
    assert grid.coefficients.dtype == torch.complex128


def test_what_was_measured_last_is_expected():
    space, small = drawn()
    assert space.expected(small)[0] == space.measured(small)[0] == 2 * abs(small).max()
    assert space.expected(10 * small)[0] == 2 * abs(small).max()


def test_pairs_are_kept_for_as_many_frequencies():
    space, small = drawn()
    pairs = space.pairs(small)
    assert space.pairs(2 * small) is pairs
    assert space.pairs(small[:3]).n == 3
