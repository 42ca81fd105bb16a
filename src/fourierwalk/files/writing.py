"""Files are written beside and renamed, so that none is ever half there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


class NotWritten(OSError):
    """A sentence that says which file could not be written, and why."""


@contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """A file to write to, which takes the path's place at the end: a reader sees the old one or the new one.

    Where anything goes wrong the old file stays and nothing is left beside it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise _not_written(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException as error:
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, name):  # not of a file that is read meanwhile
            raise _not_written(path, error) from error
        raise


def _not_written(path: Path, error: OSError) -> NotWritten:
    return NotWritten(f"{path} cannot be written: {error.strerror or error}.")


def check_writable(path: Path | str) -> None:
    """Raise now what `replacing` would raise later, after the work.

    Folders that are not there yet are made.
    """
    path = Path(path)
    if path.is_dir():
        raise NotWritten(f"{path} cannot be written: it is a folder.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".part"):
            pass
    except OSError as error:
        raise _not_written(path, error) from error
