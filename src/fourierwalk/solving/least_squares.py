"""Amplitudes from frequencies: the minimiser of N⁻¹|Sβ − y|² + λ|β|², computed from sums over the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import array_api_compat as compat

from fourierwalk.arrays.library import Array, all_true, is_remote
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.data.waves import RoundedCosineSine
from fourierwalk.solving.budget import grid_bytes
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.latest import Latest
from fourierwalk.solving.paths import Path, Paths, has_space
from fourierwalk.solving.solution import Solution, SolveInfo
from fourierwalk.solving.solver import Solver
from fourierwalk.solving.system import System, in_double


@dataclass(frozen=True)
class LeastSquares:
    """``minimize(frequencies) -> Solution``: all that a sampler sees of the data.

    Parameters
    ----------
    rows : Rows
        The data.
    features : Features
        How inputs and frequencies become columns.
    regularization : float
        λ ≥ 0 of N⁻¹|Sβ − y|² + λ|β|².
    solver : Solver
        Path, precision and memory of the solves.
    latest : Latest, optional
        A cache; ``dataclasses.replace`` shares it with the same problem at another λ.

    See Also
    --------
    Solver : The settings of a solve.

    Notes
    -----
    The minimiser solves the normal equations (SᴴWS + λN) β = SᴴWy, with the weights W on a diagonal and N = Σw. Without
    weights these are problem (28) and equations (29) of the paper; with several outputs (31) and (32). The paper writes
    Sᵀ for the conjugate transpose Sᴴ.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data import ComplexExponentials, Rows
    >>> from fourierwalk.solving import LeastSquares
    >>> x = np.linspace(-3, 3, 50)[:, None]
    >>> minimize = LeastSquares(Rows(x, np.cos(2 * x)), ComplexExponentials(), regularization=1e-9)
    >>> minimize(np.array([[-2.0], [2.0]])).amplitudes.real.round(6).ravel()
    array([0.5, 0.5])
    """

    rows: Rows
    features: Features
    regularization: float
    solver: Solver = field(default_factory=Solver)
    latest: Latest = field(default_factory=Latest, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Raise an error at once if the solver cannot work with these rows and features."""
        if self.solver.precision in ("tf32", "bf16") and not compat.is_torch_array(self.rows.anchor):
            raise ValueError(
                f"solver.precision={self.solver.precision!r} needs torch tensors or device='cuda', got rows of "
                f"{type(self.rows.x).__name__}."
            )
        if self.solver.path == "spectral":
            has_space(self.rows, self.features, self.solver)

    @cached_property
    def paths(self) -> Paths:
        """The choice among the paths."""
        space = None
        if has_space(self.rows, self.features, self.solver):
            space = self.latest.space(self.rows, grid_bytes(self.solver, self.rows))
        return Paths(self.rows, self.features, self.solver, self.latest.budget, space)

    def path(self, frequencies: Array) -> Path:
        """The path for these frequencies. It is chosen once; solve, gradient and eigensystem then use the same one."""
        of, latest = (self.rows, self.features), self.latest
        return latest.of(frequencies, of, self.solver.path, lambda: self.paths.at(frequencies, latest.descends))

    def __call__(self, frequencies: Array) -> Solution:
        """The minimiser at these frequencies."""
        path = self.path(frequencies)
        precisions = path.precisions(self.solver, self.regularization)
        for precision in precisions[:-1]:
            solution = self._tried(path, precision)
            if all_true(solution.info.trusted):
                raised = precision != precisions[0]
                return solution._replace(info=solution.info._replace(raised=raised, trusted=True))
        system = self.latest.system(path, "double")
        z, fallback = system.solved(self.regularization * system.weight)
        precision = "single" if isinstance(self.features, RoundedCosineSine) else "double"
        return self._solution(system, z, SolveInfo(path.name, fallback, precision, raised=len(precisions) > 1))

    def ahead(self, frequencies: Array) -> Solution:
        """The minimiser, without waiting for the device: whether it can be trusted is an array, ``info.trusted``.

        It is False if the factorisation failed, or if the grid of a Fourier space is too coarse for the frequencies.
        """
        if self.paths.space is None:
            path = self.path(frequencies)
            return self._tried(path, path.precisions(self.solver, self.regularization)[0])
        path = self.paths.ahead(frequencies)
        solution = self._tried(path, path.precisions(self.solver, self.regularization)[0])
        trusted = solution.info.trusted & path.covered()
        return solution._replace(info=solution.info._replace(trusted=trusted))

    def system(self, frequencies: Array) -> System:
        """The equations of the chosen path, in double precision."""
        return self.latest.system(self.path(frequencies), "double")

    def eigensystem(self, frequencies: Array) -> Eigensystem:
        """The problem in the basis of its eigenvectors."""
        return self.path(frequencies).eigensystem()

    def gradient(self, frequencies: Array, amplitudes: Array) -> Array:
        """∂/∂ωₖ of N⁻¹|Sβ − y|² at fixed amplitudes, (K, d); at the minimiser the gradient of the projected loss."""
        self.latest.descends = True
        return self.path(frequencies).gradient(amplitudes)

    def along(self, frequencies: Array, regularizations: Iterable[float]) -> Iterator[tuple[float, Array]]:
        """Yield (λ, amplitudes) for each λ, from one system of equations; a λ with singular equations is left out."""
        system = self.system(frequencies)
        for regularization in regularizations:
            z = system.factorised(regularization * system.weight)
            if z is not None:
                yield regularization, self.features.amplitudes(system.unknowns(z))

    def forget(self) -> None:
        """Empty the caches of the problem and of its rows."""
        self.latest.forget()
        self.rows.kept.forget()

    def mark(self) -> dict[str, Any]:
        """What earlier solves have left behind and later ones depend on, for `restore`."""
        return self.latest.mark()

    def restore(self, mark: dict[str, Any]) -> None:
        """Go back to a state that `mark` gave."""
        self.latest.restore(mark, self.paths.space)

    def _tried(self, path: Path, precision: str) -> Solution:
        """The minimiser by one factorisation; `info.trusted` says whether it can be trusted."""
        system = self.latest.system(path, precision)
        if is_remote(system.matrix):  # a GPU factorises doubles as fast
            system = system.in_double()
        z, trusted = system.tried(self.regularization * self.rows.total_weight, precision)
        return self._solution(system, z, SolveInfo(path.name, False, precision, trusted=trusted))

    def _solution(self, system: System, z: Array, info: SolveInfo) -> Solution:
        unknowns: Any = system.unknowns(z)
        return Solution(self.features.amplitudes(in_double(unknowns)), system.loss(unknowns), info)
