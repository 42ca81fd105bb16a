"""Case 3's claims on traces made by hand."""

import numpy as np
import pytest
from paper_cells import cell

from fourierwalk.paper.claims import case3
from fourierwalk.paper.verdicts import Verdict

LOOKS = np.arange(1, 101)


def trace(name, end, seconds, seed=0, covariance=((1024.0, 0.0), (0.0, 0.001))):
    """100 looks at an error that falls from 1 to `end` like a power of the look's number."""
    every = 300_000 if name == "gradient" else 100
    errors = end ** (np.log(LOOKS) / np.log(100))
    rows = [[every * int(i), seconds * i / 50, e, e, seconds * i / 100] for i, e in zip(LOOKS, errors, strict=True)]
    return cell("case3", name, 256, seed, {"trace": rows, "covariance": [list(row) for row in covariance]})


def three(first, second, gradient):
    """(end, seconds) of the three methods."""
    return trace("algorithm-1", *first) | trace("algorithm-2", *second) | trace("gradient", *gradient)


@pytest.mark.parametrize(
    ("gradient", "verdict"),
    [((0.3, 1_000.0), Verdict.HOLDS), ((0.3, 1.0), Verdict.PARTLY), ((0.1, 1.0), Verdict.FAILS)],
)
def test_faster_over_time(gradient, verdict):
    claim = case3.faster_over_time(three((0.15, 500.0), (0.15, 500.0), gradient))
    assert claim.verdict is verdict
    assert f"the gradient ends at {gradient[0]:.3f} after {gradient[1]:.0f} s" in claim.evidence


def test_work_is_counted_over_all_realisations():
    found = three((0.15, 1.0), (0.15, 1.0), (0.3, 1.0))
    assert case3.less_work(found).verdict is Verdict.PARTLY  # fewer values, more operations
    found |= trace("gradient", 0.1, 1.0, seed=1)
    values, sums = case3.work_to(found, "gradient")[0.2]
    assert np.isinf(values.value)  # one of the two never gets there
    assert np.isinf(sums.value)
    step = next(100 * int(i) for i in LOOKS if 0.15 ** (np.log(i) / np.log(100)) <= 0.5)
    assert case3.work_to(found, "algorithm-1")[0.5][0].value == 10_000 * 256 * (1 + step + step // 100)


@pytest.mark.parametrize(("second", "verdict"), [(0.1, Verdict.HOLDS), (0.15, Verdict.FAILS), (0.3, Verdict.FAILS)])
def test_the_second_algorithm_against_the_first(second, verdict):
    found = {}
    for seed, scatter in enumerate((0.98, 1.0, 1.02)):
        found |= trace("algorithm-1", 0.15 * scatter, 1.0, seed) | trace("algorithm-2", second / scatter, 1.0, seed)
    assert case3.second_is_more_efficient(found).verdict is verdict


def test_one_realisation_does_not_tell_which_algorithm_is_better():
    claim = case3.second_is_more_efficient(three((0.15, 1.0), (0.1, 1.0), (0.3, 1.0)))
    assert claim.verdict is Verdict.NOT_TESTABLE
    assert "10,000 steps 0.100 against 0.150" in claim.evidence


@pytest.mark.parametrize(
    ("variances", "verdict"),
    [((1100.0, 0.0012), Verdict.HOLDS), ((1023.0, 0.46), Verdict.PARTLY), ((90.0, 0.7), Verdict.FAILS)],
)
def test_a_covariance_is_found_within_a_factor_of_two(variances, verdict):
    matrix = ((variances[0], 0.0), (0.0, variances[1]))
    found = trace("algorithm-1", 0.15, 1.0) | trace("algorithm-2", 0.15, 1.0, covariance=matrix)
    assert case3.covariance(found).verdict is verdict


def test_without_cells_nothing_is_told():
    assert {claim({}).verdict for claim in case3.CLAIMS} == {Verdict.NOT_TESTABLE}
