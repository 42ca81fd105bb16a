"""The memory that a solve may take. A solve that does not fit is refused before it allocates anything."""

from __future__ import annotations

import math
from typing import Any

from fourierwalk.arrays.library import is_foreign, is_remote
from fourierwalk.arrays.memory import accelerator_bytes, accelerator_free_bytes
from fourierwalk.data.rows import Rows
from fourierwalk.solving.solver import Solver

ALWAYS_FITS = 1e9
"""Solves of up to this many bytes are allowed without asking the GPU for its free memory, which is slow."""

OVERHEAD_BYTES = 2e6
"""The bytes that a solve takes beside its arrays."""


class Budget:
    """The memory that solves on one device may take. The largest solve that fitted is remembered for the next ones.

    Parameters
    ----------
    always_fits : float
        Solves of up to this many bytes are allowed without asking the device.
    """

    def __init__(self, always_fits: float = ALWAYS_FITS) -> None:
        self._fitted = always_fits

    def allowed(self, needed: float, solver: Solver, anchor: Any) -> tuple[float, str]:
        """The bytes that a solve may take, and where that limit comes from, for the error message."""
        if solver.max_memory is not None or not is_foreign(anchor):
            return solver.memory, "max_memory allows"
        if not is_remote(anchor) or needed <= self._fitted:
            return math.inf, "the GPU has free"
        allowed = accelerator_free_bytes(anchor)
        if needed <= allowed:
            self._fitted = needed
        return allowed, "the GPU has free"


def grid_bytes(solver: Solver, rows: Rows) -> float:
    """The bytes that the grid of a Fourier space may take: a quarter of a solve's, less for rows in many chunks."""
    if solver.max_memory is None and accelerator_bytes(rows.x) is not None:
        return accelerator_free_bytes(rows.x) / (4 * rows.n_sums)
    return solver.memory / (2 * rows.n_sums)


def check_least_bytes(n_frequencies: int, width: int, n_rows: int, solver: Solver, anchor: Any) -> None:
    """Raise a `MemoryError` if no path could solve for `width` real columns: a part of what was asked for."""
    least = 8.0 * min(5.0 * width**2, 3.0 * n_rows * width)
    allowed, whose = Budget().allowed(least, solver, anchor)
    if least > allowed:
        raise MemoryError(
            f"n_frequencies={n_frequencies} needs at least {in_words(least)}, and {whose} {in_words(allowed)}: fewer, "
            f"or a larger max_memory."
        )


def needed_bytes(n_rows: int, width: int, height: int) -> float:
    """An upper bound of the bytes of normal equations of `width` real columns: a block, its phases, five matrices."""
    return 8.0 * (min(n_rows, height) * width * 2.0 + 5.0 * width**2) + OVERHEAD_BYTES


def most_columns(n_rows: int, allowed: float) -> int:
    """The most real columns whose normal equations fit, if blocks are made as small as necessary."""
    width = int(math.sqrt(max(0.0, allowed - OVERHEAD_BYTES) / 40.0))
    while width and needed_bytes(n_rows, width, 1) > allowed:
        width -= 1
    return width


def in_words(n_bytes: float) -> str:
    """A number of bytes as text, in MB or GB."""
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.3g} MB"
