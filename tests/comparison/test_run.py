"""Cells: measured against plain NumPy, written at once, found again, and none stops the others."""

from dataclasses import dataclass

import numpy as np
import pytest

from fourierwalk.comparison import run
from fourierwalk.comparison.datasets import Dataset, TrainTest, find
from fourierwalk.comparison.methods import Ours
from fourierwalk.comparison.run import Entry, cells, compute, error_of, is_there, write
from fourierwalk.comparison.tuning import PEER, Fitted
from fourierwalk.paper import results

ORIGIN = {"command": "", "commit": "c", "date": "d", "machine": {}, "versions": {}}


@dataclass(frozen=True)
class Constant:
    """Predicts a number, or fails, or does not apply."""

    value: float = 1.0
    problem: str = ""
    name = "constant"
    label = "a constant"
    family = PEER

    def settings(self):
        return {"value": self.value}

    def absent(self, n_rows):
        return "there are too many" if self.problem == "absent" else None

    def fit(self, x, y, seed):
        if self.problem == "fails":
            raise RuntimeError("no luck")
        return Fitted(self, 3.0, 1.0, {"seed": seed})

    def predict(self, x):
        return np.full(x.shape[0], self.value)

    def columns(self, model):
        return 7


def toy(task="regression"):
    x, y = np.zeros((6, 2)), np.array([1, 1, 0, 1])
    return Dataset("toy", task, lambda i: TrainTest(x, np.ones(6, int), np.zeros((4, 2)), y + i), settings={"rows": 6})


def test_a_cell_holds_error_seconds_and_columns():
    result = compute(Entry(toy(), Constant(2.0), 0), 1)
    assert result["error"] == pytest.approx(np.sqrt((1 + 1 + 4 + 1) / 4))
    assert (result["fit_seconds"], result["last_fit_seconds"], result["columns"]) == (3.0, 1.0, 7)
    assert (result["n_train"], result["n_test"], result["n_inputs"], result["threads"]) == (6, 4, 2, 1)
    assert result["predict_seconds"] >= 0
    assert compute(Entry(toy(), Constant(), 4), 1)["chosen"] == {"seed": 4}
    assert compute(Entry(toy("classification"), Constant(1), 0), 1)["error"] == 25.0


def test_failures_and_absences_are_results_too():
    assert compute(Entry(toy(), Constant(problem="fails"), 0), 1) == {"failure": "RuntimeError: no luck"}
    assert compute(Entry(toy(), Constant(problem="absent"), 0), 1) == {"skipped": "there are too many"}
    assert "not finite" in compute(Entry(toy(), Constant(np.nan), 0), 1)["failure"]


def test_errors_are_in_the_targets_units():
    assert error_of("regression", np.array([3.0, 1.0]), np.array([0.0, 5.0])) == pytest.approx(np.sqrt(12.5))
    assert error_of("classification", np.array([0, 1, 2]), np.array([0, 2, 1])) == pytest.approx(200 / 3)


def test_finished_cells_are_found_again_and_others_are_not(tmp_path):
    cell = Entry(toy(), Constant(), 0)
    assert not is_there(tmp_path, cell, {})
    path = write(tmp_path, cell, {"error": 1.0}, ORIGIN)
    assert path == tmp_path / "cells" / "toy" / "constant" / "split00.json"
    assert is_there(tmp_path, cell, {})
    assert not is_there(tmp_path, cell._replace(method=Constant(2.0)), {})
    assert not is_there(tmp_path, cell._replace(split=1), {})
    assert not is_there(tmp_path, cell._replace(dataset=find("borehole")), {})
    for result in ({"failure": "x"}, {"skipped": "y"}):
        write(tmp_path, cell, result, ORIGIN)
        assert not is_there(tmp_path, cell, {})
    path.write_text("{")
    assert not is_there(tmp_path, cell, {})


def test_gathered_cells_are_found_too(tmp_path):
    cell = Entry(toy(), Constant(), 0)
    write(tmp_path, cell, {"error": 1.0}, ORIGIN)
    write(tmp_path, cell._replace(split=1), {"error": 2.0}, ORIGIN)
    assert [path.name for path in run.gather(tmp_path)] == ["toy.json"]
    assert not list((tmp_path / "cells").rglob("*.json"))
    gathered = results.read_gathered(tmp_path)
    assert [stored["result"]["error"] for stored in gathered.values()] == [1.0, 2.0]
    assert is_there(tmp_path, cell, gathered)
    assert not is_there(tmp_path, cell, {})


def test_a_split_is_finished_before_the_next():
    found = cells([find("wine"), find("diabetes")], [4, 8], ["ours", "svm"], 2)
    assert len(found) == 2 * 2 * 3
    assert [cell.key for cell in found[:4]] == [
        "wine/ours-4/split00",
        "wine/ours-8/split00",
        "wine/svm/split00",
        "wine/ours-4/split01",
    ]


def test_the_same_cell_twice_has_the_same_error():
    cell = Entry(find("diabetes"), Ours("regression", 4), 1)
    one, two = compute(cell, 1), compute(cell, 1)
    assert one["error"] == two["error"]
    assert 40 < one["error"] < 90
    assert one["target_spread"] == pytest.approx(np.std(find("diabetes").splits(1).y_test))
