"""Standard deviations in ONNX equal those of `predict`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.exporting.spread import Spread

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 2))
NOISE = np.exp(X[:, :1]) * RNG.standard_normal((600, 2))
Y = np.stack((np.sin(2 * X[:, 0]), X[:, 1]), axis=1) + 0.2 * NOISE


def fitted(**settings):
    return AdaptiveFourierRegressor(random_state=0, n_steps=10, **settings)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize(
    "settings",
    [
        {"n_frequencies": 64},
        {"n_frequencies": 16, "features": "complex"},
        {"n_frequencies": 16, "sampler": "fixed", "early_stopping": True},
    ],
)
def test_onnx_has_the_standard_deviations(settings, outputs):
    runtime = pytest.importorskip("onnxruntime")
    model = fitted(**settings).fit(X, Y[:, 0] if outputs == 1 else Y)
    new = 2 * RNG.standard_normal((50, 2))
    session = runtime.InferenceSession(model.to_onnx(std=True).SerializeToString())
    values, deviations = session.run(["variable", "std"], {"X": new})
    mean, std = model.predict(new, return_std=True)
    assert_allclose(values.reshape(mean.shape), mean, rtol=0, atol=1e-11)
    assert_allclose(deviations.reshape(std.shape), std, rtol=1e-4)


def test_the_noise_that_varies_is_among_them():
    model = fitted(n_frequencies=64).fit(X, Y[:, 0])
    spread = Spread.of(model.error_bars_, 2)
    assert spread.noise_places.size == 2 * model.error_bars_.noise.waves.size > 0
    assert sum(part.places.size for part in spread.parts) == 2 * model.n_frequencies_


def test_what_has_no_error_bars_says_so():
    classifier = AdaptiveFourierClassifier(8, n_steps=5, random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="std=True needs a regressor with error bars, got AdaptiveFourierClassifier"):
        classifier.to_onnx(std=True)
    model = fitted(n_frequencies=8, sampler="descent", early_stopping=False).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"to_onnx\(std=True\) needs error bars"):
        model.to_onnx(std=True)
