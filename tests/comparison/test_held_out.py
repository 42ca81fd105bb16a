"""What a model stands beside."""

import numpy as np
import pytest

from fourierwalk.comparison import held_out
from fourierwalk.tables.table import Table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
WORDS = np.where(X[:, 1] > 0, "a", "b").astype(object)
TABLE = Table(("n", "w"), (np.where(X[:, 0] > 2, np.nan, X[:, 0]), WORDS))


def test_rows_are_parted_once_and_for_all():
    one, other = (held_out.parts(X[:, 0], "regression", 0.25, seed=3) for _ in range(2))
    assert one.test.tolist() == other.test.tolist()
    assert sorted([*one.train, *one.test]) == list(range(200))
    assert one.test.size == 50


def test_classes_are_held_out_in_equal_shares():
    y = np.array(["rare"] * 20 + ["common"] * 180)
    assert np.sum(y[held_out.parts(y, "classification", 0.2, 0).test] == "rare") == 4
    assert held_out.parts(np.array(["one", *["other"] * 99]), "classification", 0.2, 0).test.size == 20


def test_few_rows_are_all_learnt_from():
    found = held_out.parts(X[:30, 0], "regression", 0.2, 0)
    assert (found.train.size, found.test.size) == (30, 0)


def test_many_rows_are_held_out_up_to_a_number():
    many = np.arange(2 * held_out.MOST_ROWS + 10.0)
    assert held_out.parts(many, "regression", 0.5, 0).test.size == held_out.MOST_ROWS


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_references_take_tables_with_holes(task):
    y = X[:, 0] if task == "regression" else WORDS.astype(str)
    split = held_out.parts(y, task, 0.2, 0)
    errors = held_out.reference_errors(TABLE, y, task, split, 0)
    baseline = "the mean" if task == "regression" else "the commonest class"
    assert list(errors) == [baseline, "a linear model", "boosting"]
    assert errors["a linear model"] < 0.9 * errors[baseline]
