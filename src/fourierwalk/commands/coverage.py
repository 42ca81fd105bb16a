"""``fourierwalk coverage``: how well the error bars of default fits hold, on many tables. Every cell is kept."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from fourierwalk.commands import options as shared
from fourierwalk.comparison import coverage, coverage_table, processes
from fourierwalk.comparison.coverage import CoverageCell
from fourierwalk.files.writing import check_writable
from fourierwalk.paper import datasets as images
from fourierwalk.paper import results
from fourierwalk.reporting.provenance import provenance

EXAMPLES = """  fourierwalk coverage subjects seasons
  fourierwalk coverage --data-dir data --out results/uncertainty --jobs 8 --threads 2
"""


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(verbs, "coverage", "measure coverage, width and likelihood of error bars", EXAMPLES)
    parser.add_argument("datasets", nargs="*", metavar="DATASET", help="some of the data sets (default: all)")
    parser.add_argument("--data-dir", help="the folder that holds tabular and uci (default: $FOURIERWALK_DATA)")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="some of ours, mapie (default: both)")
    parser.add_argument("--splits", type=int, metavar="N", help="splits of each data set (default: 3, of uci 5)")
    parser.add_argument("--rows", type=int, metavar="N", help="at most N training rows, at random (default: all)")
    parser.add_argument("--threads", type=int, metavar="N", default=1, help="BLAS threads of a cell (default: 1)")
    parser.add_argument("--jobs", type=int, metavar="N", default=1, help="cells at a time (default: 1)")
    parser.add_argument("--out", type=Path, default=Path("results/uncertainty"), help="folder of cells and table")
    parser.add_argument("--again", action="store_true", help="compute cells again that are already there")
    parser.add_argument("--gather", action="store_true", help="afterwards gather cells into one file per data set")
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Compute the missing cells, each written as soon as it is done, and write the table."""
    for name in ("splits", "rows", "threads", "jobs"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name} must be at least 1, got {value}.")
    console, folder = Console(), options.data_dir or os.environ.get(images.FOLDER_VARIABLE)
    wanted = coverage.cells(folder, options.datasets, options.methods, options.splits, options.rows)
    gathered = results.read_gathered(options.out)
    missing = [cell for cell in wanted if options.again or not coverage.is_there(options.out, cell, gathered)]
    console.print(f"{len(wanted)} cells, {len(wanted) - len(missing)} already in {options.out}.")
    check_writable(options.out / results.FOLDER / "cell.json")
    origin = provenance()
    for number, (cell, result) in enumerate(_computed(missing, options)):
        coverage.write(options.out, cell, result, origin)
        console.print(f"{number + 1} of {len(missing)}: {cell.key}, {_words(result)}", highlight=False)
    if options.gather:
        results.gather(options.out, lambda key: key.split("/")[0])
    console.print(coverage_table.write(options.out), markup=False, highlight=False, soft_wrap=True)
    return 0


def _computed(cells: list[CoverageCell], options: argparse.Namespace) -> Iterator[tuple[CoverageCell, dict[str, Any]]]:
    if options.jobs > 1:
        yield from processes.computed(cells, options.jobs, options.threads, coverage.compute)
        return
    for cell in cells:
        yield cell, coverage.compute(cell, options.threads)


def _words(result: dict[str, Any]) -> str:
    if "coverage" not in result:
        return str(result.get("skipped") or result.get("failure"))
    return f"coverage {result['coverage']['0.9']:.3f}, width {result['width']:.3f}, {result['fit_seconds']:.1f} s"
