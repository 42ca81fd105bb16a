"""ONNX in the real runtime, against Python."""

import numpy as np
import pytest
import scipy.sparse
from exported import X, assert_close, case, every_case, feeds, regressor, run_onnx

from fourierwalk import AdaptiveFourierClassifier, FourierModel
from fourierwalk.exporting import network
from fourierwalk.exporting.description import Description

pytest.importorskip("onnx")


@every_case
def test_the_runtime_gives_what_python_gives(name):
    model, rows = case(name)
    found = run_onnx(model.to_onnx(), feeds(model, rows))
    if isinstance(model, AdaptiveFourierClassifier):
        labels = model.predict(rows)
        assert np.array_equal(found["output_label"], labels)
        assert np.array(found["output_label"].tolist()).dtype.kind == labels.dtype.kind
        assert_close(found["output_probability"], case(name).expected)
    else:
        (output,) = found.values()
        assert output.ndim == 2
        assert output.dtype == np.float64
        assert_close(output, case(name).expected)


def reach(model, rows):
    """The bound of errors in single precision: 1e-6 (1 + max|ω·x|) Σ|β|."""
    inner = getattr(model, "model_", model)
    encoder = None if isinstance(model, FourierModel) else model.encoder_
    encoded = rows if encoder is None else encoder.transform(rows)
    encoded = encoded.toarray() if scipy.sparse.issparse(encoded) else encoded
    scaled = np.nan_to_num(inner.scaling.inputs.apply(encoded))
    description = Description.of(inner)
    phases = scaled @ description.frequencies.T + (0 if description.biases is None else description.biases)
    return 1e-6 * (1 + np.max(np.abs(phases))) * np.max(np.sum(np.abs(inner.amplitudes), axis=0))


def rounded(frame):
    """The table with numbers as single precision has them."""
    if not hasattr(frame, "select_dtypes"):
        return frame
    return frame.assign(**{name: frame[name].astype(np.float32) for name in frame.select_dtypes("number")})


@every_case
def test_single_precision_is_within_its_bound(name):
    model, rows = case(name)
    is_array = isinstance(rows, np.ndarray)
    rows = rows.astype(np.float32) if is_array else rounded(rows)
    expected = case(name)._replace(rows=rows.astype(np.float64) if is_array else rows).expected
    found = run_onnx(model.to_onnx(dtype="float32"), feeds(model, rows, np.float32))
    values = found.get("output_probability", next(iter(found.values())))
    assert values.dtype == np.float32
    slope = model._inverse_temperature if isinstance(model, AdaptiveFourierClassifier) else 1.0
    bound = 1e-5 if hasattr(model, "transform") else slope * reach(model, rows)
    assert np.max(np.abs(values.reshape(np.shape(expected)) - expected)) <= bound


def test_single_precision_does_not_round_the_centre():
    far = X + np.array([1e6, 0, 0])
    rows = far.astype(np.float32)
    found = run_onnx(regressor(far).model.to_onnx(dtype=np.float32), {"X": rows})
    model = regressor(far).model
    assert np.max(np.abs(found["variable"][:, 0] - model.predict(rows.astype(np.float64)))) <= reach(model, rows)


def test_numbers_that_are_not_there_stay_so_in_a_bare_model():
    model = case("model").model
    assert isinstance(model, FourierModel)
    rows = X.copy()
    rows[3, 1] = np.nan
    assert_close(run_onnx(model.to_onnx(), {"X": rows})["variable"], model(rows))


def test_a_column_may_be_called_like_an_output():
    model = case("frame").model
    proto = model.to_onnx()
    assert [each.name for each in proto.graph.input] == ["variable", "Cos_1", "a b"]
    assert [each.name for each in proto.graph.output] == ["variable_out"]


def test_the_model_says_who_made_it_and_needs_old_operators_only():
    proto = case("cos-sin").model.to_onnx()
    assert proto.producer_name == "fourierwalk"
    assert [(each.domain, each.version) for each in proto.opset_import] == [("", 17)]
    proto = case("table").model.to_onnx()
    assert [(each.domain, each.version) for each in proto.opset_import] == [("", 17), ("ai.onnx.ml", 3)]


def test_any_number_of_rows():
    proto = case("cos-sin").model.to_onnx()
    assert run_onnx(proto, {"X": X[:1]})["variable"].shape == (1, 1)
    assert run_onnx(proto, {"X": X[:0]})["variable"].shape == (0, 1)


@pytest.mark.parametrize("dtype", ["float16", "int32", np.int64])
def test_other_precisions_are_a_sentence(dtype):
    with pytest.raises(ValueError, match=r"dtype must be one of .*float64.*float32.*, got .*\."):
        network.to_onnx(case("cos-sin").model.description(), dtype)
