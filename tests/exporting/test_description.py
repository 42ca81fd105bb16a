import numpy as np
import pytest
from exported import X, case

from fourierwalk.exporting.description import Description


def test_the_parts_of_a_model():
    model = case("robust").model
    description = model.description()
    assert description.is_vector
    assert np.array_equal(description.frequencies, model.frequencies_)
    assert np.array_equal(description.coefficients[:8, 0], model.amplitudes_.real)
    assert np.array_equal(description.coefficients[8:, 0], -model.amplitudes_.imag)
    assert description.clip.clipped.all()
    assert description.biases is None
    assert not Description.of(model.model_).is_vector


def test_a_bias_is_no_frequency():
    description = case("sigmoid").model.description()
    assert description.frequencies.shape == (8, 3)
    assert description.biases.shape == (8,)
    assert description.coefficients.shape == (8, 1)


def test_probabilities_are_those_of_the_classifier():
    model = case("three classes").model
    description = model.description()
    values = np.exp(description.classes.scale * model.decision_function(X))
    shares = values / values.sum(axis=1, keepdims=True)
    share = description.classes.share
    np.testing.assert_allclose((1 - share) * shares + share / 3, model.predict_proba(X), rtol=1e-12)
    assert description.n_outputs == 3


def test_labels_that_no_export_has_are_a_sentence():
    description = case("cos-sin").model.description()
    with pytest.raises(ValueError, match=r"^y must have had words, numbers or truth values as labels, got object\.$"):
        description.of_classes(np.array(["a", None], dtype=object), 1.0, 1.0)
    assert description.of_classes(np.array(["a", "b"], dtype=object), 1.0, 1.0).classes.are_words


def test_dates_counted_from_their_centre_are_the_same_function():
    torch = pytest.importorskip("torch")
    from fourierwalk.exporting.module import FourierModule

    each = case("table")
    description = each.model.description()
    centred = description.with_centred_dates()
    assert np.count_nonzero(centred.center == 0) == np.count_nonzero(description.center == 0) + 2
    values = FourierModule(centred)(torch.tensor(each.codes)).numpy()
    np.testing.assert_allclose(values, each.expected, rtol=0, atol=1e-12 * np.max(np.abs(each.expected)))
