"""``report`` draws every kind of results folder, or says which kinds it knows."""

import shutil
from pathlib import Path

import pytest

from fourierwalk import cli

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize(
    ("folder", "page"),
    [
        ("paper", "report.html"),
        ("compare/mnist", "comparison.html"),
        ("compare/suite", "suite.md"),
        ("bench", "bench.html"),
    ],
)
def test_every_kind_is_drawn(folder, page, tmp_path, capsys):
    shutil.copytree(RESULTS / folder, tmp_path / "copy")
    (tmp_path / "copy" / page).unlink(missing_ok=True)
    assert cli.main(["report", str(tmp_path / "copy")]) == 0
    assert f"The page: {tmp_path / 'copy' / page}" in capsys.readouterr().out
    assert (tmp_path / "copy" / page).stat().st_size > 1000


def test_others_are_told_which_there_are(tmp_path, capsys):
    for folder in (tmp_path, tmp_path / "gone", RESULTS / "stress"):
        assert cli.main(["report", str(folder)]) == 2
        assert "fourierwalk reproduce, compare, compare --suite or bench wrote" in capsys.readouterr().err
