"""Test functions of engineering, in place of costly simulators: formulas and the usual ranges of the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]


class Surrogate(NamedTuple):
    """A function of the columns of x, which are uniform in their ranges."""

    function: Function
    ranges: tuple[tuple[float, float], ...]
    noise: float = 0.0  # standard deviation of what is added to every target, of test rows too

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """n rows of inputs and targets."""
        low, high = np.array(self.ranges).T
        x = rng.uniform(low, high, (n, low.size))
        y = self.function(x)
        return x, y + self.noise * rng.standard_normal(n) if self.noise else y


def borehole(x: np.ndarray) -> np.ndarray:
    """Flow through a borehole, 2πTᵤ(Hᵤ − Hₗ) / (L₀(1 + 2LTᵤ/(L₀r_w²K_w) + Tᵤ/Tₗ)), L₀ = ln(r/r_w).

    Examples
    --------
    >>> borehole(np.array([[0.1, 25050.0, 89335.0, 1050.0, 89.55, 760.0, 1400.0, 10950.0]])).round(3)
    array([70.873])
    """
    r_w, r, t_u, h_u, t_l, h_l, length, k_w = x.T
    ratio = np.log(r / r_w)
    return 2 * np.pi * t_u * (h_u - h_l) / (ratio * (1 + 2 * length * t_u / (ratio * r_w**2 * k_w) + t_u / t_l))


def piston(x: np.ndarray) -> np.ndarray:
    """Seconds of a piston's cycle, 2π√(M/(k + S²P₀V₀Tₐ/(T₀V²))), V = S/(2k)·(√(A² + 4kP₀V₀Tₐ/T₀) − A).

    A = P₀S + 19.62M − kV₀/S.
    """
    mass, surface, volume, k, pressure, t_ambient, t_gas = x.T
    a = pressure * surface + 19.62 * mass - k * volume / surface
    gas = pressure * volume * t_ambient / t_gas
    v = surface / (2 * k) * (np.sqrt(a**2 + 4 * k * gas) - a)
    return 2 * np.pi * np.sqrt(mass / (k + surface**2 * gas / v**2))


def wing_weight(x: np.ndarray) -> np.ndarray:
    """Weight of a light aircraft's wing.

    0.036 S^0.758 W_f^0.0035 (A/cos²Λ)^0.6 q^0.006 λ^0.04 (100t/cos Λ)^−0.3 (N W_d)^0.49 + S W_p, Λ in degrees.
    """
    area, fuel, aspect, sweep, q, taper, thickness, load, gross, paint = x.T
    cosine = np.cos(np.radians(sweep))
    shape = (aspect / cosine**2) ** 0.6 * q**0.006 * taper**0.04 * (100 * thickness / cosine) ** -0.3
    return 0.036 * area**0.758 * fuel**0.0035 * shape * (load * gross) ** 0.49 + area * paint


def otl_circuit(x: np.ndarray) -> np.ndarray:
    """Midpoint voltage of a push-pull circuit without output transformer.

    With b = β(R_c2 + 9) and V = 12R_b2/(R_b1 + R_b2): ((V + 0.74)b + 11.35R_f + 0.74R_f b/R_c1) / (b + R_f).
    """
    r_b1, r_b2, r_f, r_c1, r_c2, gain = x.T
    b = gain * (r_c2 + 9)
    return ((12 * r_b2 / (r_b1 + r_b2) + 0.74) * b + 11.35 * r_f + 0.74 * r_f * b / r_c1) / (b + r_f)


def robot_arm(x: np.ndarray) -> np.ndarray:
    """Distance of a hand from the shoulder: four segments of length Lᵢ, each turned by θᵢ against the one before."""
    angles, lengths = np.cumsum(x[:, :4], axis=1), x[:, 4:]
    return np.hypot(np.sum(lengths * np.cos(angles), axis=1), np.sum(lengths * np.sin(angles), axis=1))


def friedman1(x: np.ndarray) -> np.ndarray:
    """10 sin(πx₁x₂) + 20(x₃ − ½)² + 10x₄ + 5x₅; further inputs do nothing."""
    return 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]


def three_inputs(x: np.ndarray) -> np.ndarray:
    """(sin 2x₁ + x₂x₃)/√(3/2 − e⁻⁸/2), of mean 0 and variance 1 for standard normal inputs; others do nothing."""
    return (np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]) / np.sqrt(1.5 - np.exp(-8) / 2)


TURN = (0.0, 2 * np.pi)

SURROGATES = {
    "borehole": Surrogate(
        borehole,
        (
            (0.05, 0.15),
            (100, 50_000),
            (63_070, 115_600),
            (990, 1_110),
            (63.1, 116),
            (700, 820),
            (1_120, 1_680),
            (9_855, 12_045),
        ),
    ),
    "piston": Surrogate(
        piston,
        ((30, 60), (0.005, 0.02), (0.002, 0.01), (1_000, 5_000), (90_000, 110_000), (290, 296), (340, 360)),
    ),
    "wing-weight": Surrogate(
        wing_weight,
        (
            (150, 200),
            (220, 300),
            (6, 10),
            (-10, 10),
            (16, 45),
            (0.5, 1),
            (0.08, 0.18),
            (2.5, 6),
            (1_700, 2_500),
            (0.025, 0.08),
        ),
    ),
    "otl-circuit": Surrogate(otl_circuit, ((50, 150), (25, 70), (0.5, 3), (1.2, 2.5), (0.25, 1.2), (50, 300))),
    "robot-arm": Surrogate(robot_arm, (TURN,) * 4 + ((0.0, 1.0),) * 4),
    "friedman1": Surrogate(friedman1, ((0.0, 1.0),) * 10, noise=1.0),
}
