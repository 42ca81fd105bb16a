"""Section 5.1's claims on cells made by hand."""

import pytest
from paper_cells import cell

from fourierwalk.paper.cases import SPREADS
from fourierwalk.paper.claims import sweep
from fourierwalk.paper.verdicts import Verdict


def made(noisy, clean):
    """Parabolas with their minima at these spreads."""
    found = {}
    for spread in SPREADS:
        for seed, scatter in enumerate((0.999, 1.0, 1.001)):
            figures = {"rms_modulus": 1 + (spread - noisy) ** 2, "rms_modulus_clean": 0.1 + (spread - clean) ** 2}
            result = {name: value * scatter for name, value in figures.items()}
            found |= cell("sweep", f"spread-{spread:.1f}", 500, seed, result)
    return found


@pytest.mark.parametrize(
    ("noisy", "clean", "verdict"),
    [(0.9, 1.0, Verdict.HOLDS), (0.9, 0.6, Verdict.PARTLY), (0.4, 0.6, Verdict.FAILS)],
)
def test_the_minimum_counts_with_and_without_noise(noisy, clean, verdict):
    claim = sweep.least_at_one(made(noisy, clean))
    assert claim.verdict is verdict
    assert f"modulus, noise-free targets: σ_ω = {clean:g}" in claim.evidence
    assert "test size Ñ = 10,000" in claim.restriction


def test_the_excess_at_one_is_paired():
    best, excess = sweep.minimum({0.8: {0: 1.0, 1: 2.0}, 1.0: {0: 1.1, 1: 2.2}, 1.2: {0: 3.0, 1: 3.0}})
    assert best == 0.8
    assert excess == (pytest.approx(0.1), pytest.approx(0, abs=1e-12))
    assert sweep.minimum({0.8: {0: 1.0}, 1.0: {0: 1.0}}) is None


@pytest.mark.parametrize(
    ("spread", "median", "verdict"), [(1.02, 2.6, Verdict.HOLDS), (2.0, 2.6, Verdict.PARTLY), (2.0, 5.0, Verdict.FAILS)]
)
def test_what_algorithm_1_samples(spread, median, verdict):
    result = {"frequency_spread": spread, "norm_quartiles": [0.0, median, 9.0]}
    assert sweep.algorithm_1_samples_it(cell("sweep", "algorithm-1", 500, 0, result)).verdict is verdict


def test_without_cells_nothing_is_told():
    assert {claim({}).verdict for claim in sweep.CLAIMS} == {Verdict.NOT_TESTABLE}
