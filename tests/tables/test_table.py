"""Frames of every library, and arrays, are read into the same columns."""

import datetime

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import train_test_split

from fourierwalk.tables.table import Table, as_moments, as_numbers, as_words, is_table

pl = pytest.importorskip("polars")

MOMENTS = [datetime.datetime(2024, 2, 29, 12, 30), None, datetime.datetime(1969, 12, 31)]
COLUMNS = {
    "number": [1.5, None, -2.0],
    "count": [1, 2, 3],
    "word": ["b", None, "a"],
    "flag": [True, None, False],
    "moment": MOMENTS,
}


def polars_frame():
    return pl.DataFrame(COLUMNS)


def pandas_frame():
    return pd.DataFrame(COLUMNS)


def categories():
    frame = pandas_frame()
    return frame.assign(word=frame["word"].astype("category"), flag=frame["flag"].astype("boolean"))


def nullable():
    return pandas_frame().astype({"number": "Float64", "count": "Int64", "word": "string", "flag": "boolean"})


def enumerated():
    return polars_frame().with_columns(pl.col("word").cast(pl.Categorical))


@pytest.mark.parametrize(
    "make", [polars_frame, pandas_frame, categories, nullable, enumerated], ids=lambda f: f.__name__
)
def test_frames_of_every_library_are_one_table(make):
    frame = make()
    assert is_table(frame)
    table = Table.of(frame)
    assert table.names == tuple(COLUMNS)
    assert table.shape == (3, 5)
    assert table.kinds == ("numbers", "numbers", "words", "words", "moments")
    assert_array_equal(table.columns[0], [1.5, np.nan, -2.0])
    assert_array_equal(table.columns[1], [1.0, 2.0, 3.0])
    assert table.columns[2].tolist() == ["b", None, "a"]
    assert table.columns[3].tolist() == ["True", None, "False"]
    assert_array_equal(table.columns[4], np.array(MOMENTS, dtype="datetime64[us]"))


def test_moments_of_a_time_zone_keep_their_hour():
    moments = pd.Series(pd.to_datetime(["2024-07-01 08:00"])).dt.tz_localize("Asia/Tokyo")
    for frame in (pd.DataFrame({"t": moments}), pl.from_pandas(pd.DataFrame({"t": moments}))):
        assert Table.of(frame).columns[0][0] == np.datetime64("2024-07-01T08:00")


def test_durations_are_numbers_of_seconds():
    frame = pl.DataFrame({"t": [datetime.timedelta(minutes=1), None]})
    assert_array_equal(Table.of(frame).columns[0], [60.0, np.nan])
    assert_array_equal(Table.of(frame.to_pandas()).columns[0], [60.0, np.nan])


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, None, 2.5], "numbers", [1.0, np.nan, 2.5]),
        (["a", None, float("nan")], "words", ["a", None, None]),
        (["a", 1.0, 2], "words", ["a", "1", "2"]),
        ([True, None, False], "words", ["True", None, "False"]),
        ([None, None, None], "numbers", [np.nan] * 3),
        ([datetime.date(2024, 1, 1), None, None], "moments", np.array(["2024-01-01", "NaT", "NaT"], "datetime64[us]")),
    ],
    ids=str,
)
def test_columns_of_objects(values, kind, expected):
    table = Table.of(np.array(values, dtype=object)[:, None])
    assert table.kinds == (kind,)
    assert_array_equal(table.columns[0], np.array(expected, dtype=table.columns[0].dtype))


@pytest.mark.parametrize("values", [[{"a": 1}, 2], [b"bytes", "word"], [3j, 1]], ids=["mapping", "bytes", "complex"])
def test_other_objects_are_named(values):
    odd = np.empty((2, 1), dtype=object)
    odd[:, 0] = values
    with pytest.raises(
        TypeError, match=r"X must hold numbers, words or dates in column 'x0', got (dict|bytes|complex)"
    ):
        Table.of(odd)


def test_what_is_a_table():
    assert is_table(np.array([["a", 1.0]], dtype=object))
    assert not is_table(np.array([[2, 1.0]], dtype=object))
    assert not is_table(np.zeros((2, 2)))
    assert not is_table([[1.0, 2.0]])
    with pytest.raises(ValueError, match="X must be a table of rows and columns, got an array of 1 dimensions"):
        Table.of(np.zeros(3))


def test_rows_are_taken_as_scikit_learn_takes_them():
    table = Table.of(polars_frame())
    train, test = train_test_split(table, test_size=1, random_state=0)
    assert len(train) + len(test) == 3
    assert table[[2, 0]].columns[1].tolist() == [3.0, 1.0]
    assert table[np.array([False, True, False])].columns[2].tolist() == [None]


def test_whole_numbers_are_words_without_a_point():
    assert as_words(np.array([3.0, np.nan, 2.5])).tolist() == ["3", None, "2.5"]
    assert as_words(np.array(["2024-01-01", "NaT"], dtype="datetime64[D]")).tolist() == ["2024-01-01", None]


def test_columns_must_hold_what_they_held():
    words, nothing = np.array([None, "x"], dtype=object), np.array([None, None], dtype=object)
    assert_array_equal(as_numbers("a", nothing), [np.nan, np.nan])
    assert np.isnat(as_moments("a", np.array([np.nan]))).all()
    with pytest.raises(ValueError, match="X must hold numbers in column 'a' as it did in fit, got 'x' in row 1"):
        as_numbers("a", words)
    with pytest.raises(ValueError, match="X must hold dates in column 'a' as it did in fit, got 'x' in row 1"):
        as_moments("a", words)
    with pytest.raises(ValueError, match="X must be finite or missing in column 'a', got -inf in row 0"):
        as_numbers("a", np.array([-np.inf, np.nan]))


def test_objects_of_pandas_are_judged_by_all_their_values():
    """narwhals judges them by the first hundred."""
    late = pd.DataFrame({"a": pd.Series([None] * 200 + [1.5], dtype=object)})
    assert Table.of(late).kinds == ("numbers",)
    assert Table.of(late[:100]).kinds == ("numbers",)
    words = pd.DataFrame({"a": pd.Series([1] * 200 + ["x"], dtype=object)})
    assert Table.of(words).kinds == ("words",)
    assert Table.of(words).columns[0].tolist()[-2:] == ["1", "x"]


def test_names_are_the_users_or_not():
    frame = pd.DataFrame([[1.0, 2.0]])
    assert Table.of(frame.set_axis(["a", "b"], axis=1)).is_named
    assert not Table.of(frame).is_named
    assert not Table.of(frame)[:1].is_named
    assert not Table.of(np.ones((1, 2))).is_named
    assert Table.of(np.ones((1, 2)), names=("a", "b")).is_named
    with pytest.raises(TypeError, match=r"names are all words or none, got \['a', 1\]"):
        Table.of(frame.set_axis(["a", 1], axis=1))


def test_tables_are_joined_as_columns_of_one_kind():
    one, other = (Table.of(pd.DataFrame({"a": a, "b": b})) for a, b in (([1.0], ["x"]), ([None], [2.5])))
    both = Table.joined([one, other], ["numbers", "words"])
    assert both.columns[1].tolist() == ["x", "2.5"]
    assert np.array_equal(both.columns[0], [1.0, np.nan], equal_nan=True)
    assert both.is_named
    gone = Table.of(pd.DataFrame({"a": [None], "b": [None]}))
    days = Table.of(pd.DataFrame({"a": [np.datetime64("2020-01-01", "us")], "b": ["x"]}))
    assert Table.joined([gone, days], ["moments", "words"]).kinds == ("moments", "words")
