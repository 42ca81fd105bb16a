"""A fit with a checkpoint in a process of its own, to be killed: ``python killed.py CASE FILE OUT``.

It prints a line once the fit has begun, and writes what came of the fit to OUT.
"""

import json
import os
import sys
import time

import numpy as np

from fourierwalk import AdaptiveFourierRegressor, Checkpoint, Solver
from fourierwalk.arrays.library import to_host

CASES = {
    "auto": {"n_frequencies": 24, "n_steps": 90},
    "algorithm 1": {"sampler": "metropolis", "n_steps": 300, "early_stopping": True},
    "algorithm 2": {"sampler": "metropolis", "n_steps": 300, "adapt_after": 20, "max_norm": 9.0},
    "resampling": {"sampler": "resampling", "n_steps": 300, "early_stopping": True, "max_norm": 9.0},
    "descent": {"sampler": "descent", "n_steps": 150, "early_stopping": True, "patience": 50},
    "batches": {"sampler": "metropolis", "n_steps": 300, "solver": Solver(batch_size=200)},
}


def problem():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 4))
    return x, np.sin(3 * x[:, 0]) * x[:, 1] + 0.1 * rng.normal(size=1500)


def fitted(case, checkpoint=None, library="numpy"):
    x, y = problem()
    if library != "numpy":
        import torch

        x, y = (torch.asarray(part, device="cuda" if library == "cuda" else "cpu") for part in (x, y))
    settings = {"n_frequencies": 16, "random_state": 3, **CASES[case]}
    return AdaptiveFourierRegressor(**settings, checkpoint=checkpoint).fit(x, y)


def told(model):
    """All that a fit has found, exactly."""
    frequencies, amplitudes = (to_host(part) for part in (model.frequencies_, model.amplitudes_))
    x, _ = problem()
    history = model.history_
    return {
        "frequencies": frequencies.tobytes().hex(),
        "amplitudes": amplitudes.tobytes().hex(),
        "predictions": to_host(model.predict(_like(x, model))).tobytes().hex(),
        "infos": repr([(*info[:4], str(info.solve), info.phase) for info in history.infos]),
        "looks": repr([tuple(look) for look in history.looks]),
        "decisions": list(history.decisions),
        "regularization": model.regularization_.hex(),
    }


def _like(x, model):
    if isinstance(model.frequencies_, np.ndarray):
        return x
    import torch

    return torch.asarray(x, device=model.frequencies_.device)


if __name__ == "__main__":
    case, file, out, library = sys.argv[1:]
    print("ready", flush=True)
    start = time.perf_counter()
    result = told(fitted(case, Checkpoint(file, every_steps=4, every_seconds=None), library))
    with open(f"{out}.part", "w", encoding="utf-8") as written:
        json.dump({**result, "seconds": time.perf_counter() - start}, written)
    os.replace(f"{out}.part", out)
