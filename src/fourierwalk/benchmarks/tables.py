"""Seconds and memory of the commands on large files, and seconds of the import."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fourierwalk.benchmarks.figures import Figure, medians_in_turn
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.files.writing import replacing

POLL_SECONDS = 0.02
PART_ROWS = 100_000
"""Largest number of different rows in a generated file. They are repeated to fill it."""


class Run(NamedTuple):
    """What a process took: seconds, processor seconds of all its threads, and its largest anonymous memory in MB."""

    seconds: float
    processor_seconds: float
    megabytes: float


def measured(arguments: Sequence[str]) -> Run:
    """Run the command line in a process of its own, and sample its memory while it runs."""
    start, used, most = time.perf_counter(), _used(), 0.0
    with subprocess.Popen([sys.executable, "-m", "fourierwalk", *arguments], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            most = max(most, _anonymous(process.pid))
            time.sleep(POLL_SECONDS)
    if process.returncode:
        raise RuntimeError(f"fourierwalk {arguments[0]} ended with exit code {process.returncode}.")
    return Run(time.perf_counter() - start, _used() - used, most)


def _used() -> float:
    """Processor seconds of the child processes that have ended."""
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime


def _anonymous(pid: int) -> float:
    """The anonymous memory of a process, in MB."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) * 1024e-6 for line in file if line.startswith("RssAnon")), 0.0)
    except (OSError, ValueError):
        return 0.0


def write_table(path: Path, n_rows: int, n_numbers: int, n_words: int) -> None:
    """A CSV file of random numbers and words, and a target that depends on some of them."""
    rng, n = np.random.default_rng(0), min(n_rows, PART_ROWS)
    x, codes = rng.standard_normal((n, n_numbers)), rng.integers(0, 4 ** np.arange(1, n_words + 1), (n, n_words))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + codes.sum(axis=1) % 3 + 0.3 * rng.standard_normal(n)
    names = [*(f"number{j}" for j in range(n_numbers)), *(f"word{j}" for j in range(n_words)), "target"]
    lines = (
        ",".join([*(f"{value:.6g}" for value in numbers), *(f"level {code}" for code in words), f"{target:.6g}"])
        for numbers, words, target in zip(x.tolist(), codes.tolist(), y.tolist(), strict=True)
    )
    part = "\n".join(lines) + "\n"
    with replacing(path) as file:
        file.write((",".join(names) + "\n").encode())
        for _ in range(-(-n_rows // n)):
            file.write(part.encode())


def fitting(shrink: int) -> Iterator[Figure]:
    """``fourierwalk fit`` on 10⁵ rows of 20 columns, 5 of them words."""
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / "data.csv", Path(folder) / "model.fw"
        n_rows, n_frequencies = 100_000 // shrink, 256 // shrink
        write_table(data, n_rows, 14, 5)
        run = measured(["fit", str(data), "--frequencies", str(n_frequencies), "--out", str(model), "--quiet"])
        case = f"fit, CSV of {n_rows:,} rows × 20 columns, K = {n_frequencies}"
        yield Figure(case, "seconds", run.seconds, 120.0)
        yield Figure(case, "seconds on a processor", run.processor_seconds)
        yield Figure(case, "MB of anonymous memory", run.megabytes, 1000.0)
        yield Figure(case, "MB of the model's file", model.stat().st_size / 1e6)


def predicting(shrink: int) -> Iterator[Figure]:
    """``fourierwalk predict`` on 10⁷ rows of 10 columns."""
    with tempfile.TemporaryDirectory() as folder:
        data, model, out = (Path(folder) / name for name in ("data.csv", "model.fw", "out.csv"))
        write_table(Path(folder) / "small.csv", 2000, 9, 0)
        x = np.loadtxt(Path(folder) / "small.csv", delimiter=",", skiprows=1)[:, :-1]
        AdaptiveFourierRegressor(256, sampler="fixed", random_state=0).fit(np.c_[x, x[:, :1]], x[:, 0]).save(model)
        n_rows = 10_000_000 // shrink**2
        write_table(data, n_rows, 9, 0)
        run = measured(["predict", str(model), str(data), "--out", str(out), "--quiet"])
        case = f"predict, CSV of {n_rows:,} rows × 10 columns, K = 256"
        yield Figure(case, "MB of anonymous memory", run.megabytes, 400.0)
        yield Figure(case, "seconds", run.seconds)
        yield Figure(case, "seconds on a processor", run.processor_seconds)


def importing(shrink: int) -> Iterator[Figure]:
    """Seconds to import the package, in a process of its own, beside scikit-learn's."""
    ours, theirs = medians_in_turn(
        [lambda: _imported("fourierwalk"), lambda: _imported("sklearn.ensemble")], 3 if shrink > 1 else 11
    )
    yield Figure("import of fourierwalk", "times that of sklearn.ensemble", ours / theirs, 1.15)
    yield Figure("import of fourierwalk", "seconds", ours)


def _imported(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True, env=dict(os.environ))


BENCHES = {"fit-csv": fitting, "predict-csv": predicting, "import": importing}
