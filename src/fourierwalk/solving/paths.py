"""The paths to the amplitudes (direct, dual, spectral), and the choice among them."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays import nufft
from fourierwalk.arrays.library import Array
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.solving import fourier_space
from fourierwalk.solving.budget import Budget
from fourierwalk.solving.direct import Direct
from fourierwalk.solving.dual import Dual
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.fourier_space import FourierSpace
from fourierwalk.solving.solver import Solver
from fourierwalk.solving.spectral import Spectral
from fourierwalk.solving.system import System

SLOW_SECONDS, SLOW_TIMES = 0.05, 10.0
"""The spectral path is called slow if a solve takes this many seconds, and this many times as long as another path."""


class Path(Protocol):
    """One way to the amplitudes at some frequencies: `Direct`, `Dual` or `Spectral`."""

    @property
    def name(self) -> str:
        """The name of the path, as in `Solver.path`."""

    def seconds(self, with_gradient: bool) -> float:
        """The rough time of a solve, and of its gradient if there is one. Only the order of the paths matters."""

    def bytes(self) -> float:
        """The rough memory of a solve."""

    def announce(self, solver: Solver, budget: Budget) -> None:
        """Raise a `MemoryError`, before anything is allocated, if a solve does not fit in memory."""

    def precisions(self, solver: Solver, regularization: float) -> tuple[str, ...]:
        """The precisions to try, one after the other; the last is double."""

    def system(self, precision: str) -> System:
        """The equations."""

    def covered(self) -> Any:
        """Whether the equations are right for these frequencies; the answer stays on their device."""

    def eigensystem(self) -> Eigensystem:
        """The problem in the basis of its eigenvectors."""

    def gradient(self, amplitudes: Array) -> Array:
        """∂/∂ωₖ of N⁻¹|Sβ − y|² at fixed amplitudes, (K, d)."""


@dataclass(frozen=True)
class Paths:
    """Chooses the path for given frequencies.

    Parameters
    ----------
    rows, features : Rows and Features
        As in `LeastSquares`.
    solver : Solver
        The user's choice: a path's name, or "auto" for the cheapest by `Path.seconds`.
    budget : Budget
        The memory that solves may take.
    space : FourierSpace, optional
        The rows' Fourier space. None: it may not be used.
    """

    rows: Rows
    features: Features
    solver: Solver
    budget: Budget
    space: FourierSpace | None

    def at(self, frequencies: Array, with_gradient: bool = False) -> Path:
        """The path for these frequencies. If there is a Fourier space, their values are read from the device."""
        self._check(frequencies)
        bandwidth = None if self.space is None else self.space.measured(frequencies)
        return self._chosen(self._possible(frequencies, bandwidth), with_gradient)

    def ahead(self, frequencies: Array) -> Path:
        """The path for these frequencies without reading them: they are assumed to be as large as the last ones."""
        self._check(frequencies)
        bandwidth = None if self.space is None else self.space.expected(frequencies)
        return self._chosen(self._possible(frequencies, bandwidth), with_gradient=False)

    def _check(self, frequencies: Array) -> None:
        n_inputs = int(self.rows.x.shape[-1])
        wanted = self.features.dimension(n_inputs)
        if frequencies.ndim < 2 or int(frequencies.shape[-1]) != wanted:
            raise ValueError(
                f"frequencies must have the shape (K, {wanted}) for rows of {n_inputs} columns and features "
                f"{self.features.name!r}, got {tuple(frequencies.shape)}."
            )

    def _chosen(self, paths: list[Path], with_gradient: bool) -> Path:
        path = paths[0] if len(paths) == 1 else min(paths, key=lambda possible: possible.seconds(with_gradient))
        path.announce(self.solver, self.budget)
        if isinstance(path, Spectral) and len(paths) == 1:
            self._warn_if_slow(path)
        return path

    def _warn_if_slow(self, path: Spectral) -> None:
        """Warn once if the user asks for the spectral path, and another path is far cheaper."""
        of = (self.rows, self.features, path.frequencies)
        seconds = path.seconds(False)
        other, name = min((possible.seconds(False), possible.name) for possible in (Direct(*of), Dual(*of)))
        if path.space.is_announced or seconds < max(SLOW_SECONDS, SLOW_TIMES * other):
            return
        path.space.is_announced = True
        warnings.warn(
            f"solver='spectral' takes some {_magnitude(seconds)} s for each solve, and more for each gradient, where "
            f"the {name} path takes some {_magnitude(other)} s: solver='auto' takes the cheapest.",
            UserWarning,
            stacklevel=2,
        )

    def _possible(self, frequencies: Array, bandwidth: np.ndarray | None) -> list[Path]:
        asked, of = self.solver.path, (self.features, frequencies)
        if asked == "dual" and self.rows.in_chunks:
            raise ValueError("solver='dual' needs all rows in memory, got rows in blocks: take 'auto' or 'direct'.")
        if asked == "direct":
            return [Direct(self.rows, *of)]
        if asked == "dual":
            return [Dual(self.rows, *of)]
        through = [] if self.space is None or bandwidth is None else [Spectral(self.space, *of, bandwidth)]
        if asked == "spectral":
            return [*through]
        in_memory = [] if self.rows.in_chunks else [Dual(self.rows, *of)]
        return [Direct(self.rows, *of), *in_memory, *(path for path in through if path.fits())]


def _magnitude(seconds: float) -> str:
    """The nearest power of ten as text, so that similar times give the same warning, which Python shows once."""
    return f"{10.0 ** round(math.log10(seconds)):g}"


def has_space(rows: Rows, features: Features, solver: Solver) -> bool:
    """Whether a Fourier space may be used; an error if the user asks for one and it cannot."""
    if solver.path not in ("auto", "spectral"):
        return False
    able = fourier_space.applies(rows, features)
    if solver.path == "auto":
        return able and fourier_space.is_offered(rows)
    if not compat.is_torch_array(rows.anchor):
        nufft.require()
    if not able:
        raise ValueError(
            "solver='spectral' needs dense rows (of NumPy, or of torch in double precision) of at most "
            f"{fourier_space.most_dimensions(rows)} columns and Fourier features, got "
            f"{type(rows.x).__name__} of {int(rows.x.shape[-1])} columns and features {features.name!r}."
        )
    return True
