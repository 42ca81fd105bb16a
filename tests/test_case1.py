"""Case 1 with the paper's parameters: Si(x/a) exp(−x²/2) with a = 10⁻³, N = 10⁴, Algorithm 1.

λ = 0.1, M = 1,000, δ = 2.4², γ = 1, m = 10. All figures are root mean squares on 10⁴ test rows, normalised like the
training rows (Algorithm 3): of the modulus |Sβ − y|, which the paper measures, and of the real part.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import sici

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Block
from fourierwalk.data.scaling import Scaling
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis, norms
from fourierwalk.solving.least_squares import LeastSquares

# K: root mean square of the modulus after the walk, and with fixed N(0, 1) frequencies.
EXPECTED = {64: (0.25, 0.55), 256: (0.115, 0.48)}


class Outcome(NamedTuple):
    modulus: float
    real: float
    variation: float  # coefficient of variation of |β|
    acceptance: float


def drawn(rng, n_rows=10_000):
    x = rng.standard_normal((n_rows, 1))
    return x, sici(x / 1e-3)[0] * np.exp(-(x**2) / 2)


def measured(minimize, test, frequencies, acceptance=np.nan):
    amplitudes = minimize(frequencies).amplitudes
    features = ComplexExponentials()
    residual = features.matrix(features.columns(Block(test.x), frequencies)) @ amplitudes - test.y
    sizes = norms(amplitudes)
    return Outcome(
        np.sqrt(np.mean(np.abs(residual) ** 2)),
        np.sqrt(np.mean(residual.real**2)),
        sizes.std() / sizes.mean(),
        acceptance,
    )


def outcomes(n_frequencies, seed):
    """After the walk, and with fixed frequencies."""
    rng = np.random.default_rng(seed)
    x, y = drawn(rng)
    scaling = Scaling.fit(x, y, ddof=1)
    test = scaling.rows(*drawn(rng))
    minimize = LeastSquares(scaling.rows(x, y), ComplexExponentials(), regularization=0.1)
    walk = Metropolis(RandomWalk(2.4**2), exponent=1.0, refit_every=10)
    start = walk.init(minimize, np.zeros((n_frequencies, 1)))
    steps = list(walk.sample(minimize, start, rng, n_steps=1000))
    acceptance = float(np.mean([info.acceptance for _, info in steps]))
    walked = measured(minimize, test, steps[-1][0].frequencies, acceptance)
    return walked, measured(minimize, test, rng.standard_normal((n_frequencies, 1)))


def check(n_frequencies, seeds):
    walked, fixed = zip(*(outcomes(n_frequencies, seed) for seed in seeds), strict=True)
    for found, expected, scatter in zip((walked, fixed), EXPECTED[n_frequencies], (0.2, 0.15), strict=True):
        assert np.mean([outcome.modulus for outcome in found]) == pytest.approx(expected, rel=scatter)
        for outcome in found:
            assert outcome.modulus == pytest.approx(expected, rel=1.5 * scatter)
            assert outcome.real < outcome.modulus
    for one, other in zip(walked, fixed, strict=True):
        assert 0.65 < one.acceptance < 0.8
        assert one.variation < other.variation
        assert one.modulus < 0.6 * other.modulus


@pytest.mark.parametrize("n_frequencies", [64, pytest.param(256, marks=pytest.mark.stress)])
def test_case_1(n_frequencies):
    check(n_frequencies, seeds=[0, 1, 2])
