"""Pipelines through skl2onnx and the real runtime, against Python."""

import numpy as np
import pandas as pd
import pytest
from exported import CODES, X, Y, assert_close, case, feeds, run_onnx
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, converters

skl2onnx = pytest.importorskip("skl2onnx")
from skl2onnx.common.data_types import (  # noqa: E402
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)

converters.register()
SETTINGS = {"sampler": "fixed", "random_state": 0}


def regressor(**settings):
    return AdaptiveFourierRegressor(8, **SETTINGS, **settings)


@pytest.mark.parametrize("first", [StandardScaler(), PCA(2), PCA(1)])
def test_a_regressor_in_a_pipeline(first):
    pipeline = make_pipeline(first, regressor(clamp=True)).fit(X, Y)
    assert_close(run_onnx(skl2onnx.to_onnx(pipeline, X), {"X": X})["variable"], pipeline.predict(X))


def test_single_precision_follows_the_inputs():
    pipeline = make_pipeline(StandardScaler(), regressor()).fit(X, Y)
    rows = X.astype(np.float32)
    values = run_onnx(skl2onnx.to_onnx(pipeline, rows), {"X": rows})["variable"]
    assert values.dtype == np.float32
    assert np.max(np.abs(values[:, 0] - pipeline.predict(X))) < 1e-3


def test_several_outputs():
    pipeline = make_pipeline(StandardScaler(), regressor()).fit(X, X)
    assert_close(run_onnx(skl2onnx.to_onnx(pipeline, X), {"X": X})["variable"], pipeline.predict(X))


@pytest.mark.parametrize("labels", [["no", "may be", "ÿes"], [3, 5, 9], [1.0, 2.0, 4.0]])
def test_a_classifier_in_a_pipeline(labels):
    pipeline = make_pipeline(StandardScaler(), AdaptiveFourierClassifier(8, **SETTINGS)).fit(X, np.array(labels)[CODES])
    found = run_onnx(skl2onnx.to_onnx(pipeline, X, options={"zipmap": False}), {"X": X})
    assert np.array_equal(found["label"], pipeline.predict(X))
    assert_close(found["probabilities"], pipeline.predict_proba(X))
    found = run_onnx(skl2onnx.to_onnx(pipeline, X), {"X": X})
    assert np.array_equal(found["output_label"], pipeline.predict(X))
    listed = [list(row.values()) for row in found["output_probability"]]
    assert np.max(np.abs(np.array(listed) - pipeline.predict_proba(X))) < 1e-6  # dicts are in single precision


def test_two_classes_of_truth_values():
    classifier = AdaptiveFourierClassifier(8, **SETTINGS).fit(X, CODES > 0)
    found = run_onnx(skl2onnx.to_onnx(classifier, X, options={"zipmap": False}), {"X": X})
    assert np.array_equal(found["label"], classifier.predict(X))
    assert_close(found["probabilities"], classifier.predict_proba(X))


def test_features_before_linear_models():
    pipeline = make_pipeline(AdaptiveFourierFeatures(8, **SETTINGS), Ridge()).fit(X, Y)
    assert_close(run_onnx(skl2onnx.to_onnx(pipeline, X), {"X": X})["variable"], pipeline.predict(X))
    pipeline = make_pipeline(AdaptiveFourierFeatures(8, **SETTINGS), LogisticRegression()).fit(X, CODES)
    found = run_onnx(skl2onnx.to_onnx(pipeline, X, options={"zipmap": False}), {"X": X})
    assert np.array_equal(found["label"], pipeline.predict(X))


def test_two_models_in_one_graph():
    features = AdaptiveFourierFeatures(8, **SETTINGS)
    pipeline = make_pipeline(features, regressor()).fit(X, Y)
    assert_close(run_onnx(skl2onnx.to_onnx(pipeline, X), {"X": X})["variable"], pipeline.predict(X))


def test_columns_that_another_step_encodes():
    frame = pd.DataFrame({"a": X[:, 0], "w": np.array(["u", "v"])[CODES % 2], "b": X[:, 1]})
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["w"]), remainder="passthrough")
    pipeline = make_pipeline(encoder, regressor()).fit(frame, Y)
    types = [("a", DoubleTensorType([None, 1])), ("w", StringTensorType([None, 1])), ("b", DoubleTensorType([None, 1]))]
    feed = {name: frame[[name]].to_numpy() for name in frame}
    found = run_onnx(skl2onnx.to_onnx(pipeline, initial_types=types), feed)
    assert np.max(np.abs(found["variable"][:, 0] - pipeline.predict(frame))) < 1e-5  # the one-hot columns are single


def test_whole_numbers_are_numbers():
    x = np.round(X).astype(np.int64)
    model = regressor().fit(x, Y)
    types = [("X", Int64TensorType([None, 3]))]
    values = run_onnx(skl2onnx.to_onnx(model, initial_types=types), {"X": x})["variable"]
    assert np.max(np.abs(values[:, 0] - model.predict(x))) < 1e-4


@pytest.mark.parametrize("name", ["holes of fit", "numbers as levels"])
def test_matrices_with_missing_values_and_levels(name):
    model, rows = case(name)
    assert_close(run_onnx(skl2onnx.to_onnx(model, rows), {"X": rows})["variable"], case(name).expected)
    types = [(f"x{j}", DoubleTensorType([None, 1])) for j in range(rows.shape[1])]
    feed = {f"x{j}": rows[:, j : j + 1] for j in range(rows.shape[1])}
    assert_close(run_onnx(skl2onnx.to_onnx(model, initial_types=types), feed)["variable"], case(name).expected)


def test_a_frame_of_numbers_may_come_as_one_matrix():
    model, rows = case("frame")
    values = run_onnx(skl2onnx.to_onnx(model, initial_types=[("X", DoubleTensorType([None, 3]))]), {"X": X})["variable"]
    assert_close(values, model.predict(rows))


def test_a_table_has_one_input_for_each_column():
    model, rows = case("table")
    feed = feeds(model, rows)
    kinds = {"f": DoubleTensorType, "O": StringTensorType, "i": Int64TensorType}
    types = [(name, kinds[column.dtype.kind]([None, 1])) for name, column in feed.items()]
    assert_close(run_onnx(skl2onnx.to_onnx(model, initial_types=types), feed)["variable"], case("table").expected)
    with pytest.raises(ValueError, match=r"one input for each of its columns \['area', .*words or dates, got 1 input"):
        skl2onnx.to_onnx(model, initial_types=[("X", FloatTensorType([None, 7]))])


def test_an_unfitted_step_is_an_error():
    with pytest.raises(Exception, match="not fitted"):
        skl2onnx.to_onnx(regressor(), X)


def test_features_of_a_users_own_are_named():
    from tables import OnlyCosines

    model = regressor(features=OnlyCosines()).fit(X, Y)
    with pytest.raises(ValueError, match=r"features must be one of .* got 'cosines' \(OnlyCosines\)\.$"):
        skl2onnx.to_onnx(model, X)


def test_without_skl2onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"^register needs skl2onnx: pip install 'fourierwalk\[onnx\]'\.$"):
        converters.register()
