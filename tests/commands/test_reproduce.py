"""``reproduce``: cells are written at once, skipped when there, and a killed run ends like an unbroken one."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from fourierwalk import cli
from fourierwalk.paper import results
from fourierwalk.paper.cases import CASES, Cell, at_scale

SMALL = ["--scale", "quick", "--k", "16", "32", "--experiments", "algorithm-1", "fixed"]


def stripped(folder):
    """The results without what differs from run to run: seconds."""
    kept = {}
    for key, cell in results.read(folder).items():
        kept[key] = {name: value for name, value in cell["result"].items() if name != "seconds"}
    return kept


def test_cells_are_written_with_provenance_and_skipped_when_there(tmp_path, capsys):
    command = ["reproduce", "case1", *SMALL, "--seeds", "0", "--jobs", "1", "--out", str(tmp_path)]
    assert cli.main(command) == 0
    assert "4 cells, 0 already" in capsys.readouterr().out
    path = tmp_path / "cells" / "case1" / "algorithm-1" / "K00016-seed00.json"
    content = json.loads(path.read_text())
    assert set(content) == {"settings", "result", "provenance"}
    assert content["settings"]["seed"] == 0
    assert content["provenance"]["versions"]["numpy"]
    assert 0 < content["result"]["rms_real"] <= content["result"]["rms_modulus"]
    stamp = path.stat().st_mtime_ns
    assert cli.main(command) == 0
    assert "4 cells, 4 already" in capsys.readouterr().out
    assert path.stat().st_mtime_ns == stamp


def test_other_settings_and_damaged_cells_are_computed_again(tmp_path):
    cell = Cell(at_scale(CASES["case1"], "quick"), CASES["case1"].experiments[2], 16, 0)
    results.write(tmp_path, cell, "quick", {"rms_real": 1.0}, {})
    assert results.is_there(tmp_path, cell, "quick", {})
    assert not results.is_there(tmp_path, cell, "paper", {})
    assert not results.is_there(tmp_path, cell._replace(seed=1), "quick", {})
    path = tmp_path / "cells" / f"{cell.key}.json"
    path.write_text(path.read_text()[:20])
    assert not results.is_there(tmp_path, cell, "quick", {})


def test_killed_and_started_again_it_ends_like_an_unbroken_run(tmp_path):
    command = ["reproduce", "case1", *SMALL, "--jobs", "2", "--out"]
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    run = subprocess.Popen(
        [sys.executable, "-m", "fourierwalk", *command, str(broken)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(list(broken.rglob("*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    survived = results.read(broken)
    assert 0 < len(survived) < 12
    assert cli.main([*command, str(broken)]) == 0
    assert cli.main([*command, str(whole)]) == 0
    assert len(stripped(whole)) == 12
    assert stripped(broken) == stripped(whole)
    assert not list(broken.rglob("*.part"))


def test_gathered_cells_are_the_same_and_count_as_there(tmp_path, capsys):
    command = ["reproduce", "case1", *SMALL, "--seeds", "0", "1", "--jobs", "1", "--out", str(tmp_path)]
    assert cli.main(command) == 0
    loose = results.read(tmp_path)
    assert cli.main([*command, "--gather"]) == 0
    assert sorted(path.name for path in (tmp_path / "gathered").iterdir()) == [
        "case1-algorithm-1.json",
        "case1-fixed.json",
    ]
    assert not list((tmp_path / "cells").rglob("*.json"))
    gathered = results.read(tmp_path)
    assert {key: cell["result"] for key, cell in gathered.items()} == {
        key: cell["result"] for key, cell in loose.items()
    }
    capsys.readouterr()
    assert cli.main(command) == 0
    assert "8 cells, 8 already" in capsys.readouterr().out


def test_the_parameter_table_is_printed_from_the_cases(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    assert cli.main(["reproduce", "--scale", "paper", "--parameters"]) == 0
    shown = capsys.readouterr().out
    assert "10,000,000" in shown
    assert "2350" in shown
    assert "30,000,000" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["case9"], "CASE must be one of"),
        (["case1", "--k", "7"], "leave no cell"),
        (["case1", "--jobs", "0"], "--jobs must be at least 1, got 0"),
    ],
)
def test_mistakes_are_one_sentence(arguments, words, tmp_path, capsys):
    assert cli.main(["reproduce", *arguments, "--out", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err


def test_without_images_case_4_is_left_out_and_the_rest_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    command = ["reproduce", "case1", "case4", *SMALL, "--seeds", "0", "--jobs", "1", "--data-dir", str(tmp_path / "no")]
    assert cli.main([*command, "--out", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "Case 4 is left out" in shown
    assert "--images digits" in shown
    assert {key.split("/")[0] for key in results.read(tmp_path)} == {"case1"}


def test_cuda_without_a_gpu_is_a_clear_error(tmp_path, capsys):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    command = ["reproduce", "case1", *SMALL, "--seeds", "0", "--device", "cuda", "--out", str(tmp_path)]
    assert cli.main(command) == 2
    assert "sees none" in capsys.readouterr().err
