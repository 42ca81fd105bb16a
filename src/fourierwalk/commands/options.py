"""Options that several commands share."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from fourierwalk.paper.run import Place


def verb(verbs: Any, name: str, help: str, examples: str) -> argparse.ArgumentParser:
    """Add a command whose help ends with examples."""
    return verbs.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """Add --encoding."""
    parser.add_argument("--encoding", help="of a CSV or TSV file (default: UTF-8, or what its first bytes say)")


def add_device(parser: argparse.ArgumentParser) -> None:
    """Where it is computed."""
    parser.add_argument("--device", help="where it is computed: cpu or cuda (default: cpu)")


def check_device(device: str | None) -> None:
    """Raise an error before the work if the device is missing."""
    if device not in (None, "cpu"):
        Place(device).put(np.zeros(1))


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add --json and --quiet."""
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--quiet", action="store_true", help="print only errors and the result of --json")


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose target, task and inputs."""
    parser.add_argument("--target", metavar="NAME", help="column to predict (default: the last)")
    parser.add_argument("--task", choices=("regression", "classification"), help="default: inferred from the target")
    parser.add_argument("--drop", metavar="NAME", nargs="+", default=[], help="columns that are not inputs")
    parser.add_argument(
        "--keep",
        metavar="NAME",
        nargs="+",
        default=[],
        help="columns that are inputs even if they look like identifiers, constants or copies",
    )


def whole(word: str) -> int:
    """A whole number, which may be written as 1e9."""
    try:
        value = float(word)
        if value != int(value):
            raise ValueError
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"must be a whole number, got {word!r}") from None
    return int(word) if word.lstrip("+-").isdigit() else int(value)


def width(word: str) -> Any:
    """A number of frequencies, or "auto"."""
    if word == "auto":
        return "auto"
    try:
        return int(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers or auto, got {word!r}") from None
