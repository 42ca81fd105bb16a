"""The command line: verbs, exit codes, one sentence for a mistake."""

import subprocess
import sys
import warnings

import pytest

from fourierwalk import __version__, cli
from fourierwalk.files.writing import NotWritten


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"fourierwalk {__version__}\n"


def test_every_verb_explains_itself(capsys):
    for command in cli.COMMANDS:
        verb = command.__name__.rsplit(".", 1)[1]
        with pytest.raises(SystemExit) as stop:
            cli.main([verb, "--help"])
        assert stop.value.code == 0
        assert f"fourierwalk {verb}" in capsys.readouterr().out


def test_a_mistake_is_one_sentence_and_exit_code_2(tmp_path, capsys):
    assert cli.main(["report", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("fourierwalk report: ")
    assert "holds no results" in error
    assert error.count("\n") == 1


def test_an_interrupt_is_said_and_exits_130(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.report, "main", interrupted)
    assert cli.main(["report", "x"]) == 130
    assert capsys.readouterr().err == "fourierwalk report: stopped.\n"


def test_the_module_runs():
    shown = subprocess.run(
        [sys.executable, "-m", "fourierwalk", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == f"fourierwalk {__version__}"


def test_a_fault_of_its_own_shows_no_traceback_unasked(monkeypatch, capsys, tmp_path):
    def faulty(_):
        raise KeyError("gone")

    monkeypatch.setattr(cli.report, "main", faulty)
    assert cli.main(["report", str(tmp_path)]) == 70
    error = capsys.readouterr().err
    assert error.startswith("fourierwalk report: a bug in fourierwalk, KeyError: 'gone'")
    assert error.count("\n") == 1
    assert cli.main(["report", str(tmp_path), "--debug"]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("a."), 2),
        (OSError("a."), 2),
        (NotWritten("a."), 3),
        (MemoryError("a."), 4),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes_mean_something(error, code, monkeypatch, capsys):
    def failing(_):
        raise error

    monkeypatch.setattr(cli.report, "main", failing)
    assert cli.main(["report", "x"]) == code
    assert f"\n  {code} " in cli.EXIT_CODES or f" {code} " in cli.EXIT_CODES


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line(monkeypatch, capsys):
    def warning(_):
        warnings.warn("The model is constant.", stacklevel=1)
        return 0

    monkeypatch.setattr(cli.report, "main", warning)
    assert cli.main(["report", "x"]) == 0
    assert capsys.readouterr().err == "fourierwalk report: The model is constant.\n"
