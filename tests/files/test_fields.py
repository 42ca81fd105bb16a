"""Fields are checked when they are asked for."""

import numpy as np
import pytest

from fourierwalk.files.fields import Fields

FIELDS = Fields({"a": np.zeros(2), "n": 3, "w": ["x"], "nan": np.array([np.nan]), "none": None, "in": {"b": 1}}, "top")


def test_what_fits_is_given():
    assert FIELDS.array("a", 2).shape == FIELDS.array("a", None).shape == (2,)
    assert np.isnan(FIELDS.array("nan", 1, finite=False)[0])
    assert (FIELDS.count("n"), FIELDS.number("n"), FIELDS.words("w")) == (3, 3.0, ["x"])
    assert FIELDS.fields("in").get("b") == 1
    assert FIELDS.has("n")
    assert not FIELDS.has("none")
    assert not FIELDS.has("gone")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: FIELDS.get("gone"), "top.gone must be there"),
        (lambda: FIELDS.array("a", 3), r"top.a must be an array of finite numbers of shape \(3\), got one of shape"),
        (lambda: FIELDS.array("a", 2, None), r"shape \(2, any\)"),
        (lambda: FIELDS.array("a", 2, kinds="b"), "top.a must be an array"),
        (lambda: FIELDS.array("nan", 1), "finite"),
        (lambda: FIELDS.array("n"), "got int"),
        (lambda: FIELDS.count("n", 4), "top.n must be a whole number of at least 4"),
        (lambda: FIELDS.number("w"), "top.w must be a finite number"),
        (lambda: FIELDS.words("n"), "top.n must be a list of words, got int"),
        (lambda: FIELDS.option("n", (1, 2)), "top.n must be one of"),
        (lambda: FIELDS.fields("in").fields("b"), "top.in.b must be named values, got int"),
    ],
)
def test_what_does_not_is_a_sentence(ask, words):
    with pytest.raises(ValueError, match=words) as caught:
        ask()
    assert str(caught.value).endswith(".")
