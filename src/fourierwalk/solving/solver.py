"""How amplitudes are solved for: the settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourierwalk.arrays.memory import free_bytes
from fourierwalk.arrays.products import PRECISIONS, UNITS

PATHS = ("auto", "direct", "spectral", "dual")

MOST_ROUNDING = 0.2
"""The largest relative change of the amplitudes by rounding columns to bf16 or tf32, as `ladder` estimates it."""


@dataclass(frozen=True)
class Solver:
    """How amplitudes are solved for.

    Parameters
    ----------
    path : {"auto", "direct", "spectral", "dual"}
        "direct": normal equations, summed over blocks of rows. "spectral": normal equations in Fourier space, for
        Fourier features of at most three inputs (two for torch tensors); NumPy arrays need the extra ``nufft``. "dual":
        one equation for each row instead of one for each unknown. "auto": the cheapest by an estimate, at each solve.
    precision : {"double", "single", "tf32", "bf16", "auto"}
        The precision of matrix products in the solves of a walk. Below "double", sums are in single precision, and so
        are factorisations on a CPU. "tf32" and "bf16" use tensor cores, and need torch. "auto": on a GPU, for Fourier
        features, the lowest of bf16, tf32 and double that λ allows, also in descent; elsewhere double. A solve that
        cannot be trusted is repeated at the next higher precision, and counted in the history. The final amplitudes are
        always solved for in double precision.
    batch_size : int, optional
        Each solve of a walk uses this many random rows; the final amplitudes use all rows. None: always all rows.
    max_memory : float, optional
        The most bytes of a solve. None: half of the free memory.
    draws : {"auto", "host", "device"}
        Where the random numbers of a walk are drawn. "host": by NumPy, so that a seed gives the same walk on every
        device. "device": by the torch device that holds the data; a seed then fixes the walk on that device only.
        "auto": on the host, unless a GPU would have to wait for it.

    Examples
    --------
    >>> from fourierwalk import AdaptiveFourierRegressor, Solver
    >>> AdaptiveFourierRegressor(solver=Solver("direct", precision="single")).solver.precision
    'single'
    """

    path: str = "auto"
    precision: str = "double"
    batch_size: int | None = None
    max_memory: float | None = None
    draws: str = "auto"

    @property
    def for_descent(self) -> Solver:
        """The settings for descent: all rows, and double precision unless the precision is "auto"."""
        return replace(self, precision="auto" if self.precision == "auto" else "double", batch_size=None)

    @property
    def memory(self) -> float:
        """The most bytes of a solve."""
        return 0.5 * free_bytes() if self.max_memory is None else float(self.max_memory)


def ladder(precision: str, n_rows: float, width: int, regularization: float) -> tuple[str, ...]:
    """The precisions to try, one after the other, from the lowest that may be accurate enough.

    A rounding of the columns by ε changes the Gram matrix by about εN√(width/N). That must be small beside λN.
    """
    rungs = PRECISIONS[PRECISIONS.index(precision) :]
    while rungs[0] in ("bf16", "tf32"):
        if UNITS[rungs[0]] * (width / n_rows) ** 0.5 <= MOST_ROUNDING * regularization:
            break
        rungs = rungs[1:]
    return rungs
