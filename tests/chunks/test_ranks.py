"""Fits by two real ranks of torchrun over gloo, and by one over NCCL where there is a GPU."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.arrays.library import to_host
from fourierwalk.chunks import Ranks, Sliced

dist = pytest.importorskip("torch.distributed")
program = importlib.import_module("ranks_program")
SETTINGS, rows = program.SETTINGS, program.rows
PROGRAM = Path(__file__).parents[1] / "ranks_program.py"


def run(folder, what, n_ranks=2):
    """Run the program on two ranks."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n_ranks)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    options = {"env": environment, "capture_output": True, "timeout": 240, "check": False}
    return subprocess.run([*command, str(PROGRAM), str(folder), what], **options)


@pytest.mark.parametrize("what", ["fit", "torch"])
def test_ranks_fit_what_one_process_fits(tmp_path, what):
    done = run(tmp_path, what)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    local = AdaptiveFourierRegressor(**SETTINGS).fit(Sliced(*rows(), rows=200))
    first, second = (np.load(tmp_path / f"{rank}.npz") for rank in (0, 1))
    for name in ("amplitudes", "frequencies"):
        assert np.array_equal(first[name], second[name])
        own = getattr(local, f"{name}_")
        assert np.array_equal(first[name], own) if what == "fit" else np.allclose(first[name], own, rtol=0, atol=1e-10)


def test_ranks_find_the_levels_of_all_of_them(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    done = run(tmp_path, "table")
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 300)
    local = AdaptiveFourierRegressor(**SETTINGS).fit(Sliced(*program.table(), rows=200))
    assert len(local.encoder_.columns_[-1].levels) == 16
    for rank in (0, 1):
        assert np.array_equal(np.load(tmp_path / f"{rank}.npz")["amplitudes"], local.amplitudes_)


def test_what_is_wrong_on_one_rank_is_said_on_all(tmp_path):
    run(tmp_path, "infinite")
    said = [(tmp_path / f"{rank}.txt").read_text(encoding="utf-8") for rank in (0, 1)]
    assert said == ["X must be finite in blocks, got NaN or infinity in block 2."] * 2


def test_a_lost_rank_is_said_in_time(tmp_path):
    run(tmp_path, "lost")
    assert "a rank was lost, or did not answer in time" in (tmp_path / "0.txt").read_text(encoding="utf-8")


def test_ranks_need_a_process_group():
    with pytest.raises(ValueError, match=r"Ranks needs torch.distributed.init_process_group\(\) before it"):
        Ranks(np.ones((2, 1)), np.ones(2))


def test_one_rank_is_one_process(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        model = AdaptiveFourierRegressor(**SETTINGS).fit(Ranks(Sliced(*rows(), rows=200)))
        with pytest.raises(ValueError, match="X must be finite in blocks"):
            AdaptiveFourierRegressor(**SETTINGS).fit(Ranks(np.full((2, 1), np.inf), np.ones(2)))
    finally:
        dist.destroy_process_group()
    local = AdaptiveFourierRegressor(**SETTINGS).fit(Sliced(*rows(), rows=200))
    assert np.array_equal(model.amplitudes_, local.amplitudes_)


def needs_nccl():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or not dist.is_nccl_available():
        pytest.skip("there is no GPU with NCCL")
    return torch


@pytest.mark.cuda
def test_torchrun_with_nccl_fits_what_one_process_fits(tmp_path):
    torch = needs_nccl()
    done = run(tmp_path, "cuda", n_ranks=1)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    found = np.load(tmp_path / "0.npz")
    assert found["on_gpu"]
    there = [torch.asarray(values, device="cuda") for values in rows()]
    on_gpu, on_cpu = (AdaptiveFourierRegressor(**SETTINGS).fit(Sliced(*xy, rows=200)) for xy in (there, rows()))
    for name in ("amplitudes", "frequencies"):
        assert np.array_equal(found[name], to_host(getattr(on_gpu, f"{name}_")))
        assert np.allclose(found[name], getattr(on_cpu, f"{name}_"), rtol=0, atol=1e-8)


@pytest.mark.cuda
@pytest.mark.parametrize("sampler", ["metropolis", "auto"])
def test_one_rank_with_nccl_is_one_process(tmp_path, sampler):
    torch = needs_nccl()
    there = [torch.asarray(values, device="cuda") for values in rows()]
    settings = {**SETTINGS, "sampler": sampler}
    dist.init_process_group("nccl", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        model = AdaptiveFourierRegressor(**settings).fit(Ranks(Sliced(*there, rows=200)))
        with pytest.raises(ValueError, match="X must be finite in blocks"):
            AdaptiveFourierRegressor(**settings).fit(Ranks(torch.full((2, 1), torch.nan).cuda(), torch.ones(2).cuda()))
    finally:
        dist.destroy_process_group()
    assert model.amplitudes_.is_cuda
    local = AdaptiveFourierRegressor(**settings).fit(Sliced(*there, rows=200))
    assert np.array_equal(to_host(model.amplitudes_), to_host(local.amplitudes_))
    assert np.array_equal(to_host(model.frequencies_), to_host(local.frequencies_))
