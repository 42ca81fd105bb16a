"""All claims together: none is made without cells, none is refuted by a quick run or by other images."""

import pytest
from paper_cells import cell, errors, law, scattered

from fourierwalk.paper import claims
from fourierwalk.paper.theory import CHECKS
from fourierwalk.paper.verdicts import MISSING, Verdict

FLAT = scattered(law([32, 64, 128, 256], 0.0))


def test_without_cells_no_claim_is_made():
    everything = [*claims.claims({}), *claims.theory({})]
    assert {claim.verdict for claim in everything} == {Verdict.NOT_TESTABLE}
    assert {claim.evidence for claim in everything} == {MISSING}
    assert len({(claim.text, claim.where) for claim in everything}) == len(everything)


@pytest.mark.parametrize(("scale", "verdict"), [("paper", Verdict.FAILS), ("quick", Verdict.NOT_TESTABLE)])
def test_a_quick_run_refutes_nothing(scale, verdict):
    claim = claims.claims(errors("case1", "algorithm-1", FLAT, scale=scale))[0]
    assert claim.verdict is verdict
    assert "−0.00" in claim.evidence or "0.00 ± " in claim.evidence


def test_digits_tell_nothing_about_mnist():
    found = errors("case4", "algorithm-1", scattered({16: 36.0, 32: 23.0}), "misclassified_modulus")
    assert any("inside" in claim.evidence for claim in claims.claims(found))
    for made in found.values():
        made["settings"]["case"]["target"] = "digits"
    assert not any("inside" in claim.evidence for claim in claims.claims(found))


def test_a_check_is_judged_from_its_cell():
    found = cell("theory", "exponent", 0, 0, {"rough": [[1, 1.0]], "exact": [[1, 0.3]]}, scale="quick")
    judged = claims.theory(found)
    assert [claim.verdict for claim in judged].count(Verdict.NOT_TESTABLE) == len(CHECKS) - 1
    assert claims.counts(judged)[Verdict.PARTLY] == 1
