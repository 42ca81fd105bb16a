"""Section 4: what the largest radius ω_max of Algorithm 2 prevents."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.paper.curves import Measured, measured
from fourierwalk.paper.theory.check import Check, Finding, Numbers
from fourierwalk.paper.verdicts import of_parts
from fourierwalk.sampling.proposals import AdaptiveWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares

N_SEEDS, WIDTH, N_ROWS, N_STEPS, RADIUS = 4, 16, 200, 1_000, 40.0
TARGETS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "slow": lambda x: np.sign(x) * np.exp(-(x**2) / 2),  # |f̂| decays like 1/ω
    "fast": lambda x: np.exp(-(x**2) / 2),
}


RUNS = (("slow", 3.0, False), ("slow", 3.0, True), ("fast", 3.0, False), ("fast", 1.0, False))
"""(target, γ, whether ω_max is finite)."""


def radii(radius: float = RADIUS) -> Numbers:
    """log₁₀ of the frequencies' root mean square, and the test error, of Algorithm 2 (d = 1, δ = 1, λ = 0.1)."""
    rows = []
    for name, gamma, is_held in RUNS:
        spread, error = zip(*_walked(TARGETS[name], gamma, radius if is_held else math.inf), strict=True)
        rows.append([*measured(np.log10(spread)), *measured(error)])
    return {"rows": rows}


def _walked(target: Callable[[np.ndarray], np.ndarray], gamma: float, most: float) -> list[tuple[float, float]]:
    """(root mean square of ω, test error) at the end of several walks side by side."""
    rng = np.random.default_rng(0)
    x, x_test = rng.standard_normal((N_SEEDS, N_ROWS, 1)), rng.standard_normal((N_SEEDS, 1_000, 1))
    minimize = LeastSquares(Rows(x, target(x)), ComplexExponentials(), 0.1)
    walk = Metropolis(AdaptiveWalk(1.0, 100), gamma, 10, most)
    *_, (state, _) = walk.sample(minimize, walk.init(minimize, np.zeros((N_SEEDS, WIDTH, 1))), rng, N_STEPS)
    omega = state.frequencies
    values = np.exp(1j * x_test @ np.swapaxes(omega, 1, 2)) @ minimize(omega).amplitudes
    errors = np.sqrt(np.mean(np.abs(values - target(x_test)) ** 2, axis=(1, 2)))
    return list(zip(np.sqrt(np.mean(omega**2, axis=(1, 2))).tolist(), errors.tolist(), strict=True))


def _find_radii(numbers: Numbers) -> Finding:
    free, held, fast, low = ((Measured(*row[:2]), Measured(*row[2:])) for row in numbers["rows"])
    parts = [
        free[0].value > 3,  # a root mean square above 1,000, where 200 rows tell nothing
        held[0].value < 2 and held[1].minus(free[1]).sign == -1,
        fast[0].value < 1,
        low[0].value < 1,
    ]
    told = [f"10^({spread.text(1)}) and {error.text()}" for spread, error in (free, held, fast, low)]
    return Finding(
        of_parts(parts),
        f"The root mean square of ω and the test error end at {told[0]} where |f̂| ∝ 1/ω, at {told[1]} with ω_max = "
        f"{RADIUS:g}; for a Gaussian f̂ without ω_max at {told[2]} with γ = 3, and at {told[3]} with γ = 3d − 2 = 1.",
        f"d = 1, K = {WIDTH}, N = {N_ROWS}, δ = 1, γ = 3 where not said, {N_STEPS:,} steps, {N_SEEDS} realisations.",
    )


RADII = Check(
    "Frequencies diverge without a finite ω_max where |f̂| decays slowly; a Gaussian f̂ needs none.",
    "Section 4, on ω_max",
    radii,
    _find_radii,
)
