"""``fourierwalk solve``: differential equations and other problems of calculus, beside their targets."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fourierwalk.benchmarks.figures import HEADER, Figure, markdown, read
from fourierwalk.benchmarks.operators import PROBLEMS, MeasuredProblem
from fourierwalk.commands import options as shared
from fourierwalk.reporting.files import write_json, write_text
from fourierwalk.reporting.provenance import provenance


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = verbs.add_parser("solve", help="solve differential equations and print errors beside their targets")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda (torch); on a GPU no pictures are drawn")
    parser.add_argument(
        "--out", type=Path, help="folder of the results (default: results/operators, or results/operators/cuda)"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"only some of {', '.join(PROBLEMS)}")
    parser.add_argument("--again", action="store_true", help="solve again what the folder has results of")
    parser.add_argument("--small", action="store_true", help="toy sizes, to check that it runs")
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Solve what has no result yet; every result is a file of its own, so that a run can be continued."""
    unknown = [name for name in options.only or () if name not in PROBLEMS]
    if unknown:
        raise ValueError(f"--only must name some of {list(PROBLEMS)}, got {unknown[0]!r}.")
    shared.check_device(options.device)
    on_cpu, console = options.device == "cpu", Console()
    out = options.out or Path("results/operators" if on_cpu else "results/operators/cuda")
    for name in options.only or PROBLEMS:
        path = out / f"{name}.json"
        if path.exists() and not options.again:
            console.print(f"{name}: done before")
            continue
        console.print(f"{name} …")
        measured = PROBLEMS[name](8 if options.small else 1, device=options.device)
        figures = [{**vars(figure), "met": figure.met} for figure in measured.figures]
        if on_cpu:
            _draw(out, name, measured)
        write_json(path, {"toy_sizes": options.small, "provenance": provenance(), "figures": figures})
    results = [json.loads((out / f"{name}.json").read_text("utf-8")) for name in _done(out)]
    write_text(out / "operators.md", markdown(results))
    console.print(_table(read(results)))
    console.print(f"Written: {out}")
    return 0


def _done(folder: Path) -> list[str]:
    return [name for name in PROBLEMS if (folder / f"{name}.json").exists()]


def _draw(folder: Path, name: str, measured: MeasuredProblem) -> None:
    """A picture of the solution, if there is one."""
    if measured.solver is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    measured.solver.plot().savefig(folder / f"{name}.png", dpi=60, metadata={"Software": None})


def _table(figures: list[Figure]) -> Table:
    table = Table(title="Measured against targets")
    for column in HEADER:
        table.add_column(column, justify="right" if column in ("measured", "target") else "left")
    for figure in figures:
        table.add_row(*figure.cells)
    return table
