"""One step against the plain NumPy one: complex `exp`, `S.conj().T @ S`, a Cholesky solve. Ratios of one run.

Writes results/bench/step.json with its provenance.
"""

import time
from pathlib import Path

import numpy as np
import scipy.linalg
from rich.console import Console
from rich.table import Table

from fourierwalk.features import ComplexExponentials, CosineSine
from fourierwalk.files import write_json
from fourierwalk.least_squares import LeastSquares
from fourierwalk.provenance import provenance
from fourierwalk.rows import Rows

CASES = [(1, 10_000, 64), (1, 10_000, 256), (5, 10_000, 1024)]
REPEATS = 5


def reference_step(x, y, omega, regularization):
    s = np.exp(1j * (x @ omega.T))
    matrix = s.conj().T @ s + regularization * x.shape[0] * np.eye(omega.shape[0])
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), s.conj().T @ y)


def seconds(function):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def measure(d, n, k):
    rng = np.random.default_rng(0)
    x, omega = rng.standard_normal((n, d)), rng.standard_normal((k, d)) * (300 if d == 1 else 1)
    y = np.sin(x.sum(axis=1, keepdims=True))
    row = {"d": d, "n": n, "k": k, "reference_seconds": seconds(lambda: reference_step(x, y, omega, 0.1))}
    for features in (ComplexExponentials(), CosineSine()):
        minimize = LeastSquares(Rows(x, y), features, 0.1)
        row[f"{features.name}_seconds"] = seconds(lambda m=minimize: m(omega))
        row[f"{features.name}_ratio"] = row["reference_seconds"] / row[f"{features.name}_seconds"]
    return row


def main():
    rows = [measure(*case) for case in CASES]
    table = Table(title="Times faster than the plain NumPy step (median of 5)")
    for name in ("d", "n", "k", "reference_seconds", "complex_ratio", "cos-sin_ratio"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(f"{row[column.header]:.4g}" for column in table.columns))
    Console().print(table)
    write_json(Path("results/bench/step.json"), {"provenance": provenance("make bench"), "rows": rows})


if __name__ == "__main__":
    main()
