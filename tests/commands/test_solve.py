"""The problems of calculus at toy sizes: figures, pictures, and a run that is continued."""

import json

import numpy as np
import pytest

from fourierwalk import cli
from fourierwalk.benchmarks.operators import PROBLEMS


def test_results_are_written_and_kept(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("COLUMNS", "200")
    names = ["helmholtz", "gradient"]
    assert cli.main(["solve", "--small", "--out", str(tmp_path), "--only", *names]) == 0
    result = json.loads((tmp_path / "helmholtz.json").read_text())
    assert result["toy_sizes"] is True
    figures = {figure["what"]: figure for figure in result["figures"]}
    assert figures["relative error"]["met"]
    assert figures["relative error"]["value"] <= figures["relative error that the solver expects, at most"]["value"]
    assert (tmp_path / "helmholtz.png").exists()
    assert not (tmp_path / "gradient.png").exists()
    table = (tmp_path / "operators.md").read_text()
    assert f"| {figures['relative error']['value']:.3g} |" in table
    written = (tmp_path / "helmholtz.json").stat().st_mtime_ns
    assert cli.main(["solve", "--small", "--out", str(tmp_path), "--only", *names]) == 0
    assert "done before" in capsys.readouterr().out
    assert (tmp_path / "helmholtz.json").stat().st_mtime_ns == written


def test_an_unknown_problem(capsys):
    assert cli.main(["solve", "--only", "navier"]) == 2
    assert "--only must name some of ['poisson'" in capsys.readouterr().err


def test_every_problem_is_finite(tmp_path):
    """Sobol indices at toy sizes; the equations are in the tests of the solver."""
    figures = PROBLEMS["sobol"](8).figures
    assert np.all(np.isfinite([figure.value for figure in figures]))
    assert sum("Monte Carlo" in figure.case for figure in figures) == 16
