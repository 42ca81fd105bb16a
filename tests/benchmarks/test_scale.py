"""The benchmark of rows beyond memory at toy sizes."""

import json
import os

import numpy as np

from fourierwalk import cli
from fourierwalk.benchmarks.memory import anonymous_bytes, peak_bytes
from fourierwalk.benchmarks.scale import chunked, made, stepped
from fourierwalk.chunks import Blocks
from fourierwalk.data.rows import Rows


def test_figures_are_measured_and_written(tmp_path):
    names = ["growth", "out-of-core", "out-of-core-memory"]
    assert cli.main(["bench", "--small", "--only", *names, "--out", str(tmp_path)]) == 0
    content = json.loads((tmp_path / "bench.json").read_text())
    figures = [figure for part in content["parts"].values() for figure in part["figures"]]
    assert len(figures) == 10
    assert np.all(np.isfinite([figure["value"] for figure in figures]))
    traffic = next(figure for figure in figures if "50 times the rows" in figure["what"])
    assert traffic["value"] == 1


def test_a_step_in_chunks_is_the_step_in_memory():
    x, y = made(0, 300, 4)
    rows = chunked(Blocks([(x[:99], y[:99]), (x[99:], y[99:])]), 4, 300)
    assert np.allclose(stepped(rows, 5)().amplitudes, stepped(Rows(x, y[:, None]), 5)().amplitudes, atol=1e-12)


def test_memory_is_measured_while_a_program_runs():
    assert anonymous_bytes(os.getpid()) > 1e6
    assert np.isnan(anonymous_bytes(2**30))
    assert peak_bytes("json.tool", "--help") > 1e6
