import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourierwalk.chunks.tree import joined, tree


@given(st.lists(st.integers(-(10**6), 10**6)))
def test_the_sum_is_the_sum(numbers):
    assert tree(numbers) == (sum(numbers) if numbers else None)


@given(st.integers(1, 70))
def test_every_share_is_taken_once_and_in_order(n):
    assert tree([(i,) for i in range(n)]) == tuple(range(n))


@pytest.mark.parametrize(("n", "shape"), [(1, "a"), (2, "(ab)"), (3, "((ab)c)"), (5, "(((ab)(cd))e)")])
def test_the_tree_is_fixed_by_the_number_of_shares(n, shape):
    assert tree("abcdefgh"[:n], "({}{})".format) == shape


def test_few_sums_wait_at_the_same_time():
    alive, most = 0, 0

    class Counted:
        def __init__(self):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __add__(self, other):
            return Counted()

        def __del__(self):
            nonlocal alive
            alive -= 1

    tree(Counted() for _ in range(1000))
    assert most <= 13  # log₂ 1000, and the three of a sum


def test_a_chunk_without_rows_has_no_share():
    assert joined(None, 2) == 2
    assert joined(2, None) == 2
    assert joined(None, None) is None
    assert tree([None, np.float64(1), None]) == 1
