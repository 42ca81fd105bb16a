"""One measured figure beside its target; tables of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from fourierwalk.reporting.provenance import describe


@dataclass(frozen=True)
class Figure:
    """One measured figure beside its target, if it has one."""

    case: str
    what: str
    value: float
    target: float | None = None
    at_most: bool = True  # whether the target is an upper bound

    @property
    def met(self) -> bool:
        """Whether the target is reached."""
        if self.target is None:
            return True
        return self.value <= self.target if self.at_most else self.value >= self.target

    @property
    def cells(self) -> tuple[str, ...]:
        """Case, figure, measured, target, and a word if the target is missed."""
        bound = "" if self.target is None else f"{'≤' if self.at_most else '≥'} {self.target:g}"
        return self.case, self.what, _shown(self.value), bound, "" if self.met else "falls short"


def _shown(value: float) -> str:
    """Three digits, never a large power of ten; whole numbers as they are.

    Examples
    --------
    >>> _shown(2048), _shown(46_612.3), _shown(0.00123456)
    ('2,048', '46,600', '0.00123')
    """
    if abs(value) < 1000:
        return f"{value:.3g}"
    return f"{value if value == round(value) else float(f'{value:.3g}'):,.0f}"


HEADER = ("case", "figure", "measured", "target", "")


def read(parts: Iterable[Mapping[str, Any]]) -> list[Figure]:
    """The figures of parts of a results file."""
    entries = [dict(entry) for part in parts for entry in part["figures"]]
    return [Figure(**{name: value for name, value in entry.items() if name != "met"}) for entry in entries]


def markdown(parts: Iterable[Mapping[str, Any]]) -> str:
    """One table for each commit, machine and set of versions that the parts come from, for the docs."""
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for part in parts:
        origin = {name: part["provenance"][name] for name in ("commit", "machine", "versions")}
        runs.setdefault(json.dumps(origin, sort_keys=True), []).append(part)
    return "\n".join(f"{_table(read(group))}\n\n{_told(json.loads(origin))}\n" for origin, group in runs.items())


def _told(origin: dict[str, Any]) -> str:
    return f"Commit {origin['commit']}: {describe(origin)}"


def _table(found: Sequence[Figure]) -> str:
    """A case of several figures has a line of its own above them."""
    lines: list[Sequence[str]] = [("figure", "measured", "target"), ("---",) * 3]
    for case, group in groupby(found, lambda figure: figure.case):
        figures = list(group)
        if len(figures) > 1:
            lines.append((f"**{case}**", "", ""))
        for figure in figures:
            _, what, measured, bound, missed = figure.cells
            name = what if len(figures) > 1 else f"**{case}**: {what}"
            lines.append((name, measured, f"{bound} ({missed})" if missed else bound))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def median_seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    """The median of a few timings after one unmeasured call."""
    return medians_in_turn([function], repeats)[0]


def medians_in_turn(
    functions: Sequence[Callable[[], Any]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
    unmeasured: int = 1,
) -> list[float]:
    """Median seconds of each function, after unmeasured calls. They take turns, so that all see the same machine."""
    times = []
    for _ in range(repeats + unmeasured):
        for function in functions:
            start = clock()
            function()
            times.append(clock() - start)
    return np.median(np.reshape(times, (repeats + unmeasured, -1))[unmeasured:], axis=0).tolist()


class Clock:
    """Seconds since it was made: on the wall, and of the processor, of all threads together."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def figures(self, case: str) -> list[Figure]:
        """Both seconds, until now."""
        wall, processor = time.perf_counter() - self._wall, time.process_time() - self._processor
        return [Figure(case, "seconds", wall), Figure(case, "seconds of the processor", processor)]
