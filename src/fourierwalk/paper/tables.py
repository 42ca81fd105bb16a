"""The tables of the report: each with a caption, columns that name their units, and rows of text."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fourierwalk.paper.cases import CASES, Case
from fourierwalk.paper.claims.case3 import LEVELS, work_to
from fourierwalk.paper.claims.case4 import COLUMN_LABELS, READINGS, changes
from fourierwalk.paper.claims.sweep import FIGURES
from fourierwalk.paper.curves import Curve, Measured, exponent, local_exponents, measured
from fourierwalk.paper.printed import PRINTED, TABLE_COLUMNS
from fourierwalk.paper.summary import Cells, covariances, curve, sweep_by_seed, time_to, trace, traces

NOTHING = "–"


class ReportTable(NamedTuple):
    """A caption, the names of the columns with their units, and rows of text."""

    caption: str
    columns: list[str]
    rows: list[list[str]]


def tables(cells: Cells, case: str) -> list[ReportTable]:
    """All tables of a case that its cells allow.

    Examples
    --------
    >>> tables({}, "case1")
    []
    """
    made = {
        "case1": lambda: [*error_tables(cells, CASES["case1"]), exponent_table(cells, CASES["case1"])],
        "case2": lambda: [*error_tables(cells, CASES["case2"]), exponent_table(cells, CASES["case2"])],
        "case3": lambda: [level_table(cells), *work_tables(cells), covariance_table(cells)],
        "case4": lambda: [*digit_tables(cells), change_table(cells)],
        "sweep": lambda: [sweep_table(cells)],
    }
    return [table for table in made[case]() if table.rows] if case in made else []


def error_tables(cells: Cells, case: Case) -> list[ReportTable]:
    """Errors, K by method: root mean squares of modulus and real part, and e_K as printed."""
    kinds = {
        "rms_modulus": "Root mean square of |Sβ − y| on test data (targets of standard deviation 1)",
        "rms_real": "Root mean square of Re(Sβ) − y on test data (targets of standard deviation 1)",
        "error_as_printed": "e_K as printed: the root of the sum of |Sβ − y|² over the test rows, not of its mean",
    }
    return [
        _by_width(cells, case, figure, f"{words}; mean ± standard deviation of n realisations.")
        for figure, words in kinds.items()
    ]


def _by_width(cells: Cells, case: Case, figure: str, caption: str) -> ReportTable:
    lines = {e.label: curve(cells, case.name, e.name, figure) for e in case.experiments}
    lines = {label: line for label, line in lines.items() if line.widths.size}
    widths = sorted({int(width) for line in lines.values() for width in line.widths})
    digits = 2 if figure == "error_as_printed" else 4
    rows = [
        [str(width), _n_seeds(list(lines.values()), width), *(_scatter(line, width, digits) for line in lines.values())]
        for width in widths
    ]
    return ReportTable(caption, ["K", "n", *lines], rows)


def _n_seeds(lines: list[Curve], width: int) -> str:
    counts = sorted({int(n) for line in lines for n in line.n_seeds[line.widths == width]})
    return NOTHING if not counts else str(counts[0]) if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"


def _scatter(line: Curve, width: int, digits: int) -> str:
    """Mean and, if there are several seeds, standard deviation."""
    at = np.flatnonzero(line.widths == width)
    if not at.size:
        return NOTHING
    mean, deviation = float(line.mean[at[0]]), float(line.deviation[at[0]])
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}" if line.n_seeds[at[0]] > 1 else f"{mean:.{digits}f}"


def exponent_table(cells: Cells, case: Case) -> ReportTable:
    """Exponents of K between neighbouring widths, and fitted from K = 32 on."""
    lines = {e.label: curve(cells, case.name, e.name) for e in case.experiments}
    lines = {label: line for label, line in lines.items() if line.widths.size > 1}
    spans = sorted({span for line in lines.values() for span in local_exponents(line)})
    rows = [
        [f"{a} to {b}", *(local_exponents(line).get((a, b), Measured(math.nan)).text(2) for line in lines.values())]
        for a, b in spans
    ]
    fitted = {label: exponent(line) for label, line in lines.items()}
    if any(not math.isnan(each.value) for each in fitted.values()):
        rows.append(["fitted, K ≥ 32", *(each.text(2) for each in fitted.values())])
    rows = [[NOTHING if cell.startswith("nan") else cell for cell in row] for row in rows]
    caption = "Exponents of K of the root mean square of |Sβ − y|, ± standard error; a K^(−1/2) law has −0.5."
    return ReportTable(caption, ["K", *lines], rows)


def level_table(cells: Cells) -> ReportTable:
    """Case 3: processor seconds until an error is first reached."""
    labels = {e.name: e.label for e in CASES["case3"].experiments}
    lines = {labels[name]: trace(cells, name) for name in labels}
    known = {label: line for label, line in lines.items() if line is not None}
    rows = [[f"{level:g}", *(_finite(time_to(line, level), 1) for line in known.values())] for level in LEVELS]
    if known:
        rows.append(["at the end", *(f"{line[-1, 2]:.3f} after {line[-1, 1]:.0f} s" for line in known.values())])
    caption = "Seconds (one thread, one realisation) until the root mean square of |Sβ − y| is first reached."
    return ReportTable(caption, ["error", *(f"{label} (s)" for label in known)], rows if known else [])


def work_tables(cells: Cells) -> list[ReportTable]:
    """Case 3: counted work until an error is first reached."""
    units = (("Values exp(iω·x) computed (billions)", 1e-9), ("Arithmetic operations (10¹²)", 1e-12))
    labels = {e.name: e.label for e in CASES["case3"].experiments}
    counted = {labels[name]: each for name in labels if (each := work_to(cells, name))}
    n = {labels[name]: len(traces(cells, name)) for name in labels}
    return [
        ReportTable(
            f"{words} until the root mean square of |Sβ − y| is first reached; mean ± standard error.",
            ["error", *(f"{label} (n = {n[label]})" for label in counted)],
            [[f"{level:g}", *(_scaled(each[level][i], unit) for each in counted.values())] for level in LEVELS]
            if counted
            else [],
        )
        for i, (words, unit) in enumerate(units)
    ]


def _finite(value: float, digits: int) -> str:
    return "never" if math.isinf(value) else f"{value:.{digits}f}"


def _scaled(value: Measured, unit: float) -> str:
    return "never" if math.isinf(value.value) else Measured(value.value * unit, value.error * unit).text(2)


def covariance_table(cells: Cells) -> ReportTable:
    """Case 3: the frequencies' covariance."""
    rows = []
    for experiment in CASES["case3"].experiments:
        entries = covariances(cells, experiment.name)
        if entries is not None:
            n = len(traces(cells, experiment.name))
            rows.append([experiment.label, str(n), *(entries[name].text(2) for name in ("first", "second", "mixed"))])
    if rows:
        rows.append(["optimum", "", f"{32**2}", f"{32**-2:.4f}", "0"])
    columns = ["method", "n", "variance of ω₁", "variance of ω₂", "covariance"]
    return ReportTable(
        "Covariance of the frequencies at the end, in normalised units; mean ± standard error.", columns, rows
    )


def digit_tables(cells: Cells) -> list[ReportTable]:
    """Table 1 beside ours, in both readings of the largest output."""
    named = dict(zip(TABLE_COLUMNS, COLUMN_LABELS, strict=True)) | {"tuned": "fixed, σ and λ tuned"}
    made = []
    for figure, reading in READINGS.items():
        lines = {name: curve(cells, "case4", name, figure) for name in named}
        widths = sorted({int(width) for line in lines.values() for width in line.widths})
        columns, rows = ["K", "n"], [[str(width), _n_seeds(list(lines.values()), width)] for width in widths]
        for name, label in named.items():
            if figure == "misclassified_modulus" and name in TABLE_COLUMNS:
                columns.append(f"{label}, printed (%)")
                index = TABLE_COLUMNS.index(name)
                for row in rows:
                    row.append(f"{PRINTED[int(row[0])][index]:.2f}" if int(row[0]) in PRINTED else NOTHING)
            columns.append(f"{label}, ours (%)")
            for row in rows:
                row.append(_scatter(lines[name], int(row[0]), 2))
        made.append(
            ReportTable(
                f"Table 1: % of test images misclassified by the {reading} of the ten outputs; "
                "mean ± standard deviation of n realisations, double precision unless said.",
                columns,
                rows,
            )
        )
    return made


def change_table(cells: Cells) -> ReportTable:
    """What a changed parameter does at K = 8192."""
    rows = [[label, value] for label, value in changes(cells).items()]
    caption = "K = 8192, Algorithm 1, products in bf16: % misclassified (largest modulus) with one parameter changed."
    return ReportTable(caption, ["changed", "misclassified (%), mean ± standard error"], rows)


def sweep_table(cells: Cells) -> ReportTable:
    """The σ_ω sweep in all four ways of measuring."""
    by_figure = {words: sweep_by_seed(cells, figure) for figure, words in FIGURES.items()}
    by_figure = {words: values for words, values in by_figure.items() if values}
    spreads = sorted({spread for values in by_figure.values() for spread in values})
    rows = [
        [f"{s:g}", *(measured(list(v[s].values())).text(5) if s in v else NOTHING for v in by_figure.values())]
        for s in spreads
    ]
    caption = "Root mean square error over the spread of fixed frequencies, raw data; mean ± standard error."
    return ReportTable(caption, ["σ_ω", *by_figure], rows)
