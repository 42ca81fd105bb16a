"""How a search goes on from a checkpoint: it is run again, and finished pieces of work are taken from a journal.

A search is deterministic, given its data and its random numbers. It yields *requests* beside its events. The loop that
runs the search (`watching.watch`) asks the journal, and sends the answer back into the search.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from fourierwalk.arrays.draws import restore
from fourierwalk.training.history import Event

T = TypeVar("T")


class Finished(NamedTuple):
    """A finished piece of work: its events, its result, and the marks of its sources at its end."""

    events: Sequence[Any]
    result: Any
    marks: Sequence[Any]


class Reached(NamedTuple):
    """Where a run of a sampler has got to: its events so far, the last waypoint, and the marks of its sources there."""

    events: Sequence[Any]
    state: Any
    best: Any
    taken: int
    left: int | None
    marks: Sequence[Any]


class Journal(Protocol):
    """What a search asks of a journal."""

    def see(self, event: Any) -> None:
        """Take note of an event."""

    def begin_piece(self) -> Finished | None:
        """A piece of work begins: the finished piece, if the journal has it."""

    def end_piece(self, result: Any, sources: Sequence[Any]) -> None:
        """A piece of work is finished."""

    def begin_run(self) -> Reached | None:
        """A sampler begins to run: where it had got to, if the journal knows."""

    def reach(self, waypoint: Waypoint) -> None:
        """A run has got to a waypoint."""

    def close(self) -> None:
        """The search has ended, or was interrupted."""


class Waypoint(NamedTuple):
    """A point of a run of a sampler at which it can be continued."""

    state: Any  # of the sampler
    best: Any  # the best candidate so far
    taken: int  # steps since the last look
    left: int | None  # steps to the next look; None: the look was done
    sources: tuple[Any, ...]  # what changes while the sampler runs: the generator, and the caches of the problem


class Request(NamedTuple):
    """A question to the journal, or a report; the answer is sent back into the search. None: there is no journal."""

    ask: Callable[[Journal], Any]
    waypoint: Waypoint | None = None  # if it reports one


Work = Generator[Event | Request, Any, T]
"""What yields events and requests, and returns a result."""


def piece(work: Work[T], *sources: Any) -> Work[T]:
    """The same work. If the journal has it, its events and its result are the journal's, and nothing is computed.

    `sources` are what the work changes beside its result: a generator of random numbers, or the caches of a problem.
    """
    done = yield Request(lambda journal: journal.begin_piece())
    if done is None:
        result = yield from work
        yield Request(lambda journal: journal.end_piece(result, sources))
        return result
    yield from done.events
    rewind(sources, done.marks)
    return done.result


def rewind(sources: Sequence[Any], marks: Sequence[Any]) -> None:
    """Set sources to the states that marks were taken of."""
    for source, mark in zip(sources, marks, strict=True):
        restore(source, mark)
