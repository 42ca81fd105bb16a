"""NPZ files: an array X of rows, or a one-dimensional array per column. Nothing in them is unpickled."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.arrays.memory import free_bytes
from fourierwalk.reading.source import BLOCK_ROWS, FileBlock, Kind, check_file, check_names
from fourierwalk.tables.table import MOMENTS, NUMBERS, WORDS, Table, as_words

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file, by name. Every size is checked before memory is taken.

    Raises
    ------
    ValueError
        If the file is not an NPZ file, holds pickled objects, or holds more than fits into memory.
    """
    check_file(path)
    try:
        with zipfile.ZipFile(path) as file:
            members = [info for info in file.infolist() if info.filename.endswith(".npy")]
            total = sum(info.file_size for info in members)
            if 2 * total > free_bytes():
                raise ValueError(f"{path} needs {2 * total / 1e9:.3g} GB of memory, {free_bytes() / 1e9:.3g} are free.")
            return {info.filename[:-4]: _read(path, file, info) for info in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise ValueError(f"{path} cannot be read as NPZ: it is damaged, or something else.") from error


def _read(path: Path, file: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array, after checking that its header claims no more than the file holds."""
    name = info.filename[:-4]
    try:
        with file.open(info) as member:
            shape, _, dtype = _HEADERS[np.lib.format.read_magic(member)](member)
        if dtype.hasobject:
            raise ValueError(f"{path} must hold plain arrays, but {name!r} holds pickled objects, which can run code.")
        if math.prod(shape) * dtype.itemsize > info.file_size:
            raise ValueError(f"{path} is damaged: its array {name!r} claims more than it holds.")
        with file.open(info) as member:
            return np.lib.format.read_array(member, allow_pickle=False)
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path} is damaged: its array {name!r} cannot be read.") from error
    except (KeyError, TypeError, SyntaxError, MemoryError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: its array {name!r} cannot be read.") from error


@dataclass(frozen=True)
class Arrays:
    """The columns of an NPZ file: those of X (named by `names`, or x0, x1, …) and y; or one array per column.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.npz"
    ...     np.savez(path, X=np.eye(2), y=np.array(["a", "b"]))
    ...     source = Arrays.of(path)
    >>> source.names, [kind.name for kind in source.kinds()]
    (('x0', 'x1', 'y'), ['numbers', 'numbers', 'words'])
    """

    path: Path
    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, path: Path, encoding: str | None = None) -> Arrays:
        """Read a file."""
        found = read_arrays(path)
        if "X" in found:
            names, columns = _of_matrix(path, found)
        else:
            names, columns = list(found), list(found.values())
        wrong = next(
            (i for i, column in enumerate(columns) if column.ndim != 1 or column.size != columns[0].size), None
        )
        if not columns or wrong is not None:
            got = f"{names[wrong]!r} of shape {columns[wrong].shape}" if wrong is not None else "none"
            raise ValueError(f"{path} must hold an array X of rows, or arrays of one length as columns, got {got}.")
        checked = check_names(path, names)
        return cls(path, checked, tuple(_plain(path, *each) for each in zip(checked, columns, strict=True)))

    def rows(self) -> float:
        """How many there are."""
        return float(self.columns[0].size)

    def kinds(self) -> tuple[Kind, ...]:
        """By the arrays' types."""
        return tuple(Kind({"f": NUMBERS, "M": MOMENTS}.get(column.dtype.kind, WORDS)) for column in self.columns)

    def blocks(self, columns: Sequence[str], kinds: Sequence[str]) -> Iterator[FileBlock]:
        """Rows of some columns, each as a kind."""
        chosen = [self._as(name, kind) for name, kind in zip(columns, kinds, strict=True)]
        for begin in range(0, self.columns[0].size, BLOCK_ROWS):
            part = slice(begin, begin + BLOCK_ROWS)
            table = Table(tuple(columns), tuple(column[part] for column in chosen))
            yield FileBlock(table, np.arange(begin + 1, begin + 1 + len(table)))

    def _as(self, name: str, kind: str) -> np.ndarray:
        column = self.columns[self.names.index(name)]
        if kind == WORDS:
            return as_words(column)
        if {"f": NUMBERS, "M": MOMENTS}.get(column.dtype.kind) != kind:
            raise ValueError(f"{self.path} must hold {kind} in {name!r}, got {str(column[0])!r} in row 1.")
        return column


def _of_matrix(path: Path, found: dict[str, np.ndarray]) -> tuple[list[str], list[np.ndarray]]:
    """The columns of X, and y if there is one."""
    x = found["X"]
    if x.ndim != 2:
        raise ValueError(f"{path} must hold X of shape (n, d), got {x.shape}.")
    given = found.get("names")
    names = [f"x{j}" for j in range(x.shape[1])] if given is None else [str(name) for name in given.reshape(-1)]
    if len(names) != x.shape[1]:
        raise ValueError(f"{path} must hold as many names as X has columns, {x.shape[1]}, got {len(names)}.")
    columns = [x[:, j] for j in range(x.shape[1])]
    if "y" in found:
        names, columns = [*names, "y"], [*columns, found["y"].reshape(-1)]
    return names, columns


def _plain(path: Path, name: str, column: np.ndarray) -> np.ndarray:
    """Float64, datetime64 or objects that are words."""
    if column.dtype.kind in "fiu":
        numbers: Any = column.astype(np.float64)
        if np.any(infinite := np.isinf(numbers)):
            raise ValueError(f"{path} must hold finite numbers in {name!r}, got infinity in row {np.argmax(infinite)}.")
        return numbers
    if column.dtype.kind == "M":
        return column.astype("datetime64[us]")
    if column.dtype.kind in "bU":
        return column.astype(np.str_).astype(object)
    raise ValueError(f"{path} must hold numbers, words or dates in {name!r}, got {column.dtype}.")
