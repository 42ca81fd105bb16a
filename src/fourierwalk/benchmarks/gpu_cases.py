"""The paper's cases and MNIST by the default training, on a GPU: seconds and errors."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import numpy as np

from fourierwalk.benchmarks.figures import Figure
from fourierwalk.benchmarks.setting import MODES, Setting
from fourierwalk.estimators import AdaptiveFourierClassifier
from fourierwalk.paper.cases import CASES, Cell, at_scale, cells
from fourierwalk.paper.data import split
from fourierwalk.paper.run import groups, run, run_together


def bench_precision(setting: Setting) -> list[Figure]:
    """Case 4's walks of 100 steps in lower precision: their errors against those of walks in double, in points.

    Means of three seeds. Walks that differ by rounding part, so their errors differ by chance too.
    Acceptance is reported too: γ is so large there that rounding alone makes the test accept moves.
    """
    width, place = 8192 // setting.shrink, setting.place
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


def bench_table(setting: Setting) -> list[Figure]:
    """Case 4's Table 1, all widths and its three columns, one seed, walks in bf16."""
    case = setting.images
    # The tuned column is ours, not the paper's.
    printed = [experiment.name for experiment in case.experiments if experiment.method != "tuned"]
    wanted = [cell for cell in cells([case], None, [0], printed) if cell.width <= 8192 // setting.shrink]
    wanted = [cell._replace(experiment=replace(cell.experiment, precision="bf16")) for cell in wanted]
    place = setting.place
    place.rows_of(wanted[0])
    start = time.perf_counter()
    for cell in wanted:
        run(cell, place)
    return [Figure("Table 1, one seed", "seconds after data loading", time.perf_counter() - start, 20.0, True)]


def bench_experiment(setting: Setting, name: str) -> list[Figure]:
    """Experiment 1 of a case: Algorithm 1 at every width, ten realisations, the paper's steps."""
    case = at_scale(CASES[name], "paper" if setting.shrink == 1 else "quick")
    seeds = None if setting.shrink == 1 else [0, 1]
    wanted = [cell for cell in cells([case], None, seeds, ["algorithm-1"]) if cell.width * setting.shrink <= 2048]
    place, start = setting.place, time.perf_counter()
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
    device = setting.device_of_fits
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
