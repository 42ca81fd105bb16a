"""One measured figure beside its target; tables of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
        return self.case, self.what, f"{self.value:.3g}", bound, "" if self.met else "falls short"


HEADER = ("case", "figure", "measured", "target", "")


def markdown(found: Sequence[Figure], origin: dict[str, Any]) -> str:
    """The table and its provenance, for the docs."""
    lines = [HEADER, ("---",) * len(HEADER), *(figure.cells for figure in found)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\nCommit {origin['commit']}: {describe(origin)}\n"


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
