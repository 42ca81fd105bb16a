"""Measures of calibration against cases that can be counted by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from fourierwalk.uncertainty import calibration
from fourierwalk.uncertainty.calibration import expected_calibration_error, reliability


def test_coverage_of_several_levels():
    intervals = np.zeros((4, 2, 2))
    intervals[:, 0], intervals[:, 1] = [-1, -2], [1, 2]
    assert calibration.coverage([0, 1, 1.5, 3], intervals).tolist() == [0.5, 0.75]


def test_a_column_of_targets_is_not_compared_with_all_rows():
    rng = np.random.default_rng(0)
    y, mean, std = rng.normal(size=20), rng.normal(size=20), rng.uniform(0.5, 2, 20)
    intervals = np.stack((mean - std, mean + std), axis=1)
    assert calibration.coverage(y[:, None], intervals) == calibration.coverage(y, intervals)
    for measure in (calibration.negative_log_likelihood, calibration.probability_integral):
        assert_allclose(measure(y[:, None], mean, std), measure(y, mean, std))
        with pytest.raises(ValueError, match=r"^mean must have the shape \(20,\), .*, got \(3,\)\.$"):
            measure(y, mean[:3], std)
    with pytest.raises(ValueError, match=r"^y_true must have the shape \(20,\), .*, got \(20, 2\)\.$"):
        calibration.coverage(np.stack((y, y), axis=1), intervals)
    labels = (y > 0).astype(int)
    shares = np.stack((1 - std / 3, std / 3), axis=1)
    assert expected_calibration_error(labels[:, None], shares) == expected_calibration_error(labels, shares)


@pytest.mark.parametrize("degrees", [4.0, 8.0, 1000.0])
def test_likelihood_and_integral_are_those_of_scipy(degrees):
    rng = np.random.default_rng(0)
    y, mean, std = rng.normal(size=20), rng.normal(size=20), rng.uniform(0.5, 2, 20)
    wanted = stats.t(degrees, mean, std * np.sqrt((degrees - 2) / degrees))
    assert_allclose(calibration.negative_log_likelihood(y, mean, std, degrees), -np.mean(wanted.logpdf(y)), rtol=1e-9)
    assert_allclose(calibration.probability_integral(y, mean, std, degrees), wanted.cdf(y), rtol=1e-9)


def test_probabilities_at_their_word_have_no_error():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20000)
    y = (rng.uniform(size=20000) < p).astype(int)
    honest = expected_calibration_error(y, np.stack((1 - p, p), axis=1))
    boastful = expected_calibration_error(y, np.stack((p < 0.5, p >= 0.5), axis=1).astype(float))
    assert honest < 0.02
    assert boastful == pytest.approx(0.25, abs=0.02)


def test_labels_name_the_columns():
    found = reliability(["b", "b"], [[0.2, 0.8], [0.6, 0.4]], labels=["a", "b"])
    assert found.n_rows.tolist() == [1, 1]
    assert found.accuracy.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match=r"y_prob must have the shape \(2, 2\), got \(2, 3\)\."):
        reliability([0, 1], np.ones((2, 3)))
