"""How commands tell what they are doing."""

import io

import pytest
from rich.console import Console

from fourierwalk.reporting import voice
from fourierwalk.reporting.voice import Log, Silent, Terminal


def spoken(speaker):
    speaker.say("first")
    with speaker.watch("Fitting"):
        print("[   0.3 s] half way")
        speaker.step("further")
    print("after", end="")


def test_a_log_has_a_line_for_everything(capsys):
    stream = io.StringIO()
    spoken(Log(stream))
    lines = [line.partition("] ")[2] for line in stream.getvalue().splitlines()]
    assert lines == ["first", "Fitting …", "half way", "further"]
    assert capsys.readouterr().out == "after"


def test_silence_says_nothing(capsys):
    spoken(Silent())
    assert capsys.readouterr() == ("after", "")


def test_a_terminal_has_a_line_that_moves(capsys):
    stream = io.StringIO()
    spoken(Terminal(Console(file=stream, force_terminal=True, width=80)))
    shown = stream.getvalue()
    assert "first\n" in shown
    assert "Fitting" in shown
    assert "\x1b[" in shown
    assert capsys.readouterr().out == "after"


def test_an_error_ends_the_line_that_moves():
    speaker = Terminal(Console(file=io.StringIO(), force_terminal=True))
    with pytest.raises(KeyError), speaker.watch("Fitting"):
        raise KeyError
    speaker.step("nothing is shown any more")
    speaker.say("but this")


def test_the_voice_fits_the_place():
    assert isinstance(voice.voice(quiet=True), Silent)
    assert isinstance(voice.voice(quiet=False), Log)  # the tests have no terminal
