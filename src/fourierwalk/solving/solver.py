"""How amplitudes are solved for: the settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourierwalk.arrays.memory import free_bytes
from fourierwalk.arrays.products import PRECISIONS, UNITS

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
        equation per row instead of one per unknown. "auto": the cheapest by an estimate, at each solve.
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
