"""How amplitudes are solved for: the settings, and what each way costs in time and memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from fourierwalk.arrays.memory import free_bytes
from fourierwalk.arrays.products import PRECISIONS, UNITS
from fourierwalk.data.features import Features
from fourierwalk.solving import spectral

PATHS = ("auto", "direct", "spectral", "dual")

MOST_ROUNDING = 0.2
"""What the rounding of bf16 or tf32 columns may do to the amplitudes, as a share of them, by `ladder`'s estimate."""


@dataclass(frozen=True)
class Solver:
    """How amplitudes are solved for.

    Parameters
    ----------
    path : {"auto", "direct", "spectral", "dual"}
        "direct": normal equations, summed over blocks of rows. "spectral": the same in Fourier space, for Fourier
        features of at most three inputs (needs the extra ``nufft``), of at most two as torch tensors. "dual": one
        equation per row instead of one per unknown. "auto": the cheapest by `costs`.
    precision : {"double", "single", "tf32", "bf16", "auto"}
        Of the products in the walk's solves; sums (and, but on a GPU, factorisations) are in single precision where it
        is not double. "tf32" and "bf16" are the tensor cores' and need torch. "auto": on a GPU, for Fourier features,
        the lowest of bf16, tf32 and double that the regularization allows, in descent too; elsewhere double. The final
        fit is always in double precision; a solve
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
    def for_descent(self) -> Solver:
        """The same for descent: all rows, and double precision unless that is left open."""
        return replace(self, precision="auto" if self.precision == "auto" else "double", batch_size=None)

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


class Rates(NamedTuple):
    """Rough seconds of a machine for what the paths are made of: only their order matters."""

    entry: float  # of a column
    product: float  # of one operation in products
    factorisation: float  # of one operation in factorisations
    start: float  # of a transform
    window: float  # of a point under the window of a transform
    width: int  # points under the window, per dimension, as far as they cost


ONE_CORE = Rates(1e-8, 1 / 4e10, 1 / 4e10, 2e-3, 1.25e-8, 8)
GPU = Rates(2e-11, 1 / 4e13, 1 / 1e13, 3e-4, 2e-10, 15)


def costs(
    n_rows: int, n_frequencies: int, n_features: int, features: Features, remote: bool = False
) -> dict[str, float]:
    """Rough seconds of one solve by each path, on one core, or with `remote` on a GPU: only their order matters."""
    width, unknowns = features.n_columns * n_frequencies, features.n_unknowns * n_frequencies
    rates = GPU if remote else ONE_CORE
    columns = rates.entry * n_rows * width * (1 + 0.02 * n_features)
    found = {
        "direct": columns + rates.product * n_rows * width**2 + rates.factorisation * unknowns**3 / 3,
        "dual": columns + rates.product * n_rows**2 * width**2 / unknowns + rates.factorisation * n_rows**3 / 3,
    }
    if n_features <= spectral.MOST_DIMENSIONS:
        n_points = n_frequencies**2 * (0.5 if features.n_unknowns == 1 else 1.0)
        transforms = rates.start + rates.window * n_points * rates.width**n_features
        found["spectral"] = transforms + rates.factorisation * unknowns**3 / 3
    return found


def ladder(precision: str, n_rows: float, width: int, regularization: float) -> tuple[str, ...]:
    """The precisions to try, one after the other, from the lowest that has a chance.

    Columns that are rounded by ε change the Gram matrix by about εN√(width/N), against a ridge of λN.
    """
    rungs = PRECISIONS[PRECISIONS.index(precision) :]
    while rungs[0] in ("bf16", "tf32"):
        if UNITS[rungs[0]] * (width / n_rows) ** 0.5 <= MOST_ROUNDING * regularization:
            break
        rungs = rungs[1:]
    return rungs
