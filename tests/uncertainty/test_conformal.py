"""Intervals by cross-validation+, against its definition, and the coverage of exchangeable draws."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fourierwalk.uncertainty.conformal import Conformal


def by_definition(scores, member, values, std, level):
    """The k-th smallest of all f₋ᵢ ± Rᵢ s."""
    k = math.ceil(level * (len(scores) + 1) - 1e-9)
    ends = np.sort(values[member] + scores * std), np.sort(-values[member] + scores * std)
    return (np.inf, np.inf) if k > len(scores) else (-ends[1][k - 1], ends[0][k - 1])


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95), st.integers(1, 4), st.integers(1, 40))
def test_the_interval_is_that_of_the_definition(seed, level, n_members, n):
    rng = np.random.default_rng(seed)
    scores, member = rng.exponential(size=n), rng.integers(0, n_members, n)
    values, std = rng.normal(size=n_members), rng.uniform(0.1, 2)
    conformal = Conformal(scores[:, None], np.ones(n), member)
    low, high = conformal.interval(values[None, :, None], np.array([[std]]), [level])[0, 0, :, 0]
    want = by_definition(scores, member, values, std, level)
    if np.isinf(want[1]):
        assert (low, high) == (-np.inf, np.inf)
    else:
        assert_allclose([low, high], want, rtol=1e-6, atol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    scores, member, times = rng.exponential(size=30), rng.integers(0, 3, 30), rng.integers(1, 4, 30)
    one = Conformal(scores[:, None], times.astype(float), member)
    two = Conformal(np.repeat(scores, times)[:, None], np.ones(times.sum()), np.repeat(member, times))
    values, std = rng.normal(size=(5, 3, 1)), np.ones((5, 1))
    assert_allclose(one.interval(values, std, [0.5, 0.9]), two.interval(values, std, [0.5, 0.9]), rtol=1e-7)


def test_rows_that_several_members_have_not_seen_count_once():
    """Two members with the same 19 rows know as much about a level as one."""
    scores = np.arange(1.0, 20.0)
    one = Conformal(scores[:, None], np.ones(19), np.zeros(19, dtype=int))
    two = Conformal(np.tile(scores, 2)[:, None], np.ones(38), np.repeat([0, 1], 19), times=2.0)
    for level in (0.5, 0.9, 0.95, 0.96):
        ends = [each.interval(np.zeros((1, n, 1)), np.ones((1, 1)), [level]) for n, each in ((1, one), (2, two))]
        assert_allclose(ends[0], ends[1], atol=1e-6)


def test_coverage_holds_on_exchangeable_draws():
    """Five fold means of n draws and a new draw: at least 1 − 2α by the theorem, about 1 − α in fact."""
    rng, inside, trials, n, n_folds = np.random.default_rng(0), 0, 2000, 50, 5
    for _ in range(trials):
        y = rng.standard_cauchy(n + 1) if rng.random() < 0.5 else rng.exponential(size=n + 1)
        fold = np.arange(n) % n_folds
        means = np.array([np.median(y[:n][fold != k]) for k in range(n_folds)])
        conformal = Conformal(np.abs(y[:n] - means[fold])[:, None], np.ones(n), fold)
        low, high = conformal.interval(means[None, :, None], np.ones((1, 1)), [0.9])[0, 0, :, 0]
        inside += low <= y[n] <= high
    assert inside / trials >= 0.9 - 3 * math.sqrt(0.09 / trials)
