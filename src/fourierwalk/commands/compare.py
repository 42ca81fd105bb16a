"""``fourierwalk compare``: ours with default settings against tuned peers, on any data set; every cell is kept."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fourierwalk import plots
from fourierwalk.comparison import datasets, methods, report, run, summary
from fourierwalk.comparison.datasets import Dataset, Options
from fourierwalk.comparison.run import Cell
from fourierwalk.paper import results
from fourierwalk.paper.run import Place
from fourierwalk.provenance import provenance

DEFAULT = ("diabetes", "wine", "breast-cancer")
WIDTHS = (64, 256)


def register(verbs: Any) -> None:
    """Add the verb and its options."""
    parser = verbs.add_parser("compare", help="fit ours and its peers, write a table and a figure of error over time")
    parser.add_argument(
        "datasets",
        nargs="*",
        metavar="DATASET",
        help=f"any of {', '.join(sorted(datasets.EMBEDDED))}; a .csv or .npz file; a folder with data.txt "
        f"(default: {' '.join(DEFAULT)})",
    )
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=f"some of {', '.join(methods.NAMES)}")
    parser.add_argument(
        "--widths", type=int, nargs="+", metavar="K", default=WIDTHS, help="frequencies of ours and fixed"
    )
    parser.add_argument("--splits", type=int, metavar="N", help="splits of each data set (default: 5, or those given)")
    parser.add_argument(
        "--first-split", type=int, metavar="I", default=0, help="begin with this one, to share the work (default: 0)"
    )
    parser.add_argument("--target", metavar="NAME", help="target column of a CSV file (default: the last)")
    parser.add_argument("--task", choices=datasets.TASKS, help="for files (default: by whether targets are numbers)")
    parser.add_argument("--data-dir", help="folder with MNIST's four files (default: $FOURIERWALK_DATA, else download)")
    parser.add_argument("--threads", type=int, metavar="N", help="BLAS and OpenMP threads (default: all cores)")
    parser.add_argument("--device", help="where ours and fixed are computed: cpu or cuda (default: cpu)")
    parser.add_argument("--out", type=Path, default=Path("comparison"), help="folder of cells and page")
    parser.add_argument("--again", action="store_true", help="compute also what is already there")
    parser.add_argument("--gather", action="store_true", help="afterwards gather cells into one file per data set")
    parser.add_argument("--report", type=Path, metavar="DIR", help="draw tables and page of DIR anew, fit nothing")
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Compute what is not there yet, print a table per data set, write the page."""
    console = Console()
    plots.new_figure()  # a missing extra is named before the work, not after
    if options.report is not None:
        return _show(options.report, None, console)
    _check(options)
    chosen = _datasets(options)
    wanted = run.cells(chosen, options.widths, options.methods, options.splits, options.device, options.first_split)
    gathered = results.read_gathered(options.out)
    missing = [cell for cell in wanted if options.again or not run.is_there(options.out, cell, gathered)]
    console.print(f"{len(wanted)} cells, {len(wanted) - len(missing)} already in {options.out}.")
    compute(missing, options, console)
    if options.gather:
        run.gather(options.out)
    return _show(options.out, [dataset.name for dataset in chosen], console)


def compute(missing: Sequence[Cell], options: argparse.Namespace, console: Console) -> None:
    """One after the other, so that the seconds mean something."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    origin = provenance()  # once: what runs was imported now, whatever happens to the source tree later
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(missing))
        for cell in missing:
            progress.update(bar, description=f"{cell.dataset.name}, split {cell.split}: {cell.method.label}")
            result = run.compute(cell, options.threads or _cores())
            run.write(options.out, cell, result, origin)
            progress.advance(bar)


def _check(options: argparse.Namespace) -> None:
    counts = {"--splits": [options.splits], "--threads": [options.threads], "--widths": options.widths}
    for name, values in counts.items():
        for value in values:
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}.")
    methods.named("regression", options.widths, options.methods)
    if options.device not in (None, "cpu"):
        Place(options.device).put(
            np.zeros(1)
        )  # or a sentence that says what is missing; provenance names what is there


def _datasets(options: argparse.Namespace) -> list[Dataset]:
    """All of them, read now: what is wrong with one is said before the work."""
    said = Options(options.target, options.task, options.data_dir)
    chosen = [datasets.find(name, said) for name in options.datasets or DEFAULT]
    names = [dataset.name for dataset in chosen]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"DATASET must be of different names, got {twice[0]!r} more than once.")
    for dataset in chosen:
        dataset.splits(0)
    return chosen


def _show(folder: Path, names: Sequence[str] | None, console: Console) -> int:
    found = report.read(folder)
    for dataset in names or summary.datasets(found):
        console.print(_table(found, dataset))
        for difference in summary.differences(summary.rows(found, dataset)):
            console.print(summary.words_of(difference))
        for line in [*summary.warnings_of(found, dataset), *summary.left_out(found, dataset)]:
            console.print(line, style="dim")
    console.print(f"The page with figures: {report.write_report(folder)}")
    return 0


def _table(found: summary.Found, dataset: str) -> Table:
    table = Table(title=f"{dataset}: {summary.error_name(found, dataset)}", caption=summary.describe(found, dataset))
    for name in summary.HEADER:
        table.add_column(name, justify="left" if name == "method" else "right")
    rows = summary.rows(found, dataset)
    best = min((row.mean for row in rows), default=None)
    for row in rows:
        table.add_row(*summary.cells_of(row), style="bold" if row.mean == best else None)
    return table


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
