"""Proposition 3.1: the normal equations are those of rows, the bump is one, and a wrong factor is seen."""

import numpy as np
import pytest

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.paper.theory import limit
from fourierwalk.paper.verdicts import Verdict
from fourierwalk.solving.least_squares import LeastSquares


def test_amplitudes_are_those_of_many_rows():
    rng = np.random.default_rng(0)
    omega, x = rng.uniform(-4, 4, 6), limit.SPREAD * rng.standard_normal((200_000, 1))
    grid = np.linspace(-3, 3, 601)
    f = np.cos(x * grid[:1]) * 0
    for start in range(0, 601, 100):  # f is real, because f̂ is even
        f = f + np.cos(x * grid[start : start + 100]) @ limit.transform(grid[start : start + 100])[:, None]
    y = f * (grid[1] - grid[0]) / limit.FACTOR
    many = LeastSquares(Rows(x, y), ComplexExponentials(), 0.1)(omega[:, None]).amplitudes[:, 0]
    np.testing.assert_allclose(limit.amplitudes(omega, 0.1), many, atol=0.01)


@pytest.mark.parametrize("radius", [1.0, 0.25])
def test_the_bump_has_integral_one(radius):
    grid = np.linspace(-2, 2, 100_001)
    values = limit.bump(grid, radius)
    assert np.trapezoid(values, grid) == pytest.approx(1, rel=1e-6)
    assert np.all(values[np.abs(grid) >= radius] == 0)


def test_the_limit_as_printed_lacks_a_factor():
    assert limit.WEAK.judge(limit.weak_limit(factor=1.0)).verdict is Verdict.FAILS


def test_a_distance_that_stays_is_no_limit():
    rows = [[width, radius, 0.12 - 0.01 / radius, 0.001] for width in limit.WIDTHS for radius in limit.RADII]
    sums = [[width, 1.0, 0.0, 0.1, 0.0] for width in limit.WIDTHS]
    assert limit.WEAK.judge({"rows": rows, "sums": sums}).verdict is not Verdict.HOLDS


@pytest.mark.parametrize(
    ("terms", "sums", "away", "verdict"),
    [
        ((1e-2, 1e-4), (1.0, 1.1), (0.3, 0.02), Verdict.HOLDS),
        ((1e-2, 1e-4), (1.0, 50.0), (0.3, 0.02), Verdict.PARTLY),
        ((1e-2, 1e-2), (1.0, 50.0), (0.3, 0.3), Verdict.FAILS),
    ],
)
def test_a_vanishing_ridge(terms, sums, away, verdict):
    rows = [
        [width, term, 0.0, total, 0.0, far, 0.001]
        for width, term, total, far in zip((32, 512), terms, sums, away, strict=True)
    ]
    assert limit.VANISHING.judge({"rows": rows}).verdict is verdict


def test_a_ridge_that_does_not_vanish_is_seen():
    first, *_, last = limit.vanishing_ridge(power=-1.0)["rows"]
    assert last[1] > 0.1 * first[1]
