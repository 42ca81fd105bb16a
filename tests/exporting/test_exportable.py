"""The three methods: files, errors, and random models of every kind in all three forms."""

import subprocess
import sys

import numpy as np
import pytest
from exported import X, Y, assert_close, case, compiled, run_c, run_onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from tables import FEATURES, OnlyCosines

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, FourierModel
from fourierwalk.data.affine import Affine
from fourierwalk.data.features import Activation
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.smooth_clip import SmoothClip
from fourierwalk.files.writing import NotWritten

METHODS = ("to_onnx", "to_torch", "to_c")
NEEDED = {"to_onnx": "onnx", "to_torch": "torch"}
ESTIMATORS = (AdaptiveFourierRegressor, AdaptiveFourierClassifier, AdaptiveFourierFeatures)
every_method = pytest.mark.parametrize("method", METHODS)


def test_a_file_holds_what_is_returned(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = case("cos-sin").model
    proto = model.to_onnx(tmp_path / "new" / "m.onnx", dtype="float32")
    assert onnx.load(tmp_path / "new" / "m.onnx") == proto
    text = model.to_c(tmp_path / "m.h")
    assert (tmp_path / "m.h").read_bytes() == text.encode("ascii")
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["m.h", "m.onnx"]


@pytest.mark.parametrize("method", ["to_onnx", "to_c"])
def test_a_file_that_cannot_be_written_is_a_sentence(method, tmp_path):
    pytest.importorskip("onnx")
    (tmp_path / "file").touch()
    with pytest.raises(NotWritten, match=r"file/m cannot be written: .*\.$"):
        getattr(case("cos-sin").model, method)(tmp_path / "file" / "m")


@every_method
@pytest.mark.parametrize("features", [OnlyCosines(), Activation(np.tanh, name="hyperbolic")])
def test_features_of_a_users_own_are_named(method, features):
    model = AdaptiveFourierRegressor(4, sampler="fixed", features=features, random_state=0).fit(X, Y)
    what = rf"^features must be one of \['complex', 'cos-sin', 'sigmoid'\] for an export, .* got '{features.name}' "
    for each in (model, model.model_):
        with pytest.raises(ValueError, match=what + rf"\({type(features).__name__}\)\.$"):
            getattr(each, method)()


@every_method
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_unfitted_estimator_is_told_to_fit(method, kind):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(kind(), method)()


@pytest.mark.parametrize("method", NEEDED)
def test_a_package_that_is_missing_is_named_with_its_extra(method, monkeypatch):
    package = NEEDED[method]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"^{method} needs {package}: pip install 'fourierwalk\[{package}\]'\.$"):
        getattr(case("cos-sin").model, method)()


def test_nothing_is_imported_before_it_is_needed():
    code = "import sys, fourierwalk; print(sorted({'onnx', 'onnxruntime', 'skl2onnx', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_onnx_alone_makes_onnx():
    """Neither the runtime nor skl2onnx is needed."""
    pytest.importorskip("onnx")
    code = (
        "import sys; sys.modules['skl2onnx'] = sys.modules['onnxruntime'] = None\n"
        "import numpy as np, fourierwalk; x = np.random.default_rng(0).normal(size=(50, 2))\n"
        "model = fourierwalk.AdaptiveFourierRegressor(4, sampler='fixed').fit(x, x[:, 0])\n"
        "print(len(model.to_onnx().SerializeToString()) > 500, len(model.to_c()) > 500)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True True\n", done.stderr


def test_tensors_of_torch_are_exported_like_arrays():
    torch = pytest.importorskip("torch")
    labels = torch.tensor((Y > 0).astype(np.int64))
    model = AdaptiveFourierClassifier(8, sampler="fixed", random_state=0).fit(torch.tensor(X), labels)
    expected = model.predict_proba(torch.tensor(X)).numpy()
    assert_close(model.to_torch()(torch.tensor(X)).numpy(), expected)
    assert_close(run_onnx(model.to_onnx(), {"X": X})["output_probability"], expected)
    assert np.array_equal(run_onnx(model.to_onnx(), {"X": X})["output_label"], model.predict(torch.tensor(X)).numpy())


@st.composite
def models(draw):
    """A model that nobody has fitted: any kind, sizes, scaling, bounds."""
    kind = FEATURES[draw(st.sampled_from(["complex", "cos-sin", "sigmoid"]))]
    n_frequencies, n_inputs, n_outputs = (draw(st.integers(1, most)) for most in (7, 5, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    center = draw(st.sampled_from([0.0, 1.0, 1e4])) * rng.normal(size=n_inputs)
    scale = np.exp(rng.normal(size=n_inputs))
    inputs = Affine(center, scale)
    if draw(st.booleans()):
        inputs = SmoothClip(center, scale, rng.random(n_inputs) < 0.5, limit=draw(st.sampled_from([1.5, 3.0])))
    amplitudes = rng.normal(size=(n_frequencies, n_outputs))
    amplitudes = amplitudes if kind.extra else amplitudes + 1j * rng.normal(size=amplitudes.shape)
    bounds = np.sort(rng.normal(size=(2, n_outputs)), axis=0) if draw(st.booleans()) else None
    scaling = Scaling(inputs, Affine(np.zeros(n_outputs), np.ones(n_outputs)), "columns")
    omega, offset = kind.frequencies(n_frequencies, n_inputs, 1), rng.normal(size=n_outputs)
    model = FourierModel(omega, amplitudes, offset, kind.features, scaling, bounds)
    x = center + scale * rng.normal(size=(draw(st.integers(1, 9)), n_inputs)) * draw(st.sampled_from([1.0, 5.0]))
    return model, np.where(rng.random(x.shape) < draw(st.sampled_from([0.0, 0.1])), np.nan, x)


def largest(model):
    """What a value may reach: the sum of all absolute amplitudes and the offset."""
    return float(np.max(np.sum(np.abs(model.amplitudes), axis=0) + np.abs(model.offset)))


@settings(max_examples=60, deadline=None)
@given(models())
def test_random_models_in_onnx(pair):
    pytest.importorskip("onnx")
    model, x = pair
    assert_close(run_onnx(model.to_onnx(), {"X": x})["variable"], model(x), largest(model))


@settings(max_examples=60, deadline=None)
@given(models())
def test_random_models_in_single_precision(pair):
    pytest.importorskip("onnx")
    model, x = pair
    rows = x.astype(np.float32)
    expected = model(rows.astype(np.float64))
    values = run_onnx(model.to_onnx(dtype="float32"), {"X": rows})["variable"]
    n_inputs = x.shape[1]
    phases = np.nan_to_num(model.scaling.inputs.apply(rows)) @ model.frequencies[:, :n_inputs].T
    phases = phases + np.sum(model.frequencies[:, n_inputs:], axis=1)  # the bias, if there is one
    assert np.array_equal(np.isnan(values), np.isnan(expected))
    error = np.nanmax(np.abs(values - expected), initial=0)
    assert error <= 1e-6 * (1 + np.max(np.abs(phases))) * largest(model)


@settings(max_examples=100, deadline=None)
@given(models())
def test_random_models_in_torch(pair):
    torch = pytest.importorskip("torch")
    model, x = pair
    assert_close(model.to_torch()(torch.tensor(x)).numpy(), model(x), largest(model))


@settings(max_examples=12, deadline=None)
@given(models())
def test_random_models_in_c(tmp_path_factory, pair):
    model, x = pair
    library = compiled(model.to_c(), tmp_path_factory.mktemp("c"))
    assert_close(run_c(library, x, model.amplitudes.shape[1])[0], model(x), largest(model))
