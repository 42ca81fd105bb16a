"""The two generations of a checkpoint's file: the last one, and the one before it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fourierwalk.checkpoints.fingerprint import Fingerprint
from fourierwalk.files import container
from fourierwalk.files.container import Content
from fourierwalk.files.writing import NotWritten
from fourierwalk.version import VERSION

KIND = "Checkpoint"


class Generations:
    """A checkpoint's file. The one before it is kept beside it, with ``.before`` at the end of its name.

    At every moment one of the two is complete: a new file is written under another name, and then renamed.

    Parameters
    ----------
    path : Path
        The file.
    fingerprint : Fingerprint
        The fit that the file belongs to.
    """

    def __init__(self, path: Path, fingerprint: Fingerprint) -> None:
        self.path, self.fingerprint = path, fingerprint
        self.before = path.with_name(f"{path.name}.before")
        self._seen: tuple[int, int] | None = None  # the file as this fit has left it
        self._is_lost = False  # whether another fit writes to the same file
        self._has_warned = False

    def read(self) -> dict[str, Any] | None:
        """The content of the newest file that is whole; None: there is no file. Every error is one sentence."""
        contents = self._contents()
        newest = next(contents, None)
        if newest is None:
            self._clean()
            return None
        if newest.kind != KIND:
            raise ValueError(f"checkpoint {self.path} holds {newest.kind[:40]!r} and no checkpoint: give another name.")
        if newest.library != VERSION:
            raise ValueError(
                f"checkpoint {self.path} is of fourierwalk {newest.library[:20]}, and this is {VERSION}: a fit goes on "
                f"only with the version that began it; remove the file to begin anew."
            )
        try:
            said = Fingerprint(**newest.tree["fit"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"checkpoint {self.path} makes no sense: remove the file to begin anew.") from error
        difference = self.fingerprint.difference(said)
        if difference is not None:
            raise ValueError(
                f"checkpoint {self.path} belongs to a fit with {difference}: give another name, remove the file, or "
                f"give a folder in which each fit has a file of its own."
            )
        self._clean()
        self._note()
        return newest.tree

    def _clean(self) -> None:
        """Remove what a fit left that was killed while it wrote."""
        for left in self.path.parent.glob(f".{self.path.name}.*.part"):
            with suppress(OSError):
                left.unlink()

    def _contents(self) -> Iterator[Content]:
        """The contents of the files that are whole, the newest first."""
        damage = None
        for path in (self.path, self.before):
            try:
                content = container.read(path)
            except FileNotFoundError:
                continue
            except ValueError as error:
                damage = damage or error
                continue
            if damage is not None:
                warnings.warn(f"{damage} The fit continues from {path}.", RuntimeWarning, stacklevel=2)
            yield content
        if damage is not None:
            raise ValueError(f"{damage} There is no older checkpoint beside it: remove the file to begin anew.")

    def claim(self, tree: Mapping[str, Any]) -> None:
        """Write the first file. An error is raised now, when nothing is lost."""
        container.write(self.path, KIND, {"fit": self.fingerprint._asdict(), **tree})
        self._note()

    def write(self, tree: Mapping[str, Any]) -> None:
        """Write the next generation. A failure is a warning, and the fit goes on."""
        if self._is_lost:
            return
        if self._state() not in (None, self._seen):
            self._is_lost = True
            self._warn(f"checkpoint {self.path} is written by another fit too: this one goes on without a checkpoint.")
            return
        try:
            with suppress(FileNotFoundError):
                os.replace(self.path, self.before)
            container.write(self.path, KIND, {"fit": self.fingerprint._asdict(), **tree})
        except NotWritten as error:
            self._warn(f"checkpoint {error} The fit goes on, and tries again at the next checkpoint.")
        except OSError as error:
            self._warn(f"checkpoint {self.path} cannot be written: {error.strerror or error}. The fit goes on.")
        self._note()

    def _state(self) -> tuple[int, int] | None:
        try:
            about = self.path.stat()
        except OSError:
            return None
        return about.st_ino, about.st_mtime_ns

    def _note(self) -> None:
        self._seen = self._state()

    def _warn(self, text: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(text, RuntimeWarning, stacklevel=2)
