"""How far the plan of a fit is from the fit: eight configurations, predicted and measured in one process."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from fourierwalk.benchmarks.figures import Figure
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.planning.machine import Machine
from fourierwalk.planning.plan import Work, plan

CASES = (
    (1_000, 5, 32),
    (3_000, 100, 64),
    (10_000, 5, 64),
    (10_000, 10, 256),
    (30_000, 20, 128),
    (100_000, 4, 128),
    (100_000, 10, 512),
    (300_000, 50, 64),
)
"""Rows, inputs and frequencies."""

MOST_OFF = 0.3
SECONDS = 4.0


def bench_plan(shrink: int) -> list[Figure]:
    """The seconds of a fit by Algorithm 1 with a fixed number of steps: predicted against measured.

    First on one thread, in seconds of the processor: other programs on the machine then count for neither. Then on the
    wall clock with all threads, which means something on a quiet machine alone.
    """
    with threadpool_limits(1):
        figures = _ratios(shrink, time.process_time, "seconds of the processor")
        beyond = _beyond(Machine.measured(10**6, 10, max(2, 1024 // shrink), clock=time.process_time))
    return [*figures, *_ratios(shrink, time.perf_counter, "seconds on the wall"), *beyond]


def _ratios(shrink: int, clock: Callable[[], float], seconds: str) -> list[Figure]:
    figures = []
    for n_rows, n_inputs, n_frequencies in CASES:
        sizes = n_rows // shrink, n_inputs, max(2, n_frequencies // shrink)
        machine = Machine.measured(*sizes, clock=clock)
        n_steps = int(min(200, max(4, SECONDS / shrink / plan(Work(*sizes), machine).step_seconds)))
        work = Work(*sizes, n_steps=n_steps)
        _measured(Work(*sizes, n_steps=1), clock)  # the first fit of a process takes longer
        ratio = plan(work, machine).fit_seconds / _measured(work, clock)
        case = f"N = {sizes[0]:,}, d = {sizes[1]}, K = {sizes[2]}, {n_steps} steps"
        figures.append(Figure(case, f"{seconds} of the fit, predicted over measured", ratio))
        figures.append(Figure(case, f"{seconds}: off by the share", abs(ratio - 1), MOST_OFF, True))
    return figures


def _beyond(machine: Machine) -> list[Figure]:
    """The plan carried to sizes that were not measured."""
    figures = []
    for n_rows, n_workers in ((10**7, 1), (10**9, 100), (10**10, 1000)):
        found = plan(Work(n_rows, 10, 1024, n_workers=n_workers, value_bytes=4), machine)
        case = f"N = {n_rows:,}, d = 10, K = 1024, {n_workers:,} workers, 10 Gbit/s"
        figures += [
            Figure(case, "seconds a step, predicted", found.step_seconds),
            Figure(case, f"share of {found.dominant}", found.terms[found.dominant] / found.step_seconds),
            Figure(case, "share of the network", found.terms["network"] / found.step_seconds),
            Figure(case, "GB of memory of a worker", found.memory / 1e9),
            Figure(case, "MB of traffic of a worker a step", found.traffic / 1e6),
        ]
    return figures


def _measured(work: Work, clock: Callable[[], float]) -> float:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((work.n_rows, work.n_inputs))
    y = np.sin(x[:, 0])
    model = AdaptiveFourierRegressor(
        work.n_frequencies,
        sampler="metropolis",
        n_steps=work.n_steps,
        refit_every=work.refit_every,
        solver="direct",
        random_state=0,
        regularization=0.1,
        initial=1.0,
    )
    start = clock()
    model.fit(x, y)
    return clock() - start


BENCHES: dict[str, Callable[[int], list[Figure]]] = {"plan": bench_plan}
