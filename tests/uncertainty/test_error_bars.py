"""Error bars of fitted regressors: what they promise, in which shapes, and when there are none."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fourierwalk
from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.files.fields import Fields
from fourierwalk.uncertainty import ErrorBars, coverage

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, (4500, 2))
NOISE = 0.3 * np.exp(X[:, 0] / 3)
Y = np.sin(2 * X[:, 0]) + X[:, 1] + NOISE * RNG.standard_normal(4500)
SEEN, NEW = slice(0, 900), slice(900, None)


@pytest.fixture(scope="module")
def model():
    return AdaptiveFourierRegressor(random_state=0).fit(X[SEEN], Y[SEEN])


def test_the_mean_is_the_prediction(model):
    mean, std = model.predict(X[NEW], return_std=True)
    assert_allclose(mean, model.predict(X[NEW]), rtol=0, atol=1e-10)
    assert std.shape == mean.shape == (3600,)


def test_noise_that_varies_is_seen(model):
    _, std = model.predict(X[NEW], return_std=True)
    assert np.mean(np.abs(np.log(std / NOISE[NEW]))) < 0.2


def test_intervals_hold_what_they_promise(model):
    levels = [0.5, 0.8, 0.9, 0.95]
    shares = coverage(Y[NEW], model.predict_interval(X[NEW], levels))
    assert_allclose(shares, levels, atol=0.06)


def test_outside_the_data_the_bar_grows(model):
    _, std = model.predict(np.array([[0.0, 0.0], [6.0, 6.0], [15.0, -15.0]]), return_std=True)
    assert std[1] > 3 * std[0]
    assert std[2] > 3 * std[0]


def test_shapes():
    both = np.stack((Y, X[:, 1] ** 2), axis=1)
    model = AdaptiveFourierRegressor(16, n_steps=5, random_state=0).fit(X[SEEN], both[SEEN])
    mean, std = model.predict(X[:7], return_std=True)
    assert mean.shape == std.shape == (7, 2)
    assert model.predict_interval(X[:7]).shape == (7, 2, 2)
    assert model.predict_interval(X[:7], [0.5, 0.9, 0.95]).shape == (7, 2, 2, 3)
    assert model.sample_y(X[:7], 4).shape == (7, 2, 4)
    shares = coverage(both[NEW, 1], model.predict_interval(X[NEW])[:, 1])
    assert shares == pytest.approx(0.9, abs=0.08)


def test_one_output_has_no_axis_of_outputs(model):
    assert model.predict_interval(X[:7]).shape == (7, 2)
    assert model.predict_interval(X[:7], [0.9]).shape == (7, 2, 1)
    assert model.predict_interval(X[:7], (0.5, 0.9)).shape == (7, 2, 2)
    assert model.sample_y(X[:7]).shape == (7, 1)


def test_intervals_of_a_higher_level_are_wider(model):
    intervals = model.predict_interval(X[NEW], [0.5, 0.9])
    assert np.all(intervals[:, 0, 1] < intervals[:, 0, 0])
    assert np.all(intervals[:, 1, 1] > intervals[:, 1, 0])


def test_draws_have_the_mean_and_the_deviation(model):
    mean, std = model.predict(X[:20], return_std=True)
    draws = model.sample_y(X[:20], 20_000, random_state=1)
    assert_allclose(np.mean(draws, axis=1), mean, atol=0.05)
    assert_allclose(np.std(draws, axis=1), std, rtol=0.05)
    assert_array_equal(model.sample_y(X[:20], 3, random_state=1), model.sample_y(X[:20], 3, random_state=1))


def test_draws_of_a_function_belong_together():
    """Two equal rows differ by their noise alone."""
    model = AdaptiveFourierRegressor(16, n_steps=5, random_state=0).fit(X[:200], Y[:200])
    far = np.array([[9.0, 9.0], [9.0, 9.0]])
    draws = model.sample_y(far, 2000)
    assert np.corrcoef(draws)[0, 1] > 0.5


def test_weights_are_repetitions():
    times = RNG.integers(1, 3, 150)
    settings = {"sampler": "fixed", "initial": 1.0, "random_state": 0, "n_frequencies": 16}
    one = AdaptiveFourierRegressor(**settings).fit(X[:150], Y[:150], sample_weight=times)
    two = AdaptiveFourierRegressor(**settings).fit(np.repeat(X[:150], times, axis=0), np.repeat(Y[:150], times))
    for first, second in zip(one.predict(X[NEW], return_std=True), two.predict(X[NEW], return_std=True), strict=True):
        assert_allclose(first, second, rtol=0.02, atol=1e-6)


@pytest.mark.parametrize("features", ["cos-sin", "complex", "sigmoid"])
def test_every_kind_of_features(features):
    settings = {"sampler": "resampling", "n_steps": 20, "early_stopping": True, "validation_fraction": 0.3}
    model = AdaptiveFourierRegressor(32, features=features, random_state=0, **settings).fit(X[SEEN], Y[SEEN])
    assert coverage(Y[NEW], model.predict_interval(X[NEW])) == pytest.approx(0.9, abs=0.08)


def test_validation_rows_of_ones_own():
    model = AdaptiveFourierRegressor(80, n_steps=5, random_state=0)
    model.fit(X[:700], Y[:700], X_val=X[700:900], y_val=Y[700:900])
    assert model.error_bars_.conformal.times == len(model.error_bars_.sizes)
    assert coverage(Y[NEW], model.predict_interval(X[NEW])) == pytest.approx(0.9, abs=0.08)


@pytest.mark.parametrize("sampler", ["fixed", "auto"])
def test_random_frequencies_need_no_held_out_rows(sampler):
    """Frequencies that no row was shown: leave-one-out is honest."""
    n = 39 if sampler == "auto" else 400
    model = AdaptiveFourierRegressor(32, sampler=sampler, initial=1.0, random_state=0).fit(X[:n], Y[:n])
    assert model.error_bars_.conformal.weight.size == n
    assert coverage(Y[NEW], model.predict_interval(X[NEW])) == pytest.approx(0.9, abs=0.1)


def test_a_constant_model_has_the_spread_of_the_targets():
    y = RNG.standard_normal(300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AdaptiveFourierRegressor(random_state=0).fit(X[:300], y)
    _, std = model.predict(X[:5], return_std=True)
    assert_allclose(std, np.std(y), rtol=0.15)


def test_groups_are_held_out_together():
    """Ten rows of a subject share an offset: without groups its rows would be known too well.

    Sixty subjects say little, so the mean of four draws counts.
    """
    covered = {"grouped": [], "plain": []}
    for seed in range(4):
        rng, subject = np.random.default_rng(seed), np.repeat(np.arange(120), 10)
        x = np.concatenate((rng.standard_normal((120, 2))[subject], rng.standard_normal((1200, 1))), axis=1)
        y = 3 * x[:, 0] + rng.standard_normal(120)[subject] + 0.1 * rng.standard_normal(1200)
        seen = subject < 60
        for name, groups in (("grouped", subject[seen]), ("plain", None)):
            model = AdaptiveFourierRegressor(80, n_steps=5, random_state=0).fit(x[seen], y[seen], groups=groups)
            covered[name].append(coverage(y[~seen], model.predict_interval(x[~seen])))
    assert np.mean(covered["grouped"]) == pytest.approx(0.9, abs=0.1)
    assert np.mean(covered["plain"]) < 0.7


def test_few_groups_have_no_error_bars():
    """Below forty rows leave-one-out would leave the others of a group in."""
    subject = np.repeat(np.arange(9), 4)
    model = AdaptiveFourierRegressor(16, initial=1.0, random_state=0).fit(X[:36], Y[:36], groups=subject)
    assert model.error_bars_ is None


def test_every_library_has_them(xp):
    model = AdaptiveFourierRegressor(16, n_steps=5, random_state=0).fit(xp.asarray(X[:400]), xp.asarray(Y[:400]))
    host = AdaptiveFourierRegressor(16, n_steps=5, random_state=0).fit(X[:400], Y[:400])
    new = xp.asarray(X[NEW])
    for ours, wanted in zip(model.predict(new, return_std=True), host.predict(X[NEW], return_std=True), strict=True):
        assert xp.owns(ours)
        assert_allclose(xp.host(ours), wanted, rtol=1e-3, atol=1e-6)
    intervals = model.predict_interval(new)
    assert xp.owns(intervals)
    assert_allclose(xp.host(intervals), host.predict_interval(X[NEW]), rtol=1e-3, atol=1e-4)
    assert xp.owns(model.sample_y(new, 2))


def test_single_precision_in_and_out(model):
    mean, std = model.predict(X[NEW].astype(np.float32), return_std=True)
    assert mean.dtype == std.dtype == np.float32


def test_files_and_pickles_keep_them(model, tmp_path):
    loaded = fourierwalk.load(model.save(tmp_path / "a.fw", error_bars=True))
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.predict_interval(X[NEW], [0.5, 0.9]), model.predict_interval(X[NEW], [0.5, 0.9]))
        assert_array_equal(other.predict(X[NEW], return_std=True)[1], model.predict(X[NEW], return_std=True)[1])


def test_a_file_without_them_says_so(model, tmp_path):
    loaded = fourierwalk.load(model.save(tmp_path / "a.fw"))
    assert_array_equal(loaded.predict(X[NEW]), model.predict(X[NEW]))
    for ask in (
        lambda: loaded.predict(X, return_std=True),
        lambda: loaded.predict_interval(X),
        lambda: loaded.sample_y(X),
        lambda: loaded.save(tmp_path / "b.fw", error_bars=True),
    ):
        with pytest.raises(ValueError, match=r"needs error bars, .* got a model without them\.$"):
            ask()


def test_frequencies_that_have_seen_all_rows_have_none():
    model = AdaptiveFourierRegressor(16, sampler="resampling", n_steps=5, random_state=0).fit(X[:200], Y[:200])
    with pytest.raises(ValueError, match=r"predict_interval needs error bars, .*early_stopping=True"):
        model.predict_interval(X)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, np.nan, "high", None, [], [0.5, 2], [[0.5]], True])
def test_a_level_outside_is_a_sentence(model, level):
    with pytest.raises(ValueError, match=r"^confidence_level must be a number above 0 and below 1, or several, got "):
        model.predict_interval(X, level)


def test_an_unknown_method_is_a_sentence(model):
    with pytest.raises(ValueError, match=r"^method must be one of \['average', 'plus'\], got 'minmax'\.$"):
        model.predict_interval(X, method="minmax")


def test_intervals_of_the_average_are_around_the_prediction(model):
    low, high = model.predict_interval(X[NEW]).T
    assert_allclose((low + high) / 2, model.predict(X[NEW]), atol=1e-9)
    assert coverage(Y[NEW], model.predict_interval(X[NEW], method="plus")) == pytest.approx(0.9, abs=0.06)


def test_a_file_without_scores_of_the_average_has_those_of_the_members(model, tmp_path):
    """Files of the first version."""
    tables = model.error_bars_.to_tables()
    del tables["average"]
    old = ErrorBars.from_tables(Fields(tables, "error_bars"), model.model_)
    assert_array_equal(old.conformal.scores, model.error_bars_.plus.scores)
    shares = coverage(Y[NEW], old.interval(model.model_, X[NEW], [0.9]).reshape(-1, 2))
    assert shares == pytest.approx(0.9, abs=0.06)


def test_a_classifier_has_no_intervals():
    model = AdaptiveFourierClassifier(8, n_steps=3, random_state=0).fit(X[:200], Y[:200] > 0)
    assert not hasattr(model, "predict_interval")
    with pytest.raises(AttributeError, match="predict_interval needs a regressor, got a classifier"):
        model.predict_interval(X)
    with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
        model.nothing  # noqa: B018


def test_too_few_rows_for_a_level_make_an_infinite_interval():
    model = AdaptiveFourierRegressor(8, sampler="fixed", initial=1.0, random_state=0).fit(X[:30], Y[:30])
    intervals = model.predict_interval(X[:3], [0.5, 0.99])
    assert np.all(np.isfinite(intervals[:, :, 0]))
    assert np.all(np.isinf(intervals[:, :, 1]))


def test_coverage_holds_on_exchangeable_draws():
    """Small fits of fresh draws: the mean coverage over many fits."""
    shares = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-2, 2, (160, 1))
        y = 3 * np.sin(3 * x[:, 0]) + 0.3 * rng.standard_t(4, 160)
        model = AdaptiveFourierRegressor(80, n_steps=5, random_state=seed).fit(x[:120], y[:120])
        shares.append(float(coverage(y[120:], model.predict_interval(x[120:], 0.8))))
    assert 0.8 - 0.03 < np.mean(shares) < 0.8 + 0.08


def test_draws_are_the_same_for_one_seed():
    model = AdaptiveFourierRegressor(16, n_steps=5, random_state=0).fit(X[:400], Y[:400])
    many = np.tile(X[:400], (60, 1))
    assert np.array_equal(model.sample_y(many, 2, random_state=0), model.sample_y(many, 2, random_state=0))


def test_few_rows_that_are_followed_closely_have_wide_bars():
    """Leave-one-out at a small ridge: 1 − h is far below a thousandth."""
    rng, inside = np.random.default_rng(0), []
    for seed in range(6):
        x = rng.uniform(-2, 2, (312, 2))
        y = np.sin(2 * x[:, 0]) + 0.2 * rng.standard_normal(312)
        model = AdaptiveFourierRegressor(random_state=seed).fit(x[:12], y[:12])
        inside.append(coverage(y[12:], model.predict_interval(x[12:])))
    assert np.mean(inside) > 0.7


def test_forgetting_drops_the_error_bars():
    model = AdaptiveFourierRegressor(8, n_steps=5, random_state=0).partial_fit(X[:300], Y[:300], half_life=50)
    with pytest.raises(ValueError, match=r"return_std needs error bars, .* which partial_fit drops"):
        model.predict(X[:5], return_std=True)
