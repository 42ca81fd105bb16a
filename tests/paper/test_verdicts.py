"""Four verdicts, and no refutation by a smaller run."""

import pytest

from fourierwalk.paper import verdicts
from fourierwalk.paper.verdicts import Claim, Verdict


@pytest.mark.parametrize("verdict", Verdict)
def test_only_the_papers_scale_refutes(verdict):
    claim = Claim("Errors fall.", "Figure 3", verdict, "By 0.1 ± 0.02.", "K ≥ 32.")
    assert verdicts.at_scale(claim, ["paper"]) == claim
    for scales in (["quick"], ["paper", "quick"], []):
        judged = verdicts.at_scale(claim, scales)
        assert judged.verdict is (Verdict.HOLDS if verdict is Verdict.HOLDS else Verdict.NOT_TESTABLE)
        assert (judged.evidence, judged.restriction) == (claim.evidence, claim.restriction)


def test_no_parts_tell_nothing():
    assert verdicts.of_parts([]) is Verdict.NOT_TESTABLE


def test_a_missing_claim_says_so():
    assert verdicts.missing("It holds.", "(14)") == Claim("It holds.", "(14)", Verdict.NOT_TESTABLE, verdicts.MISSING)
