"""The cells of the coverage command: resumed, measured, and told in a table."""

import json

import numpy as np
import pytest

from fourierwalk import cli
from fourierwalk.comparison import coverage, coverage_table


def quick(problem, seed):
    """Intervals of a known coverage."""
    n = len(problem.y_test)
    levels = np.array(coverage.LEVELS)
    half = np.quantile(np.abs(problem.y_test), levels)
    intervals = np.stack((np.tile(-half, (n, 1)), np.tile(half, (n, 1))), axis=1)
    return coverage.IntervalsFound(intervals, np.zeros(n), np.full(n, np.std(problem.y_test)), 1.0, {"degrees": 1000.0})


def test_a_cell_is_measured_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(coverage.METHODS, "ours", quick)
    arguments = ["coverage", "subjects", "--methods", "ours", "--splits", "2", "--out", str(tmp_path)]
    assert cli.main(arguments) == 0
    content = json.loads((tmp_path / "cells/subjects/ours/split00.json").read_text())
    assert content["result"]["coverage"]["0.9"] == pytest.approx(0.9, abs=0.01)
    assert content["provenance"]["commit"] is None or content["provenance"]["commit"]
    monkeypatch.setitem(coverage.METHODS, "ours", None)  # would fail if it were called
    assert cli.main([*arguments, "--gather"]) == 0
    assert "2 cells, 2 already" in capsys.readouterr().out
    assert "| subjects | 2 | 2400 | 0.9" in (tmp_path / coverage_table.FILE).read_text()


def test_a_failure_is_kept_and_tried_again(tmp_path, monkeypatch):
    monkeypatch.setitem(coverage.METHODS, "ours", lambda problem, seed: 1 / 0)
    cell = coverage.cells(None, ["seasons"], ["ours"], 1, 50)[0]
    result = coverage.compute(cell, 1)
    assert result == {"failure": "ZeroDivisionError: division by zero"}
    coverage.write(tmp_path, cell, result, {})
    assert not coverage.is_there(tmp_path, cell, {})
    assert len(cell.problem().y) == len(cell.problem().groups) == 50


@pytest.mark.parametrize(
    ("names", "methods", "words"), [(["nowhere"], None, "DATASET must be"), ([], ["magic"], "--methods must be")]
)
def test_unknown_names_are_a_sentence(names, methods, words):
    with pytest.raises(ValueError, match=words):
        coverage.cells(None, names, methods, None, None)


def test_what_is_allowed():
    assert coverage_table.allowed(900) == pytest.approx(0.07)
