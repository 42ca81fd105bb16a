"""A wrong constant does not pass for the variance, and a bound without its noise does not pass for a bound."""

import pytest

from fourierwalk.paper.theory import estimator
from fourierwalk.paper.theory.gaussians import bound_constant
from fourierwalk.paper.verdicts import Verdict


def test_a_wrong_constant_does_not_hold():
    wrong = 1.2 * bound_constant(estimator.SPREAD)
    assert estimator.VARIANCE.judge(estimator.variance(wrong)).verdict is Verdict.FAILS


def test_the_constant_in_closed_form():
    s = estimator.SPREAD
    assert bound_constant(s) == pytest.approx(s**2 / (2 * s**2 - 1) ** 0.5)


def test_without_its_noise_the_bound_is_broken():
    numbers = {"rows": [[128, 0.0904, 0.0007, 0.0103]], "noise": 0.3}
    claim = estimator.NOISY_BOUND.judge(numbers)
    assert claim.verdict is Verdict.FAILS
    assert "K = 128: 0.0904 ± 0.0007 > 0.0103" in claim.evidence


def test_two_standard_errors_above_a_bound_do_not_break_it():
    assert estimator.BOUND.judge({"rows": [[2, 0.11, 0.01, 0.1]], "noise": 0.0}).verdict is Verdict.HOLDS
    assert estimator.BOUND.judge({"rows": [[2, 0.13, 0.01, 0.1]], "noise": 0.0}).verdict is Verdict.FAILS
