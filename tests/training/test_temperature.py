import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.metrics import log_loss

from fourierwalk.training.temperature import LEAST_SCALE, MOST_SCALE, best_temperature, entropies, log_losses


def scored(n_rows=80, n_classes=3, seed=0):
    """Values that know something of the classes, one-hot targets, weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n_rows)
    values = 0.5 * np.eye(n_classes)[codes] + 0.4 * rng.standard_normal((n_rows, n_classes))
    return values, np.eye(n_classes)[codes], rng.integers(1, 4, n_rows).astype(float)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("factor", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_best_temperature_is_the_minimum_of_the_log_loss(n_classes, factor, weighted):
    values, targets, weight = scored(n_classes=n_classes)
    values, weight = factor * values, weight if weighted else None
    codes, labels = targets.argmax(axis=1), np.arange(n_classes)

    def loss(power):
        losses = -log_softmax(np.exp(power) * values, axis=1)[np.arange(len(codes)), codes]
        return np.average(losses, weights=weight)

    scale, found = best_temperature(values, targets, weight)
    bounds = np.log([LEAST_SCALE, MOST_SCALE])
    expected = minimize_scalar(loss, bounds=bounds, options={"xatol": 1e-9})
    assert np.log(scale) == pytest.approx(expected.x, abs=1e-5)
    probabilities = softmax(scale * values, axis=1)
    assert found == pytest.approx(log_loss(codes, probabilities, sample_weight=weight, labels=labels), rel=1e-10)
    assert found <= expected.fun + 1e-9


def test_several_values_have_each_their_own_temperature(anywhere):
    values, targets, weight = scored()
    many = np.stack([values, 2 * values, -values, np.zeros_like(values)])
    found = best_temperature(*(anywhere.asarray(part) for part in (many, targets, weight)))
    scales, losses = (anywhere.host(part) for part in found)
    for each, scale, loss in zip(many, scales, losses, strict=True):
        assert_allclose((scale, loss), best_temperature(each, targets, weight), rtol=1e-12)
    assert scales[0] == pytest.approx(2 * scales[1], rel=1e-4)
    assert scales[2] == LEAST_SCALE  # what points the wrong way counts least
    assert losses[3] == pytest.approx(np.log(3))


def test_values_that_need_no_temperature_or_are_no_numbers():
    targets = np.eye(2)[[0, 1, 0]]
    scale, loss = best_temperature(targets, targets, None)
    assert scale > 5
    assert loss < 1e-3
    assert np.isfinite(best_temperature(np.full((3, 2), np.nan), targets, None)).all()


def test_log_losses_are_those_of_the_softmax(anywhere):
    values, targets, _ = scored()
    scale = np.array([0.5, 20.0])
    found = log_losses(*(anywhere.asarray(part) for part in (np.stack([values, 1e3 * values]), targets, scale)))
    expected = [-np.sum(targets * log_softmax(s * v, axis=1), axis=1) for s, v in ((0.5, values), (20.0, 1e3 * values))]
    assert_allclose(anywhere.host(found), expected, rtol=1e-10, atol=1e-12)


def test_entropy_is_the_log_loss_of_targets_that_are_predicted_exactly(anywhere):
    targets = np.random.default_rng(0).dirichlet(np.ones(4), size=9)
    targets[0] = [0, 1, 0, 0]
    with np.errstate(divide="ignore"):
        values = np.maximum(np.log(targets), -1e6)
    found = anywhere.host(entropies(anywhere.asarray(targets)))
    assert_allclose(found, log_losses(values, targets, np.ones(())), atol=1e-12)
    assert found[0] == 0
