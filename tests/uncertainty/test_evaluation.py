"""Parts of error bars in single precision beside those in double."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.data.rows import Block
from fourierwalk.uncertainty.evaluation import Exact, Rounded

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (900, 3))
Y = np.stack((np.sin(2 * X[:, 0]) + 0.2 * np.exp(X[:, 1]) * RNG.standard_normal(900), X[:, 2]), axis=1)


def exact_of(features="cos-sin", outputs=2, **settings):
    settings = {"regularization": 1e-3, "n_steps": 5, "random_state": 0, **settings}
    model = AdaptiveFourierRegressor(48, features=features, **settings)
    model.fit(X, Y[:, :outputs])
    bars = model.error_bars_
    return Exact(model.model_, bars.sizes, bars.posterior, bars.noise)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("features", ["cos-sin", "complex"])
def test_rounded_parts_are_those_in_double(features, outputs):
    settings = {} if features == "cos-sin" else {"sampler": "resampling", "early_stopping": True}
    exact = exact_of(features, outputs, **settings)
    rounded, block = Rounded(exact), Block(RNG.standard_normal((200, 3)))
    assert Rounded.suits(exact, X)
    assert rounded._is_short(block)
    one, two = exact(block), rounded(block)
    assert_allclose(two.members, one.members, rtol=0, atol=1e-10)
    assert two.members.shape == (200, len(exact.sizes), outputs)
    for each in (exact, rounded):
        assert_array_equal(each.members(block), each(block).members)
    assert_allclose(np.sqrt(1 + two.leverage), np.sqrt(1 + one.leverage), rtol=0.01)
    assert_allclose(two.noise, one.noise, rtol=1e-3)


def test_noise_that_varies_is_among_them():
    assert exact_of().noise.waves.size > 0


def test_long_phases_stay_in_double():
    exact = exact_of()
    far = Block(1e9 * RNG.standard_normal((5, 3)))
    assert not Rounded(exact)._is_short(far)
    assert_allclose(Rounded(exact)(far).leverage, exact(far).leverage, rtol=0)


def test_other_features_and_rows_are_not_rounded():
    settings = {"sampler": "resampling", "early_stopping": True}
    assert not Rounded.suits(exact_of("sigmoid", 1, **settings), X)
    assert not Rounded.suits(exact_of(), [[1.0]])
