"""The transformer: scikit-learn's contract, which columns are categories, rows of other folds, plain tables."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.utils.estimator_checks import check_estimator

from fourierwalk import TableEncoder
from fourierwalk.tables.encoder import Beyond, are_classes
from fourierwalk.tables.facts import codes_of
from fourierwalk.tables.means import Grouped, by_part
from fourierwalk.tables.table import Table

N_CHECKS = 53


def cars(n=200, seed=0):
    """Numbers with holes, few and many levels, a date; and a target that depends on all of them."""
    rng = np.random.default_rng(seed)
    make, fuel, size = rng.integers(30, size=n), rng.integers(3, size=n), rng.standard_normal(n)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.2, np.nan, size),
            "make": [f"make{one:02d}" for one in make],
            "fuel": pd.Categorical(np.array(["gas", "diesel", None], dtype=object)[fuel]),
            "built": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(1000, size=n), "D"),
        }
    )
    return frame, make + fuel + size


def test_all_checks_of_scikit_learn_run_and_pass():
    results = check_estimator(TableEncoder(), on_fail=None, on_skip=None)
    trouble = {one["check_name"]: repr(one["exception"]) for one in results if one["status"] != "passed"}
    assert trouble == {}
    exact = sklearn.__version__.startswith("1.9.")
    assert len(results) == N_CHECKS if exact else len(results) >= 40


def test_names_and_shapes():
    frame, y = cars()
    encoder = TableEncoder().fit(frame, y)
    names = ["size", "size_missing", "make_mean", "fuel_diesel", "fuel_gas", "fuel_missing", "built_year"]
    assert encoder.get_feature_names_out().tolist()[:7] == names
    assert encoder.transform(frame).shape == (200, 11)
    assert encoder.n_features_in_ == 4
    assert encoder.feature_names_in_.tolist() == list(frame.columns)
    assert_allclose(encoder.summed(np.ones(11)), [2, 1, 3, 5])
    with pytest.raises(ValueError, match="input_features must equal the names of fit"):
        encoder.get_feature_names_out(["a"])


def test_frames_of_every_library_say_the_same():
    pl = pytest.importorskip("polars")
    frame, y = cars()
    expected = TableEncoder().fit_transform(frame, y)
    for other in (pl.from_pandas(frame), Table.of(frame)):
        assert_array_equal(TableEncoder().fit_transform(other, y), expected)


def test_plain_numbers_stay_as_they_are():
    x = np.random.default_rng(0).standard_normal((20, 3))
    assert_array_equal(TableEncoder().fit_transform(x), x)


@pytest.mark.parametrize("given", [["code", "word"], [1, 2], [False, True, True], np.array([1, 2])], ids=str)
def test_categories_by_mask_names_and_indices(given):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "code": [7, 8, 9], "word": ["x", "y", "z"]})
    assert TableEncoder(given).fit(frame).get_feature_names_out().tolist() == [
        *["a", "code_7", "code_8", "code_9", "word_x", "word_y", "word_z"]
    ]


def test_categories_of_an_array():
    x = np.array([[1.0, 3.0], [2.0, 4.0], [3.0, np.nan]])
    encoder = TableEncoder([1]).fit(x)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1_3", "x1_4", "x1_missing"]
    assert_array_equal(encoder.transform([[9.0, 4.0]]), [[9, 0, 1, 0]])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("dtype", "categorical_features must be 'from_dtype', a mask, indices, names or None, got 'dtype'"),
        ([True], "must have 2 entries as a mask"),
        (["b"], r"must be columns of X, \['a', 'word'\], or their indices, got 'b'"),
        ([2], "or their indices, got 2"),
        ([-1], "or their indices, got -1"),
        ([0.5], "or their indices, got 0.5"),
        (None, "must name every column of words, got None, but column 'word' holds 'x'"),
        (["a"], "but column 'word' holds 'x'"),
    ],
    ids=str,
)
def test_mistakes_about_categories(given, words):
    frame = pd.DataFrame({"a": [1.0, 2.0], "word": ["x", "y"]})
    with pytest.raises(ValueError, match=words):
        TableEncoder(given).fit(frame)


def test_many_levels_need_targets():
    frame, y = cars()
    with pytest.raises(
        ValueError, match="y must be given, because column 'make' has 30 levels, more than max_one_hot="
    ):
        TableEncoder().fit(frame)
    assert TableEncoder(max_one_hot=30).fit(frame).transform(frame).shape[1] == 40
    with pytest.raises(ValueError, match="max_one_hot must be a whole number of at least 2"):
        TableEncoder(max_one_hot=1).fit(frame, y)


def test_rows_are_trained_on_by_the_targets_of_others():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"id{i}" for i in rng.integers(100, size=300)]})
    y = rng.standard_normal(300)  # noise: whatever correlates with it has seen it
    own, others = TableEncoder().fit(frame, y).transform(frame), TableEncoder().fit_transform(frame, y)
    assert abs(np.corrcoef(others[:, 0], y)[0, 1]) < 0.15
    pipeline = make_pipeline(TableEncoder(), Ridge())
    assert cross_val_score(pipeline, frame, y).mean() < 0.05
    assert own.shape == others.shape


def test_as_good_as_the_target_encoder_of_scikit_learn():
    frame, y = cars(1000)
    ours = cross_val_score(make_pipeline(TableEncoder(), Ridge()), frame[["make"]], y).mean()
    theirs = cross_val_score(make_pipeline(TargetEncoder(), Ridge()), frame[["make"]], y).mean()
    assert ours > theirs - 0.01


def test_rows_of_a_level_that_are_all_alike_still_tell_about_it():
    frame = pd.DataFrame({"make": np.repeat([f"make{i:02d}" for i in range(20)], 50)})
    y = np.repeat(np.arange(20) % 2, 50)
    y[::10] = 1 - y[::10]
    assert np.corrcoef(TableEncoder().fit_transform(frame, y)[:, 0], y)[0, 1] > 0.7


@pytest.mark.parametrize(("y", "n_columns"), [(["a", "b"], 1), (["a", "b", "c"], 3), ([[0.5, 2.0], [1.0, 0.0]], 2)])
def test_a_column_of_means_per_target(y, n_columns):
    frame = pd.DataFrame({"id": [f"id{i:03d}" for i in range(120)]})
    encoder = TableEncoder().fit(frame, np.resize(np.array(y), (120, *np.shape(y)[1:])))
    assert encoder.transform(frame).shape == (120, n_columns)


def test_weights_are_repetitions():
    frame, y = cars(60)
    weight = np.random.default_rng(1).integers(0, 3, size=60)
    rows = np.repeat(np.arange(60), weight)
    weighted = TableEncoder().fit(frame, y, weight)
    repeated = TableEncoder().fit(frame.iloc[rows], y[rows])
    assert_array_equal(weighted.get_feature_names_out(), repeated.get_feature_names_out())
    assert_allclose(weighted.transform(frame), repeated.transform(frame), atol=1e-9)
    some = frame.drop(columns="make")  # repeated rows see each other's targets, a row of a large weight not its own
    found = TableEncoder().fit_transform(some, y, weight)[rows]
    assert_array_equal(found, TableEncoder().fit_transform(some.iloc[rows], y[rows]))


def test_the_order_of_rows_does_not_matter():
    frame, y = cars()
    order = np.random.default_rng(0).permutation(200)
    found = TableEncoder().fit_transform(frame.iloc[order], y[order])
    assert_allclose(found, TableEncoder().fit_transform(frame, y)[order], atol=1e-9)


def test_rows_of_a_group_stay_together():
    frame, y = cars()
    groups = np.arange(200) % 20
    encoding = TableEncoder().encoded(Table.of(frame), y[:, None], None, groups)
    assert all(np.unique(encoding.means.part[groups == group]).size == 1 for group in range(20))


def test_unknown_levels_and_holes_at_predict_time():
    frame, y = cars()
    encoder = TableEncoder().fit(frame.assign(size=0.5), y)
    new = pd.DataFrame({"size": [np.nan], "make": ["new"], "fuel": ["steam"], "built": [pd.NaT]})
    found = encoder.transform(new)[0]
    assert np.all(np.isfinite(found))
    assert found[0] == 0.5
    assert_allclose(found[1], y.mean())
    assert_allclose(found[2:5].sum(), 1.0)


def test_tables_are_plain_and_complete():
    frame, y = cars()
    encoder = TableEncoder().fit(frame, y)
    text = json.dumps(encoder.to_tables(), default=np.ndarray.tolist)
    again = TableEncoder.from_tables(json.loads(text))
    assert_array_equal(again.transform(frame), encoder.transform(frame))
    assert_array_equal(again.get_feature_names_out(), encoder.get_feature_names_out())
    with pytest.raises(ValueError, match="The feature names should match"):
        again.transform(frame.rename(columns={"make": "brand"}))
    unnamed = TableEncoder().fit(np.zeros((3, 2)))
    assert not hasattr(TableEncoder.from_tables(unnamed.to_tables()), "feature_names_in_")


@pytest.mark.parametrize("tables", [{}, {"format": 2}, {"format": 1}, {"format": 1, "columns": 3, "has_names": True}])
def test_other_tables_are_refused(tables):
    with pytest.raises(ValueError, match="tables must"):
        TableEncoder.from_tables(tables)


def test_pickles_and_clones():
    frame, y = cars()
    encoder = TableEncoder(max_one_hot=40).fit(frame, y)
    assert_array_equal(pickle.loads(pickle.dumps(encoder)).transform(frame), encoder.transform(frame))
    with pytest.raises(NotFittedError):
        clone(encoder).transform(frame)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: Table(("size", "make", "fuel", "when"), t.columns), r"without \['built'\] and with \['when'\]"),
        (lambda t: Table(t.names[:3], t.columns[:3]), r"X must have the columns of fit, .*, got a table without"),
        (lambda t: Table(t.names[::-1], t.columns[::-1]), r"in the order \['built', 'fuel', 'make', 'size'\]"),
        (lambda t: t[:0], r"X must have at least one row and one column, got shape \(0, 4\)"),
    ],
)
def test_columns_that_are_not_those_of_fit(change, words):
    frame, y = cars()
    encoder = TableEncoder().fit(Table.of(frame), y)
    with pytest.raises(ValueError, match=words):
        encoder.transform(change(Table.of(frame)))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_an_error(value):
    frame, y = cars()
    encoder = TableEncoder().fit(frame, y)
    frame.loc[3, "size"] = value
    for call in (lambda: encoder.transform(frame), lambda: TableEncoder().fit(frame, y)):
        with pytest.raises(ValueError, match=r"X must be finite or missing in column 'size', got -?inf in row 3"):
            call()


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (["a", "b", "a"], True),
        ([0, 1, 2, 1], True),
        ([0.0, 1.0, 2.0], True),
        ([0.5, 1.0, 2.0], False),
        (list(range(32)), True),
        (list(range(33)), False),
        ([[0, 1], [1, 0]], False),
        ([0.0, np.nan], False),
        (None, False),
    ],
    ids=str,
)
def test_what_counts_as_classes(y, expected):
    assert are_classes(y) == expected


def test_codes_are_numbers_from_which_the_columns_follow():
    frame = pd.DataFrame(
        {
            "size": [1.5, np.nan, 3.0],
            "make": ["b", None, "a"],
            "sold": np.array(["1970-01-02", "NaT", "1970-01-01T00:00:00.000001"], dtype="datetime64[us]"),
        }
    )
    encoder = TableEncoder().fit(frame)
    assert encoder.columns_[1].levels == ("a", "b", None)
    np.testing.assert_array_equal(encoder.codes(frame), [[1.5, 1, 86_400e6], [np.nan, 2, np.nan], [3.0, 0, 1]])
    other = frame.assign(make=["x", "b", "a"])
    assert encoder.codes(other)[0, 1] == -1
    many = pd.DataFrame({"street": [f"s{i:02}" for i in range(20)]})
    assert TableEncoder().fit(many, np.arange(20.0)).codes(many)[:, 0].tolist() == list(range(20))
    with pytest.raises(NotFittedError):
        TableEncoder().codes(frame)


def test_facts_alone_outline_the_columns():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", "y"], "c": np.array(["2020-01-01", "NaT"], "datetime64[us]")})
    encoder = TableEncoder()
    outline = TableEncoder().outline(encoder.facts(Table.of(frame), None), n_targets=1)
    assert outline.get_feature_names_out().tolist() == encoder.fit(frame).get_feature_names_out().tolist()
    many = pd.DataFrame({"a": [f"w{i}" for i in range(20)]})
    outline = TableEncoder().outline(encoder.facts(Table.of(many), None), n_targets=2)
    assert outline.get_feature_names_out().tolist() == ["a_mean0", "a_mean1"]


def test_words_that_are_all_missing_need_no_name():
    table = Table(("a", "b"), (np.array([1.0, 2.0]), np.array([None, None], dtype=object)))
    assert TableEncoder(None).fit(table).get_feature_names_out().tolist() == ["a", "b"]


def test_a_sample_is_encoded_by_what_is_known_of_all_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice([f"w{i}" for i in range(20)], 400), "b": rng.choice(["x", "y", None], 400)})
    y, part, center = rng.standard_normal((400, 1)), np.arange(400) % 5, np.full(1, 0.5)
    table, facts = Table.of(frame), TableEncoder().facts(Table.of(frame), None)
    codes = by_part(codes_of(facts[0].levels, table.columns[0]), part, 20)[100:]
    beyond = Beyond(facts, center, part[:100], (Grouped.of(codes, 100, y[100:], None, center),))
    encoder, everyone = TableEncoder(), TableEncoder().fit(frame, y)
    encoding = encoder.encoded(table[:100], y[:100], None, beyond=beyond)
    for one, other in zip(encoder.columns_, everyone.columns_, strict=True):
        assert one.levels == other.levels
    assert np.allclose(encoder.columns_[0].means, everyone.columns_[0].means, rtol=1e-12)
    assert encoding.means.beyond
    assert np.array_equal(encoding.x[:, 1:], everyone.transform(frame)[:100, 1:])
