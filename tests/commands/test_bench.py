"""The benchmark at toy sizes: every figure is there, and says whether its target is met."""

import json
import sys

import numpy as np
import pytest

from fourierwalk import cli
from fourierwalk.benchmarks.figures import read


def test_every_row_is_measured_and_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    pytest.importorskip("finufft")
    pytest.importorskip("onnx")
    assert cli.main(["bench", "--small", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "toy sizes" in shown
    content = json.loads((tmp_path / "bench.json").read_text())
    assert content["toy_sizes"] is True
    figures = [figure for part in content["parts"].values() for figure in part["figures"]]
    assert len(figures) == 119
    assert np.all(np.isfinite([figure["value"] for figure in figures]))
    exact = [f for f in figures if ("error" in f["what"] and "seconds" not in f["what"]) or "difference" in f["what"]]
    assert exact
    assert all(figure["met"] for figure in exact)
    assert (tmp_path / "scaling.png").exists()
    table = (tmp_path / "bench.md").read_text()
    assert all(f"**{figure['case']}**" in table for figure in figures)
    assert all(f"| {figure.cells[2]} |" in table for figure in read(content["parts"].values()))
    assert {"direct over N", "spectral over N", "direct over K", "spectral over K", "direct over d"} == set(
        content["scaling"]
    )


def test_parts_that_are_not_measured_again_stay(tmp_path, monkeypatch):
    """With the run that they come from; those of other sizes go."""
    for name in ("batches", "tiny"):
        monkeypatch.setattr(sys, "argv", ["fourierwalk", "bench", "--only", name])
        assert cli.main(["bench", "--small", "--only", name, "--out", str(tmp_path)]) == 0
    content = json.loads((tmp_path / "bench.json").read_text())
    assert {name: part["provenance"]["command"] for name, part in content["parts"].items()} == {
        name: f"fourierwalk bench --only {name}" for name in ("batches", "tiny")
    }
    assert (tmp_path / "bench.md").read_text().count("Commit ") == 1
    (tmp_path / "bench.json").write_text(json.dumps(content | {"scaling": 1}))
    cli.main(["bench", "--small", "--only", "tiny", "--out", str(tmp_path)])
    assert json.loads((tmp_path / "bench.json").read_text())["scaling"] == 1
    (tmp_path / "bench.json").write_text(json.dumps(content | {"toy_sizes": False}))
    cli.main(["bench", "--small", "--only", "tiny", "--out", str(tmp_path)])
    assert set(json.loads((tmp_path / "bench.json").read_text())["parts"]) == {"tiny"}


def test_unknown_names_are_refused(capsys):
    assert cli.main(["bench", "--only", "nothing"]) == 2
    assert "--only must name some of" in capsys.readouterr().err


def test_a_gpu_that_is_not_there_is_told(capsys):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert cli.main(["bench", "--device", "cuda"]) == 2
    assert "--device cuda needs a CUDA device, and torch" in capsys.readouterr().err
