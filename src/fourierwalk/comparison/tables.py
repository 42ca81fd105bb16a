"""Rows from a user's files: CSV, NPZ, and the folders of the UCI benchmark. Every mistake is one sentence."""

from __future__ import annotations

import csv
import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.tables import table as tables

TASKS = ("regression", "classification")


class Table(NamedTuple):
    """Inputs (n, d), numbers or class codes (n,), which of both they are, and the files' checksum.

    Inputs with words or empty fields are a `fourierwalk.tables.table.Table`, else an array.
    """

    x: Any
    y: np.ndarray
    task: str
    sha256: str
    train: tuple[np.ndarray, ...] = ()  # indices of rows, one array per given split
    test: tuple[np.ndarray, ...] = ()


def read_csv(path: Path, target: str | None = None, task: str | None = None) -> Table:
    """A table with a header row; the target is the column of that name, or the last one."""
    header, lines = _lines(path)
    at = _position(path, header, target)
    columns = {name: _column(path, name, [line[j] for line in lines]) for j, name in enumerate(header) if j != at}
    labels = [line[at].strip() for line in lines]
    y, task = targets(path, header[at], _numbers(labels), task)
    x = tables.Table(tuple(columns), tuple(columns.values()))
    is_plain = all(kind == tables.NUMBERS for kind in x.kinds) and all(np.all(np.isfinite(c)) for c in x.columns)
    return Table(np.column_stack(x.columns) if is_plain else x, y, task, checksum([path]))


def read_npz(path: Path, task: str | None = None) -> Table:
    """Arrays ``X`` and ``y``, and optionally ``task`` (a word) and the splits.

    The splits are ``test``, a Boolean column per split that is true for its test rows, or ``X_test`` and ``y_test``.
    """
    arrays = _arrays(path)
    missing = [name for name in ("X", "y") if name not in arrays]
    if missing:
        raise ValueError(f"DATASET {path} must hold the arrays X and y, got {sorted(arrays)}.")
    if ("X_test" in arrays) != ("y_test" in arrays):
        raise ValueError(f"DATASET {path} must hold X_test and y_test together, got only one of them.")
    parts = ["", "_test"] if "X_test" in arrays else [""]
    for part in parts:
        _check_shapes(path, arrays, part)
    x = np.concatenate([_finite(path, f"X{part}", arrays[f"X{part}"]) for part in parts])
    labels = np.concatenate([arrays[f"y{part}"].reshape(-1) for part in parts])
    y, task = targets(path, "y", labels, task or _said_task(path, arrays))
    return Table(x, y, task, checksum([path]), *_given_splits(path, arrays, x.shape[0]))


def read_folder(folder: Path, task: str | None = None) -> Table:
    """``data.txt``, ``index_features.txt``, ``index_target.txt``, and ``index_train_I.txt``, ``index_test_I.txt``."""
    data = _text(folder / "data.txt")
    n, d = data.shape
    features = _index(folder / "index_features.txt", d, "columns")
    target = _index(folder / "index_target.txt", d, "columns")
    trains = sorted(folder.glob("index_train_*.txt"), key=lambda path: (len(path.name), path.name))
    if target.size != 1 or not trains:
        wrong = (
            "index_train_0.txt is not there" if target.size == 1 else f"index_target.txt names {target.size} columns"
        )
        raise ValueError(f"DATASET {folder} must have one target and at least one split, but {wrong}.")
    tests = [folder / path.name.replace("train", "test") for path in trains]
    x = _finite(folder / "data.txt", "its features", data[:, features])
    y, task = targets(folder / "data.txt", "its target", data[:, target[0]], task)
    train, test = (tuple(_index(path, n, "rows") for path in paths) for paths in (trains, tests))
    return Table(x, y, task, checksum([folder / "data.txt", *trains, *tests]), train, test)


def targets(path: Path, name: str, values: np.ndarray, task: str | None) -> tuple[np.ndarray, str]:
    """Numbers, or codes of the classes, and the task that they make."""
    are_numbers = np.issubdtype(values.dtype, np.number)
    if task == "regression" and not are_numbers:
        raise ValueError(f"--task regression needs numbers, but {name!r} of DATASET {path} holds {str(values[0])!r}.")
    if task == "classification" or not are_numbers:
        if are_numbers:
            _finite(path, name, values)
        classes, codes = np.unique(values, return_inverse=True)
        if classes.size < 2:
            raise ValueError(f"DATASET {path} must have at least two classes in {name!r}, got {classes.size}.")
        return codes, "classification"
    return _finite(path, name, values), "regression"


def checksum(paths: Sequence[Path]) -> str:
    """Of the files' contents, in this order."""
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()


def _lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header and the rows, all of one length."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"DATASET {path} cannot be read as CSV: {error}.") from error
    if len(lines) < 2 or len(lines[0]) < 2:
        raise ValueError(f"DATASET {path} must have a header row, rows and at least two columns.")
    header = [name.strip() for name in lines[0]]
    if np.issubdtype(_numbers(header).dtype, np.number):
        raise ValueError(f"DATASET {path} must begin with a header row, got the numbers {', '.join(header[:3])}, ….")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(header):
            raise ValueError(f"DATASET {path} has {len(line)} values in row {number}, expected {len(header)}.")
    return header, lines[1:]


def _position(path: Path, header: list[str], target: str | None) -> int:
    if target is None:
        return len(header) - 1
    if target not in header:
        raise ValueError(f"--target must be a column of DATASET {path}, one of {header}, got {target!r}.")
    return header.index(target)


def _column(path: Path, name: str, values: list[str]) -> np.ndarray:
    """Numbers, or words; an empty field is missing."""
    numbers = _numbers(values)
    if not np.issubdtype(numbers.dtype, np.number):
        return np.array([value.strip() or None for value in values], dtype=object)
    if np.any(np.isinf(numbers)):
        first = int(np.flatnonzero(np.isinf(numbers))[0])
        raise ValueError(f"DATASET {path} must be finite, but {name!r} is infinite in row {first}.")
    return numbers


def _numbers(values: list[str]) -> np.ndarray:
    """As numbers where all are; an empty field is not a number, nor is it a word."""
    try:
        return np.array([float(value) if value.strip() else np.nan for value in values])
    except ValueError:
        return np.array(values)


def _finite(path: Path, name: str, values: np.ndarray) -> np.ndarray:
    if not np.issubdtype(values.dtype, np.number) or np.iscomplexobj(values):
        raise ValueError(f"DATASET {path} must hold real numbers in {name!r}, got {values.dtype}.")
    values = values.astype(np.float64)
    wrong = np.argwhere(~np.isfinite(values))
    if wrong.size:
        raise ValueError(f"DATASET {path} must be finite, but {name!r} is empty, NaN or infinite in row {wrong[0][0]}.")
    return values


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, zipfile.BadZipFile, AttributeError, TypeError) as error:
        raise ValueError(f"DATASET {path} cannot be read as NPZ without pickled objects.") from error


def _check_shapes(path: Path, arrays: dict[str, np.ndarray], part: str) -> None:
    x, y = arrays[f"X{part}"], arrays[f"y{part}"]
    if x.ndim != 2 or y.size != x.shape[0] or x.shape[1] != arrays["X"].shape[1]:
        raise ValueError(
            f"DATASET {path} must hold X{part} of shape (n, d) and y{part} of shape (n,), got {x.shape} and {y.shape}."
        )


def _said_task(path: Path, arrays: dict[str, np.ndarray]) -> str | None:
    """The word that the file says, if it says one."""
    if "task" not in arrays:
        return None
    word = arrays["task"]
    if word.ndim or str(word) not in TASKS:
        raise ValueError(f"DATASET {path} must hold as task one word of {', '.join(TASKS)}, got {word.tolist()!r}.")
    return str(word)


def _given_splits(
    path: Path, arrays: dict[str, np.ndarray], n: int
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Indices of training and of test rows, one array per split; none where the file gives no splits."""
    if "X_test" in arrays and "test" in arrays:
        raise ValueError(f"DATASET {path} must hold either test or X_test, got both.")
    if "X_test" in arrays:
        n_train = arrays["X"].shape[0]
        return (np.arange(n_train),), (np.arange(n_train, n),)
    if "test" not in arrays:
        return (), ()
    test = arrays["test"]
    if test.dtype != np.bool_ or test.ndim not in (1, 2) or test.shape[0] != n or test.size == 0:
        raise ValueError(
            f"DATASET {path} must hold test as Booleans of shape ({n},) or ({n}, n_splits), "
            f"got {test.dtype} of shape {test.shape}."
        )
    columns = test.reshape(n, -1).T
    for number, column in enumerate(columns):
        if column.all() or not column.any():
            raise ValueError(f"DATASET {path} must have training and test rows in every split, not so in {number}.")
    return tuple(np.flatnonzero(~column) for column in columns), tuple(np.flatnonzero(column) for column in columns)


def _text(path: Path) -> np.ndarray:
    if not path.is_file():
        raise FileNotFoundError(f"DATASET folder {path.parent} must hold {path.name}, which is not there.")
    try:
        return np.loadtxt(path, ndmin=2)
    except ValueError as error:
        raise ValueError(f"DATASET file {path} must hold rows of numbers: {error}.") from error


def _index(path: Path, size: int, what: str) -> np.ndarray:
    index = _text(path).reshape(-1).astype(np.int64)
    if index.size == 0 or index.min() < 0 or index.max() >= size:
        raise ValueError(f"DATASET file {path} must name {what} from 0 to {size - 1}.")
    return index
