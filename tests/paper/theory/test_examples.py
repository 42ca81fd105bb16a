"""The examples of Section 2.2 with numbers made by hand."""

import pytest

from fourierwalk.paper.theory import examples
from fourierwalk.paper.verdicts import Verdict


def rows(exponent, first=0.3, error=0.001):
    return [[width, first * (width / 8) ** exponent, error] for width in examples.WIDTHS]


@pytest.mark.parametrize(("walk", "verdict"), [(-1.0, Verdict.HOLDS), (-0.3, Verdict.PARTLY), (0.1, Verdict.FAILS)])
def test_the_walks_rate(walk, verdict):
    claim = examples.WALK.judge({"walk": rows(walk), "fixed": rows(-0.1)})
    assert claim.verdict is verdict


def test_a_walk_that_is_worse_at_first_says_so():
    claim = examples.WALK.judge({"walk": rows(-1.0, 0.5), "fixed": rows(-0.1)})
    assert claim.verdict is Verdict.HOLDS
    assert "It is above them at K = 8." in claim.restriction


@pytest.mark.parametrize(
    ("sizes", "exponent", "verdict"),
    [
        ((41.0, 2.9e6, 1e27), -0.4, Verdict.PARTLY),
        ((41.0, 2.9e6, 1e27), 0.0, Verdict.HOLDS),
        ((41.0, 42.0, 42.1), -0.4, Verdict.FAILS),
    ],
)
def test_an_infinite_bound(sizes, exponent, verdict):
    truncated = [[radius, size] for radius, size in zip((4, 8, 16), sizes, strict=True)]
    assert examples.INFINITE.judge({"truncated": truncated, "fixed": rows(exponent)}).verdict is verdict


def test_another_power_of_sigma_does_not_hold():
    assert examples.SMALL.judge({"rows": [[1, 2.0], [2, 3.0]], "optimal": 1.0}).verdict is Verdict.FAILS


def test_no_steps_are_fixed_frequencies():
    assert examples.errors_of(0) == examples.walk_converges(0)["walk"]
