"""``compare`` at toy size: cells, tables, page and figures; a restart computes nothing twice."""

import json
import sys

import numpy as np
import pytest
from comparison.made_up import FAKE, data_folder
from spreadsheets import houses

from fourierwalk import cli
from fourierwalk.comparison import methods, run
from fourierwalk.paper import results

SMALL = ["--methods", "ours", "fixed", "kernel-ridge", "xrfm", "--widths", "4", "8", "--splits", "2", "--threads", "1"]


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(autouse=True)
def without_xrfm(monkeypatch):
    """Also where xRFM is installed: a missing peer is part of what is tested."""
    monkeypatch.setitem(sys.modules, "xrfm", None)


@pytest.fixture
def table(tmp_path):
    x = np.random.default_rng(0).uniform(-1, 1, (120, 2))
    rows = np.column_stack([x, np.sin(3 * x[:, 0]) + x[:, 1]])
    path = tmp_path / "sine.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b,y", comments="")
    return path


def test_cells_table_page_and_figure(table, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["compare", str(table), "wine", *SMALL, "--out", str(out)]
    assert cli.main(command) == 0
    shown = capsys.readouterr().out
    assert "24 cells, 0 already" in shown
    assert "sine: RMSE on test rows" in shown
    assert "wine: % misclassified" in shown
    assert "ours, K = 8 minus" in shown
    assert "xRFM: xrfm is not installed (2 splits)" in shown
    content = json.loads((out / "cells" / "sine" / "ours-4" / "split01.json").read_text())
    assert set(content) == {"settings", "result", "provenance"}
    assert content["settings"]["seed"] == 1
    assert content["result"]["columns"] == 8
    assert 0 < content["result"]["error"] < 1
    assert content["provenance"]["versions"]["numpy"]
    assert str(tmp_path) not in json.dumps(content)
    html = (out / "comparison.html").read_text()
    assert html.count("<svg ") == html.count("<table ") == 2
    assert "fixed, K = 4" in html
    assert {path.name for path in (out / "figures").iterdir()} == {"sine.svg", "wine.svg"}


def test_cells_without_matplotlib_and_the_page_later(table, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    command = ["compare", str(table), "--methods", "fixed", "--widths", "4", "--splits", "1", "--out", str(out)]
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "matplotlib", None)
        without.setitem(sys.modules, "matplotlib.figure", None)
        assert cli.main([*command, "--cells-only"]) == 0
        assert not (out / "comparison.html").exists()
        assert cli.main(command) == 2
    assert cli.main(["compare", "--report", str(out)]) == 0
    assert (out / "comparison.html").exists()


def test_a_restart_computes_what_is_missing(table, tmp_path, capsys, monkeypatch):
    command = ["compare", str(table), *SMALL, "--methods", "ours", "xrfm", "--out", str(tmp_path / "out")]
    computed = []
    original = run.compute

    def interrupted(cell, n_threads):
        computed.append(cell.key)
        if len(computed) == 4:
            raise KeyboardInterrupt
        return original(cell, n_threads)

    monkeypatch.setattr(run, "compute", interrupted)
    assert cli.main(command) == 130
    assert len(results.read(tmp_path / "out")) == 3
    assert cli.main(command) == 0
    assert "6 cells, 2 already" in capsys.readouterr().out
    assert len(computed) == 4 + 4
    assert cli.main([*command, "--again"]) == 0
    assert len(computed) == 4 + 4 + 6


def test_gathered_cells_make_the_same_page(table, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    command = ["compare", str(table), *SMALL, "--methods", "ours", "fixed", "--out", str(out)]
    assert cli.main(command) == 0
    html = (out / "comparison.html").read_text()
    assert cli.main([*command, "--gather"]) == 0
    assert [path.name for path in (out / "gathered").iterdir()] == ["sine.json"]
    monkeypatch.setattr(run, "compute", None)  # nothing is fitted
    (out / "comparison.html").unlink()
    capsys.readouterr()
    assert cli.main(["compare", "--report", str(out)]) == 0
    assert "sine: RMSE on test rows" in capsys.readouterr().out
    assert (out / "comparison.html").read_text() == html


def test_a_table_of_words_dates_and_holes(tmp_path, capsys):
    path, out = houses(tmp_path / "houses.csv", delimiter=";", decimal=",", n_rows=80), tmp_path / "out"
    methods = ["--methods", "ours", "kernel-ridge", "boosting"]
    assert cli.main(["compare", str(path), *methods, "--widths", "4", "--splits", "1", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "houses: RMSE on test rows" in shown
    assert "&#x27;country&#x27; is left out: it is constant." in (out / "comparison.html").read_text()
    content = json.loads((out / "cells" / "houses" / "ours-4" / "split00.json").read_text())
    assert content["result"]["n_inputs"] == 4


@pytest.mark.filterwarnings("ignore:Nothing was found")
def test_a_constant_model_can_be_written(tmp_path, capsys):
    rng = np.random.default_rng(0)
    path = tmp_path / "noise.csv"
    np.savetxt(path, rng.standard_normal((150, 3)), delimiter=",", header="a,b,y", comments="")
    assert (
        cli.main(["compare", str(path), "--methods", "ours", "--widths", "4", "--splits", "1", "--out", str(tmp_path)])
        == 0
    )
    content = json.loads((tmp_path / "cells" / "noise" / "ours-4" / "split00.json").read_text())
    assert content["result"]["error"] > 0


def test_a_folder_that_cannot_be_written_is_told_before_the_first_fit(table, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(run, "compute", None)  # nothing is fitted
    assert cli.main(["compare", str(table), *SMALL, "--out", str(table / "out")]) == 3
    assert "cannot be written" in capsys.readouterr().err


def test_a_method_that_fails_stops_nothing(table, tmp_path, capsys, monkeypatch):
    def broken(*_):
        raise MemoryError("too large")

    monkeypatch.setattr(methods, "tuned_fixed", broken)
    assert cli.main(["compare", str(table), *SMALL, "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "fixed, K = 4: MemoryError: too large (2 splits)." in shown
    assert "ours, K = 4 minus kernel ridge" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "DATASET must be one of"),
        (["wine", "wine"], "DATASET must be of different names, got 'wine' more than once"),
        (["wine", "--methods", "forest"], "--methods must name some of"),
        (["wine", "--splits", "0"], "--splits must be at least 1, got 0"),
        (["wine", "--widths", "8", "0"], "--widths must be at least 1, got 0"),
        (["wine", "--threads", "-1"], "--threads must be at least 1, got -1"),
        (["mnist", "--data-dir", "no-such-folder"], "is neither in no-such-folder"),
        (["--report", "no-such-folder"], "no-such-folder holds no cells"),
        (["wine", "--device", "gpu"], "--device must be cpu or cuda, got 'gpu'"),
    ],
)
def test_mistakes_are_one_sentence(arguments, words, tmp_path, capsys):
    assert cli.main(["compare", *arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.fixture
def suite_command(tmp_path, monkeypatch):
    monkeypatch.setenv("FOURIERWALK_COMMIT", "0123456789ab")
    monkeypatch.setenv("FOURIERWALK_DATA", str(data_folder(tmp_path / "data")))
    out = tmp_path / "out"
    return ["compare", "--suite", "tables", "small", "large", "--widths", "4", "--threads", "1", "--out", str(out)]


def test_the_suite_two_at_a_time_and_again(suite_command, tmp_path, capsys):
    command = [*suite_command, "--methods", "ours", "svm", "--splits", "2", "--jobs", "2"]
    assert cli.main(command) == 0
    shown = capsys.readouterr().out
    assert "8 cells, 0 already" in shown
    assert "### The 2 tables of `tabular`" in shown
    names = {path.parent.name for path in (tmp_path / "out" / "cells").rglob("*.json")}
    assert names == {"ours-4@0123456789ab", "svm"}
    content = json.loads((tmp_path / "out/cells/large/ours-4@0123456789ab/split01.json").read_text())
    assert content["result"]["chosen"]["n_frequencies"] == 4
    assert content["settings"]["dataset"]["task"] == "classification"
    page = (tmp_path / "out" / "suite.md").read_text()
    assert "| ours-4@0123456789ab | svm | 2 |" in page
    assert cli.main(command) == 0
    assert "8 cells, 8 already" in capsys.readouterr().out
    (tmp_path / "out" / "suite.md").unlink()
    assert cli.main(["compare", "--suite", "tables", "--report", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "suite.md").read_text() == page


def test_the_suite_needs_no_matplotlib(suite_command, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert cli.main([*suite_command, "--methods", "svm", "--splits", "1"]) == 0


def test_no_minutes_start_nothing(suite_command, tmp_path, capsys):
    for jobs in ("1", "2"):
        assert cli.main([*suite_command, "--methods", "ours", "--minutes", "0", "--jobs", jobs]) == 0
        assert "6 cells were not started in time" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_another_commit_beside(suite_command, tmp_path, capsys):
    old = tmp_path / "old" / "src" / "fourierwalk"
    old.mkdir(parents=True)
    (old / "__init__.py").write_text(FAKE)
    (tmp_path / "old" / "COMMIT").write_text("f" * 40)
    command = [*suite_command, "--methods", "ours", "--beside", str(old.parent), "--splits", "1", "--widths", "auto"]
    command.remove("large")
    assert cli.main(command) == 0
    assert "2 cells, 0 already" in capsys.readouterr().out
    found = results.read(tmp_path / "out")
    assert set(found) == {f"small/ours-auto@{commit}/split00" for commit in ("0123456789ab", "f" * 12)}
    assert found["small/ours-auto@ffffffffffff/split00"]["result"]["chosen"]["n_frequencies"] == 5
    assert str(tmp_path) not in json.dumps(found)
    (tmp_path / "old" / "COMMIT").write_text("0123456789ab")
    assert cli.main(command) == 2
    assert "--beside must be of another commit, got 0123456789ab more than once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--suite", "tables", "--data-dir", "no-such"], "--data-dir no-such must hold the folder tabular"),
        (["--suite", "tables", "--jobs", "0"], "--jobs must be at least 1, got 0"),
        (["--suite", "tables", "--minutes", "-1"], "--minutes must be at least 0, got -1"),
        (["--suite", "tables", "--widths", "auto", "0"], "--widths must be at least 1, got 0"),
        (["--suite", "tables", "--methods", "mlp"], "--methods must name some of ours, ablation, network"),
        (["wine", "--beside", "src"], "--beside needs --suite"),
    ],
)
def test_mistakes_about_the_suite_are_one_sentence(arguments, words, tmp_path, capsys):
    assert cli.main(["compare", *arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_widths_are_numbers_or_auto(capsys):
    widths = ["--widths", "auto", "64"]
    assert cli.parser().parse_args(["compare", *widths]).widths == ["auto", 64]
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["compare", "--widths", "many"])
    assert "must be numbers or auto, got 'many'" in capsys.readouterr().err
