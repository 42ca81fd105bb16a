"""Means, scatter, paired differences and the front, from cells made by hand."""

import math

import numpy as np
import pytest

from fourierwalk.comparison import summary
from fourierwalk.comparison.plots import pareto_figure
from fourierwalk.comparison.tuning import BESIDE, OURS, PEER


def cell(method, family, split, error=None, seconds=1.0, columns=8, value=0, **result):
    """One cell as it is stored."""
    done = {"error": error, "fit_seconds": seconds, "last_fit_seconds": seconds / 2, "predict_seconds": 0.001}
    sizes = {"columns": columns, "n_train": 1000, "n_test": 10, "n_inputs": 3}
    settings = {"name": method, "label": method.upper(), "family": family, "value": value}
    return {
        "settings": {"dataset": {"name": "toy", "task": "regression", "note": ""}, "method": settings, "split": split},
        "result": {**done, **sizes} if error is not None else result,
    }


def found_of(*cells):
    return {f"toy/{c['settings']['method']['name']}/split{c['settings']['split']:02d}": c for c in cells}


FOUND = found_of(
    cell("mlp", PEER, 0, 5.0, 9.0),
    cell("mlp", PEER, 1, 7.0, 11.0),
    cell("svm", PEER, 0, 4.0, columns=10),
    cell("svm", PEER, 1, 6.0, columns=21),
    cell("ours-64", OURS, 0, 3.0),
    cell("ours-64", OURS, 1, 6.5),
    cell("ours-8", OURS, 0, 8.0, 0.1),
    cell("ours-8", OURS, 1, 8.0, 0.1),
    cell("boosting", BESIDE, 0, 1.0, 20.0, columns=None),
    cell("boosting", BESIDE, 1, 1.0, 20.0, columns=None),
    cell("nystroem", PEER, 0, 0.5),
    cell("nystroem", PEER, 1, failure="MemoryError: no"),
    cell("xrfm", BESIDE, 0, skipped="xrfm is not installed"),
    cell("xrfm", BESIDE, 1, skipped="xrfm is not installed"),
)


def test_rows_are_ordered_and_averaged():
    rows = summary.rows(FOUND, "toy")
    assert [row.method for row in rows] == ["ours-8", "ours-64", "nystroem", "svm", "mlp", "boosting"]
    svm = rows[3]
    assert svm.errors == {0: 4.0, 1: 6.0}
    assert (svm.mean, svm.columns) == (5.0, 15.5)
    assert svm.deviation == pytest.approx(np.std([4, 6], ddof=1))
    assert (rows[4].fit_seconds, rows[4].last_fit_seconds) == (10.0, 5.0)
    assert rows[5].columns is None
    assert math.isnan(rows[2].deviation)


def test_ours_minus_the_best_peer_by_splits():
    rows = summary.rows(FOUND, "toy")
    assert summary.best_peer(rows).method == "svm"  # boosting stands beside, nystroem did not finish all splits
    narrow, narrow_too, wide, wide_too = summary.differences(rows)
    assert [(each.peer, each.n_splits) for each in (narrow_too, wide_too)] == [("NYSTROEM", 1)] * 2  # better on its one
    assert (narrow.ours, narrow.peer, narrow.mean, narrow.n_splits) == ("OURS-8", "SVM", 3.0, 2)
    assert wide.mean == pytest.approx(-0.25)
    assert wide.standard_error == pytest.approx(np.std([-1.0, 0.5], ddof=1) / np.sqrt(2))
    assert summary.words_of(wide) == "OURS-64 minus SVM: -0.25 ± 0.75 (mean ± standard error over 2 splits)."


def test_without_peers_there_is_no_difference_and_one_split_has_no_scatter():
    alone = summary.rows(found_of(cell("ours-8", OURS, 0, 2.0)), "toy")
    assert summary.best_peer(alone) is None
    assert summary.differences(alone) == []
    pair = summary.rows(found_of(cell("ours-8", OURS, 0, 2.0), cell("svm", PEER, 0, 3.0)), "toy")
    assert summary.words_of(summary.differences(pair)[0]) == "OURS-8 minus SVM: -1 (on 1 split)."
    assert summary.cells_of(alone[0]) == ["OURS-8", "2", "8", "1", "0.5", "0.001"]


def test_the_front_is_what_nothing_beats():
    assert [row.method for row in summary.front(summary.rows(FOUND, "toy"))] == ["ours-8", "nystroem"]


def test_words():
    assert summary.datasets(FOUND) == ["toy"]
    assert summary.describe(FOUND, "toy") == "Regression, 3 inputs, 1,000 training and 10 test rows, 2 splits."
    assert summary.describe(found_of(cell("svm", PEER, 0, failure="x")), "toy") == "No cell is finished."
    assert summary.left_out(FOUND, "toy") == [
        "NYSTROEM: MemoryError: no (1 split).",
        "XRFM: xrfm is not installed (2 splits).",
    ]
    assert summary.error_name(FOUND, "toy") == "RMSE on test rows"


def test_splits_of_different_settings_are_pointed_out():
    assert summary.warnings_of(FOUND, "toy") == []
    mixed = found_of(cell("svm", PEER, 0, 1.0), cell("svm", PEER, 1, 1.0, value=1))
    assert summary.warnings_of(mixed, "toy") == ["SVM: its splits were computed with different settings."]


def test_the_figure_names_every_method_and_survives_an_error_of_zero():
    pytest.importorskip("matplotlib")
    rows = summary.rows(FOUND, "toy")
    (axis,) = pareto_figure(rows, "RMSE").axes
    assert sorted(text.get_text() for text in axis.texts) == sorted(row.label for row in rows)
    assert (axis.get_xscale(), axis.get_ylabel()) == ("log", "RMSE")
    assert axis.get_yscale() == "log"
    perfect = summary.rows(found_of(cell("ours-8", OURS, 0, 0.0), cell("svm", PEER, 0, 3.0)), "toy")
    (axis,) = pareto_figure(perfect, "%").axes
    assert axis.get_yscale() == "linear"
    boxes = [text.get_window_extent() for text in axis.texts]
    assert not boxes[0].overlaps(boxes[1])
