import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from fourierwalk import inputs


def test_an_int_seeds_a_generator_and_a_random_state_draws_one():
    assert inputs.generator(3).random() == np.random.default_rng(3).random()
    own = np.random.default_rng(3)
    assert inputs.generator(own) is own
    expected = np.random.default_rng(np.random.RandomState(3).randint(2**31)).random()
    assert inputs.generator(np.random.RandomState(3)).random() == expected


@pytest.mark.parametrize(
    "groups",
    [
        [7, 3, 7, 10],
        np.array([0.5, -1.0, 0.5, 2.0]),
        ["b", "a", "b", "c"],
        np.array(["b", "a", "b", "c"], dtype=object),
        pd.Series(["b", "a", "b", "c"], index=[9, 8, 7, 6]),
        pd.Series(["b", "a", "b", "c"], dtype="category"),
        pd.Series([7, 3, 7, 10], dtype="Int64"),
        np.array(["2021", "2020", "2021", "2022"], dtype="M8[Y]"),
    ],
)
def test_groups_are_codes(groups):
    found = inputs.groups(groups, 4)
    assert type(found) is np.ndarray
    assert found.dtype.kind == "i"
    assert_array_equal(found, [1, 0, 1, 2])


def test_groups_of_any_library_are_codes_on_the_host(xp):
    found = inputs.groups(xp.asarray(np.array([7, 3, 7, 10])), 4)
    assert type(found) is np.ndarray
    assert_array_equal(found, [1, 0, 1, 2])


def test_no_groups_are_none():
    assert inputs.groups(None, 4) is None


MIXED = "groups must be all numbers or all strings with none missing, got a mix."
MISSING = "groups must not have missing entries, got NaN."


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1, 2, 3], "groups must have shape (4,), one entry per row of X, got shape (3,)."),
        ([[1], [2], [3], [4]], "groups must have shape (4,), one entry per row of X, got shape (4, 1)."),
        ("abcd", "groups must have shape (4,), one entry per row of X, got shape ()."),
        ([5, 5, 5, 5], "groups must name at least 2 groups, got 1."),
        ([1.0, 2.0, np.nan, 1.0], MISSING),
        (np.array([1.0, 2.0, np.nan, 1.0], dtype=object), MISSING),
        (np.array(["2021", "2020", "NaT", "2022"], dtype="M8[Y]"), MISSING),
        (np.array(["a", None, "b", "b"], dtype=object), MIXED),
        (np.array(["a", 1, "b", "b"], dtype=object), MIXED),
        (np.array(["a", np.nan, "b", "b"], dtype=object), MISSING),
        (np.array(["a", pd.NA, "b", "b"], dtype=object), MIXED),
    ],
)
def test_groups_that_are_wrong_are_refused_in_one_sentence(groups, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        inputs.groups(groups, 4)
