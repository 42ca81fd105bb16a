"""``fourierwalk report``: one page from a folder of results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from fourierwalk.paper.report import write_report


def register(verbs: Any) -> None:
    """Add the verb and its options."""
    parser = verbs.add_parser("report", help="draw the paper's figures and tables from a folder of results")
    parser.add_argument("folder", type=Path, metavar="DIR", help="what fourierwalk reproduce --out wrote")
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Write the page beside the results."""
    print(f"The page: {write_report(options.folder)}")
    return 0
