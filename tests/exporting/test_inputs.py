import numpy as np
import pytest
from exported import X, Y, case, table, with_holes

from fourierwalk import AdaptiveFourierRegressor, TableEncoder
from fourierwalk.exporting.inputs import InputColumns, Lookup


def test_the_order_is_that_of_the_encoder():
    """Numbers, marks, categories and dates one after the other, and then in the encoder's order."""
    frame = table()
    encoder = TableEncoder().fit(frame, Y)
    inputs = InputColumns.of_encoder(encoder)
    labels = encoder.get_feature_names_out().tolist()
    groups = [
        [label for label in labels if label in ("area", "rooms")],
        ["area_missing"],
        [label for label in labels if label.startswith(("town", "street", "garden"))],
        [label for label in labels if label.startswith("sold")]
        + [label for label in labels if label.startswith("built")],
    ]
    together = np.array([label for group in groups for label in group])
    assert together[inputs.order].tolist() == labels
    assert not inputs.is_ordered
    assert [labels[place] for place in inputs.years()] == ["sold_year", "built_year"]
    assert inputs.names == tuple(frame.columns)


def test_a_matrix_is_one_unless_names_words_or_dates_are_in_it():
    assert case("cos-sin").model.description().inputs.is_matrix
    assert case("holes of fit").model.description().inputs.is_matrix
    assert case("numbers as levels").model.description().inputs.is_matrix
    assert not case("frame").model.description().inputs.is_matrix
    words = np.column_stack((X.astype(object), np.where(Y > 0, "a", "b").astype(object)))
    model = AdaptiveFourierRegressor(4, sampler="fixed", random_state=0).fit(words, Y)
    assert not model.description().inputs.is_matrix
    pytest.importorskip("onnx")
    assert [each.name for each in model.to_onnx().graph.input] == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize(
    ("levels", "missing", "has_numbers"),
    [(("1", "2.5"), 2, True), (("1", None), 1, True), (("1", "inf"), 2, False), (("False", "True"), 2, False)],
)
def test_a_lookup_knows_its_missing_row_and_numbers(levels, missing, has_numbers):
    lookup = Lookup(0, levels, np.zeros((len(levels) + 1, 1)))
    assert lookup.missing == missing
    assert lookup.has_numbers == has_numbers


def test_missing_numbers_become_medians_or_centres():
    inputs = case("holes of fit").model.description().inputs
    assert inputs.indicators.tolist() == [0, 1, 2]
    assert np.allclose(inputs.fills, np.nanmedian(with_holes(), axis=0), atol=2)
    model = case("cos-sin").model
    assert np.array_equal(model.description().inputs.fills, model.model_.scaling.inputs.center)
    assert np.all(np.isnan(case("unscaled").model.description().inputs.fills))
    assert np.all(np.isnan(case("model").model.description().inputs.fills))
