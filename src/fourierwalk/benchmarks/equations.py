"""Differential equations with known solutions, and a function whose derivatives are observed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fourierwalk.operators import Condition, Domain, at, d, identity, laplacian
from fourierwalk.paper.targets import gaussian, sine_integral

Function = Callable[[np.ndarray], np.ndarray]
PI = np.pi


class Equation(NamedTuple):
    """A problem: its conditions, its solution, its box, and its targets."""

    title: str
    conditions: Callable[[], list[Condition]]
    solution: Function
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    most_error: float  # relative root mean square error
    most_seconds: float

    def test_points(self, n: int = 10_000) -> np.ndarray:
        """Points that no condition has seen."""
        return Domain(self.lower, self.upper, seed=99).inside(n)


CUBE, SPACE_TIME, SQUARE = Domain((0,) * 5, (1,) * 5), Domain((0,) * 6, (1,) * 6), Domain((0, 0), (1, 1))
CENTRED, TURN = Domain((-1, -1), (1, 1)), Domain((0, 0), (2 * PI, 1))


def _sines(x: np.ndarray) -> np.ndarray:
    return np.sum(np.sin(PI * x[:, :5]), axis=1)


def _poisson() -> list[Condition]:
    return [
        Condition(-laplacian(*range(5)), CUBE.inside(4000), lambda x: PI**2 * _sines(x), "equation"),
        Condition(identity(), CUBE.boundary(2000), _sines, "boundary"),
    ]


def _decaying(x: np.ndarray) -> np.ndarray:
    return np.exp(-x[:, 5]) * _sines(x)


def _heat() -> list[Condition]:
    return [
        Condition(d(5) - PI**-2 * laplacian(*range(5)), SPACE_TIME.inside(4000), 0.0, "equation"),
        Condition(identity(), SPACE_TIME.boundary(2000, range(5)), _decaying, "boundary"),
        Condition(identity(), SPACE_TIME.face(5, "lower", 1000), _decaying, "initial values"),
    ]


def _two_modes(x: np.ndarray) -> np.ndarray:
    space, time = PI * x[:, 0], 2 * PI * x[:, 1]
    return np.sin(space) * np.cos(time) + 0.5 * np.sin(4 * space) * np.cos(4 * time)


def _wave() -> list[Condition]:
    start = SQUARE.face(1, "lower", 500)
    return [
        Condition(d(1, 1) - 4 * d(0, 0), SQUARE.inside(4000), 0.0, "equation"),
        Condition(identity(), SQUARE.boundary(1000, [0]), 0.0, "boundary"),
        Condition(identity(), start, _two_modes, "initial values"),
        Condition(d(1), start, 0.0, "initial velocities"),
    ]


def _product(x: np.ndarray) -> np.ndarray:
    return np.sin(PI * x[:, 0]) * np.sin(4 * PI * x[:, 1])


def _helmholtz() -> list[Condition]:
    force: Function = lambda x: (1 - 17 * PI**2) * _product(x)  # noqa: E731
    return [
        Condition(laplacian(0, 1) + identity(), CENTRED.inside(4000), force, "equation"),
        Condition(identity(), CENTRED.boundary(1000), _product, "boundary"),
    ]


def _carried(x: np.ndarray) -> np.ndarray:
    return np.sin(x[:, 0] - 30 * x[:, 1])


def _advection() -> list[Condition]:
    return [
        Condition(d(1) + 30 * d(0), TURN.inside(4000), 0.0, "equation"),
        Condition(identity() - at(2 * PI, 0), TURN.face(0, "lower", 500), 0.0, "periodic"),
        Condition(identity(), TURN.face(1, "lower", 500), _carried, "initial values"),
    ]


def _torsion(x: np.ndarray) -> np.ndarray:
    """x(1 − x)/2 − Σ 4/(mπ)³ sin(mπx) cosh(mπ(y − ½))/cosh(mπ/2) over odd m."""
    middle, total = np.abs(x[:, 1] - 0.5), x[:, 0] * (1 - x[:, 0]) / 2
    for m in range(1, 200, 2):
        rise = np.exp(m * PI * (middle - 0.5)) * (1 + np.exp(-2 * m * PI * middle)) / (1 + np.exp(-m * PI))
        total -= 4 / (m * PI) ** 3 * np.sin(m * PI * x[:, 0]) * rise
    return total


def _one() -> list[Condition]:
    return [
        Condition(-laplacian(0, 1), SQUARE.inside(4000), 1.0, "equation"),
        Condition(identity(), SQUARE.boundary(1000), 0.0, "boundary"),
    ]


EQUATIONS = {
    "poisson": Equation("−Δu = f on [0, 1]⁵, u = Σ sin(πxᵢ)", _poisson, _sines, CUBE.lower, CUBE.upper, 1e-4, 60.0),
    "heat": Equation(
        "uₜ = π⁻²Δu on [0, 1]⁵ × [0, 1], u = e^(−t) Σ sin(πxᵢ)",
        _heat,
        _decaying,
        SPACE_TIME.lower,
        SPACE_TIME.upper,
        1e-3,
        60.0,
    ),
    "wave": Equation("uₜₜ = 4uₓₓ, two modes, on [0, 1]²", _wave, _two_modes, SQUARE.lower, SQUARE.upper, 1e-4, 30.0),
    "helmholtz": Equation(
        "Δu + u = f on [−1, 1]², u = sin(πx) sin(4πy)", _helmholtz, _product, CENTRED.lower, CENTRED.upper, 1e-4, 30.0
    ),
    "advection": Equation(
        "uₜ + 30uₓ = 0, periodic, u(x, 0) = sin x", _advection, _carried, TURN.lower, TURN.upper, 1e-3, 30.0
    ),
    "torsion": Equation("−Δu = 1 on [0, 1]², u = 0 around", _one, _torsion, SQUARE.lower, SQUARE.upper, 1e-2, 60.0),
}

CASE_2 = 0.1
"""The parameter a of Case 2's target."""


def case_2(x: np.ndarray) -> np.ndarray:
    """Case 2's target."""
    return sine_integral(x, CASE_2)


def case_2_gradient(x: np.ndarray) -> np.ndarray:
    """The gradient of Case 2's target, (n, d)."""
    gradient = -x * case_2(x)[:, None]
    gradient[:, 0] += np.sinc(x[:, 0] / CASE_2 / PI) / CASE_2 * gaussian(x)
    return gradient


def ishigami(x: np.ndarray) -> np.ndarray:
    """sin x₁ + 7 sin² x₂ + 0.1 x₃⁴ sin x₁, for inputs uniform in [−π, π]."""
    return np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])


def ishigami_indices() -> tuple[np.ndarray, np.ndarray]:
    """The exact first-order and total Sobol indices of the Ishigami function."""
    first, second = 0.5 * (1 + 0.1 * PI**4 / 5) ** 2, 49 / 8
    both = 0.01 * PI**8 * (1 / 18 - 1 / 50)
    total = first + second + both
    return np.array([first, second, 0]) / total, np.array([first + both, second, both]) / total
