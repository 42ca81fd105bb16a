"""The gallery's examples run as scripts: three of them always, all of them under `make stress`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
FAST = ["plot_digits.py", "plot_denoising.py", "plot_cramer_rao.py"]  # some seconds each


def run(path, folder, **environment):
    """Run an example in an empty folder, with warnings as errors."""
    environment = {**os.environ, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(
        [sys.executable, path], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []


def test_there_are_at_least_twelve():
    assert len(EXAMPLES) >= 12
    assert {path.name for path in EXAMPLES}.issuperset(FAST)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_begins_with_a_title_and_shows_a_figure(path):
    text = path.read_text(encoding="utf-8")
    first, title, line = text.splitlines()[:3]
    assert (first, line) == ('"""', "=" * len(title))
    assert "plt.show()" in text


@pytest.mark.parametrize("name", FAST)
def test_fast_examples(name, tmp_path):
    run(EXAMPLES[0].parent / name, tmp_path)


@pytest.mark.stress
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_all_examples(path, tmp_path):
    run(path, tmp_path)
