"""A program of two ranks: each has every second chunk's worth of rows, and writes what it has fitted."""

import os
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.chunks import Ranks, Sliced

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


def main(folder, what):
    """Fit the rows of this rank."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    x, y = (values[rank * 400 : (rank + 1) * 400] for values in rows())
    if what == "infinite" and rank == 1:
        x[7, 1] = np.inf
    if what == "torch":
        x, y = torch.as_tensor(x), torch.as_tensor(y)
    chunks = Ranks(Sliced(x, y, rows=200), timeout=20)
    if what == "lost" and rank == 1:
        os._exit(0)
    try:
        model = AdaptiveFourierRegressor(**SETTINGS).fit(chunks)
        np.savez(Path(folder) / f"{rank}.npz", amplitudes=model.amplitudes_, frequencies=model.frequencies_)
    except (ValueError, RuntimeError) as error:
        (Path(folder) / f"{rank}.txt").write_text(str(error), encoding="utf-8")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
