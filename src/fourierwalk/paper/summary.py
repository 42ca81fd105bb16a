"""From cells to curves over K, over the spread of the frequencies and over time; and which cells are missing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fourierwalk.paper import results
from fourierwalk.paper.cases import CASES, at_scale, cells
from fourierwalk.paper.curves import Curve, Measured, measured
from fourierwalk.paper.printed import PRINTED, TABLE_COLUMNS

__all__ = [
    "PRINTED",
    "TABLE_COLUMNS",
    "Cells",
    "Curve",
    "covariances",
    "curve",
    "is_digits",
    "missing",
    "rounded",
    "scales",
    "sweep",
    "time_to",
    "trace",
    "traces",
]

Cells = dict[str, dict[str, Any]]


def curve(cells: Cells, case: str, experiment: str, figure: str = "rms_modulus") -> Curve:
    """A measure of an experiment's cells over K. Every K has the same seeds: those of the case."""
    values: dict[int, list[float]] = {}
    for width, seed, result in results.of(cells, case, experiment):
        if result.get(figure) is not None and seed < CASES[case].n_seeds:
            values.setdefault(width, []).append(result[figure])
    widths = sorted(values)
    return Curve(
        np.array(widths, int),
        np.array([np.mean(values[w]) for w in widths]),
        np.array([np.std(values[w], ddof=1) if len(values[w]) > 1 else 0.0 for w in widths]),
        np.array([len(values[w]) for w in widths], int),
    )


def scales(cells: Cells) -> list[str]:
    """The scales among the cells."""
    return sorted({cell["settings"]["scale"] for cell in cells.values()})


def is_digits(cells: Cells) -> bool:
    """Whether scikit-learn's digits stand in for MNIST."""
    return any(cell["settings"]["case"]["target"] == "digits" for cell in cells.values())


def missing(done: Cells, scale: str) -> list[str]:
    """Missing cells of the scale, a line per experiment."""
    lines = []
    for case in (at_scale(case, scale) for case in CASES.values()):
        lacking: dict[str, dict[int, int]] = {}
        for cell in cells([case]):
            if cell.key not in done:
                lacking.setdefault(cell.experiment.label, {}).setdefault(cell.width, 0)
                lacking[cell.experiment.label][cell.width] += 1
        for label, widths in lacking.items():
            text = ", ".join(f"K = {width} ({count} of {case.n_seeds})" for width, count in widths.items())
            lines.append(f"{case.title}, {label}: {text}")
    return lines


def rounded(everything: Cells, case: str) -> str:
    """Which walks of a case had products below double precision; empty if none had."""
    cells = [cell["settings"] for key, cell in everything.items() if key.startswith(f"{case}/")]
    precisions = [settings["experiment"].get("precision") for settings in cells]
    kinds = sorted({precision for precision in precisions if precision is not None})
    if not kinds:
        return ""
    widths = [settings["width"] for settings, each in zip(cells, precisions, strict=True) if each is not None]
    least, most = min(widths), max(widths)
    walks = "One walk" if len(widths) == 1 else f"{len(widths)} walks"
    among = f"{least}" if least == most else f"{least} to {most}"
    return f"{walks} (K = {among}) had products in {' and '.join(kinds)}, and the last fit in double precision."


def trace(cells: Cells, experiment: str) -> np.ndarray | None:
    """(step, seconds, rms modulus, rms real) of Case 3's first realisation that no GPU computed.

    Seconds are processor seconds of the process, if they were counted.
    """
    for key in sorted(cells):
        cell = cells[key]
        timed = "trace" in cell["result"] and "gpu" not in (cell["provenance"] or {}).get("machine", {})
        if key.startswith(f"case3/{experiment}/") and timed:
            line = np.array(cell["result"]["trace"])
            return line if line.shape[1] == 4 else line[:, [0, 4, 2, 3]]
    return None


def traces(cells: Cells, experiment: str) -> np.ndarray:
    """(seed, look, column) of all of Case 3's realisations, of equal length; columns: step, error of the modulus."""
    lines = [np.array(result["trace"]) for _, _, result in results.of(cells, "case3", experiment) if "trace" in result]
    shortest = min((len(line) for line in lines), default=0)
    return np.array([line[:shortest, [0, 2]] for line in lines]).reshape(len(lines), shortest, 2)


def time_to(line: np.ndarray, error: float) -> float:
    """Seconds until an error is first reached; infinite if it never is."""
    reached = np.flatnonzero(line[:, 2] <= error)
    return float(line[reached[0], 1]) if reached.size else math.inf


def covariances(cells: Cells, experiment: str) -> dict[str, Measured] | None:
    """The frequencies' variances and covariance in Case 3, over realisations."""
    each = [result["covariance"] for _, _, result in results.of(cells, "case3", experiment) if "covariance" in result]
    if not each:
        return None
    entries = {"first": (0, 0), "second": (1, 1), "mixed": (0, 1)}
    return {name: measured([matrix[i][j] for matrix in each]) for name, (i, j) in entries.items()}


def sweep(cells: Cells, figure: str = "rms_modulus") -> dict[float, tuple[float, float]]:
    """(mean, standard deviation) of the error by σ_ω."""
    values = {spread: list(by_seed.values()) for spread, by_seed in sweep_by_seed(cells, figure).items()}
    return {s: (float(np.mean(v)), float(np.std(v, ddof=1)) if len(v) > 1 else 0.0) for s, v in values.items()}


def sweep_by_seed(cells: Cells, figure: str) -> dict[float, dict[int, float]]:
    """The error by σ_ω and realisation. All σ_ω of a realisation have the same data."""
    values: dict[float, dict[int, float]] = {}
    for key, cell in cells.items():
        settings, result = cell["settings"], cell["result"]
        if key.startswith("sweep/") and settings["experiment"]["method"] == "fixed" and figure in result:
            values.setdefault(settings["experiment"]["spread"], {})[settings["seed"]] = result[figure]
    return dict(sorted(values.items()))
