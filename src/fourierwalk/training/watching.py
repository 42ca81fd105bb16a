"""Running a search to its end, or until something ends it before."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fourierwalk.training.ensemble import Ensemble, Searching
from fourierwalk.training.history import Decision, Event
from fourierwalk.training.replay import Journal, Request


class Watched(NamedTuple):
    """The result of a search, all its events, and whether the user interrupted it."""

    ensemble: Ensemble
    events: list[Event]
    interrupted: bool


def watch(
    search: Searching,
    decisions: list[Event],
    deadline: float,
    watchers: Sequence[Callable[[Event], bool]],
    journal: Journal | None = None,
) -> Watched:
    """Run a search until it ends, the deadline has passed, the user interrupts it, or a watcher returns True.

    The deadline and the watchers end a search only once it has a result. The journal answers the search's requests.
    """
    events: list[Event] = []
    ensemble, interrupted, answer = None, False, None

    def told(event: Event) -> bool:
        """Keep an event and show it to every watcher; whether one of them ends the fit."""
        events.append(event)
        return max([see(event) for see in watchers], default=False)

    is_stopped = max([told(decision) for decision in decisions], default=False)
    try:
        while ensemble is None or not (is_stopped or time.monotonic() >= deadline):
            event: Any = search.send(answer)
            answer = None
            if isinstance(event, Request):
                answer = None if journal is None else event.ask(journal)
                continue
            if isinstance(event, Ensemble):
                ensemble = event
                continue
            is_stopped |= told(event)
            if journal is not None:
                journal.see(event)
        search.close()
        why = "a callback ended the fit" if is_stopped else "max_seconds have passed"
        told(Decision(f"{why}: the best model so far"))
    except StopIteration as end:
        ensemble = end.value
    except KeyboardInterrupt:
        if ensemble is None:
            raise
        interrupted = True
        told(Decision("interrupted: the best model so far"))
    finally:
        if journal is not None:
            journal.close()
    return Watched(ensemble, events, interrupted)
