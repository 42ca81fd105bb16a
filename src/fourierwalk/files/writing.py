"""Files are written under another name and then renamed, so that no file is ever incomplete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


class NotWritten(OSError):
    """The error for a file that could not be written. It says which file, and why."""


@contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """A file to write to, which replaces the one at `path` at the end. A reader sees the old file or the new one.

    If anything goes wrong, the old file stays and no other file is left.

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
    _check_ordinary(path)
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


def _check_ordinary(path: Path) -> None:
    """A device or a pipe must not be replaced: /dev/null would become a file."""
    if path.is_dir():
        raise NotWritten(f"{path} cannot be written: it is a folder.")
    if path.exists() and not path.is_file():
        raise NotWritten(f"{path} cannot be written: it is a device or a pipe.")


def check_writable(path: Path | str, *others: Path | str) -> None:
    """Raise the error now that `replacing` would raise after the work.

    Missing folders are created. The other files of the command must not be lost: `path` must be none of them.
    """
    path = Path(path)
    _check_ordinary(path)
    if any(path.resolve() == Path(other).resolve() for other in others):
        raise NotWritten(f"{path} cannot be written: the command already reads or writes this file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".part"):
            pass
    except OSError as error:
        raise _not_written(path, error) from error
