"""Speeds on a GPU: seconds, and shares of the product rates that the same run has measured."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

from fourierwalk.arrays.draws import placed
from fourierwalk.arrays.library import to_host
from fourierwalk.arrays.products import product, products
from fourierwalk.benchmarks.figures import Figure
from fourierwalk.benchmarks.gpu_tables import tables
from fourierwalk.data.features import ComplexExponentials, CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.data.streaming import Streamed
from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.paper.cases import CASES, Case, Cell, at_scale, cells, on_digits
from fourierwalk.paper.data import Realisation, split
from fourierwalk.paper.place import Place
from fourierwalk.paper.run import groups, run, run_together
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.normal_equations import weighted
from fourierwalk.solving.solver import Solver
from fourierwalk.training import ahead

MODES = ("double", "single", "tf32", "bf16")


@dataclass(frozen=True)
class Setting:
    """Where and how large a benchmark runs."""

    device: Any
    shrink: int
    data_dir: str | None
    out: Path = Path()

    @classmethod
    def on(cls, device: str, shrink: int, data_dir: str | None, out: Path = Path()) -> Setting:
        """On a device that is there."""
        Place(device).put(np.zeros(1))  # or a sentence that says what is missing
        return cls(device, shrink, data_dir, out)

    def picture(self, name: str) -> Path:
        """The path of a picture beside the results."""
        self.out.mkdir(parents=True, exist_ok=True)
        return self.out / name

    def wait(self) -> None:
        """Wait until the device is done."""
        import torch

        if torch.device(self.device).type == "cuda":
            torch.cuda.synchronize(self.device)

    def seconds(self, function: Callable[[], Any], repeats: int = 5) -> float:
        """The median of a few timings after one unmeasured call."""
        times = []
        for _ in range(repeats + 1):
            self.wait()
            start = time.perf_counter()
            function()
            self.wait()
            times.append(time.perf_counter() - start)
        return statistics.median(times[1:])

    def tensor(self, values: np.ndarray) -> Any:
        """Values on the device."""
        import torch

        return torch.as_tensor(values, device=self.device)

    def placed(self, values: np.ndarray) -> Any:
        """Values as a tensor on a GPU; unchanged on a CPU."""
        return values if self.device == "cpu" else self.tensor(values)

    def described(self) -> dict[str, Any]:
        """The device, its driver and its libraries."""
        import torch

        if torch.device(self.device).type != "cuda":
            return {"name": str(self.device), "torch": torch.__version__}
        properties = torch.cuda.get_device_properties(self.device)
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        try:
            driver = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        except OSError:
            driver = ""
        return {
            "name": properties.name,
            "memory_gb": round(properties.total_memory / 1e9, 1),
            "driver": driver.splitlines()[0] if driver else "unknown",
            "cuda": torch.version.cuda,
            "torch": torch.__version__,
        }

    @cached_property
    def images(self) -> Case:
        """MNIST at paper scale; scikit-learn's digits for toy sizes."""
        case = at_scale(CASES["case4"], "paper")
        return case if self.shrink == 1 else on_digits(case)

    @cached_property
    def rows(self) -> Realisation:
        """The images on the device."""
        return _place(self).put_all(split(self.images, 0, self.data_dir))

    @cached_property
    def peaks(self) -> dict[str, float]:
        """Operations a second of a large square product, by precision, as (n, n) times (n, n)."""
        import torch

        found: dict[str, float] = {}
        for mode in MODES:
            n = (8192 if mode == "double" else 16384) // self.shrink
            kind = {"double": torch.float64, "bf16": torch.bfloat16}.get(mode, torch.float32)
            square = torch.randn((n, n), device=self.device).to(kind)
            for other in (square, square.mT):  # in either order of memory
                seconds = self.seconds(lambda a=square, b=other, m=mode: product(a, b, m), 3)  # type: ignore[misc]
                found[mode] = max(found.get(mode, 0.0), 2.0 * n**3 / seconds)
        return found


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


STEP_TARGETS = {
    (8192, "double"): 0.42,
    (8192, "bf16"): 0.075,
    (1024, "bf16"): 0.0025,
}


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


def bench_precision(setting: Setting) -> list[Figure]:
    """Case 4's walks of 100 steps in lower precision: their errors against those of walks in double, in points.

    Means of three seeds. Walks that differ by rounding part, so their errors differ by chance too.
    Acceptance is reported too: γ is so large there that rounding alone makes the test accept moves.
    """
    width, place = 8192 // setting.shrink, _place(setting)
    errors, figures = {}, []
    for mode in (mode for mode in MODES if mode != "single"):  # no faster than double
        results = [run(_cell(setting, width, mode, seed), place) for seed in SEEDS]
        errors[mode] = np.array([result["misclassified_modulus"] for result in results])
        accepted = float(np.mean([result["acceptance"] for result in results]))
        case = f"K = {width}, walk in {mode}"
        figures += [
            Figure(case, "% misclassified", float(errors[mode].mean())),
            Figure(case, "mean acceptance", accepted),
        ]
        if mode != "double":
            apart = errors[mode] - errors["double"]
            figures += [
                Figure(case, "points of error beyond the walk in double", float(apart.mean()), 0.1, True),
                Figure(case, "standard error of that", float(apart.std(ddof=1) / np.sqrt(apart.size))),
            ]
    return figures


SEEDS = (0, 1, 2)


def _cell(setting: Setting, width: int, precision: str, seed: int) -> Cell:
    case = setting.images
    experiment = next(each for each in case.experiments if each.method == "walk")
    return Cell(case, replace(experiment, precision=precision), width, seed)


def _place(setting: Setting) -> Place:
    return Place(str(setting.device), setting.data_dir) if setting.shrink == 1 else _Toy(setting.device, None)


class _Toy(Place):
    """Puts tensors on the device of the benchmark."""

    def put(self, values: np.ndarray) -> Any:
        """The values on the device."""
        import torch

        return torch.as_tensor(values, device=self.device)


def bench_table(setting: Setting) -> list[Figure]:
    """Case 4's Table 1, all widths and its three columns, one seed, walks in bf16."""
    case = setting.images
    # The tuned column is ours, not the paper's.
    printed = [experiment.name for experiment in case.experiments if experiment.method != "tuned"]
    wanted = [cell for cell in cells([case], None, [0], printed) if cell.width <= 8192 // setting.shrink]
    wanted = [cell._replace(experiment=replace(cell.experiment, precision="bf16")) for cell in wanted]
    place = _place(setting)
    place.rows_of(wanted[0])
    start = time.perf_counter()
    for cell in wanted:
        run(cell, place)
    return [Figure("Table 1, one seed", "seconds after data loading", time.perf_counter() - start, 20.0, True)]


def bench_case1(setting: Setting) -> list[Figure]:
    """Experiment 1 of Case 1."""
    return _experiment(setting, "case1")


def bench_case2(setting: Setting) -> list[Figure]:
    """Experiment 1 of Case 2."""
    return _experiment(setting, "case2")


def _experiment(setting: Setting, name: str) -> list[Figure]:
    """Algorithm 1 at every width, ten realisations, the paper's steps."""
    case = at_scale(CASES[name], "paper" if setting.shrink == 1 else "quick")
    seeds = None if setting.shrink == 1 else [0, 1]
    wanted = [cell for cell in cells([case], None, seeds, ["algorithm-1"]) if cell.width * setting.shrink <= 2048]
    place, start = _place(setting), time.perf_counter()
    for group in groups(wanted, together=True):
        run_together(group, place)
    seconds = time.perf_counter() - start
    return [Figure(f"{case.title}, Experiment 1, {len(wanted)} cells", "seconds", seconds, 180.0, True)]


def bench_auto(setting: Setting) -> list[Figure]:
    """MNIST by `sampler="auto"`, K = 1024."""
    return _auto(setting, 1024, 5.0, 1.5, repeats=3)


def bench_auto_wide(setting: Setting) -> list[Figure]:
    """MNIST by `sampler="auto"`, K = 8192."""
    return _auto(setting, 8192, 30.0, 1.28, repeats=1)


def _auto(setting: Setting, width: int, seconds: float, error: float, repeats: int) -> list[Figure]:
    """Seconds of a fit, after a small fit that loads the device's libraries, and the error on the test rows."""
    data = split(setting.images, 0, setting.data_dir)
    labels, truth = np.argmax(data.y, axis=1), np.argmax(data.y_test, axis=1)
    k = width // setting.shrink
    device = str(setting.device) if str(setting.device) != "cpu" else None
    AdaptiveFourierClassifier(max(4, 128 // setting.shrink), device=device, random_state=0).fit(data.x, labels)
    model, times = AdaptiveFourierClassifier(k, device=device, random_state=0), []
    for _ in range(repeats):
        start = time.perf_counter()
        model.fit(data.x, labels)
        times.append(time.perf_counter() - start)
    taken, wrong = statistics.median(times), 100 * float(np.mean(model.predict(data.x_test) != truth))
    return [
        Figure(f"auto, images, K = {k}", "seconds of a fit", taken, seconds),
        Figure(f"auto, images, K = {k}", "% misclassified", wrong, error),
    ]


def bench_tables(setting: Setting) -> list[Figure]:
    """Six tables by default settings, beside double precision throughout and beside two CPU cores."""
    device = str(setting.device) if str(setting.device) != "cpu" else None
    return list(tables(setting.shrink, setting.data_dir, device))


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
            Figure(
                case,
                "times its products on rows that are there",
                seconds * rate / needed,
                1.3,
                True,
            ),
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
    "precision": bench_precision,
    "table": bench_table,
    "auto": bench_auto,
    "auto-wide": bench_auto_wide,
    "tables": bench_tables,
    "case1": bench_case1,
    "case2": bench_case2,
    "dual": bench_dual,
    "predict": bench_predict,
    "streaming": bench_streaming,
    "repeatability": bench_repeatability,
}
