"""A program of ranks: each has its share of the rows, and writes what it has fitted."""

import os
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.arrays.library import is_remote, to_host
from fourierwalk.chunks import Ranks, Sliced, whole

SETTINGS = {
    "sampler": "metropolis",
    "n_steps": 12,
    "n_frequencies": 8,
    "regularization": 1e-3,
    "random_state": 0,
}


def rows():
    """The rows of all ranks."""
    x = np.random.default_rng(0).standard_normal((800, 3))
    return x, np.sin(2 * x[:, 0]) + x[:, 1]


def table():
    """The rows of all ranks with a column of words. The last level is on the last rank only."""
    import pandas as pd  # a machine with GPUs may not have it

    x, y = rows()
    words = [f"w{place % 15 if place < 700 else 15}" for place in range(800)]
    return pd.DataFrame(x, columns=list("abc")).assign(word=words), y + np.arange(800) % 15


def main(folder, what):
    """Fit the rows of this rank."""
    dist.init_process_group("nccl" if what == "cuda" else "gloo")
    rank, size = dist.get_rank(), 800 // dist.get_world_size()
    x, y = (values[rank * size : (rank + 1) * size] for values in (table() if what == "table" else rows()))
    whole.SAMPLE_ROWS = 300
    if what == "infinite" and rank == 1:
        x[7, 1] = np.inf
    if what in ("torch", "cuda"):
        x, y = (torch.as_tensor(values, device="cuda" if what == "cuda" else "cpu") for values in (x, y))
    chunks = Ranks(Sliced(x, y, rows=200), timeout=20)
    if what == "lost" and rank == 1:
        os._exit(0)
    try:
        model = AdaptiveFourierRegressor(**SETTINGS).fit(chunks)
        fitted = {"amplitudes": to_host(model.amplitudes_), "frequencies": to_host(model.frequencies_)}
        np.savez(Path(folder) / f"{rank}.npz", **fitted, on_gpu=is_remote(model.amplitudes_))
    except (ValueError, RuntimeError) as error:
        (Path(folder) / f"{rank}.txt").write_text(str(error), encoding="utf-8")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
