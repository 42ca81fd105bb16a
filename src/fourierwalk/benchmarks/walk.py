"""A fit on a memory map, for a measurement of its memory: ``python -m fourierwalk.benchmarks.walk FILE N D K``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.chunks import Sliced
from fourierwalk.estimators import AdaptiveFourierRegressor


def main(path: str, n_rows: str, d: str, n_frequencies: str) -> None:
    """One step of the walk on all rows."""
    x = np.memmap(path, np.float32, "r", shape=(int(n_rows), int(d)))
    y = np.load(Path(path).with_name("y.npy"), mmap_mode="r")
    settings: dict[str, Any] = {"sampler": "metropolis", "n_steps": 1, "regularization": 1e-3, "random_state": 0}
    AdaptiveFourierRegressor(int(n_frequencies), **settings).fit(Sliced(x, y))


if __name__ == "__main__":
    main(*sys.argv[1:])
