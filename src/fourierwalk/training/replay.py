"""How a search goes on from a checkpoint: it is run again, and finished pieces of work are taken from a journal.

A search is deterministic, given its data and its random numbers. It yields *requests* beside its events. The loop that
runs the search (`watching.watch`) asks the journal, and sends the answer back into the search.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
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

    def end_piece(self, done: PieceDone) -> None:
        """A piece of work is finished."""

    def begin_run(self) -> Reached | None:
        """A sampler begins to run: where it had got to, if the journal knows."""

    def reach(self, waypoint: Waypoint) -> None:
        """A run has got to a waypoint."""

    def close(self) -> None:
        """The search has ended, or was interrupted."""


class NoJournal:
    """The journal of a fit without a checkpoint: it keeps nothing."""

    def see(self, event: Any) -> None:
        """Nothing is kept."""

    def begin_piece(self) -> None:
        """Nothing is known."""

    def end_piece(self, done: PieceDone) -> None:
        """Nothing is kept."""

    def begin_run(self) -> None:
        """Nothing is known."""

    def reach(self, waypoint: Waypoint) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """There is nothing to write."""


@dataclass(frozen=True)
class PieceBegun:
    """A piece of work begins."""

    def ask(self, journal: Journal) -> Finished | None:
        """The finished piece, if the journal has it."""
        return journal.begin_piece()


@dataclass(frozen=True)
class PieceDone:
    """A piece of work is finished."""

    result: Any
    sources: tuple[Any, ...]

    def ask(self, journal: Journal) -> None:
        """Hand the result over."""
        journal.end_piece(self)


@dataclass(frozen=True)
class RunBegun:
    """A sampler begins to run."""

    def ask(self, journal: Journal) -> Reached | None:
        """Where it had got to, if the journal knows."""
        return journal.begin_run()


@dataclass(frozen=True)
class Waypoint:
    """A point of a run of a sampler at which it can be continued."""

    state: Any  # of the sampler
    best: Any  # the best candidate so far
    taken: int  # steps since the last look
    left: int | None  # steps to the next look; None: the look was done
    sources: tuple[Any, ...]  # what changes while the sampler runs: the generator, and the caches of the problem

    def ask(self, journal: Journal) -> None:
        """Hand the waypoint over."""
        journal.reach(self)


Request = PieceBegun | PieceDone | RunBegun | Waypoint

Work = Generator[Event | Request, Any, T]
"""What yields events and requests, and returns a result."""


def piece(work: Work[T], *sources: Any) -> Work[T]:
    """The same work. If the journal has it, its events and its result are the journal's, and nothing is computed.

    `sources` are what the work changes beside its result: a generator of random numbers, or the caches of a problem.
    """
    done = yield PieceBegun()
    if done is None:
        result = yield from work
        yield PieceDone(result, sources)
        return result
    yield from done.events
    rewind(sources, done.marks)
    return done.result


def rewind(sources: Sequence[Any], marks: Sequence[Any]) -> None:
    """Set sources to the states that marks were taken of."""
    for source, mark in zip(sources, marks, strict=True):
        restore(source, mark)
