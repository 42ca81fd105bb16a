"""Several cells at a time: all results arrive, and a process that dies is a failure."""

import os
import time
from dataclasses import dataclass

import numpy as np
import pytest

from fourierwalk.comparison.datasets import Dataset, TrainTest
from fourierwalk.comparison.processes import computed
from fourierwalk.comparison.run import Entry
from fourierwalk.comparison.tuning import PEER, Fitted


@dataclass(frozen=True)
class Zero:
    """Predicts zeros, or dies, or raises."""

    name: str
    label = "zero"
    family = PEER

    def settings(self):
        return {}

    def absent(self, n_rows):
        return None

    def fit(self, x, y, seed):
        if self.name == "dies":
            os._exit(7)
        if self.name == "raises":
            raise ValueError("no luck")
        time.sleep(0.3)
        return Fitted(self, 1.0, 1.0, {"process": os.getpid(), "threads": os.environ["OMP_NUM_THREADS"]})

    def predict(self, x):
        return np.zeros(x.shape[0])

    def columns(self, model):
        return None


def cells(*names):
    rows = TrainTest(np.zeros((3, 1)), np.zeros(3), np.zeros((2, 1)), np.ones(2))
    toy = Dataset("toy", "regression", lambda i: rows)
    return [Entry(toy, Zero(name), 0) for name in names]


def test_one_that_dies_takes_no_other_with_it():
    found = {cell.method.name: result for cell, result in computed(cells("a", "dies", "raises", "b", "c"), 2, 1)}
    assert found["dies"] == {"failure": "its process ended with code 7"}
    assert found["raises"] == {"failure": "ValueError: no luck"}
    assert {name: result["error"] for name, result in found.items() if "error" in result} == dict.fromkeys("abc", 1.0)
    assert len({found[name]["chosen"]["process"] for name in "abc"}) == 3
    assert found["a"]["chosen"]["threads"] == "1"


def test_so_many_at_a_time_and_no_more():
    asked = []

    def one_by_one():
        for cell in cells("a", "b", "c", "d"):
            asked.append(cell.method.name)
            yield cell

    results = computed(one_by_one(), 2, 1)
    next(results)
    assert asked == ["a", "b"]
    results.close()  # ends what still runs
    with pytest.raises(StopIteration):
        next(results)
