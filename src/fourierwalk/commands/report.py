"""``fourierwalk report``: a page of a results folder, whichever command wrote it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fourierwalk.benchmarks.figures import HEADER, Figure
from fourierwalk.commands import options as shared
from fourierwalk.comparison import report as comparison
from fourierwalk.comparison import verdicts
from fourierwalk.paper import report as paper
from fourierwalk.paper import results
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe

EXAMPLES = """  fourierwalk report results/paper
  fourierwalk report comparison
"""
KINDS = "fourierwalk reproduce, compare, compare --suite or bench"


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(verbs, "report", "make a page with figures and tables of a results folder", EXAMPLES)
    parser.add_argument("folder", type=Path, metavar="DIR", help=f"what {KINDS} wrote with --out")
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Write the page beside the results."""
    print(f"The page: {_writer(options.folder)(options.folder)}")
    return 0


def _writer(folder: Path) -> Callable[[Path], Path]:
    """The function that makes the page of a folder, by what the folder holds."""
    if not folder.is_dir():
        raise ValueError(f"DIR must be a folder that {KINDS} wrote, got {folder}.")
    if (folder / BENCH).is_file():
        return _bench
    cells = results.read(folder).values()
    settings = [cell.get("settings", {}) for cell in cells]
    if any("dataset" in each for each in settings):
        return _suite if any("@" in each["method"]["name"] for each in settings) else comparison.write_report
    if any("case" in each or "experiment" in each for each in settings):
        return paper.write_report
    raise ValueError(f"{folder} holds no results: DIR must be a folder that {KINDS} wrote.")


def _suite(folder: Path) -> Path:
    verdicts.write(folder)
    return folder / verdicts.FILE


BENCH = "bench.json"


def _bench(folder: Path) -> Path:
    """A table for each part of a benchmark."""
    content = json.loads((folder / BENCH).read_text(encoding="utf-8"))
    page = Page("fourierwalk, measured against targets")
    for name, part in content.get("parts", {"figures": content}).items():
        entries = [{key: value for key, value in each.items() if key != "met"} for each in part.get("figures", ())]
        page.heading(name).table("Measured against targets.", HEADER, [Figure(**entry).cells for entry in entries])
        if part.get("provenance"):
            page.text(f"Commit {part['provenance']['commit']}: {describe(part['provenance'])}", "note")
    return page.write(folder / "bench.html")
