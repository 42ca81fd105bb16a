"""Kernels of our own run on a GPU alone (marker `cuda`); elsewhere, or without a compiler, torch's serve."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fourierwalk.arrays import cosines, kernels

torch = pytest.importorskip("torch")


def drawn(*shape, seed=0):
    return torch.asarray(30 * np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


@pytest.fixture
def _compiler():
    """A GPU and what compiles for it."""
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    pytest.importorskip("cuda.bindings.nvrtc")


@pytest.mark.cuda
@pytest.mark.usefixtures("_compiler")
@pytest.mark.parametrize("n_rows", [1, 1024, 5003])
def test_cos_and_sin_in_one_pass(n_rows):
    by_frequency = drawn(7, n_rows).cuda()
    store = torch.full((14, n_rows + 8 + -n_rows % 8), 9.0, dtype=torch.bfloat16, device="cuda")
    assert kernels.cos_sin(by_frequency.mT, store)
    expected = torch.cat((torch.cos(by_frequency), torch.sin(by_frequency))).double()
    assert float((store[:, :n_rows].double() - expected).abs().max()) <= 2.0**-9 + 1e-6  # half a unit of bf16
    assert bool((store[:, n_rows:] == 9.0).all())  # and nothing else was touched


@pytest.mark.cuda
@pytest.mark.usefixtures("_compiler")
@pytest.mark.parametrize("scale", [1e-3, 1e3, 9.9e4, 1e6, 1e30])
def test_phases_of_every_size(scale):
    by_frequency = (scale * torch.linspace(-1, 1, 4096)).reshape(2, 2048).cuda()
    store = torch.empty((4, 2048), dtype=torch.bfloat16, device="cuda")
    assert kernels.cos_sin(by_frequency.mT, store)
    exact = by_frequency.double()
    expected = torch.cat((torch.cos(exact), torch.sin(exact)))
    assert float((store.double() - expected).abs().max()) <= 2.0**-9 + 1e-6


@pytest.mark.cuda
@pytest.mark.usefixtures("_compiler")
def test_more_frequencies_than_a_grid_is_high():
    by_frequency = drawn(kernels.MOST_FREQUENCIES + 7, 30).cuda()
    store = torch.empty((2 * by_frequency.shape[0], 32), dtype=torch.bfloat16, device="cuda")
    assert kernels.cos_sin(by_frequency.mT, store)
    expected = torch.cat((torch.cos(by_frequency), torch.sin(by_frequency))).double()
    assert float((store[:, :30].double() - expected).abs().max()) <= 2.0**-9 + 1e-6


@pytest.mark.cuda
@pytest.mark.usefixtures("_compiler")
def test_what_is_no_number_stays_none():
    by_frequency = torch.tensor([[0.0, float("nan"), float("inf"), -float("inf"), 1.0]]).cuda()
    store = torch.zeros((2, 8), dtype=torch.bfloat16, device="cuda")
    assert kernels.cos_sin(by_frequency.mT, store)
    assert torch.isnan(store[:, :5]).tolist() == 2 * [[False, True, True, True, False]]


@pytest.mark.cuda
@pytest.mark.usefixtures("_compiler")
def test_what_it_is_not_made_for():
    store = torch.empty((6, 8), dtype=torch.bfloat16, device="cuda")
    assert not kernels.cos_sin(drawn(8, 3).cuda(), store)  # rows side by side, not columns
    assert not kernels.cos_sin(drawn(2, 3, 8).cuda().mT, store)  # stacked problems
    assert not kernels.cos_sin(drawn(3, 8).double().cuda().mT, store)
    assert not kernels.cos_sin(drawn(3, 7).cuda().mT, store[:, :7].clone())  # columns that begin anywhere


@pytest.mark.cuda
@pytest.mark.usefixtures("_compiler")
def test_columns_are_the_same_by_one_pass_and_by_two():
    """All rows are enough for the kernel, half of them are not."""
    n_rows = cosines.WORTH_A_KERNEL // 32
    phases = drawn(33, n_rows).cuda().mT
    halves = phases[: n_rows // 2], phases[n_rows // 2 :]
    found = [
        torch.cat([cosines.cos_sin(lambda part, x=x: x[part], tuple(x.shape), "bf16").double() for x in parts])
        for parts in ((phases,), halves)
    ]
    assert float((found[0] - found[1]).abs().max()) <= 2.0**-8  # of numbers between two of bf16
    assert float((found[0] != found[1]).double().mean()) < 0.01


def test_without_a_compiler_two_passes_serve(monkeypatch):
    monkeypatch.setattr(kernels, "_compiled", lambda device: None)
    monkeypatch.setattr(cosines, "is_remote", lambda values: True)
    n_rows = cosines.WORTH_A_KERNEL // 64
    phases = drawn(64, n_rows).mT
    assert not kernels.cos_sin(phases, torch.empty((128, n_rows), dtype=torch.bfloat16))
    columns = cosines.cos_sin(lambda part: phases[part], (n_rows, 64), "bf16")
    assert_array_equal(columns[:, :64].float().numpy(), torch.cos(phases).bfloat16().float().numpy())


def test_where_there_is_no_compiler():
    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert kernels._compiled(torch.device("cpu")) is None


def test_what_cuda_answers():
    assert kernels._done((0,)) is None
    assert kernels._done((0, "given")) == "given"
    with pytest.raises(RuntimeError, match="CUDA answered 7"):
        kernels._done((7, "given"))
