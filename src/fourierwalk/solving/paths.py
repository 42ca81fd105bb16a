"""The ways to the amplitudes, and the one choice among them."""

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
"""A Fourier space that was asked for is slow if a solve takes so long, and so many times as long as another way."""


class Path(Protocol):
    """One way to the amplitudes at some frequencies: `Direct`, `Dual` or `Spectral`."""

    @property
    def name(self) -> str:
        """A word for readers."""

    def seconds(self, with_gradient: bool) -> float:
        """Roughly what a solve takes, and its gradient: only the order of the paths matters."""

    def bytes(self) -> float:
        """Roughly the memory that it takes."""

    def announce(self, solver: Solver, budget: Budget) -> None:
        """Refuse with a `MemoryError`, before anything is allocated, what would not fit."""

    def precisions(self, solver: Solver, regularization: float) -> tuple[str, ...]:
        """The precisions to try, one after the other; the last is double."""

    def system(self, precision: str) -> System:
        """The equations."""

    def covered(self) -> Any:
        """Whether the equations are right for these frequencies; the answer stays on their device."""

    def eigensystem(self) -> Eigensystem:
        """The problem in its own basis."""

    def gradient(self, amplitudes: Array) -> Array:
        """∂/∂ωₖ of N⁻¹|Sβ − y|² at fixed amplitudes, (K, d)."""


@dataclass(frozen=True)
class Paths:
    """The choice of a path, once for each question.

    Parameters
    ----------
    rows : Rows
        The data.
    features : Features
        How inputs and frequencies become columns.
    solver : Solver
        The user's choice: a path's name, or "auto" for the cheapest by `Path.seconds`.
    budget : Budget
        What solves may take.
    space : FourierSpace, optional
        The rows' Fourier space, where it may be used.
    """

    rows: Rows
    features: Features
    solver: Solver
    budget: Budget
    space: FourierSpace | None

    def at(self, frequencies: Array, with_gradient: bool = False) -> Path:
        """The path to the amplitudes at these frequencies, and to the gradient. With a Fourier space they are read."""
        bandwidth = None if self.space is None else self.space.measured(frequencies)
        return self._chosen(self._possible(frequencies, bandwidth), with_gradient)

    def ahead(self, frequencies: Array) -> Path:
        """The same without reading the frequencies: they are taken to be as large as those read last."""
        bandwidth = None if self.space is None else self.space.expected(frequencies)
        return self._chosen(self._possible(frequencies, bandwidth), with_gradient=False)

    def _chosen(self, paths: list[Path], with_gradient: bool) -> Path:
        path = paths[0] if len(paths) == 1 else min(paths, key=lambda each: each.seconds(with_gradient))
        path.announce(self.solver, self.budget)
        if isinstance(path, Spectral) and len(paths) == 1:
            self._warn_if_slow(path)
        return path

    def _warn_if_slow(self, path: Spectral) -> None:
        """Say once what a Fourier space costs where the user has asked for it, and another path is far cheaper."""
        of = (self.rows, self.features, path.frequencies)
        seconds = path.seconds(False)
        other, name = min((each.seconds(False), each.name) for each in (Direct(*of), Dual(*of)))
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
        if asked == "direct":
            return [Direct(self.rows, *of)]
        if asked == "dual":
            return [Dual(self.rows, *of)]
        through = [] if self.space is None or bandwidth is None else [Spectral(self.space, *of, bandwidth)]
        if asked == "spectral":
            return [*through]
        return [Direct(self.rows, *of), Dual(self.rows, *of), *(path for path in through if path.fits())]


def _magnitude(seconds: float) -> str:
    """A power of ten: like numbers are the same sentence, which Python shows once."""
    return f"{10.0 ** round(math.log10(seconds)):g}"


def has_space(rows: Rows, features: Features, solver: Solver) -> bool:
    """Whether a Fourier space may be used; one sentence where it must be, and cannot."""
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
            f"{fourier_space.most_dimensions(rows)} columns and Fourier features."
        )
    return True
