"""Rows of a comparison from files: tables, NPZ with splits, folders of the UCI benchmark. Errors are one sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.reading import files, problem
from fourierwalk.reading.arrays import read_arrays
from fourierwalk.reading.problem import TASKS
from fourierwalk.tables import table as tables


class LoadedTable(NamedTuple):
    """Inputs (n, d), targets (n,) as numbers or class codes, the task, and the checksum of the files.

    Inputs with words or missing values are a `fourierwalk.tables.table.Table`, others an array.
    """

    x: Any
    y: np.ndarray
    task: str
    sha256: str
    train: tuple[np.ndarray, ...] = ()  # indices of rows, one array per given split
    test: tuple[np.ndarray, ...] = ()
    said: str = ""  # what was left out


def read_table(
    path: Path, target: str | None = None, task: str | None = None, encoding: str | None = None
) -> LoadedTable:
    """Read a file as ``fourierwalk fit`` does. The target is the column of that name, or the last one."""
    read = problem.read(files.source(path, encoding), target, task)
    x = read.inputs
    is_plain = all(kind == tables.NUMBERS for kind in x.kinds) and not any(map(np.any, map(problem.missing, x.columns)))
    y = np.unique(read.y, return_inverse=True)[1] if read.task == "classification" else read.y
    said = " ".join(sentence for sentence in read.said[1:])
    return LoadedTable(np.column_stack(x.columns) if is_plain else x, y, read.task, checksum([path]), said=said)


def read_npz(path: Path, task: str | None = None) -> LoadedTable:
    """Arrays ``X`` and ``y``, and optionally ``task`` (a word) and the splits.

    The splits are ``test``, a Boolean column per split that is true for its test rows, or ``X_test`` and ``y_test``.
    """
    arrays = read_arrays(path)
    missing = [name for name in ("X", "y") if name not in arrays]
    if missing:
        raise ValueError(f"DATASET {path} must hold the arrays X and y, got {sorted(arrays)}.")
    if ("X_test" in arrays) != ("y_test" in arrays):
        raise ValueError(f"DATASET {path} must hold X_test and y_test together, got only one of them.")
    parts = ["", "_test"] if "X_test" in arrays else [""]
    for part in parts:
        _check_shapes(path, arrays, part)
    x = np.concatenate([_finite(path, f"X{part}", arrays[f"X{part}"], holes=True) for part in parts])
    labels = np.concatenate([arrays[f"y{part}"].reshape(-1) for part in parts])
    y, task = targets(path, "y", labels, task or _said_task(path, arrays))
    inputs = tables.Table.of(x) if np.any(np.isnan(x)) else x
    return LoadedTable(inputs, y, task, checksum([path]), *_given_splits(path, arrays, x.shape[0]))


def read_folder(folder: Path, task: str | None = None) -> LoadedTable:
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
    return LoadedTable(x, y, task, checksum([folder / "data.txt", *trains, *tests]), train, test)


def targets(path: Path, name: str, values: np.ndarray, task: str | None) -> tuple[np.ndarray, str]:
    """Numbers, or codes of the classes, and the task that they make."""
    are_numbers = np.issubdtype(values.dtype, np.number)
    if task == "regression" and not are_numbers:
        raise ValueError(f"--task regression needs numbers, but {name!r} of DATASET {path} holds {str(values[0])!r}.")
    plain = _finite(path, name, values) if are_numbers else values.astype(np.str_).astype(object)
    task, _ = problem.task_of(name, plain, task)
    return (np.unique(values, return_inverse=True)[1] if task == "classification" else plain), task


def checksum(paths: Sequence[Path]) -> str:
    """Checksum of the files' contents, in this order."""
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()


def _finite(path: Path, name: str, values: np.ndarray, holes: bool = False) -> np.ndarray:
    """Real numbers, all finite. Missing values are allowed if `holes` is true."""
    if not np.issubdtype(values.dtype, np.number) or np.iscomplexobj(values):
        raise ValueError(f"DATASET {path} must hold real numbers in {name!r}, got {values.dtype}.")
    values = values.astype(np.float64)
    wrong = np.argwhere(np.isinf(values) if holes else ~np.isfinite(values))
    if wrong.size:
        got = values[tuple(wrong[0])]
        raise ValueError(f"DATASET {path} must be finite, but {name!r} is {got} in row {wrong[0][0] + 1}.")
    return values


def _check_shapes(path: Path, arrays: dict[str, np.ndarray], part: str) -> None:
    x, y = arrays[f"X{part}"], arrays[f"y{part}"]
    if x.ndim != 2 or y.size != x.shape[0] or x.shape[1] != arrays["X"].shape[1]:
        raise ValueError(
            f"DATASET {path} must hold X{part} of shape (n, d) and y{part} of shape (n,), got {x.shape} and {y.shape}."
        )


def _said_task(path: Path, arrays: dict[str, np.ndarray]) -> str | None:
    """The task that the file states, if it does."""
    if "task" not in arrays:
        return None
    word = arrays["task"]
    if word.ndim or str(word) not in TASKS:
        raise ValueError(f"DATASET {path} must hold as task one word of {', '.join(TASKS)}, got {word.tolist()!r}.")
    return str(word)


def _given_splits(
    path: Path, arrays: dict[str, np.ndarray], n: int
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Indices of training and test rows, one array per split; none if the file gives no splits."""
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
