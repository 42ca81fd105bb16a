"""Facts about columns: those of some rows and of others add up to those of all."""

from functools import reduce
from itertools import chain
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourierwalk.tables.facts import Facts, codes_of, days_of, levels_of, years_of

WORDS = st.lists(st.lists(st.sampled_from([None, "a", "b", "c"]), max_size=5), min_size=1, max_size=5)
NUMBERS = st.lists(st.lists(st.sampled_from([np.nan, -1.0, 0.0, 2.5]), max_size=5), min_size=1, max_size=5)


def words(values):
    return np.array(values, dtype=object)


def moments(*values):
    return np.array(values, dtype="datetime64[us]")


@given(WORDS)
def test_levels_add_up(parts):
    parts = [part for part in parts if part] or [["a"]]
    whole = Facts.of("a", words([*chain(*parts)]), True)
    assert reduce(add, [Facts.of("a", words(part), True) for part in parts]) == whole


@given(NUMBERS)
def test_numbers_add_up(parts):
    parts = [part for part in parts if part] or [[1.0]]
    whole = Facts.of("a", np.array([*chain(*parts)]), False)
    assert reduce(add, [Facts.of("a", np.array(part), False) for part in parts]) == whole


def test_dates_add_up():
    one, other = Facts.of("a", moments("2020-01-01", "NaT"), False), Facts.of("a", moments("2019-01-01T06"), False)
    both = one + other
    assert both == Facts.of("a", moments("2020-01-01", "NaT", "2019-01-01T06"), False)
    assert (one.has_hours, both.has_hours, both.has_gaps) == (False, True, True)


def test_weights_are_counted():
    facts = Facts.of("a", words(["b", None, "b"]), True, np.array([1.0, 2.0, 3.0]))
    assert facts.weights == {"b": 4.0, None: 2.0}
    assert facts.levels == ("b", None)
    assert Facts.of("a", np.array([3.0, 1.5]), True).levels == ("1.5", "3")


def test_what_is_missing_in_a_part_takes_the_kind_of_the_others():
    gone, number = Facts.of("a", np.array([np.nan]), False), Facts.of("a", np.array([5.0]), False)
    word, day = Facts.of("a", words(["x"]), True), Facts.of("a", moments("2020-01-01"), False)
    assert (gone + number).low == (number + gone).low == 5.0
    for other in (number, word, day):
        assert (gone + other).kind == (other + gone).kind == other.kind
        assert (gone + other).has_gaps
    none = Facts.of("a", words([None]), True)
    assert (none + gone).kind == "numbers"
    assert (none + none).kind == "words"
    assert (none + none).levels == (None,)


def test_words_after_numbers_are_not_yet_counted():
    number, word = Facts.of("a", np.array([5.0]), False), Facts.of("a", words(["x"]), True)
    for both in (number + word, word + number, number + word + word):
        assert both.kind == "words"
        assert not both.is_counted
    assert word.is_counted
    assert number.is_counted
    assert (Facts.of("a", np.array([5.0]), True) + word).weights == {"5": 1.0, "x": 1.0}


def test_dates_among_others_are_refused_with_their_blocks():
    day = Facts.of("a", moments("2020-01-01"), False, block=3)
    word = Facts.of("a", words(["x"]), True, block=7)
    with pytest.raises(ValueError, match="one kind in column 'a', got dates in block 3 and words in block 7"):
        day + word
    with pytest.raises(ValueError, match="got words in block 7 and dates in block 3"):
        Facts.of("a", words([None]), True, block=0) + word + day


def test_levels_are_bounded_where_they_are_added(monkeypatch):
    monkeypatch.setattr("fourierwalk.tables.facts.MOST_LEVELS", 3)
    many = Facts.of("a", words(list("abcd")), True)
    with pytest.raises(ValueError, match="at most 3 levels in a category, got more in column 'a' by block 2: leave it"):
        many.bounded(2)
    few = Facts.of("a", words(list("ab")), True)
    assert few + few == few.__class__.of("a", words(list("abab")), True)
    with pytest.raises(ValueError, match="by block 5"):
        few + Facts.of("a", words(list("cd")), True, block=5)


def test_infinity_is_named():
    with pytest.raises(ValueError, match="finite or missing in column 'a', got -inf in row 1"):
        Facts.of("a", np.array([1.0, -np.inf]), False)


def test_levels_and_codes():
    column = words(["b", None, "a", "b"])
    assert levels_of(column) == ("a", "b", None)
    assert codes_of(("a", "b"), column).tolist() == [1, -1, 0, 1]


def test_years():
    assert years_of(days_of(moments("1970-01-01"))).tolist() == [1970.0]
    assert abs(years_of(days_of(moments("2020-07-01")))[0] - 2020.5) < 0.01
