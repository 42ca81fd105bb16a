"""The command line: one file of `commands` per verb."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from fourierwalk import __version__
from fourierwalk.commands import bench, compare, demo, report, reproduce

COMMANDS = (demo, reproduce, report, compare, bench)


def parser() -> argparse.ArgumentParser:
    """The parser with every verb."""
    top = argparse.ArgumentParser(prog="fourierwalk", description="Adaptive random Fourier features.")
    top.add_argument("--version", action="version", version=f"fourierwalk {__version__}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for command in COMMANDS:
        command.register(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; a mistake of the user's is one sentence on standard error and exit code 2."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (ValueError, ImportError, OSError) as error:
        print(f"fourierwalk {options.verb}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"fourierwalk {options.verb}: stopped.", file=sys.stderr)
        return 130
