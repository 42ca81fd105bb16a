"""Requests of a search to its journal."""

import numpy as np
import pytest
from tables import drained

from fourierwalk.training.ensemble import Ensemble
from fourierwalk.training.history import Decision
from fourierwalk.training.replay import Finished, Request, piece
from fourierwalk.training.watching import watch


def work(rng, log):
    log.append("worked")
    yield Decision("a")
    rng.random()
    return "result"


def test_without_a_journal_the_work_is_done():
    rng, log = np.random.default_rng(0), []
    assert drained(piece(work(rng, log), rng)) == ([Decision("a")], "result")
    assert log == ["worked"]


def test_a_finished_piece_is_taken_from_the_journal():
    rng, log, after = np.random.default_rng(0), [], np.random.default_rng(0)
    after.random()
    search = piece(work(rng, log), rng)
    assert isinstance(search.send(None), Request)
    assert search.send(Finished([Decision("kept")], "kept result", [after.bit_generator.state])) == Decision("kept")
    with pytest.raises(StopIteration) as end:
        next(search)
    assert end.value.value == "kept result"
    assert log == []
    assert rng.random() == after.random()


class Record:
    def __init__(self):
        self.seen = []

    def begin_piece(self):
        self.seen.append("begun")

    def see(self, event):
        self.seen.append(event)

    def end_piece(self, result, sources):
        self.seen.append((result, sources))

    def close(self):
        self.seen.append("closed")


def test_watch_hands_events_and_requests_to_the_journal():
    rng, found, record = np.random.default_rng(0), Ensemble((1,), (None,), None), Record()

    def search():
        yield from piece(work(rng, []), rng)
        return found

    assert watch(search(), [], np.inf, [], record).events == [Decision("a")]
    assert record.seen == ["begun", Decision("a"), ("result", (rng,)), "closed"]
