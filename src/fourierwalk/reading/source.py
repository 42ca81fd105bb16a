"""What commands see of a file: named columns, their kinds, and blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from fourierwalk.tables.table import Table

BLOCK_ROWS = 20_000
"""Number of rows that are read at once."""


class FileBlock(NamedTuple):
    """Some rows, and the line of the file that each begins in. In a file without lines, rows are numbered from 1."""

    table: Table
    lines: np.ndarray


class Kind(NamedTuple):
    """What a column holds ("numbers", "words" or "moments"), and a remark if that may surprise."""

    name: str
    remark: str = ""


class Source(Protocol):
    """A file of rows."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""

    def rows(self) -> float:
        """An estimate of the number of rows, without reading them."""

    def kinds(self) -> tuple[Kind, ...]:
        """What each column holds, judged by all rows."""

    def blocks(self, columns: Sequence[str], kinds: Sequence[str]) -> Iterator[FileBlock]:
        """Rows of some columns, each read as a kind."""


def whole(source: Source, columns: Sequence[str], kinds: Sequence[str]) -> FileBlock:
    """All rows as one block."""
    blocks = list(source.blocks(columns, kinds))
    if not blocks:
        raise ValueError(f"{source.path} must have rows below its header, got none.")
    parts = zip(*(block.table.columns for block in blocks), strict=True)
    table = Table(tuple(columns), tuple(np.concatenate(each) for each in parts))
    return FileBlock(table, np.concatenate([block.lines for block in blocks]))


def check_file(path: Path) -> None:
    """Check that the file exists and is not empty."""
    if not path.exists():
        raise FileNotFoundError(f"The file {path} is not there.")
    if not path.is_file():
        raise ValueError(f"{path} must be a file, got a folder or a device.")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty.")


def check_names(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns, all different. A column without a name is called by its number."""
    found = tuple(name.strip() or f"column {number}" for number, name in enumerate(names, 1))
    twice = [name for name in found if found.count(name) > 1]
    if twice:
        places = [number for number, name in enumerate(found, 1) if name == twice[0]]
        raise ValueError(f"{path} must have a name for each column, got {twice[0]!r} for columns {places}.")
    return found
