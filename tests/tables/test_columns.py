"""Each kind of column: what it becomes, what is missing or unknown, and its plain table."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.tables.columns import Levels, Means, Moment, Number, from_table, median
from fourierwalk.tables.facts import Facts, codes_of
from fourierwalk.tables.means import Grouped

WORDS = np.array(["b", None, "a", "b", "c"], dtype=object)


def moments(*words):
    return np.array(words, dtype="datetime64[us]")


def means_of(column, y, weight=None):
    facts = Facts.of("a", column, True, weight)
    codes = codes_of(facts.levels, column)
    return Means.fit(facts, Grouped.of(codes, len(facts.levels), np.array(y)[:, None], weight))


def number_of(*values):
    column = np.array(values)
    return Number.fit(Facts.of("a", column, False), column, None)


def levels_of(column, weight=None):
    return Levels.fit(Facts.of("a", np.array(column, dtype=object), True, weight))


def moment_of(*words):
    return Moment.fit(Facts.of("t", moments(*words), False), moments(*words), None)


EVERY = {
    "number": number_of(1.0, np.nan, 3.0),
    "levels": levels_of(WORDS),
    "means": means_of(WORDS, [1.0, 2.0, 3.0, 4.0, 5.0]),
    "moment": moment_of("2024-01-01T06:00", "NaT"),
}
every_kind = pytest.mark.parametrize("kind", EVERY)


@every_kind
def test_labels_and_flags_are_of_the_columns(kind):
    column = EVERY[kind]
    raw = moments("2024-01-01", "NaT") if kind == "moment" else np.array([1.0, np.nan])
    found = column.encode(raw)
    assert found.shape == (2, len(column.labels)) == (2, len(column.is_fixed))
    assert found.dtype == np.float64
    assert np.all(np.isfinite(found))


@every_kind
def test_tables_say_all(kind):
    column = EVERY[kind]
    assert column.kind == kind
    text = json.dumps(column.to_table(), default=np.ndarray.tolist)
    again = from_table(json.loads(text))
    assert type(again) is type(column)
    assert again.labels == column.labels
    raw = moments("2023-05-05", "NaT") if kind == "moment" else np.array([1.0, np.nan, 3.0])
    assert_array_equal(again.encode(raw), column.encode(raw))


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        ("number", {"kind": "other"}, "columns of the kinds"),
        ("number", {"kind": ["number"]}, "columns of the kinds"),
        ("number", {"name": 3}, "a fitting 'name'"),
        ("number", {"median": "3"}, "a fitting 'median'"),
        ("number", {"median": float("nan")}, "a finite 'median'"),
        ("number", {"has_missing": 1}, "a fitting 'has_missing'"),
        ("moment", {"has_hours": None}, "a fitting 'has_hours'"),
        ("levels", {"levels": [1, 2, 3, 4]}, "different words as levels"),
        ("levels", {"levels": ["a", "a", "b", "c"]}, "different words as levels"),
        ("levels", {"levels": "abcd"}, "a fitting 'levels'"),
        ("levels", {"shares": [0.5, 0.5]}, r"finite numbers of shape \(4,\) in 'shares', got shape \(2,\)"),
        ("means", {"means": [["x"]] * 4}, "numbers in 'means'"),
        ("means", {"otherwise": [float("inf")]}, "finite numbers"),
    ],
)
def test_altered_tables_are_refused(kind, changes, words):
    table = json.loads(json.dumps(EVERY[kind].to_table(), default=np.ndarray.tolist))
    with pytest.raises(ValueError, match=words):
        from_table({**table, **changes})


def test_missing_numbers_are_the_median_and_marked():
    number = number_of(5.0, np.nan, 1.0, 2.0)
    assert number.labels == ["a", "a_missing"]
    assert number.is_fixed == [False, True]
    assert_array_equal(number.encode(np.array([7.0, np.nan])), [[7, 0], [2, 1]])


@pytest.mark.parametrize("values", [[1.0, 2.0], [np.nan, np.nan]])
def test_what_says_nothing_has_no_mark(values):
    number = number_of(*values)
    assert number.labels == ["a"]
    assert number.encode(np.array([np.nan])).shape == (1, 1)


def test_levels_have_a_column_each():
    levels = levels_of(WORDS)
    assert levels.labels == ["a_a", "a_b", "a_c", "a_missing"]
    assert_array_equal(levels.encode(WORDS), np.eye(4)[[1, 3, 0, 1, 2]])
    assert_allclose(levels.encode(np.array(["new"], dtype=object)), [[0.2, 0.4, 0.2, 0.2]])


def test_two_levels_share_a_column_and_one_has_none():
    column = np.array(["x", "y", "y", "y"], dtype=object)
    two = levels_of(column, np.array([1.0, 1.0, 1.0, 2.0]))
    assert two.labels == ["a_y"]
    assert_array_equal(two.encode(np.array(["x", "y", None, "z"], dtype=object)), [[0], [1], [0.8], [0.8]])
    one = levels_of(column[1:])
    assert one.labels == []
    assert one.encode(column).shape == (4, 0)


def test_numbers_are_levels_too():
    codes = np.array([3.0, 7.0, np.nan])
    levels = levels_of(["3", "7", None])
    assert_array_equal(levels.encode(codes), np.eye(3))


def test_means_of_targets():
    column = np.array(["a", "b"] * 500, dtype=object)
    means = means_of(column, np.tile([1.0, 3.0], 500))
    assert means.labels == ["a_mean"]
    found = means.encode(np.array(["a", "b", "new", None], dtype=object))
    assert_allclose(found, [[1], [3], [2], [2]], atol=1e-9)


def test_moments_are_years_and_cycles():
    moment = moment_of("2024-01-01", "2024-07-01")
    assert moment.labels == [
        "t_year",
        "t_day_of_year_cos",
        "t_day_of_year_sin",
        "t_weekday_cos",
        "t_weekday_sin",
    ]
    assert moment.is_fixed == [False, True, True, True, True]
    monday, next_monday, sunday = moment.encode(moments("2024-01-01", "2024-01-08", "2024-01-07"))
    assert abs(monday[0] - 2024) < 0.01
    assert_allclose(monday[3:], [1, 0], atol=1e-9)  # weeks begin on Mondays
    assert_allclose(next_monday[3:], monday[3:], atol=1e-9)
    assert np.max(np.abs(sunday[3:] - monday[3:])) > 0.5
    near, far = (moment.encode(moments(day))[0, 1:3] for day in ("2023-12-31", "2024-07-01"))
    assert np.linalg.norm(near - monday[1:3]) < 0.05 < 1.9 < np.linalg.norm(far - monday[1:3])


def test_hours_have_a_cycle_where_there_are_hours():
    moment = moment_of("2024-01-01T06:00", "NaT")
    assert moment.labels[-3:] == ["t_hour_cos", "t_hour_sin", "t_missing"]
    assert_allclose(moment.encode(moments("1960-05-05T06:00"))[0, -3:], [0, 1, 0], atol=1e-9)
    missing = moment.encode(moments("NaT"))[0]
    assert_array_equal(missing[1:], [0, 0, 0, 0, 0, 0, 1])
    assert abs(missing[0] - 2024) < 0.01


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 3)), min_size=1, max_size=20).filter(
        lambda p: any(w for _, w in p)
    )
)
def test_weights_of_a_median_are_repetitions(pairs):
    values, weight = (np.array(part) for part in zip(*pairs, strict=True))
    repeated = np.repeat(values, weight)
    assert median(values, values != values, weight.astype(float)) == median(repeated, repeated != repeated, None)


def test_the_median_of_nothing():
    assert median(np.full(2, np.nan), np.ones(2, dtype=bool), None) == 0.0
    assert median(np.full(2, np.nan), np.ones(2, dtype=bool), None, 7.0) == 7.0
