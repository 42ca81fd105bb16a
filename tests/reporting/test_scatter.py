"""A mean has the digits that its scatter leaves."""

import math

from hypothesis import given
from hypothesis import strategies as st

from fourierwalk.reporting.scatter import with_scatter


@given(st.floats(1e-6, 1e4), st.floats(1e-8, 1e3))
def test_mean_and_scatter_end_at_the_same_digit(mean, deviation):
    left, right = with_scatter(mean, deviation).split(" ± ")
    assert len(left.partition(".")[2]) == len(right.partition(".")[2])
    assert abs(float(left) - mean) <= 0.06 * deviation
    assert abs(float(right) - deviation) <= 0.06 * deviation


def test_without_scatter_the_mean_stands_alone():
    assert with_scatter(0.12345, 0.0) == "0.123"
    assert with_scatter(0.12345, math.nan) == "0.123"
