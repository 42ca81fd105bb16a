"""How amplitudes are solved for: the settings, and what each way costs in time and memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fourierwalk import spectral
from fourierwalk._arrays import free_bytes
from fourierwalk.features import Features
from fourierwalk.products import PRECISIONS, UNITS

PATHS = ("auto", "direct", "spectral", "dual")

MOST_ROUNDING = 0.1
"""What the rounding of bf16 or tf32 columns may do to the amplitudes, as a share of them, by `ladder`'s estimate."""


@dataclass(frozen=True)
class Solver:
    """How amplitudes are solved for.

    Parameters
    ----------
    path : {"auto", "direct", "spectral", "dual"}
        "direct": normal equations, summed over blocks of rows. "spectral": the same in Fourier space, for Fourier
        features of at most three inputs (needs the extra ``nufft``). "dual": one equation per row instead of one per
        unknown. "auto": the cheapest by `costs`.
    precision : {"double", "single", "tf32", "bf16"}
        Of the products in the walk's solves, with sums and factorisation in single precision where it is not double.
        "tf32" and "bf16" are the tensor cores' and need torch. The final fit is always in double precision; a solve
        that cannot be trusted is repeated at the next higher precision, and counted.
    batch_size : int, optional
        The rows that each of the walk's solves draws; the final fit is on all rows. None: all rows, always.
    max_memory : float, optional
        Bytes that a solve may take. None: half of what is free.
    draws : {"auto", "host", "device"}
        Where the walk's random numbers are drawn. "host": by NumPy, so that one seed walks one walk on every device.
        "device": by the torch device that holds the data; the seed fixes the walk there. "auto": on the host, unless a
        GPU would wait for it.
    """

    path: str = "auto"
    precision: str = "double"
    batch_size: int | None = None
    max_memory: float | None = None
    draws: str = "auto"

    @property
    def memory(self) -> float:
        """The bytes that a solve may take."""
        return 0.5 * free_bytes() if self.max_memory is None else float(self.max_memory)


def needed_bytes(n_rows: int, width: int, height: int) -> float:
    """An upper bound of what the normal equations of `width` real columns take: a block, its phases, five matrices."""
    return 8.0 * (min(n_rows, height) * width * 2.0 + 5.0 * width**2) + 2e6


def most_columns(n_rows: int, allowed: float) -> int:
    """The most real columns whose normal equations fit, with blocks as low as they must be."""
    width = int(math.sqrt(max(0.0, allowed - 2e6) / 40.0))
    while width and needed_bytes(n_rows, width, 1) > allowed:
        width -= 1
    return width


def costs(n_rows: int, n_frequencies: int, n_features: int, features: Features) -> dict[str, float]:
    """Rough seconds of one solve by each path, on one core: only their order matters."""
    width, unknowns = features.n_columns * n_frequencies, features.n_unknowns * n_frequencies
    columns = 1e-8 * n_rows * width * (1 + 0.02 * n_features)
    rate = 4e10  # products and factorisations, operations per second
    found = {
        "direct": columns + (n_rows * width**2 + unknowns**3 / 3) / rate,
        "dual": columns + (n_rows**2 * width**2 / unknowns + n_rows**3 / 3) / rate,
    }
    if n_features <= spectral.MOST_DIMENSIONS:
        n_points = n_frequencies**2 * (0.5 if features.n_unknowns == 1 else 1.0)
        found["spectral"] = 2e-3 + n_points * 1e-7 * 8 ** (n_features - 1) + unknowns**3 / 3 / rate
    return found


def ladder(precision: str, n_rows: int, width: int, regularization: float) -> tuple[str, ...]:
    """The precisions to try, one after the other, from the lowest that has a chance.

    Columns that are rounded by ε change the Gram matrix by about εN√(width/N), against a ridge of λN.
    """
    rungs = PRECISIONS[PRECISIONS.index(precision) :]
    while rungs[0] in ("bf16", "tf32"):
        if UNITS[rungs[0]] * (width / n_rows) ** 0.5 <= MOST_ROUNDING * regularization:
            break
        rungs = rungs[1:]
    return rungs
