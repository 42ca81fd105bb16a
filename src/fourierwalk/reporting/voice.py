"""How a command reports its progress: on a terminal, in a log, or not at all."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Protocol, TextIO

from rich.console import Console


class Voice(Protocol):
    """What commands report progress through. It goes to standard error; standard output has the result alone."""

    def say(self, text: str) -> None:
        """A sentence to keep."""

    def watch(self, title: str) -> Any:
        """A context for a long computation. Lines printed inside it are shown as progress."""

    def step(self, text: str) -> None:
        """How far it is."""


class Silent:
    """Says nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    step = say

    @contextmanager
    def watch(self, title: str) -> Iterator[None]:
        """Printed lines are discarded."""
        with redirect_stdout(_Lines(self.step)):
            yield


class Log:
    """A plain line for each message, with the seconds since the start.

    Examples
    --------
    >>> Log(sys.stdout).say("201 rows")  # doctest: +ELLIPSIS
    [...s] 201 rows
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream, self._begin = stream, time.monotonic()

    def say(self, text: str) -> None:
        """One line."""
        stream = sys.stderr if self._stream is None else self._stream
        print(f"[{time.monotonic() - self._begin:6.1f} s] {text}", file=stream, flush=True)

    step = say

    @contextmanager
    def watch(self, title: str) -> Iterator[None]:
        """The title, then every printed line."""
        self.say(f"{title} …")
        with redirect_stdout(_Lines(lambda line: self.step(_without_clock(line)))):
            yield


class Terminal:
    """Lines of text, and one moving line during a long computation."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console
        self._status: Any = None
        self._title, self._begin = "", time.monotonic()

    def say(self, text: str) -> None:
        """Print a line above the moving one."""
        self._console.print(text, markup=False, highlight=False)

    def step(self, text: str) -> None:
        """The line that moves."""
        if self._status is not None:
            seconds = time.monotonic() - self._begin
            self._status.update(f"{self._title} [dim]{seconds:.0f} s[/dim] {_escaped(_without_clock(text))}")

    @contextmanager
    def watch(self, title: str) -> Iterator[None]:
        """Show a moving line until the end."""
        self._title, self._begin = title, time.monotonic()
        try:
            with self._console.status(title) as self._status, redirect_stdout(_Lines(self.step)):
                yield
        finally:
            self._status = None


def voice(quiet: bool) -> Voice:
    """The voice that fits the terminal and the options."""
    if quiet:
        return Silent()
    return Terminal() if sys.stderr.isatty() else Log()


class _Lines:
    """A stream that passes on whole lines."""

    encoding = "utf-8"

    def __init__(self, hand_on: Callable[[str], None]) -> None:
        self._hand_on, self._rest = hand_on, ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._hand_on(line)
        return len(text)

    def flush(self) -> None:
        pass


def _without_clock(line: str) -> str:
    """A line of a fit's progress, without its own clock."""
    return line.partition("] ")[2] if line.startswith("[") and " s] " in line[:14] else line


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")
