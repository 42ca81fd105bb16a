"""Files are there whole or not at all."""

import json
import os

import pytest

from fourierwalk.reporting import files


def test_text_is_written_and_folders_are_made(tmp_path):
    path = files.write_text(tmp_path / "a" / "b.txt", "Σ βₖ")
    assert path.read_text(encoding="utf-8") == "Σ βₖ"
    assert [child.name for child in path.parent.iterdir()] == ["b.txt"]


def test_a_failure_keeps_the_old_file_and_leaves_nothing_beside_it(tmp_path, monkeypatch):
    path = files.write_text(tmp_path / "b.txt", "old")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        files.write_text(path, "new")
    assert path.read_text() == "old"
    assert [child.name for child in tmp_path.iterdir()] == ["b.txt"]


def test_json_refuses_what_json_cannot_say(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(tmp_path / "a.json", {"error": float("nan")})
    assert not (tmp_path / "a.json").exists()
    assert json.loads(files.write_json(tmp_path / "a.json", {"b": 1}).read_text()) == {"b": 1}
