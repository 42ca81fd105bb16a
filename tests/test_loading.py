"""Models in files: what comes back predicts the same to the bit, nothing runs, and old files load for ever."""

import io
import json
import pickle
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fourierwalk
from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, Solver, loading
from fourierwalk.data.features import Activation
from fourierwalk.files import container
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
FRAME = pd.DataFrame(
    {
        "a": np.where(X[:, 0] > 1, np.nan, X[:, 0]),
        "b": np.where(X[:, 1] > 0, "ja", "nein"),
        "c": pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(200), unit="h"),
        "d": X[:, 2] > 0,
    }
)
WORDS = np.where(Y > 0, "up", "down")

ESTIMATORS = {
    "one output": lambda: AdaptiveFourierRegressor(8, random_state=0).fit(X, Y),
    "two outputs": lambda: AdaptiveFourierRegressor(8, random_state=0).fit(X, np.column_stack([Y, X[:, 0]])),
    "robust": lambda: AdaptiveFourierRegressor(8, random_state=0, standardize="robust").fit(X, Y),
    "nothing scaled": lambda: AdaptiveFourierRegressor(8, random_state=0, standardize=False).fit(X, Y),
    "complex": lambda: AdaptiveFourierRegressor(8, random_state=0, sampler="metropolis", features="complex").fit(X, Y),
    "sigmoid": lambda: AdaptiveFourierRegressor(8, random_state=0, features="sigmoid").fit(X, Y),
    "objects": lambda: AdaptiveFourierRegressor(
        8, random_state=0, sampler=Metropolis(RandomWalk(0.3), 4.0), n_steps=20, solver=Solver("direct"), initial=1.0
    ).fit(X, Y),
    "words": lambda: AdaptiveFourierClassifier(8, random_state=0).fit(X, WORDS),
    "words of a frame": lambda: AdaptiveFourierClassifier(8, random_state=0).fit(
        pd.DataFrame(X, columns=["a", "b", "c"]), WORDS.astype(object)
    ),
    "numbers": lambda: AdaptiveFourierClassifier(8, random_state=0, class_weight={3: 2.0}).fit(
        X, np.digitize(Y, [-0.5, 0.5]) + 1
    ),
    "truth values": lambda: AdaptiveFourierClassifier(8, random_state=0).fit(X, Y > 0),
    "table": lambda: AdaptiveFourierRegressor(8, random_state=0).fit(FRAME, Y),
    "table of many levels": lambda: AdaptiveFourierClassifier(8, random_state=0).fit(
        FRAME.assign(many=[f"level {i % 23}" for i in range(200)]), WORDS
    ),
    "holes": lambda: AdaptiveFourierRegressor(8, random_state=0).fit(np.where(X > 1.5, np.nan, X), Y),
    "transformer": lambda: AdaptiveFourierFeatures(8, random_state=0).fit(X, Y),
}


@pytest.fixture(params=ESTIMATORS)
def fitted(request):
    return ESTIMATORS[request.param]()


def outputs(model):
    rows = X
    if hasattr(model, "feature_names_in_"):
        frames = (pd.DataFrame(X, columns=["a", "b", "c"]), FRAME, FRAME.assign(many=["level 3", "new"] * 100))
        rows = frames[model.n_features_in_ - 3]
    methods = ("predict", "predict_proba", "decision_function", "transform")
    return {name: getattr(model, name)(rows) for name in methods if hasattr(model, name)}


def assert_same(one, other):
    """All that a user can see of two fitted estimators."""
    assert type(one) is type(other)
    assert one.get_params().keys() == other.get_params().keys()
    for name, values in outputs(one).items():
        there = outputs(other)[name]
        assert there.dtype == values.dtype
        np.testing.assert_array_equal(there, values)
    for name in (name for name in dir(one) if name.endswith("_") and not name.startswith("_")):
        value, there = getattr(one, name), getattr(other, name)
        if isinstance(value, np.ndarray | int | float):
            np.testing.assert_array_equal(there, value, err_msg=name)
    assert other.history_.decisions == one.history_.decisions
    assert other.history_.phase == one.history_.phase
    np.testing.assert_array_equal(other.history_.step, one.history_.step)
    np.testing.assert_allclose(other.history_.loss, one.history_.loss, rtol=1e-6)
    np.testing.assert_allclose(other.history_.validation, one.history_.validation, rtol=1e-6)


def test_an_estimator_comes_back(fitted, tmp_path):
    loaded = fourierwalk.load(fitted.save(tmp_path / "model.fw"))
    assert_same(fitted, loaded)
    assert str(loaded) == str(fitted)
    assert clone(loaded).get_params().keys() == fitted.get_params().keys()
    again = fourierwalk.load(loaded.save(tmp_path / "again.fw"))
    assert_same(fitted, again)


def test_a_loaded_estimator_fits_again(tmp_path):
    fitted = ESTIMATORS["one output"]()
    loaded = fourierwalk.load(fitted.save(tmp_path / "model.fw"))
    np.testing.assert_array_equal(loaded.fit(X, Y).predict(X), fitted.predict(X))


def test_a_model_comes_back(tmp_path):
    model = ESTIMATORS["two outputs"]().model_
    loaded = fourierwalk.load(model.save(tmp_path / "model.fw"))
    np.testing.assert_array_equal(loaded(X), model(X))
    np.testing.assert_array_equal(loaded.relevance(), model.relevance())
    for one, other in zip(loaded.spectrum(), model.spectrum(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_torch_comes_back_as_numpy(tmp_path):
    torch = pytest.importorskip("torch")
    fitted = AdaptiveFourierRegressor(8, random_state=0).fit(torch.asarray(X), torch.asarray(Y))
    loaded = fourierwalk.load(fitted.save(tmp_path / "model.fw"))
    assert isinstance(loaded.frequencies_, np.ndarray)
    np.testing.assert_allclose(loaded.predict(X), fitted.predict(torch.asarray(X)).numpy(), rtol=1e-10)


def test_joblib_and_pickle_keep_it_too(fitted):
    buffer = io.BytesIO()
    joblib.dump(fitted, buffer)
    buffer.seek(0)
    assert_same(fitted, joblib.load(buffer))
    assert_same(fitted, pickle.loads(pickle.dumps(fitted)))


def test_skops_keeps_it_too(fitted):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(fitted)
    trusted = skops.get_untrusted_types(data=data)
    assert all(name.startswith(("fourierwalk.", "numpy.")) for name in trusted)
    assert_same(fitted, skops.loads(data, trusted=trusted))


def test_a_features_object_of_ones_own_is_refused(tmp_path):
    fitted = AdaptiveFourierRegressor(8, features=Activation(np.tanh), random_state=0).fit(X, Y)
    for model in (fitted, fitted.model_):
        with pytest.raises(
            ValueError, match=r"features must be one of .* because a file holds no code, got Activation"
        ):
            model.save(tmp_path / "model.fw")
    assert not list(tmp_path.iterdir())


def test_what_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        AdaptiveFourierRegressor().save(tmp_path / "model.fw")


def test_a_model_of_256_frequencies_is_small(tmp_path):
    x = RNG.normal(size=(600, 10))
    fitted = AdaptiveFourierRegressor(256, sampler="fixed", random_state=0).fit(x, x[:, 0])
    assert fitted.save(tmp_path / "model.fw").stat().st_size <= 50_000


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("model", "frequencies"), np.zeros((9, 3)), "AdaptiveFourierRegressor.model.amplitudes must be an array"),
        (("model", "frequencies"), np.zeros((8, 4)), "center must be an array of finite numbers of shape"),
        (("model", "features"), "tanh", "model.features must be one of"),
        (("model", "scaling", "inputs", "scale"), np.zeros(3), "scale must be above 0, got 0"),
        (("model", "scaling", "kind"), "odd", "kind must be one of"),
        (("n_inputs",), 4, "n_inputs must be 3 as in the model, got 4"),
        (("names",), ["a"], "names must be 3 words, got 1"),
        (("parameters", "n_moons"), 3, "parameters must be known to this version, got 'n_moons'"),
        (("parameters", "sampler"), {"is": "os.system", "fields": {}}, "a parameter must be one of"),
        (("parameters", "sampler"), {"is": "Metropolis", "fields": {"nothing": 1}}, "unexpected keyword"),
        (("history",), 3, "history must be named values"),
        (("temperature_scale",), None, "temperature_scale must be a finite number"),
    ],
)
def test_what_makes_no_model_is_a_sentence(place, value, words, tmp_path):
    tree = ESTIMATORS["one output"]().to_tables()
    inner = tree
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    path = container.write(tmp_path / "model.fw", "AdaptiveFourierRegressor", tree)
    with pytest.raises(ValueError, match=words) as caught:
        fourierwalk.load(path)
    assert str(caught.value).startswith(f"{path} holds no model that can be used: ")
    assert str(caught.value).endswith(".")


def test_another_kind_is_a_sentence(tmp_path):
    path = container.write(tmp_path / "model.fw", "Forest", {})
    with pytest.raises(ValueError, match=r"must hold one of .* got 'Forest'"):
        fourierwalk.load(path)


def test_what_else_stands_in_the_file(tmp_path):
    tree = {**ESTIMATORS["one output"]().to_tables(), "about": {"target": "price"}}
    loaded = loading.read(container.write(tmp_path / "model.fw", "AdaptiveFourierRegressor", tree))
    assert loaded.about == {"target": "price"}
    assert loaded.library == fourierwalk.__version__


OLD = sorted((Path(__file__).parent / "saved").glob("*.fw"))


def test_old_files_are_there():
    assert OLD


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.name)
def test_old_files_load_for_ever(path):
    """The file beside it holds the rows and what the model said of them on the day that it was saved."""
    expected = json.loads(path.with_suffix(".json").read_text())
    model = fourierwalk.load(path)
    has_words = any(isinstance(value, str) for value in expected["rows"][0])
    rows = np.array(expected["rows"], dtype=object if has_words else np.float64)
    for name, values in expected["outputs"].items():
        found = getattr(model, name)(rows)
        if found.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=1e-9)
        else:
            assert found.tolist() == values
