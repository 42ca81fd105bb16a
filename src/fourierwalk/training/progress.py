"""Printed progress of a fit (`verbose`)."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

from fourierwalk.training.history import Decision
from fourierwalk.training.selection import Look


class Progress:
    """Prints the events of a fit. `verbose` 0: nothing; 1: decisions; 2: also every look at the validation rows.

    Examples
    --------
    >>> _ = Progress(1, sys.stdout).see(Decision("1 model of 16 frequencies: held-out error 0.5"))  # doctest: +ELLIPSIS
    [...s] 1 model of 16 frequencies: held-out error 0.5
    """

    def __init__(self, verbose: int, stream: TextIO | None = None) -> None:
        self._verbose, self._stream = verbose, stream
        self._begin = self._last = time.monotonic()

    def see(self, event: Any) -> bool:
        """Print an event if `verbose` asks for it. Always False: this watcher never ends a fit."""
        if isinstance(event, Decision) and self._verbose >= 1:
            now = time.monotonic()
            left = f", about {event.n_left * (now - self._last):.0f} s left" if event.n_left else ""
            self._say(event.text + left, now)
            self._last = now
        elif isinstance(event, Look) and self._verbose >= 2:
            text = f"{event.phase}, step {event.step}: held-out error {event.error:.4g}, λ {event.regularization:.1g}"
            self._say(text, time.monotonic())
        return False

    def _say(self, text: str, now: float) -> None:
        stream = sys.stdout if self._stream is None else self._stream
        line = f"[{now - self._begin:6.1f} s] {text}"
        try:
            line.encode(getattr(stream, "encoding", None) or "utf-8")
        except UnicodeEncodeError:
            line = line.replace("λ", "lambda").encode("ascii", "replace").decode("ascii")
        print(line, file=stream, flush=True)
