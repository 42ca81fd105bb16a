import numpy as np
import pytest

from fourierwalk import AdaptiveFourierFeatures, AdaptiveFourierRegressor
from fourierwalk.chunks.sliced import CHUNK_BYTES

array = pytest.importorskip("dask.array")
zarr = pytest.importorskip("zarr")

X = np.random.default_rng(0).standard_normal((50, 2))
SETTINGS = {"n_frequencies": 4, "sampler": "fixed", "random_state": 0}


def test_arrays_on_a_disk_are_predicted_slice_by_slice(tmp_path):
    model = AdaptiveFourierRegressor(**SETTINGS).fit(X, X[:, 0])
    many = np.resize(X, (CHUNK_BYTES // (8 * 2) + 7, 2))  # two slices, and more than are taken into memory
    stored = zarr.open_group(tmp_path / "x.zarr", mode="w").create_array("x", data=many)
    mapped = np.memmap(tmp_path / "x", X.dtype, "w+", shape=many.shape)
    mapped[:] = many
    for rows in (stored, mapped):
        assert np.allclose(model.predict(rows), model.predict(many), rtol=0, atol=1e-13)


def test_dask_arrays_stay_lazy_in_all_methods():
    rows = array.from_array(X, chunks=(20, 1))
    model = AdaptiveFourierFeatures(**SETTINGS).fit(X, X[:, 0])
    columns = model.transform(rows)
    assert columns.chunks == ((20, 20, 10), (8,))
    assert np.allclose(columns.compute(), model.transform(X), rtol=0, atol=1e-13)


def test_arrays_in_memory_go_straight_through():
    model = AdaptiveFourierRegressor(**SETTINGS).fit(X, X[:, 0])
    assert model.predict(X.astype(np.float32)).dtype == np.float32


def test_error_bars_are_lazy_too():
    rows = array.from_array(X, chunks=(20, 2))
    model = AdaptiveFourierRegressor(**SETTINGS).fit(X, X[:, 0])
    mean, deviation = model.predict(rows, return_std=True)
    assert np.allclose(deviation.compute(), model.predict(X, return_std=True)[1])
    assert mean.chunks == ((20, 20, 10),)
    for level in (0.9, [0.5, 0.9]):
        intervals = model.predict_interval(rows, level)
        assert intervals.shape == model.predict_interval(X, level).shape
        assert np.allclose(intervals.compute(), model.predict_interval(X, level))
