import numpy as np
import pytest

from fourierwalk.tables.encoder import are_classes


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
