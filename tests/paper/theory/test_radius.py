"""What ω_max prevents, with numbers made by hand: log₁₀ of the spread and the error, with standard errors."""

import pytest

from fourierwalk.paper.theory import radius
from fourierwalk.paper.verdicts import Verdict

DIVERGED, HELD, QUIET = [5.0, 0.1, 0.6, 0.02], [1.0, 0.1, 0.3, 0.02], [-0.1, 0.0, 0.02, 0.0]


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ((DIVERGED, HELD, QUIET, QUIET), Verdict.HOLDS),
        ((DIVERGED, HELD, QUIET, DIVERGED), Verdict.PARTLY),
        ((HELD, HELD, DIVERGED, DIVERGED), Verdict.FAILS),
    ],
)
def test_each_part_counts(rows, verdict):
    assert radius.RADII.judge({"rows": rows}).verdict is verdict


def test_a_radius_that_is_never_reached_prevents_nothing():
    numbers = radius.radii(radius=1e30)
    assert numbers["rows"][0] == numbers["rows"][1]
    assert radius.RADII.judge(numbers).verdict is not Verdict.HOLDS
