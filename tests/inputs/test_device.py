import numpy as np
import pytest

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, inputs
from fourierwalk.inputs import device as place


@pytest.mark.parametrize("estimator", [AdaptiveFourierRegressor, AdaptiveFourierClassifier, AdaptiveFourierFeatures])
def test_numpy_goes_to_the_device_and_comes_back(estimator, monkeypatch):
    torch = pytest.importorskip("torch")
    seen = []

    def there(values, device):
        seen.append(device)
        return torch.as_tensor(values)

    x = np.random.default_rng(0).standard_normal((150, 2))
    y = (x[:, 0] > 0) * 1 if estimator is AdaptiveFourierClassifier else np.sin(2 * x[:, 0])
    settings = {"sampler": "metropolis", "n_steps": 5, "regularization": 0.1, "random_state": 0}
    here = estimator(8, **settings).fit(x, y)
    monkeypatch.setattr(place, "on_device", there)
    model = estimator(8, device="cuda", **settings).fit(x, y)
    apply = "transform" if estimator is AdaptiveFourierFeatures else "predict"
    found = getattr(model, apply)(x)
    assert set(seen) == {"cuda"}
    assert type(found) is type(model.frequencies_) is type(model.amplitudes_) is np.ndarray
    np.testing.assert_allclose(found, getattr(here, apply)(x), atol=1e-9)


@pytest.mark.parametrize(
    ("device", "words"), [("gpu", "device must be None, 'cpu' or 'cuda', got 'gpu'"), (0, "device must be None")]
)
def test_unknown_devices_are_refused(device, words):
    with pytest.raises(ValueError, match=words):
        AdaptiveFourierRegressor(4, device=device).fit(np.zeros((5, 1)), np.arange(5.0))


def test_a_device_that_is_not_there_is_named():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="device='cuda' needs a GPU that torch can use, found none"):
        inputs.on_device(np.zeros((5, 1)), "cuda")
    with pytest.raises(ValueError, match="device must be None for arrays of torch on cpu"):
        inputs.on_device(torch.zeros((5, 1)), "cpu")
    assert inputs.on_device(np.zeros(3), "cpu").shape == (3,)
