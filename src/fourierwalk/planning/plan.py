"""The seconds, the memory and the traffic of a fit with a fixed number of steps, from a machine's rates.

docs/plan.md has the formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fourierwalk.data.rows import BLOCK_BYTES
from fourierwalk.parameters import count, number
from fourierwalk.planning.machine import Machine

PROGRAM_BYTES = 2.2e8
"""The bytes of the program itself."""

LATENCY = 1e-4
"""Seconds of a message between two workers, whatever its size."""

PASSES = 12
"""Reads of the rows before the first step and after the last one: checks, scaling, final fit."""


@dataclass(frozen=True)
class Work:
    """The sizes of a fit by Algorithm 1 on the direct path.

    Parameters
    ----------
    n_rows, n_inputs, n_frequencies, n_outputs : int
        N, d, K and q.
    n_steps, refit_every : int
        M and m.
    n_workers : int
        Workers that share the rows.
    network : float
        Gigabits that a worker sends in a second.
    value_bytes : int
        Bytes of an input value where it is stored.
    """

    n_rows: int
    n_inputs: int
    n_frequencies: int
    n_outputs: int = 1
    n_steps: int = 1000
    refit_every: int = 10
    n_workers: int = 1
    network: float = 10.0
    value_bytes: int = 8

    def check(self) -> None:
        """Raise an error, in one sentence, for the first size that is not valid."""
        named = ("n_rows", "n_inputs", "n_frequencies", "n_outputs", "n_steps", "refit_every", "n_workers")
        for name in named:
            count(name, getattr(self, name), 1)
        number("network", self.network, above=0)


@dataclass(frozen=True)
class Plan:
    """What a fit will take.

    Parameters
    ----------
    terms : dict of str to float
        Seconds of a step by what they are spent on.
    fit_seconds : float
        Seconds of the whole fit.
    memory : float
        Bytes of each worker.
    traffic : float
        Bytes that each worker sends and receives in a step.
    streams : bool
        Whether the rows do not fit in memory, so that every step reads them from the disk.
    """

    terms: dict[str, float]
    fit_seconds: float
    memory: float
    traffic: float
    streams: bool

    @property
    def step_seconds(self) -> float:
        """Seconds of a step."""
        return sum(self.terms.values())

    @property
    def dominant(self) -> str:
        """The term that takes the most of a step."""
        return max(self.terms, key=lambda name: self.terms[name])

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON values."""
        shown = {**vars(self), "step_seconds": self.step_seconds, "dominant": self.dominant}
        return {"memory_bytes": shown.pop("memory"), "traffic_bytes": shown.pop("traffic"), **shown}


def plan(work: Work, machine: Machine) -> Plan:
    """The plan of a fit on workers like this machine.

    Examples
    --------
    >>> machine = Machine(entry=1e-8, product=2.5e-11, factorisation=2.5e-11, overhead=2e-4)
    >>> plan(Work(n_rows=10**6, n_inputs=10, n_frequencies=512), machine).dominant
    'normal equations'
    """
    work.check()
    n, width = math.ceil(work.n_rows / work.n_workers), 2 * work.n_frequencies
    rows = float(n) * (work.n_inputs + work.n_outputs)
    equations = 8.0 * width * (width + work.n_outputs)
    blocks = 8.0 * min(n, max(1, BLOCK_BYTES // (8 * width))) * width * 2
    streams = 2 * 8 * rows > machine.free
    memory = PROGRAM_BYTES + blocks + 5 * equations + (0.0 if streams else 2 * 8 * rows)
    levels = math.ceil(math.log2(work.n_workers)) if work.n_workers > 1 else 0
    traffic = equations + 8.0 * work.n_frequencies * work.n_inputs if levels else 0.0
    solves = 1 + 1 / work.refit_every  # a step proposes, and every m-th one solves once more
    terms = {
        "cosines and sines": solves * n * width * machine.entry,
        "normal equations": solves * n * float(width) ** 2 * machine.product,
        "factorisation": solves * float(width) ** 3 / 3 * machine.factorisation,
        "network": solves * levels * (8 * traffic / (work.network * 1e9) + LATENCY + 3 * equations / machine.memory),
        "disk": solves * work.value_bytes * rows / machine.disk if streams else 0.0,
        "overhead": machine.overhead,
    }
    passes = PASSES * work.value_bytes * rows / (machine.disk if streams else machine.memory)
    fit_seconds = (work.n_steps + 2) * sum(terms.values()) + passes
    return Plan(terms, fit_seconds, memory, traffic, streams)


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

    Examples
    --------
    >>> duration(0.0123), duration(75.0), duration(7200.0), duration(200000.0)
    ('12 ms', '75 s', '2 h', '2.3 days')
    """
    for most, unit, name in ((1.0, 1e-3, "ms"), (600.0, 1.0, "s"), (5400.0, 60.0, "min"), (1.3e5, 3600.0, "h")):
        if seconds < most:
            value = seconds / unit
            return f"{value:.2g} {name}" if value < 99.5 else f"{value:.0f} {name}"
    return f"{seconds / 86400:.2g} days"
