"""What is printed about a fit that is under way."""

import io
import re

import pytest

from fourierwalk.sampling.sampler import Info
from fourierwalk.training import progress
from fourierwalk.training.history import Decision
from fourierwalk.training.progress import Progress
from fourierwalk.training.selection import Look

EVENTS = [
    Decision("5 folds"),
    Info(1, 0.5, 2.0, 9.0),
    Look(5, 0.123456, 1e-4, "descent"),
    Decision("λ is small"),
    "something else",
]
LOOK = "descent, step 5: held-out error 0.1235, λ 0.0001"
TIME = re.compile(r"\[ *\d+\.\d s\] ")


def told(verbose, stream=None):
    """The lines that are printed about the events, without their times."""
    stream = io.StringIO() if stream is None else stream
    watching = Progress(verbose, stream)
    for event in EVENTS:
        watching.see(event)
    lines = stream.getvalue().splitlines()
    assert all(TIME.match(line) for line in lines)
    return [TIME.sub("", line, count=1) for line in lines]


@pytest.mark.parametrize(
    ("verbose", "lines"),
    [
        (0, []),
        (False, []),
        (1, ["5 folds", "λ is small"]),
        (True, ["5 folds", "λ is small"]),
        (2, ["5 folds", LOOK, "λ is small"]),
        (3, ["5 folds", LOOK, "λ is small"]),
    ],
)
def test_how_much_is_told(verbose, lines):
    assert told(verbose) == lines


def test_lines_begin_with_the_seconds_since_the_beginning(monkeypatch):
    now = iter([100.0, 100.04, 1334.56])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    stream = io.StringIO()
    watching = Progress(1, stream)
    watching.see(Decision("one"))
    watching.see(Decision("two"))
    assert stream.getvalue() == "[   0.0 s] one\n[1234.6 s] two\n"


def test_what_is_left_takes_as_long_as_the_last_piece_of_work(monkeypatch):
    now = iter([100.0, 110.0, 114.0, 119.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    stream = io.StringIO()
    watching = Progress(1, stream)
    for n_left in (0, 2, 0):
        watching.see(Decision("done", n_left))
    assert stream.getvalue() == "[  10.0 s] done\n[  14.0 s] done, about 8 s left\n[  19.0 s] done\n"


def test_without_a_stream_lines_go_to_what_is_the_standard_output_then(capsys, monkeypatch):
    """Not to what it was when the fit began: notebooks and tests put another in its place."""
    watching = Progress(1)
    watching.see(Decision("one"))
    assert TIME.sub("", capsys.readouterr().out) == "one\n"
    other = io.StringIO()
    monkeypatch.setattr("sys.stdout", other)
    watching.see(Decision("two"))
    assert TIME.sub("", other.getvalue()) == "two\n"


class Written(io.TextIOWrapper):
    """A stream of some encoding, which can be read back."""

    def __init__(self, encoding):
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")

    def getvalue(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_stream_that_cannot_encode_greek_gets_ascii(encoding):
    assert told(2, Written(encoding)) == ["5 folds", LOOK.replace("λ", "lambda"), "lambda is small"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso8859-7"])
def test_a_stream_that_can_encode_greek_gets_it(encoding):
    assert told(2, Written(encoding)) == ["5 folds", LOOK, "λ is small"]


def test_a_standard_output_that_cannot_encode_greek_gets_ascii(monkeypatch):
    stream = Written("ascii")
    monkeypatch.setattr("sys.stdout", stream)
    Progress(1).see(Decision("λ is small"))
    assert TIME.sub("", stream.getvalue()) == "lambda is small\n"


def test_other_letters_that_a_stream_cannot_encode_become_question_marks():
    stream = Written("ascii")
    Progress(1, stream).see(Decision("λ ≤ ω"))
    assert TIME.sub("", stream.getvalue()) == "lambda ? ?\n"


def test_lines_are_written_at_once():
    """A fit that is under way should not keep them back."""
    stream = Written("utf-8")
    Progress(1, stream).see(Decision("one"))
    assert stream.buffer.getvalue().endswith(b"one\n")
