"""Speeds on a GPU: seconds, and shares of the product rates that the same run has measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import scipy.special

from fourierwalk.arrays.draws import placed
from fourierwalk.arrays.library import to_host
from fourierwalk.arrays.products import products
from fourierwalk.benchmarks import gpu_cases
from fourierwalk.benchmarks.figures import Figure
from fourierwalk.benchmarks.gpu_tables import tables
from fourierwalk.benchmarks.setting import MODES, Setting
from fourierwalk.data.features import ComplexExponentials, CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.data.streaming import Streamed
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.normal_equations import weighted
from fourierwalk.solving.solver import Solver
from fourierwalk.training import ahead


def bench_peaks(setting: Setting) -> list[Figure]:
    """The rates of square products that the device reaches."""
    return [Figure(f"a square product, {mode}", "TFLOP/s", peak / 1e12) for mode, peak in setting.peaks.items()]


def walked(minimize: LeastSquares, n_frequencies: int, step_size: float, n_steps: int) -> Any:
    """A few steps of the paper's walk from zero; the last state."""
    import torch

    x = minimize.rows.anchor
    start = torch.zeros((n_frequencies, minimize.rows.x.shape[1]), dtype=torch.float64, device=x.device)
    walk = Metropolis(RandomWalk(step_size), 3.0 * minimize.rows.x.shape[1] - 2.0, refit_every=n_steps + 1)
    rng = placed(np.random.default_rng(0), "auto", x, start.numel())
    state = walk.init(minimize, start)
    for after, _ in ahead.sample(walk, minimize, state, rng, n_steps):
        state = after
    return state


STEP_TARGETS = {(8192, "double"): 0.42, (8192, "bf16"): 0.075, (1024, "bf16"): 0.0025}


def bench_steps(setting: Setting) -> list[Figure]:
    """Steps of Case 4's walk, and the share of the peak that their Gram matrices reach."""
    figures = []
    data = setting.rows
    n_rows = data.x.shape[0]
    for width in (1024, 2048, 8192):
        k = max(4, width // setting.shrink)
        for mode in MODES:
            minimize = LeastSquares(Rows(data.x, data.y), ComplexExponentials(), 0.1, Solver("direct", mode))
            n_before, n_steps = (0, 16) if width > 1024 else (64, 64)  # the first steps record small solves
            seconds = (
                setting.seconds(lambda m=minimize, k=k, n=n_before + n_steps: walked(m, k, 0.1, n), 3)  # type: ignore[misc]
                - setting.seconds(lambda m=minimize, k=k, n=n_before: walked(m, k, 0.1, n), 3)  # type: ignore[misc]
            ) / n_steps
            case, target = f"N = {n_rows:,}, d = {data.x.shape[1]}, K = {k}, {mode}", STEP_TARGETS.get((width, mode))
            figures.append(Figure(case, "seconds a step", seconds, target))
            if width >= 2048:
                figures.append(_share(setting, case, k, mode))
    return figures


def _share(setting: Setting, case: str, n_frequencies: int, mode: str) -> Figure:
    """The share of the peak, counting the 4NK² operations that a Hermitian update needs."""
    rate = _product_rate(setting, Rows(setting.rows.x, setting.rows.y), n_frequencies, mode)
    return Figure(case, "share of the peak in the Gram matrix", rate / setting.peaks[mode], 0.7, False)


def _product_rate(setting: Setting, rows: Rows, n_frequencies: int, mode: str, n_times: int = 1) -> float:
    """Operations a second of Gram matrices and their right-hand sides, with columns as the features make them.

    One product, or several without a pause: a GPU slows down after some seconds of work.
    """
    omega = setting.tensor(0.1 * np.random.default_rng(0).standard_normal((n_frequencies, rows.x.shape[1])))
    block = rows.whole()
    columns, values = weighted(block, ComplexExponentials(), omega, mode)

    def made() -> None:
        for _ in range(n_times):
            products(columns, values, mode, block.thirds)

    repeats = 3 if n_times == 1 else 1
    return 4.0 * n_times * len(rows) * n_frequencies**2 / setting.seconds(made, repeats)


def bench_tables(setting: Setting) -> list[Figure]:
    """Six tables by default settings, beside double precision throughout and beside two CPU cores."""
    return list(tables(setting.shrink, setting.data_dir, setting.device_of_fits))


def bench_streaming(setting: Setting) -> list[Figure]:
    """N = 10⁷, d = 20, K = 4096, inputs on the host: a solve against its products on a block that is on the device."""
    n, k = 10_000_000 // setting.shrink**3, 4096 // setting.shrink
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 20), dtype=np.float32)
    y = setting.tensor(np.sin(x[:, :1]).astype(np.float64))
    omega = setting.tensor(rng.standard_normal((k, 20)))
    figures = []
    for mode in ("double", "bf16"):
        minimize = LeastSquares(
            Rows(Streamed(x, setting.device), y), ComplexExponentials(), 0.1, Solver("direct", mode)
        )
        seconds = setting.seconds(lambda m=minimize: m.ahead(omega + 0), 1 if mode == "double" else 2)  # type: ignore[misc]
        height = min(n, minimize.rows.block_height(2 * k))
        there, needed = Rows(setting.tensor(x[:height]), y[:height]), 4.0 * n * k**2
        rate = _product_rate(setting, there, k, mode, n_times=max(2, min(20, round(n / height))))
        case = f"N = {n:,}, d = 20, K = {k}, streamed, {mode}"
        figures += [
            Figure(case, "seconds a solve", seconds),
            Figure(case, "times its products on rows that are there", seconds * rate / needed, 1.3, True),
            Figure(case, "times its products at the peak of a square product", seconds * setting.peaks[mode] / needed),
        ]
    return figures


def bench_predict(setting: Setting) -> list[Figure]:
    """N = 10⁷, d = 10, K = 512, one output: predictions of rows that are on the device, in double precision."""
    n, k = 10_000_000 // setting.shrink**2, 512 // setting.shrink
    rng = np.random.default_rng(0)
    small = setting.tensor(rng.standard_normal((20 * k, 10)))
    model = AdaptiveFourierRegressor(k, sampler="fixed", initial=0.3, random_state=0).fit(small, small[:, 0])
    rows = setting.tensor(rng.standard_normal((n, 10)))
    case = f"predict, N = {n:,}, d = 10, K = {k}, rows on the device"
    here = model.model_.on_host()(to_host(rows[:1000]))[:, 0]
    apart = float(np.max(np.abs(to_host(model.predict(rows[:1000])) - here)))
    return [
        Figure(case, "seconds", setting.seconds(lambda: model.predict(rows)), 0.2, True),
        Figure(case, "largest difference to a CPU", apart, 1e-9, True),
    ]


def bench_dual(setting: Setting) -> list[Figure]:
    """N = 10⁴, d = 4, K = 15,000: 400 steps by the dual form, on f = Si(x·b/a) exp(−|x|²/2)."""
    n, k, n_steps = 10_000 // setting.shrink, 15_000 // setting.shrink, 400 // setting.shrink
    rng = np.random.default_rng(0)
    x, direction = rng.standard_normal((n, 4)), rng.standard_normal(4)
    along = x @ (direction / np.linalg.norm(direction))
    y = scipy.special.sici(along / 1e-2)[0] * np.exp(-0.5 * np.sum(x**2, axis=1))
    rows = Rows(setting.tensor(x), setting.tensor(y[:, None]))
    minimize = LeastSquares(rows, CosineSine(), 1e-3, Solver("dual"))
    walked(minimize, k, 0.5, 1)
    start = time.perf_counter()
    walked(minimize, k, 0.5, n_steps)
    setting.wait()
    case = f"N = {n:,}, d = 4, K = {k:,}, dual form"
    return [Figure(case, f"seconds for {n_steps} steps", time.perf_counter() - start, 60.0, True)]


def bench_repeatability(setting: Setting) -> list[Figure]:
    """Two walks from one seed: how far their frequencies are apart."""
    figures = []
    for mode in ("double", "bf16"):
        data, k = setting.rows, max(4, 1024 // setting.shrink)
        minimize = LeastSquares(Rows(data.x, data.y), ComplexExponentials(), 0.1, Solver("direct", mode))
        first, again = (walked(minimize, k, 0.1, 50).frequencies for _ in range(2))
        apart = float(abs(first - again).max())
        figures.append(Figure(f"two walks of 50 steps, K = {k}, {mode}", "largest difference", apart))
    return figures


BENCHES: dict[str, Callable[[Setting], Iterable[Figure]]] = {
    "peaks": bench_peaks,
    "steps": bench_steps,
    "precision": gpu_cases.bench_precision,
    "table": gpu_cases.bench_table,
    "auto": gpu_cases.bench_auto,
    "auto-wide": gpu_cases.bench_auto_wide,
    "tables": bench_tables,
    "case1": partial(gpu_cases.bench_experiment, name="case1"),
    "case2": partial(gpu_cases.bench_experiment, name="case2"),
    "dual": bench_dual,
    "predict": bench_predict,
    "streaming": bench_streaming,
    "repeatability": bench_repeatability,
}
