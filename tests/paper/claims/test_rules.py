"""The two shared rules, on curves made by hand: each verdict is reached, and each can be lost."""

import pytest
from paper_cells import errors, law, scattered

from fourierwalk.paper.claims.rules import lower, rate
from fourierwalk.paper.summary import curve
from fourierwalk.paper.verdicts import Verdict

WIDTHS = [2, 8, 32, 64, 128, 256]


def line(means, **scatter):
    return curve(errors("case1", "fixed", scattered(means, **scatter)), "case1", "fixed")


@pytest.mark.parametrize(
    ("ours", "verdict", "words"),
    [
        (
            {32: 0.5, 64: 0.5},
            Verdict.HOLDS,
            "Lower at K = 32 to 64; at K = 64 it is 0.500 ± 0.004 against 1.000 ± 0.009.",
        ),
        ({32: 1.0, 64: 0.5}, Verdict.HOLDS, "Lower at K = 64, level within two standard errors at K = 32;"),
        ({32: 2.0, 64: 0.5}, Verdict.PARTLY, "Lower at K = 64, higher at K = 32;"),
        ({32: 0.5, 64: 1.0}, Verdict.PARTLY, "Lower at K = 32, level within two standard errors at K = 64;"),
        ({32: 1.0, 64: 2.0}, Verdict.FAILS, "Level within two standard errors at K = 32, higher at K = 64;"),
    ],
)
def test_lower(ours, verdict, words):
    claim = lower("Lower.", "Figure 2", line(ours), line({32: 1.0, 64: 1.0}))
    assert claim.verdict is verdict
    assert claim.evidence.startswith(words)


def test_lower_needs_two_realisations_and_common_widths():
    single = curve(errors("case1", "fixed", {(32, 0): 0.1}), "case1", "fixed")
    assert lower("Lower.", "Figure 2", single, single).verdict is Verdict.NOT_TESTABLE
    assert lower("Lower.", "Figure 2", line({32: 0.1}), line({64: 1.0})).verdict is Verdict.NOT_TESTABLE


def test_a_constant_slope_holds():
    claim = rate("Constant.", "Figure 2d", line(law(WIDTHS, -0.6)))
    assert claim.verdict is Verdict.HOLDS
    assert "is −0.60 ± 0.0" in claim.evidence
    assert claim.restriction == ""


def test_a_slope_that_changes_holds_partly_and_says_where_it_was_judged():
    bent = law(WIDTHS, -0.6) | {256: law(WIDTHS, -0.6)[128] * 0.85}
    claim = rate("Constant.", "Figure 2d", line(bent))
    assert claim.verdict is Verdict.PARTLY
    assert "−0.23 ± " in claim.evidence
    assert claim.restriction.startswith("Judged for K ≥ 32. Below, the exponents are −0.60")


def test_a_curve_that_is_flat_somewhere_has_no_rate():
    flat = law(WIDTHS, -0.6) | {256: law(WIDTHS, -0.6)[128]}
    assert rate("Constant.", "Figure 2d", line(flat)).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("exponent", "verdict"), [(-0.5, Verdict.HOLDS), (-0.56, Verdict.PARTLY), (-0.3, Verdict.FAILS)]
)
def test_an_expected_rate(exponent, verdict):
    claim = rate("K^(−1/2).", "Figure 3", line(law(WIDTHS, exponent), scatter=0.01), expected=-0.5)
    assert claim.verdict is verdict


def test_too_few_widths_tell_no_rate():
    assert rate("Constant.", "Figure 2d", line({32: 1.0, 64: 0.5})).verdict is Verdict.NOT_TESTABLE
