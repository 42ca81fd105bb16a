"""The journal of a fit: finished pieces of work, and where the running sampler has got to."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fourierwalk.arrays.draws import mark
from fourierwalk.checkpoints import values
from fourierwalk.checkpoints.checkpoint import Checkpoint
from fourierwalk.checkpoints.fingerprint import fingerprint
from fourierwalk.checkpoints.generations import Generations
from fourierwalk.sampling.sampler import Info
from fourierwalk.training.data import Data
from fourierwalk.training.followed import Resume
from fourierwalk.training.replay import Finished, Reached, Waypoint


class FileJournal:
    """The journal that a checkpoint is written from, and read into.

    Parameters
    ----------
    settings : Checkpoint
        How often the file is written.
    file : Generations
        The file.
    known : mapping, optional
        The content of the file, if the fit continues.
    reference : array
        An array of the data's library: arrays are made like it.
    entropy : str
        What the generator of a fit without a seed was seeded with.
    """

    def __init__(
        self, settings: Checkpoint, file: Generations, known: Mapping[str, Any] | None, reference: Any, entropy: str
    ) -> None:
        self._settings, self._file, self._reference, self._entropy = settings, file, reference, entropy
        self._pieces: list[Any] = [] if known is None else list(known["pieces"])
        self._run: Any = None if known is None else known["run"]
        self._finished = [self._unpacked_piece(tree) for tree in self._pieces]  # still to be answered
        self._reached = None if self._run is None else self._unpacked_run(self._run)
        self._n_runs = 0  # runs begun since the last piece ended
        self._of_piece: list[Any] = []
        self._of_run: list[Any] = []
        self._waypoint: tuple[Waypoint, list[Any]] | None = None
        self._steps, self._written_at, self._is_new = 0, time.monotonic(), False
        if known is None:
            file.claim(self._tree())

    def see(self, event: Any) -> None:
        """Take note of an event."""
        self._of_piece.append(event)
        self._of_run.append(event)
        self._steps += isinstance(event, Info)

    def begin_piece(self) -> Finished | None:
        """The next finished piece, if the file has one that was not yet asked for."""
        self._of_piece, self._n_runs = [], 0
        return self._finished.pop(0) if self._finished else None

    def end_piece(self, result: Any, sources: Sequence[Any]) -> None:
        """Keep the piece; runs within it are no longer needed."""
        marks, events = [mark(source) for source in sources], values.packed_events(self._of_piece)
        self._pieces.append({"events": events, "result": values.packed(result), "marks": values.packed(marks)})
        self._n_runs, self._run, self._reached, self._waypoint = 0, None, None, None
        self._write_if_due()

    def begin_run(self) -> Reached | None:
        """Where the run had got to, if it is the one that was interrupted."""
        self._of_run, self._waypoint = [], None
        self._n_runs += 1
        if self._finished or self._run is None or self._n_runs < self._run["n_runs"]:
            return None
        reached, self._reached = self._reached, None
        if reached is None:  # a run after the one in the file
            self._run = None
        return reached

    def reach(self, waypoint: Waypoint) -> None:
        """Keep the waypoint instead of the one before."""
        self._waypoint, self._is_new = (waypoint, [mark(source) for source in waypoint.sources]), True
        self._n_events = len(self._of_run)
        self._write_if_due()

    def close(self) -> None:
        """Write what was reached since the last file."""
        if self._is_new:
            self._write()

    def _write_if_due(self) -> None:
        self._is_new = True
        steps, seconds = self._settings.every_steps, self._settings.every_seconds
        is_late = seconds is not None and time.monotonic() - self._written_at >= seconds
        if is_late or (steps is not None and self._steps >= steps):
            self._write()

    def _write(self) -> None:
        self._file.write(self._tree())
        self._steps, self._written_at, self._is_new = 0, time.monotonic(), False

    def _tree(self) -> dict[str, Any]:
        if self._waypoint is not None:
            self._run = self._packed_run(*self._waypoint)
        return {"pieces": self._pieces, "run": self._run, "entropy": self._entropy}

    def _unpacked_piece(self, tree: Mapping[str, Any]) -> Finished:
        result, marks = (values.unpacked(tree[name], self._reference) for name in ("result", "marks"))
        return Finished(values.unpacked_events(tree["events"]), result, marks)

    def _unpacked_run(self, tree: Mapping[str, Any]) -> Reached:
        state, best, marks = (values.unpacked(tree[name], self._reference) for name in ("state", "best", "marks"))
        return Reached(values.unpacked_events(tree["events"]), state, best, tree["taken"], tree["left"], marks)

    def _packed_run(self, waypoint: Waypoint, marks: list[Any]) -> dict[str, Any]:
        return {
            "n_runs": self._n_runs,
            "events": values.packed_events(self._of_run[: self._n_events]),
            "state": values.packed(waypoint.state),
            "best": values.packed(waypoint.best),
            "taken": waypoint.taken,
            "left": waypoint.left,
            "marks": values.packed(marks),
        }


def opened(
    settings: Checkpoint,
    parameters: Mapping[str, Any],
    data: Data,
    rng: np.random.Generator,
    is_seeded: bool,
    resume: Resume | None,
) -> tuple[FileJournal, np.random.Generator]:
    """The journal of a fit, and its generator: of a fit that is not seeded, the generator that began it."""
    of = fingerprint(data, parameters, rng if is_seeded or resume is not None else None, resume)
    file = Generations(settings.file(of.digest), of)
    known = file.read()
    entropy = str(getattr(rng.bit_generator.seed_seq, "entropy", ""))
    try:
        if known is not None and not of.seed:
            entropy = known["entropy"]
            rng = np.random.default_rng(int(entropy))
        return FileJournal(settings, file, known, data.y, entropy), rng
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"checkpoint {file.path} makes no sense: remove the file to begin anew.") from error
