"""What is kept belongs to the very arrays that it was made of."""

import copy
import pickle

import numpy as np
import pytest

from fourierwalk.data.features import CosineSine, sigmoid
from fourierwalk.data.kept import Kept
from fourierwalk.data.rows import BLOCK_BYTES, Rows
from fourierwalk.solving.least_squares import LeastSquares


class Making:
    """Counts what is made."""

    def __init__(self):
        self.n = 0

    def __call__(self):
        self.n += 1
        return [self.n]


def test_the_same_is_made_once():
    kept, make, omega, other = Kept(), Making(), np.ones((3, 2)), object()
    first = kept.of(omega, (other,), "how", make)
    assert kept.of(omega, (other,), "how", make) is first
    assert kept.of(omega.copy(), (other,), "how", make) == [2]  # equal, but not the same
    assert kept.of(omega, (object(),), "how", make) == [3]
    assert kept.of(omega, (other,), "how", make) == [4]  # one thing is kept, the last
    assert kept.of(omega, (other,), "otherwise", make) == [5]
    kept.forget()
    assert kept.of(omega, (other,), "otherwise", make) == [6]


def test_what_is_changed_in_place_is_made_again(anywhere):
    kept, make, omega = Kept(), Making(), anywhere.asarray(np.ones((3, 2)))
    assert kept.of(omega, (), "", make) == kept.of(omega, (), "", make) == [1]
    if isinstance(omega, np.ndarray) or hasattr(omega, "_version"):
        omega[0, 0] = 5.0
        assert kept.of(omega, (), "", make) == [2]


def test_what_was_there_is_dropped_before_more_is_made():
    kept, omega = Kept(), np.ones(2)
    kept.of(omega, (), "", lambda: "old")

    def make():
        assert kept._entry is None
        return "new"

    assert kept.of(omega + 1, (), "", make) == "new"


def test_what_fails_leaves_nothing():
    kept, make, omega = Kept(), Making(), np.ones(2)

    def fail():
        raise MemoryError("too large")

    with pytest.raises(MemoryError):
        kept.of(omega, (), "", fail)
    assert kept.of(omega, (), "", make) == [1]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda kept: pickle.loads(pickle.dumps(kept))])
def test_copies_begin_with_nothing(copied):
    kept, make, omega = Kept(), Making(), np.ones(2)
    kept.of(omega, (), "", make)
    assert copied(kept).of(omega, (), "", make) == [2]


@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2.0, 60)])
def test_a_gradient_takes_the_columns_of_the_solve(weight, monkeypatch):
    rng, made = np.random.default_rng(0), []
    x, omega = rng.normal(size=(60, 2)), rng.normal(size=(4, 2))
    rows = Rows(x, np.sin(x[:, :1]), weight)
    minimize = LeastSquares(rows, CosineSine(), 0.1)
    monkeypatch.setattr("fourierwalk.data.waves.cos_sin", lambda *args: made.append(args) or of_all(*args))
    beta = minimize(omega).amplitudes
    gradient = minimize.gradient(omega, beta)
    assert len(made) == 1
    minimize.forget()
    assert np.array_equal(minimize.gradient(omega, beta), gradient)
    assert len(made) == 2


def of_all(phases, shape):
    values = phases(slice(0, shape[0]))
    return np.concatenate((np.cos(values), np.sin(values)), axis=1)


def test_rows_in_several_blocks_keep_nothing():
    rows = Rows(np.ones((60, 2)), np.ones((60, 1)), block_bytes=8 * 8 * 5)
    blocks = list(rows.blocks(8))
    assert len(blocks) == 12
    assert all(block.kept is None for block in blocks)


@pytest.mark.parametrize("n_rows", [30, 90, 150])
def test_a_solve_keeps_what_a_gradient_can_take(n_rows):
    """A gradient needs twice the room: what is one block for the solve alone is not kept."""
    width = BLOCK_BYTES // (8 * 40)  # 120 rows are one block of so many columns, 60 of twice as many
    rows = Rows(np.ones((n_rows, 2)), np.ones((n_rows, 1)))
    kept = [[block.kept is not None for block in rows.blocks(width, beside)] for beside in (0, width)]
    several = rows.blocks(width, 9 * width)
    assert not any(block.kept for block in several)  # none may take another's columns
    assert kept == {30: [[True], [True]], 90: [[False], 5 * [False]], 150: [4 * [False], 8 * [False]]}[n_rows]


def test_features_of_ones_own_keep_nothing_unasked():
    x = np.random.default_rng(0).normal(size=(30, 2))
    rows = Rows(x, x[:, :1])
    LeastSquares(rows, sigmoid(), 0.1)(np.ones((3, 3)))
    assert rows.kept._entry is None
