"""The noise model: constant noise stays constant, noise that varies is found, tails are heavy or not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fourierwalk.uncertainty import noise
from fourierwalk.uncertainty.noise import NoiseModel, Residuals, slowest


def waves(x, n=8):
    phases = x[:, None] * np.arange(1, n + 1) / 4
    return np.concatenate((np.cos(phases), np.sin(phases)), axis=1)


def learn(*arguments):
    return noise.learn(*arguments).model


def residuals(errors, weight=None):
    weight = np.ones(len(errors)) if weight is None else weight
    return Residuals(errors[:, None] ** 2, weight, np.arange(len(errors)) % 5)


@pytest.mark.parametrize("seed", range(5))
def test_constant_noise_stays_constant(seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, 500)
    model = learn(np.arange(8), waves(x), residuals(3 * rng.standard_normal(500)))
    assert model.waves.size == 0
    assert_allclose(model.variance(waves(x)), 9, rtol=0.25)
    assert model.degrees[0] >= 12


def test_noise_that_varies_is_found():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 2000)
    true = np.exp(x / 2)
    model = learn(np.arange(8), waves(x), residuals(true * rng.standard_normal(2000)))
    found = np.sqrt(model.variance(waves(x))[:, 0])
    assert np.mean(np.abs(np.log(found / true))) < 0.15
    far = model.variance(1e3 * waves(x))
    assert far.max() <= model.variance(waves(x)).max() * (1 + 1e-9)  # never beyond what was seen


def test_rows_are_judged_by_a_model_that_has_not_seen_them():
    """With as many columns as that, a model of 200 rows knows their errors by heart."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 200)
    errors = np.exp(1.5 * x) * rng.standard_normal(200)
    columns = waves(x, 40)
    learnt = noise.learn(np.arange(40), columns, residuals(errors))
    assert learnt.model.waves.size
    own, unseen = (np.mean(errors**2 / each[:, 0]) for each in (learnt.model.variance(columns), learnt.variance))
    assert unseen > own


def test_heavy_tails_are_found():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 3000)
    model = learn(np.arange(8), waves(x), residuals(rng.standard_t(5, 3000)))
    assert model.degrees[0] in (4, 5, 6)
    assert_allclose(model.variance(waves(x)), 5 / 3, rtol=0.2)


def test_weights_are_repetitions():
    rng = np.random.default_rng(1)
    x, n = rng.uniform(-3, 3, 300), rng.integers(1, 4, 300)
    errors = np.exp(x / 2) * rng.standard_normal(300)
    once = Residuals(errors[:, None] ** 2, n.astype(float), np.arange(300) % 5)
    again = Residuals(*(np.repeat(part, n, axis=0) for part in (once.squares, np.ones(300), once.fold)))
    one, two = (learn(np.arange(8), waves(xs), each) for xs, each in ((x, once), (np.repeat(x, n), again)))
    assert_allclose(one.variance(waves(x)), two.variance(waves(x)), rtol=1e-4)


def test_no_error_at_all_is_no_division_by_zero():
    model = learn(np.arange(8), waves(np.linspace(0, 1, 50)), residuals(np.zeros(50)))
    assert np.all(model.variance(waves(np.zeros(3))) < 1e-300)


def test_many_outputs_have_constant_noise():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 500)
    errors = np.exp(x / 2)[:, None] * rng.standard_normal((500, noise.MOST_OUTPUTS + 1))
    model = learn(np.arange(8), waves(x), Residuals(errors**2, np.ones(500), np.arange(500) % 5))
    assert model.waves.size == 0
    assert model.variance(waves(x)).shape == (500, noise.MOST_OUTPUTS + 1)


def test_the_slowest_waves():
    assert slowest(np.array([[3.0], [1.0], [-2.0]])).tolist() == [0, 1, 2]
    many = np.arange(100.0)[::-1, None]
    assert slowest(many).tolist() == list(range(36, 100))


def test_units():
    model = NoiseModel.of_variance(np.array([4.0])).scaled(np.array([10.0]))
    assert_allclose(model.variance(np.zeros((2, 0))), 400)
