"""Outputs are there whole or not at all, and what stops one is a sentence."""

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from fourierwalk.files.writing import check_writable, replacing


def test_a_file_takes_the_place_of_the_old_one_at_the_end(tmp_path):
    path = tmp_path / "a" / "b.bin"
    for content in (b"old", b"new"):
        with replacing(path) as file:
            file.write(content)
        assert path.read_bytes() == content
    assert [child.name for child in path.parent.iterdir()] == ["b.bin"]


def test_whatever_goes_wrong_the_old_file_stays(tmp_path):
    path = tmp_path / "b.bin"
    path.write_bytes(b"old")

    def interrupted():
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert [child.name for child in tmp_path.iterdir()] == ["b.bin"]


def test_a_folder_that_is_a_file_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"file/b\.bin cannot be written: .*\.$"), replacing(tmp_path / "file" / "b.bin"):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_device_or_a_pipe_is_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for write in (replacing, check_writable):
        with pytest.raises(OSError, match="pipe cannot be written: it is a device or a pipe"), ExitStack() as stack:
            stack.enter_context(write(path))
    assert path.is_fifo()
    assert [child.name for child in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for a full disk")
def test_a_full_disk_is_a_sentence(tmp_path):
    program = """
import resource, signal, sys
from fourierwalk.files.writing import check_writable, replacing
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with replacing(sys.argv[1]) as file:
        file.write(bytes(100_000))
except OSError as error:
    print(error)
"""
    path = tmp_path / "b.bin"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{path} cannot be written: {os.strerror(27)}.\n"
    assert not list(tmp_path.iterdir())


def test_a_file_of_the_command_must_not_be_lost(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("old")
    (tmp_path / "b.csv").symlink_to("a.csv")
    for name in ("a.csv", "./a.csv", tmp_path / "a.csv", "b.csv"):
        with pytest.raises(OSError, match="cannot be written: the command already reads or writes this file"):
            check_writable(name, "other.csv", "a.csv")
    check_writable("c.csv", "other.csv", "a.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "b.csv"}
