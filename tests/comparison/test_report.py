"""The comparison's page, from the committed cells and from cells made by hand."""

import re
import shutil
from pathlib import Path

import pytest

from fourierwalk.comparison import report
from fourierwalk.comparison.summary import Difference
from fourierwalk.comparison.tuning import OURS, PEER

COMMITTED = Path(__file__).parents[2] / "results" / "compare"


def cell(method, family, split, error, gpu=None):
    done = {"error": error, "fit_seconds": 2.0, "last_fit_seconds": 1.0, "predict_seconds": 0.01}
    sizes = {"columns": 8, "n_train": 1000, "n_test": 10, "n_inputs": 3, "threads": 1}
    machine = {"gpu": gpu} if gpu else {}
    return f"toy/{method}/split{split:02d}", {
        "settings": {
            "dataset": {"name": "toy", "task": "regression", "note": ""},
            "method": {"name": method, "label": method, "family": family},
            "split": split,
        },
        "result": {**done, **sizes},
        "provenance": {"commit": "abc", "machine": machine, "versions": {}},
    }


CELLS = dict(
    [
        *(cell("ours-8", OURS, i, 1.0 + 0.1 * i, "H200") for i in range(3)),
        *(cell("svm", PEER, i, 2.0 + 0.1 * i, "H200") for i in range(3)),
        *(cell("mlp", PEER, i, 0.5) for i in range(2)),
    ]
)


def test_the_overview_names_the_peer_that_is_hardest_to_beat():
    """The network has fewer splits, so the best peer is another; on the splits that both have it is ahead."""
    claim = report._widest(CELLS, "toy")
    assert claim.text == "toy: 1.10 ± 0.10 (ours-8) against 0.5 (mlp), RMSE on test rows"
    assert claim.verdict == "behind"
    assert "over 2 splits" in claim.evidence


@pytest.mark.parametrize(
    ("mean", "error", "verdict"),
    [(-1.0, 0.4, "ahead"), (1.0, 0.4, "behind"), (1.0, 0.5, "level"), (-1, float("nan"), "not testable at this scale")],
)
def test_verdicts_are_by_two_standard_errors(mean, error, verdict):
    assert report._verdict(Difference("ours", "peer", mean, error, 3)) == verdict


def test_every_column_has_its_unit_and_gpu_rows_are_marked():
    assert report._header(CELLS, "toy") == [
        "method",
        "RMSE on test rows (units of y)",
        "real columns (count)",
        "fit with tuning (s)",
        "last fit (s)",
        "predict all test rows (s)",
    ]
    rows = [line for line in report.markdown(CELLS).splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| ours-8 †", "| svm", "| mlp"]
    assert report.markdown(CELLS).count(report.GPU_NOTE) == 1


def test_every_reader_sees_the_page_of_the_committed_results(tmp_path, browser):
    (tmp_path / "gathered").mkdir()
    for name in ("borehole", "case2", "mnist", "wine"):  # most methods, GPU rows, classes, an error of zero
        shutil.copy(COMMITTED / "gathered" / f"{name}.json", tmp_path / "gathered")
    path = report.write_report(tmp_path)
    browser.check(path)
    html = path.read_text()
    names = {each.stem for each in (tmp_path / "gathered").glob("*.json")}
    assert {each.stem for each in (tmp_path / "figures").glob("*.svg")} == names
    tips = [tip for tip in re.findall(r"<title>([^<]*)</title>", html) if "split and seed" in tip]
    assert tips
    assert all(re.search(r"in [\d.]+ s\n", tip) and "commit " in tip for tip in tips)


def test_an_empty_folder_is_a_clear_error(tmp_path):
    with pytest.raises(ValueError, match="holds no cells: fourierwalk compare"):
        report.write_report(tmp_path)
