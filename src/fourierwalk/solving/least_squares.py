"""Frequencies ↦ amplitudes: the minimiser of N⁻¹|Sβ − y|² + λ|β|², through sums over the rows that can be merged."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.complexes import adjoint, real_part
from fourierwalk.arrays.factorisation import cholesky, cholesky_solve, eigh, shifted, solved
from fourierwalk.arrays.library import Array, all_true, is_foreign, is_remote, namespace, scalar
from fourierwalk.arrays.memory import accelerator_bytes, accelerator_free_bytes
from fourierwalk.arrays.products import UNITS, matmul, outer_gram
from fourierwalk.data.features import Features
from fourierwalk.data.kept import Kept
from fourierwalk.data.rows import Rows
from fourierwalk.solving import spectral
from fourierwalk.solving.eigensystem import Eigensystem, divisor_of, significant
from fourierwalk.solving.normal_equations import NormalEquations, System, weighted
from fourierwalk.solving.solver import Solver, costs, ladder, most_columns, needed_bytes
from fourierwalk.solving.spectral import Spectral


class SolveInfo(NamedTuple):
    """What happened inside: the path taken, its precision, whether that was raised, whether the fallback was needed."""

    path: str
    fallback: bool
    precision: str = "double"
    raised: bool = False
    trusted: Any = True  # False only where nobody has asked yet: see `LeastSquares.ahead`


class Solution(NamedTuple):
    """Amplitudes (K, q), the value of N⁻¹|Sβ − y|² + λ|β|² there, and what happened inside.

    On a GPU the value is an array without axes, so that nobody waits for it; of stacked problems, one each.
    """

    amplitudes: Array
    loss: Any
    info: SolveInfo


class Latest(Kept):
    """What was posed last, and what was recorded of it on a GPU: see `recording.recorded`."""

    recording: Any = None

    def forget(self) -> None:
        """Give the memory back."""
        self.recording = None
        super().forget()


@dataclass(frozen=True)
class LeastSquares:
    """``minimize(frequencies) -> Solution``: the one thing that a sampler sees of the data.

    Parameters
    ----------
    rows : Rows
        The data.
    features : Features
        How inputs and frequencies become columns.
    regularization : float
        λ ≥ 0 of N⁻¹|Sβ − y|² + λ|β|².
    solver : Solver
        How that is done.
    spectral : Spectral, optional
        The rows' Fourier space; made here where the solver may use it.
    latest : Latest, optional
        The equations made last; shared with the same problem at another λ.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data.features import ComplexExponentials
    >>> from fourierwalk.data.rows import Rows
    >>> x = np.linspace(-3, 3, 50)[:, None]
    >>> minimize = LeastSquares(Rows(x, np.cos(2 * x)), ComplexExponentials(), regularization=1e-9)
    >>> minimize(np.array([[-2.0], [2.0]])).amplitudes.real.round(6).ravel()
    array([0.5, 0.5])
    """

    rows: Rows
    features: Features
    regularization: float
    solver: Solver = field(default_factory=Solver)
    spectral: Spectral | None = None
    latest: Latest = field(default_factory=Latest, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Rows that have a Fourier space get one, where it may be used."""
        if self.solver.precision in ("tf32", "bf16") and not compat.is_torch_array(self.rows.anchor):
            raise ValueError(
                f"solver.precision={self.solver.precision!r} needs torch tensors or device='cuda', got rows of "
                f"{type(self.rows.x).__name__}."
            )
        if self.spectral is not None or self.solver.path not in ("auto", "spectral"):
            return
        able = spectral.applies(self.rows, self.features)
        if self.solver.path == "spectral":
            if not compat.is_torch_array(self.rows.anchor):
                spectral.require()
            if not able:
                raise ValueError(
                    "solver='spectral' needs dense rows (of NumPy, or of torch in double precision) of at most "
                    f"{spectral.most_dimensions(self.rows)} columns and Fourier features."
                )
        if able and (self.solver.path == "spectral" or spectral.is_offered(self.rows)):
            object.__setattr__(self, "spectral", Spectral(self.rows, self._grid_bytes()))

    def _grid_bytes(self) -> float:
        """What a grid may take: a quarter of what a solve may."""
        if self.solver.max_memory is None and accelerator_bytes(self.rows.x) is not None:
            return accelerator_free_bytes(self.rows.x) / 8
        return self.solver.memory / 4

    def __call__(self, frequencies: Array) -> Solution:
        """The minimiser at these frequencies."""
        path = self.path(frequencies)
        precisions = self._precisions(frequencies, path)
        for precision in precisions[:-1]:
            solution = self._attempt(frequencies, path, precision)
            if all_true(solution.info.trusted):
                raised = precision != precisions[0]
                return solution._replace(info=solution.info._replace(raised=raised, trusted=True))
        system, back = self._posed(frequencies, path)
        solution = self.solve(system, path, back)
        return solution._replace(info=solution.info._replace(raised=len(precisions) > 1))

    def ahead(self, frequencies: Array) -> Solution:
        """The minimiser, without asking the device whether it can be trusted: ``info.trusted`` knows, over there.

        Frequencies that the grid of a Fourier space is too coarse for are not to be trusted.
        """
        still = self if self.spectral is None else replace(self, spectral=self.spectral.still)
        path = still.path(frequencies)
        solution = still._attempt(frequencies, path, self._precisions(frequencies, path)[0])
        if still.spectral is None or path != "spectral":
            return solution
        trusted = solution.info.trusted & still.spectral.covers(frequencies)
        return solution._replace(info=solution.info._replace(trusted=trusted))

    def _precisions(self, frequencies: Array, path: str) -> tuple[str, ...]:
        """The precisions to try, one after the other."""
        precision, anchor = self.solver.precision, self.rows.anchor
        is_auto = precision == "auto"
        may_round = compat.is_torch_array(anchor) and is_remote(anchor) and hasattr(self.features, "single_columns")
        if path != "direct" or (is_auto and not may_round):
            return ("double",)
        width = self.features.n_columns * int(frequencies.shape[-2])
        if is_auto and float(len(self.rows)) * width**2 < ROUNDED_FROM:
            return ("double",)
        rungs = ladder("bf16" if is_auto else precision, self.rows.total_weight, width, self.regularization)
        return tuple(rung for rung in rungs if rung != "single") if is_auto else rungs  # doubles are as fast there

    def _attempt(self, frequencies: Array, path: str, precision: str) -> Solution:
        """The minimiser by one factorisation, and whether that can be trusted."""
        system, back = self._posed(frequencies, path, precision)
        if is_remote(system.matrix):  # a GPU takes no longer to factorise doubles
            matrix, right_hand_side = _in_double(system.matrix), _in_double(system.right_hand_side)
            system = system._replace(matrix=matrix, right_hand_side=right_hand_side)
        xp, ridge = namespace(system.matrix), self.regularization * self.rows.total_weight
        unit = UNITS["double" if precision == "double" else "single"]
        found, trusted = solved(system.matrix, ridge, system.right_hand_side, unit)
        if precision != "double" and not is_remote(system.matrix):
            norm, both = xp.linalg.vector_norm, (-2, -1)
            residual = matmul(system.matrix, found) + ridge * found - system.right_hand_side
            trusted = trusted & (norm(residual, axis=both) <= TRUST * norm(system.right_hand_side, axis=both))
        return self._solution(system, back, found, SolveInfo(path, False, precision, trusted=trusted))

    def _posed(self, frequencies: Array, path: str, precision: str = "double") -> tuple[System, Array | None]:
        """The equations that a path solves, and what takes their solution to the unknowns, if they are not the same.

        Of the dual form, β = Sᴴ(SSᴴ + λN)⁻¹y.
        """
        if path == "spectral":
            return self.system(frequencies, precision), None
        if path == "direct":
            return self._latest(frequencies, precision, lambda: (self.system(frequencies, precision), None))
        return self._latest(frequencies, path, lambda: self._dual(frequencies))

    def _latest(self, frequencies: Array, how: str, make: Callable[[], Any]) -> Any:
        return self.latest.of(frequencies, (self.rows, self.features), how, make)

    def forget(self) -> None:
        """Give back the memory of what is kept for the next question."""
        self.latest.forget()
        self.rows.kept.forget()

    def _dual(self, frequencies: Array) -> tuple[System, Array]:
        """(SSᴴ + λN) z = y, and Sᴴ."""
        self.rows.kept.forget()
        matrix, y = self._whole(frequencies)
        targets = namespace(matrix).astype(y, matrix.dtype, copy=False)
        system = System(outer_gram(matrix), targets, self.rows.target_energy, self.rows.total_weight)
        return system, adjoint(matrix)

    def _solution(self, system: System, back: Array | None, solved: Array, info: SolveInfo) -> Solution:
        unknowns, right_hand_side = _taken(back, solved), _taken(back, system.right_hand_side)
        loss = _loss(system.target_energy, right_hand_side, unknowns, system.weight)
        return Solution(self.features.amplitudes(_in_double(unknowns)), loss, info)

    def path(self, frequencies: Array) -> str:
        """The way that these frequencies are solved for."""
        if self.solver.path == "spectral" and self.spectral is not None and not self.spectral.serves(frequencies):
            needed = self.spectral.needed_bytes(frequencies)
            raise MemoryError(
                f"solver='spectral' needs {_size(needed)} for a grid of these frequencies, and a quarter of max_memory "
                f"allows {_size(self.spectral.max_bytes)}: smaller frequencies, another solver, or a larger max_memory."
            )
        if self.solver.path != "auto":
            return self.solver.path
        size = len(self.rows), int(frequencies.shape[-2]), int(self.rows.x.shape[-1])
        found = costs(*size, self.features, is_remote(self.rows.anchor))
        if self.spectral is None or not self.spectral.serves(frequencies):
            found.pop("spectral", None)
        else:
            found["spectral"] += self.spectral.transform_seconds(frequencies)
        return min(found, key=lambda path: found[path])

    def equations(self, frequencies: Array, precision: str = "double") -> NormalEquations:
        """The sums over all rows."""
        width = self.features.n_columns * int(frequencies.shape[-2])
        self._announce(width)
        return self.rows.sum(
            lambda block: NormalEquations.of_block(block, self.features, frequencies, precision), width
        )

    def system(self, frequencies: Array, precision: str = "double") -> System:
        """The equations of the unknowns, summed over the rows or taken from their Fourier space."""
        if self.spectral is None or self.path(frequencies) != "spectral":
            return self.equations(frequencies, precision).system(self.features)
        matrix, right_hand_side = self.spectral.equations(frequencies, self.features)
        return System(matrix, right_hand_side, self.rows.target_energy, self.rows.total_weight)

    def eigensystem(self, frequencies: Array) -> Eigensystem:
        """The problem in its own basis."""
        if self.path(frequencies) == "dual":
            matrix, y = self._whole(frequencies)
            xp = namespace(matrix)
            values, left = eigh(outer_gram(matrix))
            keep = significant(values)
            values, left = values[keep:], left[:, keep:]
            basis = matmul(adjoint(matrix), left) / xp.sqrt(divisor_of(values))[None, :]
            projections = xp.sqrt(xp.clip(values, 0.0))[:, None] * (adjoint(left) @ xp.astype(y, left.dtype))
            return Eigensystem(values, basis, projections, float(xp.sum(y * y)), self.rows.total_weight, self.features)
        system = self.system(frequencies)
        xp = namespace(system.matrix)
        values, basis = eigh(system.matrix)
        keep = significant(values)
        values, basis = values[keep:], basis[:, keep:]
        projections = adjoint(basis) @ system.right_hand_side
        return Eigensystem(values, basis, projections, float(system.target_energy), float(system.weight), self.features)

    def solve(self, system: System, path: str = "direct", back: Array | None = None) -> Solution:
        """The minimiser from equations that are already there."""
        solved, fallback = _solve(system.matrix, system.right_hand_side, self.regularization * system.weight)
        return self._solution(system, back, solved, SolveInfo(path, fallback))

    def along(self, frequencies: Array, regularizations: Iterable[float]) -> Iterator[tuple[float, Array]]:
        """(λ, amplitudes) for one system; a λ too small for a factorisation that can be trusted is left out."""
        (matrix, right_hand_side, _, weight), back = self._posed(frequencies, self.path(frequencies))
        for regularization in regularizations:
            factor = cholesky(shifted(matrix, regularization * weight))
            if factor is not None:
                solved = cholesky_solve(factor, right_hand_side)
                yield regularization, self.features.amplitudes(_taken(back, solved))

    def gradient(self, frequencies: Array, amplitudes: Array) -> Array:
        """∂/∂ωₖ of N⁻¹|Sβ − y|² at fixed amplitudes, (K, d): at the minimiser, the gradient of the projected loss."""
        if self.spectral is not None and self.path(frequencies) == "spectral":
            slopes = self.spectral.slopes(frequencies, amplitudes, self.features)
            xp = namespace(slopes)
            gradient = -xp.imag(xp.sum(amplitudes.T[:, None, :] * slopes, axis=0)).T
        else:
            of_block = getattr(self.features, "gradient", None)
            if of_block is None:
                raise TypeError(f"descent needs features with a gradient, got {self.features.name!r}.")
            width = self.features.n_columns * int(frequencies.shape[0])
            gradient = self.rows.sum(lambda block: of_block(block, frequencies, amplitudes), width, beside=width)
        return gradient * (2.0 / self.rows.total_weight)

    def _whole(self, frequencies: Array) -> tuple[Array, Array]:
        columns, y = weighted(self.rows.whole().part(slice(0, len(self.rows))), self.features, frequencies)
        return self.features.matrix(columns), y

    def _announce(self, width: int) -> None:
        """Refuse before allocating what would not fit."""
        anchor, stacked = self.rows.anchor, math.prod(self.rows.x.shape[:-2])
        parts, needed = 0.0, stacked * needed_bytes(len(self.rows), width, self.rows.block_height(width))
        if self.solver.precision in ("auto", "bf16"):  # three 16-bit parts of inputs and targets
            there: list[Any] = [values for values in (self.rows.x, self.rows.y) if is_remote(values)]
            parts = sum(2.0 * math.prod(values.shape[:-1]) * (3 * values.shape[-1] + 7) for values in there)
            needed += parts
        if self.solver.max_memory is None and is_foreign(anchor):
            is_asked = is_remote(anchor) and needed > max(ALWAYS_FITS, _FITTED.get(str(anchor.device), 0.0))
            allowed, whose = accelerator_free_bytes(anchor) if is_asked else math.inf, "the GPU has free"
            if is_asked and needed <= allowed:
                _FITTED[str(anchor.device)] = needed
        else:
            allowed, whose = self.solver.memory, "max_memory allows"
        if needed <= allowed:
            return
        most = most_columns(len(self.rows), allowed - parts) // self.features.n_columns
        raise MemoryError(
            f"{width // self.features.n_columns} frequencies need {_size(needed)} for their normal equations, and "
            f"{whose} {_size(allowed)}: at most {most} would fit."
        )


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.3g} MB"


ALWAYS_FITS = 1e9
"""What takes no more than this is not asked about: the question to a GPU takes its time."""

_FITTED: dict[str, float] = {}  # the most that has been asked about and fitted, by device

ROUNDED_FROM = 1e11
"""Multiplications in a solve from which on "auto" rounds on a GPU: with fewer, double precision takes no longer."""

TRUST = 1e-3
"""The relative residual up to which a solve in single precision is trusted."""


def _loss(energy: Array, right_hand_side: Array, unknowns: Array, weight: Any) -> Any:
    """The minimum of N⁻¹|Sβ − y|² + λ|β|² is N⁻¹(|y|² − Re βᴴSᴴy)."""
    xp = namespace(unknowns)
    if _is_complex(unknowns):
        right_hand_side = xp.conj(right_hand_side)
    explained = xp.sum(real_part(right_hand_side * unknowns), axis=(-2, -1))
    return scalar(xp.clip(energy - explained, 0.0, None) / weight)


def _taken(back: Array | None, solved: Array) -> Array:
    """To the unknowns, by what `LeastSquares._posed` says."""
    return solved if back is None else matmul(back, solved)


def _in_double(values: Array) -> Array:
    xp = namespace(values)
    return xp.astype(values, xp.complex128 if _is_complex(values) else xp.float64, copy=False)


def _is_complex(values: Array) -> bool:
    return bool(namespace(values).isdtype(values.dtype, "complex floating"))


def _solve(matrix: Array, right_hand_side: Array, ridge: float) -> tuple[Array, bool]:
    """Solve (matrix + ridge) z = b by Cholesky; of minimum norm, and with a warning, where that is not safe."""
    xp = namespace(matrix)
    factor = cholesky(shifted(matrix, ridge))
    if factor is not None:
        return cholesky_solve(factor, right_hand_side), False
    if matrix.ndim > 2:  # of stacked problems, those that are regular as ever
        found = [_solve(matrix[i, ...], right_hand_side[i, ...], ridge) for i in range(matrix.shape[0])]
        return xp.stack([solved for solved, _ in found]), True
    warnings.warn(
        "The equations for the amplitudes are singular to working precision; the solution of minimum norm is used. "
        "A larger regularization, or fewer frequencies, makes them regular.",
        RuntimeWarning,
        stacklevel=2,
    )
    values, basis = eigh(matrix)
    keep = significant(values)
    values, basis = divisor_of(values[keep:] + ridge), basis[:, keep:]
    return basis @ (adjoint(basis) @ right_hand_side / xp.astype(values, matrix.dtype)[:, None]), True


@dataclass(frozen=True)
class Minibatch:
    """``minimize`` on rows drawn anew at every call, for a walk over many more rows than unknowns."""

    problem: LeastSquares
    rng: np.random.Generator

    def __call__(self, frequencies: Array) -> Solution:
        """The minimiser on a batch of the rows."""
        n_rows, size = len(self.problem.rows), self.problem.solver.batch_size
        if size is None or size >= n_rows:
            return self.problem(frequencies)
        drawn = np.sort(self.rng.choice(n_rows, size, replace=False, shuffle=False))
        solver = replace(self.problem.solver, path="direct", batch_size=None)
        return replace(self.problem, rows=self.problem.rows.take(drawn), solver=solver, spectral=None)(frequencies)
