"""Texts of one column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourierwalk.reading import values


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.sampled_from([".", ","]))
def test_numbers_come_back_as_they_were_written(given_numbers, decimal):
    plain = [repr(value) for value in given_numbers]
    np.testing.assert_array_equal(values.numbers(plain), given_numbers)
    parts = [f"{value:,.3f}".translate(str.maketrans(",.", ".,") if decimal == "," else {}) for value in given_numbers]
    np.testing.assert_array_equal(values.numbers(parts, decimal), [float(f"{value:.3f}") for value in given_numbers])


@pytest.mark.parametrize("text", ["", "  ", "NA", "?", "null", " NaN "])
def test_missing_is_missing_in_every_kind(text):
    assert np.isnan(values.numbers([text, "x"[:0]])[0])
    assert np.isnat(values.moments([text])[0])
    assert values.words([text])[0] is None


@pytest.mark.parametrize("text", ["x", "1,23", "1,2345", "12 3", "1.2.3", "0x1f", "--1", "1,,000"])
def test_what_is_no_number_is_told_with_its_place(text):
    with pytest.raises(values.OddText) as odd:
        values.numbers(["1", "", text])
    assert (odd.value.place, odd.value.text) == (2, text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-02", "2024-01-02"),
        ("2024/1/2 9:05", "2024-01-02T09:05"),
        ("2024-01-02T09:05:06.25Z", "2024-01-02T09:05:06.25"),
        ("2024-01-02 09:05:06+02:00", "2024-01-02T09:05:06"),
        ("2.1.2024", "2024-01-02"),
        ("02.01.2024 9:05:06", "2024-01-02T09:05:06"),
    ],
)
def test_moments(text, moment):
    assert values.moments([text])[0] == np.datetime64(moment)


@pytest.mark.parametrize("text", ["2024-13-01", "2024-02-30", "2024-01/02", "1/2/2024", "2024", "noon"])
def test_what_is_no_moment_is_told(text):
    with pytest.raises(values.OddText):
        values.moments([text])


def test_words_are_one_object_each():
    found = values.words(["red", "red ", "blue", "true", "FALSE"])
    assert found.tolist() == ["red", "red", "blue", "True", "False"]


def test_a_decimal_comma_is_seen_where_no_point_contradicts():
    assert values.has_decimal_comma(["a", "1,5", "2", "1.234"])
    assert not values.has_decimal_comma(["1,5", "2.25"])
    assert not values.has_decimal_comma(["1", "a,b"])
