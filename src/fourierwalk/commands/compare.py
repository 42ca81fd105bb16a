"""``fourierwalk compare``: ours with default settings against tuned peers, on any data set. Every cell is kept."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fourierwalk.commands import options as shared
from fourierwalk.comparison import checkouts, datasets, methods, processes, report, run, suite, summary, verdicts
from fourierwalk.comparison.checkouts import Checkout, Width
from fourierwalk.comparison.datasets import Dataset, Options
from fourierwalk.comparison.run import Entry
from fourierwalk.files.writing import check_writable
from fourierwalk.paper import datasets as images
from fourierwalk.paper import results
from fourierwalk.reading.problem import TASKS
from fourierwalk.reporting import plots
from fourierwalk.reporting.provenance import provenance

EXAMPLES = """  fourierwalk compare houses.csv --target price
  fourierwalk compare wine diabetes --methods ours svm lightgbm --splits 10
"""
DEFAULT = ("diabetes", "wine", "breast-cancer")
WIDTHS: tuple[Width, ...] = (64, 256)
SUITE_WIDTHS: tuple[Width, ...] = ("auto", 256)


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(
        verbs, "compare", "fit ours and its peers, write a table and a figure of error over time", EXAMPLES
    )
    parser.add_argument(
        "datasets",
        nargs="*",
        metavar="DATASET",
        help=f"any of {', '.join(sorted(datasets.EMBEDDED))}; a .csv, .tsv, .npz or .parquet file; "
        f"a folder with data.txt (default: {' '.join(DEFAULT)}); with --suite: some of its data sets (default: all)",
    )
    parser.add_argument(
        "--suite",
        choices=sorted(suite.SUITES),
        help="many data sets at once, numeric (tables) or with categories (mixed); cells are kept by commit",
    )
    parser.add_argument(
        "--beside",
        type=Path,
        action="append",
        default=[],
        metavar="SRC",
        help="with --suite: fit ours of another checkout too, whose src folder this is (may be repeated)",
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="NAME",
        help=f"some of {', '.join(methods.NAMES)}; with --suite: of {', '.join(methods.SUITE_NAMES)} (default: all)",
    )
    parser.add_argument(
        "--widths",
        type=shared.width,
        nargs="+",
        metavar="K",
        help="frequencies of ours and fixed: numbers or auto (default: 64 256; with --suite: auto 256)",
    )
    parser.add_argument("--splits", type=int, metavar="N", help="splits of each data set (default: 5, or those given)")
    parser.add_argument(
        "--first-split",
        type=int,
        metavar="I",
        default=0,
        help="first split, to divide the work between runs (default: 0)",
    )
    parser.add_argument("--target", metavar="NAME", help="target column of a file (default: the last)")
    shared.add_encoding(parser)
    parser.add_argument("--task", choices=TASKS, help="for files (default: inferred from the target)")
    parser.add_argument(
        "--data-dir",
        help="folder with MNIST's four files (default: $FOURIERWALK_DATA, else download); with --suite: the folder "
        "that holds tabular and uci, or mixed",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="BLAS and OpenMP threads (default: all cores)")
    parser.add_argument("--jobs", type=int, metavar="N", default=1, help="number of cells at a time (default: 1)")
    parser.add_argument("--minutes", type=float, metavar="M", help="start no new cell after this many minutes")
    parser.add_argument("--device", help="where ours and fixed are computed: cpu or cuda (default: cpu)")
    parser.add_argument("--out", type=Path, default=Path("comparison"), help="folder of cells and page")
    parser.add_argument("--again", action="store_true", help="compute cells again that are already there")
    parser.add_argument("--gather", action="store_true", help="afterwards gather cells into one file per data set")
    parser.add_argument(
        "--cells-only", action="store_true", help="write no page: --report does so later, where matplotlib is installed"
    )
    parser.add_argument(
        "--report", type=Path, metavar="DIR", help="write the tables and the page of DIR again; fit nothing"
    )
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Compute missing cells, print a table per data set, and write the page."""
    console = Console()
    if options.suite is not None:
        return _suite(options, console)
    if not options.cells_only:
        plots.new_figure()  # a missing extra is an error before the work, not after
    if options.report is not None:
        return _show(options.report, None, console)
    if options.beside:
        raise ValueError("--beside needs --suite: only its cells are kept by commit.")
    _check(options)
    widths = options.widths or WIDTHS
    methods.named("regression", widths, options.methods)
    chosen = _datasets(options)
    compute(
        run.cells(chosen, widths, options.methods, options.splits, options.device, options.first_split),
        options,
        console,
    )
    return 0 if options.cells_only else _show(options.out, [dataset.name for dataset in chosen], console)


def _suite(options: argparse.Namespace, console: Console) -> int:
    """Cells of ours belong to a commit. Cells of other commits are kept."""
    if options.report is not None:
        return _show_suite(options.report, console)
    _check(options)
    sources = _checkouts(options.beside)
    widths, threads = options.widths or SUITE_WIDTHS, _threads(options)
    methods.suite("regression", widths, options.methods, sources, threads)
    chosen = suite.datasets(options.suite, options.data_dir or os.environ.get(images.FOLDER_VARIABLE), options.datasets)
    with checkouts.copies(sources) as copied:
        cells = suite.cells(
            chosen, widths, options.methods, copied, threads, options.splits, options.first_split, options.device
        )
        compute(suite.longest_first(cells) if options.jobs > 1 else cells, options, console)
    return _show_suite(options.out, console) if results.read(options.out) else 0


def _checkouts(beside: Sequence[Path]) -> list[Checkout]:
    sources = [Checkout.here(), *map(Checkout.at, beside)]
    commits = [each.commit for each in sources]
    twice = [commit for commit in commits if commits.count(commit) > 1]
    if twice:
        raise ValueError(f"--beside must be of another commit, got {twice[0]} more than once.")
    return sources


def compute(wanted: Sequence[Entry], options: argparse.Namespace, console: Console) -> None:
    """Compute missing cells. Each is written as soon as it is done. They are gathered if that is asked for."""
    gathered = results.read_gathered(options.out)
    missing = [cell for cell in wanted if options.again or not run.is_there(options.out, cell, gathered)]
    console.print(f"{len(wanted)} cells, {len(wanted) - len(missing)} already in {options.out}.")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    origin = provenance()  # once: the code that runs was imported now, even if the source tree changes later
    n_done = 0
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(missing))

        def announced() -> Iterator[Entry]:
            for number, cell in enumerate(_in_time(missing, options.minutes)):
                if number == 0:
                    check_writable(options.out / results.FOLDER / "cell.json")  # before the work, not after
                progress.update(bar, description=f"{cell.dataset.name}, split {cell.split}: {cell.method.label}")
                yield cell

        for cell, result in _computed(announced(), options):
            run.write(options.out, cell, result, origin)
            progress.advance(bar)
            n_done += 1
    if n_done < len(missing):
        console.print(f"{len(missing) - n_done} cells were not started in time: the same command goes on with them.")
    if options.gather:
        run.gather(options.out)


def _computed(cells: Iterable[Entry], options: argparse.Namespace) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """One after the other, so that the seconds mean something, or several at a time, each with its own threads."""
    if options.jobs > 1:
        yield from processes.computed(cells, options.jobs, _threads(options))
        return
    for cell in cells:
        yield cell, run.compute(cell, _threads(options))


def _in_time(cells: Iterable[Entry], minutes: float | None) -> Iterator[Entry]:
    start = time.monotonic()
    for cell in cells:
        if minutes is not None and time.monotonic() - start >= 60 * minutes:
            return
        yield cell


def _check(options: argparse.Namespace) -> None:
    counts = {"--splits": options.splits, "--threads": options.threads, "--jobs": options.jobs}
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}.")
    for width in options.widths or ():
        if width != "auto" and width < 1:
            raise ValueError(f"--widths must be at least 1, got {width}.")
    if options.minutes is not None and not options.minutes >= 0:
        raise ValueError(f"--minutes must be at least 0, got {options.minutes:g}.")
    shared.check_device(options.device)


def _datasets(options: argparse.Namespace) -> list[Dataset]:
    """All data sets, read now, so that an error comes before the work."""
    said = Options(options.target, options.task, options.data_dir, options.encoding)
    chosen = [datasets.find(name, said) for name in options.datasets or DEFAULT]
    names = [dataset.name for dataset in chosen]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"DATASET must be of different names, got {twice[0]!r} more than once.")
    for dataset in chosen:
        dataset.splits(0)
    return chosen


def _show(folder: Path, names: Sequence[str] | None, console: Console) -> int:
    cells = report.read(folder)
    for dataset in names or summary.datasets(cells):
        console.print(_table(cells, dataset))
        for difference in summary.differences(summary.rows(cells, dataset)):
            console.print(summary.words_of(difference))
        for line in [*summary.warnings_of(cells, dataset), *summary.left_out(cells, dataset)]:
            console.print(line, style="dim")
    console.print(f"The page with figures: {report.write_report(folder)}")
    return 0


def _table(cells: summary.Cells, dataset: str) -> Table:
    table = Table(title=f"{dataset}: {summary.error_name(cells, dataset)}", caption=summary.describe(cells, dataset))
    for name in summary.HEADER:
        table.add_column(name, justify="left" if name == "method" else "right")
    rows = summary.rows(cells, dataset)
    best = min((row.mean for row in rows), default=None)
    for row in rows:
        table.add_row(*summary.cells_of(row), style="bold" if row.mean == best else None)
    return table


def _show_suite(folder: Path, console: Console) -> int:
    console.print(verdicts.write(folder), markup=False, highlight=False, soft_wrap=True)
    console.print(f"Written to {folder / verdicts.FILE}.")
    return 0


def _threads(options: argparse.Namespace) -> int:
    """By default all cores, shared among the jobs."""
    return int(options.threads or max(1, _cores() // options.jobs))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
