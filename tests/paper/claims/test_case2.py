"""Case 2's claims on cells made by hand."""

import pytest
from paper_cells import errors, law, scattered

from fourierwalk.paper.claims import case2
from fourierwalk.paper.verdicts import Verdict

WIDTHS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]


def made(experiment, exponent, **more):
    return errors("case2", experiment, scattered(law(WIDTHS, exponent) | more.get("means", {})))


@pytest.mark.parametrize(("exponent", "verdict"), [(-0.5, Verdict.HOLDS), (-0.31, Verdict.FAILS)])
def test_the_gradients_rate(exponent, verdict):
    claim = case2.gradient_rate(made("gradient", exponent))
    assert claim.verdict is verdict
    assert f"K ≤ 128 is −{-exponent:.2f} ± " in claim.evidence


@pytest.mark.parametrize(("exponent", "verdict"), [(0.0, Verdict.HOLDS), (-0.5, Verdict.FAILS)])
def test_the_gradient_stops(exponent, verdict):
    assert case2.gradient_stops(made("gradient", exponent)).verdict is verdict


def test_the_page_says_where_the_gradient_is_better():
    found = made("algorithm-1", -0.5) | errors("case2", "gradient", scattered(law(WIDTHS, -0.1, 0.4)))
    claim = case2.walk_against_gradient(found)
    assert claim.verdict is Verdict.PARTLY
    assert "higher at K = 2 to 16" in claim.evidence


def test_without_cells_nothing_is_told():
    assert {claim({}).verdict for claim in case2.CLAIMS} == {Verdict.NOT_TESTABLE}
