"""How amplitudes are solved for: the settings, and what each way costs in time and memory."""

from __future__ import annotations

from dataclasses import dataclass

from fourierwalk import spectral
from fourierwalk._arrays import free_bytes
from fourierwalk.features import Features

PATHS = ("auto", "direct", "spectral", "dual")
PRECISIONS = ("double", "single")


@dataclass(frozen=True)
class Solver:
    """How amplitudes are solved for.

    Parameters
    ----------
    path : {"auto", "direct", "spectral", "dual"}
        "direct": normal equations, summed over blocks of rows. "spectral": the same in Fourier space, for Fourier
        features of at most three inputs (needs the extra ``nufft``). "dual": one equation per row instead of one per
        unknown. "auto": the cheapest by `costs`.
    precision : {"double", "single"}
        Of the walk's solves. The final fit is always in double precision, and so is every solve that single precision
        cannot be trusted with.
    batch_size : int, optional
        The rows that each of the walk's solves draws; the final fit is on all rows. None: all rows, always.
    max_memory : float, optional
        Bytes that a solve may take. None: half of what is free.
    """

    path: str = "auto"
    precision: str = "double"
    batch_size: int | None = None
    max_memory: float | None = None

    @property
    def memory(self) -> float:
        """The bytes that a solve may take."""
        return 0.5 * free_bytes() if self.max_memory is None else float(self.max_memory)


def needed_bytes(n_rows: int, width: int, height: int) -> float:
    """An upper bound of what the normal equations of `width` real columns take: a block, its phases, five matrices."""
    return 8.0 * (min(n_rows, height) * width * 2.0 + 5.0 * width**2) + 2e6


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
