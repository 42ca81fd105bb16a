import numpy as np

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.benchmarks import error_bars


def test_predictions_with_error_bars_are_beside_those_without():
    figures = list(error_bars.predictions(32))
    assert [figure.target for figure in figures[:3]] == [3.0, 5.0, None]
    assert all(np.isfinite(figure.value) and figure.value >= 0 for figure in figures)
    assert all(figure.met for figure in figures if figure.what.startswith("largest error"))
    assert len({figure.case for figure in figures}) == 2


def test_fits_without_error_bars_have_none_and_are_otherwise_the_same():
    x = np.random.default_rng(0).uniform(size=(120, 2))
    whole = AdaptiveFourierRegressor(16, n_steps=2, random_state=0).fit(x, x[:, 0])
    with error_bars.without_error_bars():
        bare = AdaptiveFourierRegressor(16, n_steps=2, random_state=0).fit(x, x[:, 0])
    assert bare.error_bars_ is None
    assert whole.error_bars_ is not None
    np.testing.assert_array_equal(bare.predict(x), whole.predict(x))
