import math
import re

import numpy as np
import pytest

from fourierwalk.parameters import count, number, option


@pytest.mark.parametrize("value", ["auto", True, False])
def test_options_that_are_allowed(value):
    option("standardize", value, ("auto", True, False))


@pytest.mark.parametrize("value", ["yes", 1, 0, None, 1.0, "AUTO"])
def test_options_that_are_not(value):
    sentence = f"standardize must be one of ['auto', True, False], got {value!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        option("standardize", value, ("auto", True, False))


@pytest.mark.parametrize("value", [2, 3, np.int64(7), 10**30])
def test_counts_that_are_allowed(value):
    count("patience", value, 2)


@pytest.mark.parametrize("value", [1, 0, -5, 2.0, "3", None, True, math.nan])
def test_counts_that_are_not(value):
    sentence = f"patience must be a whole number of at least 2, got {value!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        count("patience", value, 2)


def test_counts_or_words():
    count("n_frequencies", "auto", 1, words=("auto",))
    count("n_frequencies", 1, 1, words=("auto",))
    for value in (0, "Auto", None):
        sentence = f"n_frequencies must be a whole number of at least 1 or 'auto', got {value!r}."
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            count("n_frequencies", value, 1, words=("auto",))


def test_counts_that_are_optional():
    for value in (None, 1):
        count("patience", value, 1, optional=True)
    with pytest.raises(ValueError, match=r"^patience must be a whole number of at least 1, got 0\.$"):
        count("patience", 0, 1, optional=True)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5), 1e-300])
def test_numbers_that_are_allowed(value):
    number("share", value, above=0, below=1)


@pytest.mark.parametrize("value", [0, 1, -1, 1.5, math.nan, math.inf, -math.inf, "0.5", None, True, 0.5j, [0.5]])
def test_numbers_that_are_not(value):
    sentence = f"share must be a finite number above 0 and below 1, got {value!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        number("share", value, above=0, below=1)


def test_the_lower_bound_may_be_included():
    number("regularization", 0, at_least=0)
    with pytest.raises(ValueError, match=r"^regularization must be a finite number of at least 0, got -1e-09\.$"):
        number("regularization", -1e-9, at_least=0)


def test_words_and_none():
    number("step_size", "paper", above=0, words=("paper",), optional=True)
    number("step_size", None, above=0, words=("paper",), optional=True)
    with pytest.raises(
        ValueError, match=r"^step_size must be a finite number above 0 or 'paper' or None, got 'big'\.$"
    ):
        number("step_size", "big", above=0, words=("paper",), optional=True)
    with pytest.raises(ValueError, match=r"got None\.$"):
        number("step_size", None, above=0, words=("paper",))
