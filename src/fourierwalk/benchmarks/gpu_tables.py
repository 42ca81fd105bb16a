"""Default fits of tables on a GPU, beside double precision throughout and beside two CPU cores."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fourierwalk.benchmarks.figures import Figure
from fourierwalk.comparison import processes
from fourierwalk.comparison.datasets import Dataset, find
from fourierwalk.comparison.run import error_of
from fourierwalk.comparison.suite import datasets
from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.solving.solver import Solver

SETS = ("spambase", "wind", "kin8nm", "cpu-act", "pol", "cal-housing")
"""Six of the suite's tables, of 4,000 to 19,000 training rows."""

N_REPEATS = 2
N_CPU_THREADS = 2
CORES_PER_FIT = 4
"""Fits on the CPU run side by side, one for this many cores, so that they do not slow each other down."""

FASTER_FROM = 5_000
"""The training rows from which on a GPU must be faster than two CPU cores."""


class MeasuredFit(NamedTuple):
    """Test error and seconds of a fit, and the frequencies of its model."""

    error: float
    seconds: float
    n_frequencies: int


def fitted(dataset: Dataset, device: str | None, solver: Any = "auto") -> MeasuredFit:
    """One default fit of the first split."""
    data = dataset.splits(0)
    kind: Any = AdaptiveFourierRegressor if dataset.task == "regression" else AdaptiveFourierClassifier
    model, start = kind(device=device, solver=solver, random_state=0), time.perf_counter()
    model.fit(data.x, data.y)
    seconds = time.perf_counter() - start
    return MeasuredFit(error_of(dataset.task, model.predict(data.x_test), data.y_test), seconds, model.n_frequencies_)


def on_cpu(dataset: Dataset, threads: int) -> dict[str, Any]:
    """The same fit on some threads of the CPU; in a process of its own."""
    with threadpool_limits(threads):
        return fitted(dataset, None)._asdict()


def tables(shrink: int, data_dir: str | None, device: str | None) -> Iterator[Figure]:
    """All sets, on the GPU one after the other. Both precisions take turns, so that they see the same machine."""
    chosen = [_thinned(find("diabetes"))] if shrink > 1 else datasets("tables", data_dir, SETS)
    n_repeats = 1 if shrink > 1 else N_REPEATS
    fitted(chosen[0], device)  # loads the device's libraries
    found = {}
    for dataset in chosen:
        turns = [
            (fitted(dataset, device), fitted(dataset, device, Solver(precision="double"))) for _ in range(n_repeats)
        ]
        found[dataset.name] = [min(fits, key=lambda fit: fit.seconds) for fits in zip(*turns, strict=True)]
    here = _on_cpus(chosen)
    for dataset in chosen:
        gpu, double = found[dataset.name]
        yield from _figures(dataset, gpu, double, here[dataset.name])


def _on_cpus(chosen: Sequence[Dataset]) -> dict[str, MeasuredFit]:
    """The fits on two threads, the largest sets first."""
    n_jobs = max(1, (os.cpu_count() or 1) // CORES_PER_FIT)
    largest_first = sorted(chosen, key=lambda dataset: -len(dataset.splits(0).y))
    computed = processes.computed(largest_first, n_jobs, N_CPU_THREADS, on_cpu)
    return {dataset.name: MeasuredFit(**result) for dataset, result in computed}


def _figures(
    dataset: Dataset, gpu: MeasuredFit, double: MeasuredFit, cpu: MeasuredFit, faster_from: int = FASTER_FROM
) -> Iterator[Figure]:
    n = len(dataset.splits(0).y)
    case = f"{dataset.name}, N = {n:,}"
    ratio = _counted(gpu, dataset) / _counted(double, dataset)
    yield Figure(case, "error over that of double precision throughout", ratio, 1.02)
    yield Figure(case, "seconds over those of double precision throughout", gpu.seconds / double.seconds, 1.05)
    target = 1.0 if n >= faster_from else None
    yield Figure(case, "seconds over those of two CPU cores", gpu.seconds / cpu.seconds, target)
    for name, fit in {"default": gpu, "double throughout": double, "two CPU cores": cpu}.items():
        yield Figure(case, f"{name}: test error", fit.error)
        yield Figure(case, f"{name}: seconds", fit.seconds)
        yield Figure(case, f"{name}: frequencies", float(fit.n_frequencies))


def _counted(fit: MeasuredFit, dataset: Dataset) -> float:
    """The error; of classes (errors + ½)/(n + 1), so that none at all can be divided by."""
    if dataset.task == "regression":
        return fit.error
    n = len(dataset.splits(0).y_test)
    return (fit.error / 100 * n + 0.5) / (n + 1)


def _thinned(dataset: Dataset) -> Dataset:
    """A toy: few rows of a set."""
    data = dataset.splits(0)
    few = type(data)(data.x[:100, :3], data.y[:100], data.x_test[:, :3], np.asarray(data.y_test))
    return replace(dataset, splits=lambda _: few)
