import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.chunks import Sliced
from fourierwalk.chunks.whole import Whole
from fourierwalk.data import Scaling

RNG = np.random.default_rng(0)
X = RNG.standard_normal((900, 2)) * [1, 50] + [1e7, 3]
Y = RNG.standard_normal(900)


def test_the_sample_is_random_and_does_not_depend_on_the_chunks():
    samples = [Whole.of(Sliced(X, Y, rows=rows), False, most_sampled=200).sample for rows in (900, 77)]
    assert np.array_equal(samples[0][0], samples[1][0])
    assert np.array_equal(samples[0][1], samples[1][1])
    assert 150 < len(samples[0][0]) < 250
    assert samples[0][2] is None
    places = np.searchsorted(np.sort(X[:, 1]), np.sort(samples[0][0][:, 1]))
    assert abs(np.mean(places) - 450) < 80


def test_all_rows_are_the_sample_if_they_fit():
    rows = Whole.of(Sliced(X, Y, rows=77), False)
    assert rows.is_in_sample
    assert np.array_equal(rows.sample[0], X)


@pytest.mark.parametrize("standardize", [True, False, "common", "robust"])
@given(rows=st.integers(1, 900))
@settings(deadline=None, max_examples=10)
def test_the_scaling_is_of_all_rows_and_of_any_chunks(standardize, rows):
    exact = Scaling.fit(X, Y[:, None], standardize=standardize)
    one, other = (Whole.of(Sliced(X, Y, rows=n), False).scaled(exact) for n in (900, rows))
    assert np.array_equal(one.inputs.center, other.inputs.center)
    assert np.array_equal(one.inputs.scale, other.inputs.scale)
    assert np.array_equal(one.targets.scale, other.targets.scale)
    assert np.allclose(one.inputs.apply(X), exact.inputs.apply(X), rtol=1e-6, atol=1e-6)
    assert np.allclose(one.targets.apply(Y[:, None]), exact.targets.apply(Y[:, None]), atol=1e-6)


def test_reach_and_bounds_are_those_of_all_rows():
    rows = Whole.of(Sliced(X, Y, rows=77), False, most_sampled=200)
    scaling = rows.scaled(Scaling.fit(X, Y[:, None]))
    low, high = rows.rows(scaling).reach
    assert np.array_equal(low, scaling.inputs.apply(X).min(axis=0))
    assert np.array_equal(high, scaling.inputs.apply(X).max(axis=0))
    assert rows.bounds[:, 0].tolist() == [Y.min(), Y.max()]


def test_weights_are_taken_into_the_sample():
    weight = np.where(np.arange(900) % 9 == 0, 0.0, np.linspace(1, 2, 900))
    x, _, sampled = Whole.of(Sliced(X, Y, weight, rows=77), False).sample
    assert len(x) == 800
    assert np.isclose(np.mean(sampled), 1)


def test_blocks_with_and_without_weights_are_weighted_alike():
    """A block without weights counts like one whose weights are one."""
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((200, 2)), rng.uniform(0.5, 4.5, 100)
    y = np.sin(x[:, 0])
    first = (x[:100], y[:100], weight)
    walk = {"sampler": "metropolis", "n_steps": 3, "random_state": 0}
    without, ones = (
        AdaptiveFourierRegressor(8, **walk).fit([first, second])
        for second in ((x[100:], y[100:]), (x[100:], y[100:], np.ones(100)))
    )
    assert np.array_equal(without.predict(x), ones.predict(x))


def test_validation_targets_are_checked():
    x = np.random.default_rng(0).standard_normal((100, 2))
    model = AdaptiveFourierRegressor(8, sampler="metropolis", n_steps=3, random_state=0)
    with pytest.raises(ValueError, match="y_val must have as many outputs as y, 1, got 2"):
        model.fit([(x, x[:, 0])], X_val=x[:10], y_val=x[:10])
