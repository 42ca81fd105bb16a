"""The rates of a machine: seconds of the operations that a step consists of, measured in a few seconds."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourierwalk.arrays.memory import free_bytes
from fourierwalk.arrays.products import products
from fourierwalk.arrays.threads import blas_threads, one_pool
from fourierwalk.data.features import CosineSine
from fourierwalk.data.rows import BLOCK_BYTES, Rows
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving import rates
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver

MOST_FREQUENCIES = 1024
"""Rates are measured with at most so many frequencies; they hardly change beyond."""

MOST_VALUES = 2**22
"""The most input values that rates are measured with."""

FEW_ROWS = 64
"""The rows of the step that the time of everything but sums over rows is measured with."""

DISK_BYTES = 2**25
"""The bytes that are written and read to measure the disk."""


@dataclass(frozen=True)
class Machine:
    """The rates of one worker.

    Parameters
    ----------
    entry : float
        Seconds for an entry of the feature matrix: its phase, and its cosine or sine.
    product : float
        Seconds for a multiplication and addition in the normal equations.
    factorisation : float
        Seconds for a multiplication and addition in the Cholesky factorisation.
    overhead : float
        Seconds of a step that depend on no size.
    memory : float
        Bytes that are copied in a second.
    disk : float
        Bytes that are read from the disk in a second.
    free : float
        The free memory in bytes.
    name : str
        Where the rates come from.
    """

    entry: float
    product: float
    factorisation: float
    overhead: float
    memory: float = 5e9
    disk: float = 1e9
    free: float = 4e9
    name: str = "rates by hand"

    @classmethod
    def measured(
        cls, n_rows: int, n_inputs: int, n_frequencies: int, clock: Callable[[], float] = time.perf_counter
    ) -> Machine:
        """The rates of this machine for steps of about this size, by a clock.

        Examples
        --------
        >>> Machine.measured(1000, 4, 16).entry > 0
        True
        """
        with one_pool():
            k = min(n_frequencies, MOST_FREQUENCIES)
            block, omega, columns = _block(n_rows, n_inputs, k)
            n, width = columns.shape
            entry = _seconds(lambda: CosineSine().columns(block, omega), clock) / (n * width)
            product = _seconds(lambda: products(columns, block.y), clock) / (n * width**2)
            factorisation = _factorising(block, omega, clock) / (width**3 / 3)
            solve, row = factorisation * width**3 / 3, width * (entry + width * product)
            overhead = max(1e-5, _step_seconds(block, FEW_ROWS, omega, clock) - FEW_ROWS * row - solve)
            # Between other work threads wait for each other: in a step a row takes longer than in a loop.
            longer = max(1.0, (_step_seconds(block, n, omega, clock) - overhead - solve) / (n * row))
        return cls(
            longer * entry,
            longer * product,
            factorisation,
            overhead,
            _copying(),
            _reading(),
            free_bytes(),
            f"measured on this machine, {blas_threads()} BLAS threads",
        )

    @classmethod
    def gpu(cls) -> Machine:
        """The rates of one H200, as `fourierwalk.solving.rates` has them: nothing is measured."""
        stored = rates.GPU
        name = "stored rates of an H200, not measured here"
        return cls(stored.entry, stored.product, stored.factorisation, 5e-4, 2e12, 1e9, 1.3e11, name)


def _block(n_rows: int, n_inputs: int, k: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """A block of rows as a step has them, frequencies, and the columns."""
    rng = np.random.default_rng(0)
    height = max(FEW_ROWS, min(n_rows, BLOCK_BYTES // (16 * k), MOST_VALUES // n_inputs))
    rows = Rows(rng.standard_normal((height, n_inputs)), rng.standard_normal((height, 1)))
    omega = rng.standard_normal((k, n_inputs))
    block = replace(next(iter(rows.blocks(1))), kept=None)
    return block, omega, CosineSine().columns(block, omega)


def _factorising(block: Any, omega: np.ndarray, clock: Callable[[], float]) -> float:
    problem = LeastSquares(Rows(block.x[:FEW_ROWS], block.y[:FEW_ROWS]), CosineSine(), 1.0, Solver("direct"))
    system = problem.system(omega)
    return _seconds(lambda: system.solved(FEW_ROWS), clock)


def _step_seconds(block: Any, n_rows: int, omega: np.ndarray, clock: Callable[[], float]) -> float:
    """The seconds of a step of a walk on some rows of the block."""
    problem = LeastSquares(Rows(block.x[:n_rows], block.y[:n_rows]), CosineSine(), 1.0, Solver("direct"))
    walk, rng = Metropolis(RandomWalk(0.1), 3.0), np.random.default_rng(1)
    state = walk.init(problem, omega)
    return _seconds(lambda: walk.step(rng, state, problem), clock)


def _copying() -> float:
    values = np.ones(2**22)
    return 2 * values.nbytes / _seconds(lambda: values.copy(), time.perf_counter)


def _reading() -> float:
    """Bytes a second of a file that was dropped from the page cache."""
    try:
        with tempfile.TemporaryFile() as file:
            file.write(bytes(DISK_BYTES))
            os.fsync(file.fileno())
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            file.seek(0)
            start = time.perf_counter()
            while file.read(2**20):
                pass
            return DISK_BYTES / (time.perf_counter() - start)
    except OSError:  # no place for the file
        return Machine.disk


def _seconds(function: Callable[[], Any], clock: Callable[[], float], total: float = 0.25) -> float:
    """The median seconds of a call, of several within the total."""
    function()
    times: list[float] = []
    while len(times) < 3 or (sum(times) < total and len(times) < 200):
        start = clock()
        function()
        times.append(clock() - start)
    return float(np.median(times))
