"""The residual of an average, estimated from members that have seen a row and one that has not."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.evidence import Evidence, averaged_residual
from fourierwalk.training.policy import Policy
from fourierwalk.uncertainty import coverage

N, MEMBERS = 20_000, 5


def residuals(rng, common, own, leak):
    """Members' errors with a common and an own part; where members have seen the row, `leak` times as large."""
    shared, single = common * rng.standard_normal((N, 1)), own * rng.standard_normal((N, MEMBERS))
    errors = (shared + single)[:, :, None]
    spread = np.var(errors[:, 1:], axis=1, ddof=1) / MEMBERS
    return errors[:, 0], leak * errors[:, 1:], spread, errors.mean(axis=1)


@pytest.mark.parametrize(("common", "own"), [(1.0, 0.0), (1.0, 1.0), (0.1, 1.0)])
@pytest.mark.parametrize("leak", [1.0, 0.6])
def test_the_mean_square_is_that_of_the_average(common, own, leak):
    member, others, spread, truth = residuals(np.random.default_rng(0), common, own, leak)
    found = averaged_residual(member, others, spread, np.ones(N))
    assert np.sqrt(np.mean(found**2)) == pytest.approx(np.sqrt(np.mean(truth**2)), rel=0.05)


def test_members_that_have_not_seen_the_row_either_are_averaged():
    member, others, spread, truth = residuals(np.random.default_rng(0), 1.0, 1.0, 1.0)
    found = averaged_residual(member, others, spread, np.ones(N))
    assert_allclose(found, truth, atol=0.2)


def test_one_member_keeps_its_residuals():
    own = np.array([[1.0], [-2.0]])
    assert averaged_residual(own, np.zeros((2, 0, 1)), np.zeros((2, 1)), np.ones(2)) is own


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    own, others, spread = rng.normal(size=(20, 2)), rng.normal(size=(20, 3, 2)) / 3, rng.uniform(size=(20, 2)) / 20
    times = rng.integers(1, 4, 20)
    repeated = averaged_residual(
        *(np.repeat(each, times, axis=0) for each in (own, others, spread)), np.ones(times.sum())
    )
    assert_allclose(np.repeat(averaged_residual(own, others, spread, times), times, axis=0), repeated)


def test_intervals_of_an_average_that_is_better_than_its_members_cover_as_asked():
    """Without noise members err apart from each other, and cross-validation+ covers too much."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (6000, 4))
    y = np.sin(3 * x[:, 0]) * x[:, 1] + np.abs(x[:, 2]) * x[:, 3]
    sampler = Automatic(Policy(members=5, most_frequencies=320), n_steps=10)
    model = AdaptiveFourierRegressor(sampler=sampler, random_state=0).fit(x[:900], y[:900])
    assert len(model.error_bars_.sizes) == 5
    shares = {
        method: coverage(y[2000:], model.predict_interval(x[2000:], method=method)) for method in ("average", "plus")
    }
    assert shares["average"] == pytest.approx(0.9, abs=0.035)
    assert shares["plus"] > shares["average"] + 0.04


def test_members_of_one_fold_share_their_rows(monkeypatch):
    """Each row is evaluated once: members of one fold share its rows."""
    calls, evaluate = [], Evidence._members
    monkeypatch.setattr(Evidence, "_members", lambda self, rows, slow: calls.append(rows) or evaluate(self, rows, slow))
    model = AdaptiveFourierRegressor(random_state=0).fit(*make_friedman1(60, 10, noise=1.0, random_state=0))
    bars = model.error_bars_
    assert sum(len(rows) for rows in calls) == 60
    assert len(bars.sizes) > len(calls)
    assert len(bars.plus.scores) == bars.plus.times * 60
    again = [bars.plus.scores[bars.plus.member == member] for member in range(len(bars.sizes))]
    assert not np.allclose(again[0], again[len(calls)])  # the same rows, another member


def waves(n_rows):
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (n_rows, 2))
    return x, np.sin(4 * x[:, 0]) + np.cos(3 * x[:, 1] - x[:, 0]) + 0.01 * rng.standard_normal(n_rows)


@pytest.mark.parametrize("few_rows", [0, 3000])
def test_error_bars_of_a_model_that_has_moved_since_it_was_judged(few_rows):
    """Its last steps are on all rows. It was judged before them, at the frequencies of that time."""
    x, y = waves(2400)
    sampler = Automatic(policy=replace(Policy(), few_rows=few_rows))
    model = AdaptiveFourierRegressor(40, sampler=sampler, random_state=0).fit(x[:400], y[:400])
    assert len(model.error_bars_.sizes) == 1
    assert len(model.error_bars_.plus.scores) == (400 if few_rows else 40)
    error = np.sqrt(np.mean((model.predict(x[400:]) - y[400:]) ** 2))
    std = np.sqrt(np.mean(model.predict(x[400:], return_std=True)[1] ** 2))
    assert 0.5 * error < std < 2.0 * error
    for method in ("average", "plus"):
        assert 0.75 < coverage(y[400:], model.predict_interval(x[400:], method=method)) < 0.99


@pytest.mark.parametrize("estimator", [AdaptiveFourierFeatures, AdaptiveFourierClassifier])
def test_estimators_without_error_bars_do_not_compute_them(monkeypatch, estimator):
    monkeypatch.setattr(Evidence, "error_bars", lambda *_: pytest.fail("they are not kept"))
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (80, 2))
    y = np.sin(3 * x[:, 0]) if estimator is AdaptiveFourierFeatures else (x[:, 0] > 0).astype(int)
    estimator(8, n_steps=3, random_state=0).fit(x, y)
