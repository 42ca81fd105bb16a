"""Options that several verbs share."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from fourierwalk.paper.run import Place


def verb(verbs: Any, name: str, help: str, examples: str) -> argparse.ArgumentParser:
    """A verb whose help ends with examples."""
    return verbs.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """How a text file is encoded."""
    parser.add_argument("--encoding", help="of a CSV or TSV file (default: UTF-8, or what its first bytes say)")


def add_device(parser: argparse.ArgumentParser) -> None:
    """Where it is computed."""
    parser.add_argument("--device", help="where it is computed: cpu or cuda (default: cpu)")


def check_device(device: str | None) -> None:
    """Say what is missing, before the work."""
    if device not in (None, "cpu"):
        Place(device).put(np.zeros(1))


def add_output(parser: argparse.ArgumentParser) -> None:
    """For machines, and for silence."""
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--quiet", action="store_true", help="print nothing but the result of --json, and errors")


def add_columns(parser: argparse.ArgumentParser) -> None:
    """What of a file is to be learnt."""
    parser.add_argument("--target", metavar="NAME", help="column to predict (default: the last)")
    parser.add_argument(
        "--task", choices=("regression", "classification"), help="default: inferred from the target, and said"
    )
    parser.add_argument("--drop", metavar="NAME", nargs="+", default=[], help="columns that are no inputs")
    parser.add_argument(
        "--keep", metavar="NAME", nargs="+", default=[], help="columns that are inputs whatever they look like"
    )


def width(word: str) -> Any:
    """A number of frequencies, or "auto"."""
    if word == "auto":
        return "auto"
    try:
        return int(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers or auto, got {word!r}") from None
