"""Fits by two real ranks of torchrun, over gloo."""

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


def run(folder, what):
    """Run the program on two ranks."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
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


@pytest.mark.cuda
@pytest.mark.parametrize("sampler", ["metropolis", "auto"])
def test_one_rank_with_nccl_is_one_process(tmp_path, sampler):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or not dist.is_nccl_available():
        pytest.skip("there is no GPU with NCCL")
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
