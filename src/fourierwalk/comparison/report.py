"""The page of a folder of cells: a table, a verdict and a figure per data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fourierwalk.comparison import plots, summary
from fourierwalk.comparison.methods import Name
from fourierwalk.comparison.summary import Cells, Difference, Row
from fourierwalk.comparison.tuning import OURS
from fourierwalk.paper import results
from fourierwalk.reporting import vector
from fourierwalk.reporting.claims import ShownClaim
from fourierwalk.reporting.files import write_text
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe
from fourierwalk.reporting.scatter import with_scatter

EXPLANATION = (
    "Ours is AdaptiveFourierRegressor or AdaptiveFourierClassifier with default settings at K frequencies (2K real "
    "columns). Every peer has its inputs scaled by the same rule as ours, regression targets standardised, and its "
    "parameters tuned by cross-validation on training rows only: a coarse grid, then a closer one. Kernel ridge and "
    "support vector machines are tuned on at most 2,000 of the rows, the others on at most 5,000; the last fit is on "
    "all. Errors are means ± standard deviations over the splits, all methods on the same splits. Seconds to fit "
    "include all tuning, also ours; the last fit is what remains once the parameters are known."
)
CAUTION = (
    "The best peer is the one of the lowest mean test error among kernel methods, fixed features and the network, "
    "chosen after the fact, which favours it. Random splits of one data set share rows: there the standard error of a "
    "difference is too small to be read as a test."
)
CAPTION = (
    "Error over seconds to fit, means over the splits, bars of ± one standard deviation. Stars are ours, circles "
    "kernel methods, fixed features and networks, squares what stands beside them. The thin line ends at the last fit "
    "alone, without tuning; the dotted line is the front that no method beats in both. Point at a mark for its cells."
)
VERDICTS = (
    "Ours at its largest K against the peer that is hardest to beat on each data set. Ahead and behind: by more than "
    "two standard errors of the difference over the splits that both have; level: by less."
)
ON_GPU = "†"
GPU_NOTE = f"{ON_GPU} computed on a GPU: its seconds are not those of a processor."
UNITS = {
    "error": "",  # by the task
    "columns": "real columns (count)",
    "fit s": "fit with tuning (s)",
    "last fit s": "last fit (s)",
    "predict s": "predict all test rows (s)",
}


def write_report(folder: Path) -> Path:
    """Read the cells of a folder, write its ``comparison.html`` and its figures as SVG files."""
    cells = read(folder)
    page = Page("fourierwalk compared with its peers").text(EXPLANATION).text(CAUTION, "note")
    if overview := [claim for name in summary.datasets(cells) if (claim := _widest(cells, name))]:
        page.heading("Overview").text(VERDICTS).claims(overview)
    for dataset in summary.datasets(cells):
        _section(page, cells, dataset, folder)
    page.heading("Where this comes from")
    for line in origins(cells):
        page.text(line, "note")
    write_text(folder / "tables.md", markdown(cells))
    return page.write(folder / "comparison.html")


def markdown(cells: Cells) -> str:
    """The tables and verdicts alone, for the docs."""
    lines = [EXPLANATION, "", CAUTION, ""]
    for dataset in summary.datasets(cells):
        table = summary.rows(cells, dataset)
        header = _header(cells, dataset)
        lines += [
            f"### {dataset}",
            "",
            summary.describe(cells, dataset),
            "",
            line(header),
            line(["---"] * len(header)),
        ]
        rows = [_cells(cells, dataset, row) for row in table]
        lines += [*map(line, rows), *(["", GPU_NOTE] if any(ON_GPU in row[0] for row in rows) else [])]
        lines += ["", *(f"- {summary.words_of(difference)}" for difference in summary.differences(table)), ""]
    return "\n".join([*lines, *origins(cells), ""])


def line(cells: Sequence[str]) -> str:
    """Of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def read(folder: Path) -> Cells:
    """The cells of a folder. It is an error if there are none."""
    cells = results.read(folder)
    if not cells:
        raise ValueError(f"{folder} holds no cells: fourierwalk compare --out {folder} writes them.")
    return cells


def _section(page: Page, cells: Cells, dataset: str, folder: Path) -> None:
    page.heading(dataset).text(summary.describe(cells, dataset))
    table, label = summary.rows(cells, dataset), summary.error_name(cells, dataset)
    if table:
        caption = f"{dataset}: means over the splits, the error's ± its standard deviation"
        rows = [_cells(cells, dataset, row) for row in table]
        page.table(caption, _header(cells, dataset), rows)
        if any(ON_GPU in row[0] for row in rows):
            page.text(GPU_NOTE, "note")
        if differences := summary.differences(table):
            page.claims([ShownClaim(summary.words_of(each), "", _verdict(each), "") for each in differences])
        words = {row.method: _words(cells, dataset, row) for row in table}
        figure = plots.pareto_figure(table, label, words)
        vector.write(figure, folder / "figures" / f"{dataset}.svg")
        page.figure(figure, CAPTION)
    for lines, kind in ((summary.warnings_of(cells, dataset), "warn"), (summary.left_out(cells, dataset), "note")):
        if lines:
            page.text(" ".join(lines), kind)


def _header(cells: Cells, dataset: str) -> list[str]:
    """Every column with its unit."""
    label = summary.error_name(cells, dataset)
    error = label if "%" in label else f"{label} (units of y)"
    return [{**UNITS, "error": error}.get(name, name) for name in summary.HEADER]


def _cells(cells: Cells, dataset: str, row: Row) -> list[str]:
    """A row as text. A mark says that it was computed on a GPU."""
    name, *rest = summary.cells_of(row)
    return [f"{name} {ON_GPU}" if any(map(_gpu_of, _cells_of(cells, dataset, row))) else name, *rest]


def _gpu_of(cell: Mapping[str, Any]) -> str:
    """The GPU that a cell was computed on; "" if none. Only ours and fixed frequencies run on a GPU."""
    method = cell["settings"]["method"]
    takes_device = method["family"] == OURS or Name.of(method["name"]).kind == "fixed"
    return str(cell.get("provenance", {}).get("machine", {}).get("gpu", "")) if takes_device else ""


def _cells_of(cells: Cells, dataset: str, row: Row) -> list[Mapping[str, Any]]:
    start = f"{dataset}/{row.method}/"
    return [cells[key] for key in sorted(cells) if key.startswith(start) and "error" in cells[key]["result"]]


def _words(everything: Cells, dataset: str, row: Row) -> str:
    """The text of a marker: each split's error and seconds, and the commits."""
    cells = _cells_of(everything, dataset, row)
    lines = [
        f"split and seed {cell['settings']['split']}: {cell['result']['error']:.4g} "
        f"in {summary.shown_seconds(cell['result']['fit_seconds'])} s"
        for cell in cells
    ]
    commits = sorted({str(cell["provenance"]["commit"]) for cell in cells})
    gpus = sorted({*map(_gpu_of, cells)} - {""})
    return "\n".join([row.label, *lines, f"commit {', '.join(commits)}", *(f"on a GPU: {name}" for name in gpus)])


def _widest(cells: Cells, dataset: str) -> ShownClaim | None:
    """Ours of the largest K against the peer that is hardest to beat on the splits that both have."""
    table = summary.rows(cells, dataset)
    by_label = {row.label: row for row in table}
    ours = [row.label for row in table if row.family == OURS]
    against = [each for each in summary.differences(table) if each.ours == ours[-1]] if ours else []
    if not against:
        return None
    hardest = max(against, key=lambda each: each.mean)
    shown = [
        f"{with_scatter(by_label[name].mean, by_label[name].deviation)} ({name})"
        for name in (hardest.ours, hardest.peer)
    ]
    text = f"{dataset}: {shown[0]} against {shown[1]}, {summary.error_name(cells, dataset)}"
    return ShownClaim(text, "", _verdict(hardest), summary.words_of(hardest))


def _verdict(difference: Difference) -> str:
    """By two standard errors."""
    if math.isnan(difference.standard_error):
        return "not testable at this scale"
    if abs(difference.mean) <= 2 * difference.standard_error:
        return "level"
    return "ahead" if difference.mean < 0 else "behind"


def origins(cells: Cells) -> list[str]:
    """Each commit and machine once, with the methods that it computed."""
    origins: dict[str, set[str]] = {}
    for cell in cells.values():
        origin = cell["provenance"]
        words = f"Commit {origin['commit']}: {describe(origin)}"
        threads = cell["result"].get("threads")
        words += f" Threads: {threads}." if threads else ""
        if "error" in cell["result"]:
            origins.setdefault(words, set()).add(cell["settings"]["method"]["label"])
    return [f"{words} Methods: {', '.join(sorted(methods))}." for words, methods in sorted(origins.items())]
