"""``fourierwalk reproduce``: compute the paper's cells, each written as soon as it is done."""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from threadpoolctl import threadpool_limits

from fourierwalk.arrays.products import PRECISIONS
from fourierwalk.paper import results
from fourierwalk.paper.cases import CASES, SCALES, Cell, at_scale, cells, on_digits, parameter_table
from fourierwalk.paper.data import split
from fourierwalk.paper.place import Place
from fourierwalk.paper.run import groups, run, run_together
from fourierwalk.reporting.provenance import provenance


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = verbs.add_parser("reproduce", help="compute the paper's tables and figures, cell by cell")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"any of {', '.join(CASES)} (default: all)")
    parser.add_argument("--scale", choices=SCALES, default="quick", help="quick: minutes; paper: as printed")
    parser.add_argument("--k", type=int, nargs="+", metavar="K", help="only these widths")
    parser.add_argument(
        "--seeds", type=int, nargs="+", metavar="SEED", help="these realisations (default: the paper's)"
    )
    parser.add_argument("--experiments", nargs="+", metavar="NAME", help="only these experiments")
    parser.add_argument(
        "--device", default="cpu", help="cpu, or cuda (torch), which is for all but the stochastic gradient"
    )
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="precision of the walks' products (default: double); the last fit is always double",
    )
    parser.add_argument("--jobs", type=int, help="cells side by side, one BLAS thread each (default: cores; cuda: 1)")
    parser.add_argument("--data-dir", help="folder with MNIST's four files (default: $FOURIERWALK_DATA, else download)")
    parser.add_argument("--images", choices=("mnist", "digits"), default="mnist", help="data of Case 4")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the results (default: out)")
    parser.add_argument("--gather", action="store_true", help="afterwards gather cells into one file per experiment")
    parser.add_argument("--parameters", action="store_true", help="print the parameter table and compute nothing")
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Compute missing cells."""
    console = Console()
    chosen = [at_scale(CASES[name], options.scale) for name in _names(options.cases)]
    if options.images == "digits":
        chosen = [on_digits(case) if case.target == "mnist" else case for case in chosen]
    if options.parameters:
        console.print(_table(*parameter_table(chosen)))
        return 0
    wanted = [_at_precision(cell, options) for cell in cells(chosen, options.k, options.seeds, options.experiments)]
    if not wanted:
        raise ValueError("--k, --seeds and --experiments leave no cell: --parameters shows what there is.")
    gathered = results.read_gathered(options.out)
    missing = [cell for cell in wanted if not results.is_there(options.out, cell, options.scale, gathered)]
    console.print(f"{len(wanted)} cells, {len(wanted) - len(missing)} already in {options.out}.")
    place = Place(options.device, options.data_dir)
    missing, left_out = _with_data(missing, place, console)
    compute(sorted(missing, key=cost, reverse=True), place, options, console)
    if options.gather:
        results.gather(options.out)
    return 1 if left_out else 0


def compute(missing: Sequence[Cell], place: Place, options: argparse.Namespace, console: Console) -> None:
    """Compute cells side by side, the slowest first, with one BLAS thread each."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        total = sum(cost(cell) for cell in missing)
        bar = progress.add_task(f"{options.scale} scale", total=len(missing))
        work = progress.add_task("work (estimate)", total=total)
        for cell, result in _results(missing, place, _jobs(options)):
            results.write(options.out, cell, options.scale, result, provenance())
            progress.update(bar, advance=1)
            progress.update(work, advance=cost(cell))


def _at_precision(cell: Cell, options: argparse.Namespace) -> Cell:
    is_walk = cell.experiment.method == "walk" and options.precision is not None
    return cell._replace(experiment=replace(cell.experiment, precision=options.precision)) if is_walk else cell


def _results(missing: Sequence[Cell], place: Place, jobs: int) -> Any:
    if jobs == 1:
        with threadpool_limits(1):
            for group in groups(missing, together=place.device != "cpu"):
                yield from zip(group, run_together(group, place), strict=True)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_one_thread) as pool:
        waiting, pending = iter(missing), dict[Future[Any], Cell]()
        try:
            while True:
                for cell in itertools.islice(waiting, jobs - len(pending)):
                    pending[pool.submit(run, cell, place)] = cell
                if not pending:
                    return
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    yield pending.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _one_thread() -> None:
    threadpool_limits(1)


def cost(cell: Cell) -> float:
    """Rough seconds on one core, for the order of cells and the remaining time."""
    experiment, k, n = cell.experiment, max(cell.width, 1), cell.case.n_rows
    if experiment.method == "check":
        return 5.0
    if experiment.method == "gradient":
        return experiment.n_steps * (5e-8 + k * 2.2e-9)
    solve = n * k * (2e-8 + 2e-9 * cell.case.d + 1.6e-10 * k) + 2e-10 * k**3
    solves = {"walk": experiment.n_steps * (1 + 1 / max(1, experiment.refit_every)), "tuned": 12.0}
    return 1e-3 + solve * solves.get(experiment.method, 1.0)


def _jobs(options: argparse.Namespace) -> int:
    if options.jobs is not None:
        if options.jobs < 1:
            raise ValueError(f"--jobs must be at least 1, got {options.jobs}.")
        return int(options.jobs)
    if options.device != "cpu":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _names(names: Sequence[str]) -> Sequence[str]:
    unknown = [name for name in names if name not in CASES]
    if unknown:
        raise ValueError(f"CASE must be one of {list(CASES)}, got {unknown[0]!r}.")
    return names or list(CASES)


def _with_data(missing: list[Cell], place: Place, console: Console) -> tuple[list[Cell], bool]:
    """Leave out Case 4 if its images are missing, and say how to get them. The other cases run."""
    images = [cell for cell in missing if cell.case.target in ("mnist", "digits")]
    if not images:
        return missing, False
    try:
        split(images[0].case, 0, place.data_dir)
    except (OSError, ValueError, ImportError) as error:
        console.print(f"Case 4 is left out: {error} (--images digits uses scikit-learn's digits instead.)")
        return [cell for cell in missing if cell not in images], True
    return missing, False


def _table(header: list[str], rows: list[list[str]]) -> Table:
    table = Table()
    for name in header:
        table.add_column(name, justify="right" if name not in ("case", "method") else "left")
    for row in rows:
        table.add_row(*row)
    return table
