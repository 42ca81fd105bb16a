"""The command line: every command is a file in `commands`."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from fourierwalk.commands import (
    bench,
    compare,
    coverage,
    demo,
    doctor,
    export,
    fit,
    inspect,
    plan,
    predict,
    report,
    reproduce,
    solve,
)
from fourierwalk.files.writing import NotWritten
from fourierwalk.version import VERSION

COMMANDS = (demo, fit, predict, inspect, export, doctor, compare, coverage, report, reproduce, solve, plan, bench)

EXIT_CODES = """exit codes:
  0 done, 1 a check failed (doctor), 2 an argument or an input is wrong, 3 an output cannot be written,
  4 not enough memory, 70 a bug in fourierwalk, 130 interrupted
"""
WRONG, NOT_WRITTEN, NO_MEMORY, FAULT, INTERRUPTED = 2, 3, 4, 70, 130


def parser() -> argparse.ArgumentParser:
    """The parser with all commands."""
    top = argparse.ArgumentParser(
        prog="fourierwalk",
        description="Adaptive random Fourier features.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"fourierwalk {VERSION}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.register(verbs)
    for each in verbs.choices.values():
        each.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. An error is one sentence on standard error, and an exit code."""
    options = parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: _warn(options, message)
            return int(options.run(options))
    except KeyboardInterrupt as stop:
        _say(options, str(stop) or "stopped.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # a traceback is shown only with --debug
        if options.debug:
            traceback.print_exc()
        return _failed(options, error)


def _failed(options: argparse.Namespace, error: Exception) -> int:
    """Print the error and return its exit code."""
    if isinstance(error, NotWritten):
        _say(options, str(error))
        return NOT_WRITTEN
    if isinstance(error, MemoryError):
        _say(options, str(error) or "there is not enough memory.")
        return NO_MEMORY
    if isinstance(error, ValueError | ImportError | OSError):
        _say(options, str(error))
        return WRONG
    _say(options, f"a bug in fourierwalk, {type(error).__name__}: {error}. Please report it with what --debug shows.")
    return FAULT


def _warn(options: argparse.Namespace, message: Warning | str) -> None:
    if not getattr(options, "quiet", False):
        _say(options, str(message))


def _say(options: argparse.Namespace, text: str) -> None:
    print(f"fourierwalk {options.verb}: {text}", file=sys.stderr)
