"""Every check as it is shipped: its numbers survive JSON, and its verdict is the expected one."""

import json

import pytest

from fourierwalk.paper.cases import THEORY
from fourierwalk.paper.theory import CHECKS
from fourierwalk.paper.verdicts import Claim

EXPECTED = {
    "variance-formula": "holds",
    "error-bound": "holds",
    "noisy-bound": "holds",
    "example-1": "partly",
    "example-1-walk": "holds",
    "example-2": "holds",
    "work": "holds",
    "optimal-density": "holds",
    "weak-limit": "holds",
    "sampled-density": "holds",
    "exponent": "partly",
    "penalty": "holds",
    "vanishing-ridge": "holds",
    "largest-radius": "partly",
}


def test_every_check_is_an_experiment():
    assert [experiment.name for experiment in THEORY.experiments] == list(CHECKS)
    assert list(EXPECTED) == list(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_verdicts(name):
    numbers = CHECKS[name].compute()
    claim = CHECKS[name].judge(json.loads(json.dumps(numbers, allow_nan=False)))
    assert isinstance(claim, Claim)
    assert claim.verdict == EXPECTED[name], claim.evidence
    assert claim.evidence.endswith(".")
    assert CHECKS[name].missing.text == claim.text
