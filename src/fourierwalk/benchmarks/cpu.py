"""Speeds on a CPU.

*Reference*: one step in plain NumPy (complex ``exp``, ``S.conj().T @ S``, a Cholesky solve). *Floor*: the bare
Hermitian update and factorisation of that size by BLAS and LAPACK, in the same process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg

from fourierwalk.arrays import nufft
from fourierwalk.benchmarks.figures import Figure, median_seconds, medians_in_turn
from fourierwalk.data.features import ComplexExponentials, CosineSine, Features
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.model import FourierModel
from fourierwalk.paper.gradient import updates_per_second
from fourierwalk.paper.targets import sine_integral
from fourierwalk.reporting.plots import COLORS, MARKERS, new_figure
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.policy import DEFAULT

REGULARIZATION = 0.1
SPREADS = {1: 300.0, 2: 10.0}  # of the frequencies, by dimension; 1 elsewhere


def problem(d: int, n_rows: int, n_frequencies: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data and frequencies of a benchmark."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, d))
    return x, np.sin(3 * x[:, :1]), SPREADS.get(d, 1.0) * rng.standard_normal((n_frequencies, d))


def reference_step(x: np.ndarray, y: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """One minimisation as it is usually written."""
    s = np.exp(1j * (x @ omega.T))
    matrix = s.conj().T @ s + REGULARIZATION * x.shape[0] * np.eye(omega.shape[0])
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), s.conj().T @ y)


def floor(n_rows: int, n_columns: int, dtype: str) -> Callable[[], None]:
    """The bare update and factorisation: herk and potrf, or syrk and potrf."""
    rng = np.random.default_rng(1)
    a = np.asfortranarray(rng.standard_normal((n_rows, n_columns)).astype(dtype))
    blas, lapack = scipy.linalg.blas, scipy.linalg.lapack
    kind = np.dtype(dtype).char.lower() if np.dtype(dtype).kind != "c" else {"F": "c", "D": "z"}[np.dtype(dtype).char]
    kind = {"f": "s", "d": "d"}.get(kind, kind)
    update = getattr(blas, f"{kind}{'herk' if kind in 'cz' else 'syrk'}")
    factorise = getattr(lapack, f"{kind}potrf")

    def run() -> None:
        gram = update(1.0, a, trans=2 if kind in "cz" else 1, lower=1)
        gram[np.diag_indices(n_columns)] += n_rows
        factorise(gram, lower=1, overwrite_a=1)

    return run


def solver_for(path: str, precision: str = "double") -> Solver:
    """A solver without a budget of its own."""
    return Solver(path=path, precision=precision, max_memory=1e12)


def bench_direct(shrink: int) -> list[Figure]:
    """d = 5, N = 10⁴, K = 1024: near the floor of BLAS."""
    n, k = 10_000 // shrink, 1024 // shrink
    x, y, omega = problem(5, n, k)
    case = f"d = 5, N = {n:,}, K = {k}"
    reference = median_seconds(lambda: reference_step(x, y, omega))
    figures = []
    kinds: tuple[tuple[str, Features, str, str, int, float, float], ...] = (
        ("complex", ComplexExponentials(), "double", "complex128", k, 1.3, 2.0),
        ("cosine-sine", CosineSine(), "double", "float64", 2 * k, 1.3, 0.0),
        ("complex, single", ComplexExponentials(), "single", "complex64", k, 1.25, 3.5),
    )
    exact = LeastSquares(Rows(x, y), ComplexExponentials(), REGULARIZATION, solver_for("direct"))(omega).amplitudes
    for name, features, precision, dtype, columns, most, least in kinds:
        minimize = LeastSquares(Rows(x, y), features, REGULARIZATION, solver_for("direct", precision))
        bare, ours = medians_in_turn([floor(n, columns, dtype), lambda m=minimize: m(omega + 0)], 9)  # type: ignore[misc]
        figures.append(Figure(f"{case}, {name}", "times the floor", ours / bare, most, True))
        if least:
            figures.append(Figure(f"{case}, {name}", "times faster than the reference", reference / ours, least, False))
        if precision == "single":
            error = float(np.max(np.abs(minimize(omega).amplitudes - exact)))
            figures.append(Figure(f"{case}, {name}", "error of the amplitudes", error, 1e-3, True))
    return figures


def bench_spectral(shrink: int) -> list[Figure]:
    """d = 1: a step in Fourier space, against the reference and the direct solution."""
    n, k = 10_000 // shrink, 1024 // shrink
    x, y, omega = problem(1, n, k)
    reference = median_seconds(lambda: reference_step(x, y, omega))
    figures = []
    for features, least in ((ComplexExponentials(), 12.0), (CosineSine(), 8.0)):
        case = f"d = 1, N = {n:,}, K = {k}, {features.name}"
        ours, direct = (
            LeastSquares(Rows(x, y), features, REGULARIZATION, solver_for(p)) for p in ("spectral", "direct")
        )
        seconds = median_seconds(lambda m=ours: m(omega + 0))  # type: ignore[misc]
        gram = float(np.max(np.abs(ours.system(omega).matrix - direct.system(omega).matrix))) / n
        error = float(np.max(np.abs(ours(omega).amplitudes - direct(omega).amplitudes)))
        figures += [
            Figure(case, "times faster than the reference", reference / seconds, least, False),
            Figure(case, "error of the Gram entries over N", gram, 1e-11, True),
            Figure(case, "error of the amplitudes", error, 1e-8, True),
        ]
    return figures


def bench_many_rows(shrink: int) -> list[Figure]:
    """d = 1, K = 512, N = 10⁶, and d = 2, K = 256, N = 2·10⁵: the cost of a step does not depend on N."""
    figures = []
    n, k = 1_000_000 // shrink**2, 512 // shrink
    x, y, omega = problem(1, n, k)
    tenth = slice(0, n // 10)
    reference = 10 * median_seconds(lambda: reference_step(x[tenth], y[tenth], omega), 3)
    case = f"d = 1, N = {n:,}, K = {k}"
    start = time.perf_counter()
    ours = LeastSquares(Rows(x, y), ComplexExponentials(), REGULARIZATION, solver_for("spectral"))
    ours(omega)
    first = time.perf_counter() - start
    few = LeastSquares(
        Rows(x[: n // 100], y[: n // 100]), ComplexExponentials(), REGULARIZATION, solver_for("spectral")
    )
    seconds, base = medians_in_turn([lambda: ours(omega + 0), lambda: few(omega + 0)], 21)
    figures += [
        Figure(case, "times faster than the reference (a tenth of the rows, scaled)", reference / seconds, 200, False),
        Figure(case, "times a step with a hundredth of the rows", seconds / base, 1.2, True),
        Figure(case, "steps' saving that the grid costs", (first - seconds) / (reference - seconds), 5, True),
    ]
    n, k = 200_000 // shrink**2, 256 // shrink
    x, y, omega = problem(2, n, k)
    reference = median_seconds(lambda: reference_step(x, y, omega), 3)
    plane = LeastSquares(Rows(x, y), ComplexExponentials(), REGULARIZATION, solver_for("spectral"))
    ratio = reference / median_seconds(lambda: plane(omega + 0))
    figures.append(Figure(f"d = 2, N = {n:,}, K = {k}", "times faster than the reference", ratio, 30, False))
    return figures


def bench_fit(shrink: int) -> list[Figure]:
    """A fit by "auto" of one model, d = 1, N = 10⁵, K = 256, 40 steps on all rows, against the direct path."""
    n, k = 100_000 // shrink**2, 256 // shrink
    x = np.random.default_rng(0).standard_normal((n, 1))
    y = sine_integral(x, 1e-3)
    seconds = {}
    one_model = replace(DEFAULT, least_width=k, most_members=1, few_rows=0, rows_per_input=n)
    sampler = Automatic(one_model, n_steps=40, patience=40)
    for path in ("auto", "direct"):
        model = AdaptiveFourierRegressor(k, sampler=sampler, solver=path, random_state=0)
        start = time.perf_counter()
        model.fit(x, y)
        seconds[path] = time.perf_counter() - start
    case = f"fit of one model, 40 steps, d = 1, N = {n:,}, K = {k}"
    return [Figure(case, "times faster than on the direct path", seconds["direct"] / seconds["auto"], 10, False)]


def bench_batches(shrink: int) -> list[Figure]:
    """A walk of 200 steps on 5,000 rows drawn at each step, of 10⁵ in d = 5, K = 128, against one on all rows."""
    n, k, drawn, n_steps = 100_000 // shrink**2, 128 // shrink, 5_000 // shrink, 200 // shrink
    rng = np.random.default_rng(0)
    x, x_test = rng.standard_normal((n, 5)), rng.standard_normal((10_000 // shrink, 5))
    y, y_test = (sine_integral(part, 1e-1) for part in (x, x_test))
    seconds, errors = [], []
    for size in (None, drawn):
        model = AdaptiveFourierRegressor(
            k, sampler="metropolis", n_steps=n_steps, solver=Solver(batch_size=size), random_state=0
        )
        start = time.perf_counter()
        model.fit(x, y)
        seconds.append(time.perf_counter() - start)
        errors.append(float(np.sqrt(np.mean((model.predict(x_test) - y_test) ** 2))))
    case = f"walk on {drawn:,} of {n:,} rows, d = 5, K = {k}"
    return [
        Figure(case, "times faster than on all rows, whole fits", seconds[0] / seconds[1]),
        Figure(case, "times the test error of all rows", errors[1] / errors[0]),
    ]


def bench_tiny(shrink: int) -> list[Figure]:
    """N = 500, K = 16: the walk's overhead over a minimal loop."""
    x, y, _ = problem(1, 500, 16)
    n_steps = 200 // shrink

    def minimal() -> None:
        rng = np.random.default_rng(0)
        omega = np.zeros((16, 1))
        beta = reference_step(x, y, omega)
        for _ in range(n_steps):
            proposed = omega + rng.standard_normal((16, 1))
            new = reference_step(x, y, proposed)
            accept = np.abs(new[:, 0]) > rng.random(16) * np.abs(beta[:, 0])
            omega[accept], beta[accept] = proposed[accept], new[accept]

    minimize = LeastSquares(Rows(x, y), ComplexExponentials(), REGULARIZATION, Solver("direct"))
    walk = Metropolis(RandomWalk(1.0), exponent=1.0, refit_every=n_steps + 1)

    def ours() -> None:
        for _ in walk.sample(minimize, walk.init(minimize, np.zeros((16, 1))), np.random.default_rng(0), n_steps):
            pass

    ratio = median_seconds(ours) / median_seconds(minimal)
    return [Figure("N = 500, K = 16", "times a minimal NumPy loop", ratio, 3, True)]


def bench_predict(shrink: int) -> list[Figure]:
    """d = 1, K = 10⁴, 10⁶ points: evaluation by a non-uniform FFT against blocked evaluation of a hundredth."""
    n, k = 1_000_000 // shrink**2, 10_000 // shrink
    x, _, omega = problem(1, n, k)
    rng = np.random.default_rng(2)
    beta = (rng.standard_normal((k, 1)) + 1j * rng.standard_normal((k, 1))) / k
    nothing = Scaling.fit(x, x, standardize=False)
    model = FourierModel(omega, beta, np.zeros(1), ComplexExponentials(), nothing)
    few = x[: n // 100]
    coefficients = model.features.coefficients(beta)
    direct = 100 * median_seconds(lambda: model.columns(few) @ coefficients, 3)
    seconds = median_seconds(lambda: nufft.evaluate(x, omega, beta, 1e-12), 3)
    error = float(np.max(np.abs(nufft.evaluate(few, omega, beta, 1e-12).real - model.columns(few) @ coefficients)))
    case = f"predict, d = 1, K = {k:,}, {n:,} points"
    return [
        Figure(case, "times faster than blocked evaluation (a hundredth, scaled)", direct / seconds, 20, False),
        Figure(case, "difference to it", error, 1e-9, True),
    ]


def bench_memory(shrink: int) -> list[Figure]:
    """d = 10, N = 2·10⁶, K = 512, float32: anonymous memory of a walk step and its final fit, beyond the data."""
    n, k = 2_000_000 // shrink**2, 512 // shrink
    command = [sys.executable, "-c", f"from fourierwalk.benchmarks.cpu import peak; peak({n}, {k})"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    case = f"d = 10, N = {n:,}, K = {k}, float32"
    return [Figure(case, "MB of anonymous memory beyond the data", float(shown.stdout.split()[-1]), 500, True)]


def peak(n_rows: int, n_frequencies: int) -> None:
    """Print the most anonymous memory in MB that a short fit took beyond what was there before it."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, 10), dtype=np.float32)
    y = np.sin(x[:, 0])
    before = anonymous()
    most, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            most[0] = max(most[0], anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    AdaptiveFourierRegressor(n_frequencies, sampler="metropolis", n_steps=1, random_state=0).fit(x, y)
    done.set()
    watcher.join()
    print((most[0] - before) / 1e6)


def anonymous() -> float:
    """This process's anonymous memory now, in bytes."""
    with open(f"/proc/{os.getpid()}/status", encoding="ascii") as file:
        return 1024.0 * next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))


def bench_gradient(shrink: int) -> list[Figure]:
    """The paper's stochastic gradient baseline: frequency updates a second, on one core."""
    figures = []
    for d, k in ((1, 16), (1, 256), (1, 2048), (2, 256), (5, 256)):
        rate = updates_per_second(k, d, 1.0 / shrink) / 1e6
        case = f"stochastic gradient, d = {d}, K = {k}"
        figures.append(Figure(case, "million frequency updates a second per core", rate, 150, False))
    return figures


BENCHES: dict[str, Callable[[int], list[Figure]]] = {
    "direct": bench_direct,
    "spectral": bench_spectral,
    "many-rows": bench_many_rows,
    "fit": bench_fit,
    "batches": bench_batches,
    "tiny": bench_tiny,
    "predict": bench_predict,
    "memory": bench_memory,
    "gradient": bench_gradient,
}


def scaling_exponents(shrink: int) -> dict[str, Any]:
    """Seconds of a step over N, K and d, direct and spectral, and the exponents fitted to them."""
    sizes = {
        "N": [(1, n // shrink, 256 // shrink) for n in (8_000, 16_000, 32_000, 64_000)],
        "K": [(1, 16_000 // shrink, max(2, k // shrink)) for k in (128, 256, 512, 1024)],
        "d": [(d, 16_000 // shrink, 256 // shrink) for d in (4, 8, 16, 32)],
    }
    found: dict[str, Any] = {}
    for name, cases in sizes.items():
        for path in ("direct", "spectral") if name != "d" else ("direct",):
            values, seconds = [], []
            for d, n, k in cases:
                x, y, omega = problem(d, n, k)
                minimize = LeastSquares(Rows(x, y), ComplexExponentials(), REGULARIZATION, solver_for(path))
                values.append({"N": n, "K": k, "d": d}[name])
                seconds.append(median_seconds(lambda m=minimize, o=omega: m(o + 0), 3))  # type: ignore[misc]
            exponent = float(np.polyfit(np.log(values), np.log(seconds), 1)[0])
            found[f"{path} over {name}"] = {"values": values, "seconds": seconds, "exponent": exponent}
    return found


def scaling_figure(scaling: dict[str, Any]) -> Any:
    """Seconds over N, K and d."""
    figure, axes = new_figure(3, width=4.2)
    for i, (name, line) in enumerate(scaling.items()):
        path, axis_name = name.split(" over ")
        axis = axes["NKd".index(axis_name)]
        label = f"{path}: {axis_name}^{line['exponent']:.2f}"
        color = COLORS[0] if path == "direct" else COLORS[1]
        axis.loglog(line["values"], line["seconds"], color=color, marker=MARKERS[i % 2], label=label)
        axis.set_xlabel(axis_name)
        axis.set_ylabel("seconds per step")
        axis.legend(frameon=False)
    return figure
