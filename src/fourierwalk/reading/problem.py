"""From a file to a problem: inputs, targets, the task, and a remark on everything that is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fourierwalk.reading.source import Source, whole
from fourierwalk.tables.table import Table

TASKS = ("regression", "classification")

MOST_CODES = 20
"""Whole numbers 0, 1, 2, … or 1, 2, 3, … are classes if they have at most this many different values."""

DISTINCT = 0.95
"""Words identify rows if more than this share of them are different."""

LEAST_ROWS = 20
"""With fewer rows no column counts as an identifier."""

_IDENTIFIER = re.compile(r"(?i)(.*[_ .-])?(id|uid|uuid|index|idx|row|number|no|nr)|column 1|unnamed: 0")


class Problem(NamedTuple):
    """What is to be learnt.

    `y` holds numbers or labels. `lines` has each row's line in the file. `said` has a sentence for each thing that was
    inferred or left out.
    """

    inputs: Table
    y: np.ndarray
    task: str
    target: str
    lines: np.ndarray
    said: tuple[str, ...]


def read(
    source: Source,
    target: str | None = None,
    task: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> Problem:
    """Read all rows of a file, infer the task, and leave out columns that cannot help.

    Parameters
    ----------
    source : Source
        The file.
    target : str, optional
        The column to predict; None: the last.
    task : {"regression", "classification"}, optional
        None: inferred from the target.
    drop : sequence of str
        Columns that are not inputs.
    keep : sequence of str
        Columns that are inputs even if they look like identifiers, constants or copies of the target.
    """
    last = ", the last column (no --target)" if target is None else ""
    target = _chosen(source, target, drop, keep)
    names = _names(source, drop)
    kinds = dict(zip(source.names, source.kinds(), strict=True))
    block = whole(source, names, [kinds[name].name for name in names])
    columns = dict(zip(names, block.table.columns, strict=True))
    y = columns.pop(target)
    there = ~missing(y)
    y, lines = y[there], block.lines[there]
    _check_target(source, target, y, lines, kinds[target].remark, task)
    chosen, reason = task_of(target, y, task)
    said = [f"{chosen.capitalize()} of {target!r}{last}: {reason}."]
    if not there.all():
        said.append(f"{np.sum(~there):,} rows without a target are left out.")
    columns = {name: column[there] for name, column in columns.items()}
    reasons = {name: "" if name in keep else _useless(name, column, y) for name, column in columns.items()}
    if all(reasons.values()):
        raise ValueError(f"{source.path} must have an input that can help, got only {_listed(reasons)}.")
    said += [f"{name!r} is left out: {why}." for name, why in reasons.items() if why]
    said += [f"{name!r} {kinds[name].remark}: it is a category." for name in columns if kinds[name].remark]
    inputs = Table(*zip(*((name, column) for name, column in columns.items() if not reasons[name]), strict=True))
    return Problem(inputs, labels_of(y) if chosen == "classification" else y, chosen, target, lines, tuple(said))


def _names(source: Source, drop: Sequence[str]) -> list[str]:
    names = [name for name in source.names if name not in drop]
    if len(names) < 2:
        raise ValueError(
            f"{source.path} must have an input beside the target, got the columns {list(source.names)[:10]}: they must "
            f"be separated by commas, semicolons, tabs or bars."
        )
    return names


def _chosen(source: Source, target: str | None, drop: Sequence[str], keep: Sequence[str]) -> str:
    """The name of the target, after checking that all names are columns."""
    for option, given in (("--target", [] if target is None else [target]), ("--drop", drop), ("--keep", keep)):
        unknown = [name for name in given if name not in source.names]
        if unknown:
            raise ValueError(
                f"{option} must name columns of {source.path}, which has {_some(source.names)}, got {unknown[0]!r}."
            )
    target = source.names[-1] if target is None else target
    if target in drop:
        raise ValueError(f"--drop must not name the target, got {target!r}.")
    return target


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"


def _check_target(source: Source, target: str, y: np.ndarray, lines: np.ndarray, remark: str, task: str | None) -> None:
    if y.size == 0:
        raise ValueError(f"{source.path} must have values in the target {target!r}, got none.")
    if y.dtype.kind == "M":
        raise ValueError(f"{source.path} must have numbers or classes in the target {target!r}, got dates.")
    if y.dtype == object and task == "regression":
        raise ValueError(
            f"--task regression needs numbers in the target {target!r} of {source.path}, but it "
            f"{remark or f'holds {y[0]!r} in line {lines[0]}'}."
        )
    if remark and task is None:
        raise ValueError(f"{source.path} must have numbers or classes in the target {target!r}, but it {remark}.")


def task_of(target: str, y: np.ndarray, task: str | None) -> tuple[str, str]:
    """The task, and the reason for it. An error if the target fits no task.

    Examples
    --------
    >>> task_of("price", np.array([9.5, 3.0, 4.0]), None)
    ('regression', 'its values are 3 different numbers')
    >>> task_of("won", np.array([0.0, 1.0, 1.0]), None)
    ('classification', 'it has two values')
    """
    distinct = np.unique(y.astype(np.str_) if y.dtype == object else y)
    if task is not None:
        chosen, reason = task, "as --task says"
    elif y.dtype == object:
        chosen, reason = "classification", f"its values are {distinct.size} words"
    elif distinct.size == 2:
        chosen, reason = "classification", "it has two values"
    elif distinct.size <= MOST_CODES and any(
        np.array_equal(distinct, np.arange(distinct.size) + first) for first in (0, 1)
    ):
        said = f"its values are {distinct[0]:g}, {distinct[1]:g}, …, {distinct[-1]:g}" if distinct.size > 1 else ""
        chosen, reason = "classification", f"{said}; --task regression takes them as numbers"
    else:
        chosen, reason = "regression", f"its values are {distinct.size:,} different numbers"
    if chosen == "classification" and distinct.size < 2:
        raise ValueError(f"the target {target!r} must have at least two classes, got {distinct.size}.")
    if chosen == "classification" and distinct.size > max(2, y.size / 2):
        raise ValueError(
            f"the target {target!r} must have classes of several rows, got {distinct.size:,} in {y.size:,} rows, "
            f"such as {str(y[0])[:80]!r}."
        )
    return chosen, reason


def _useless(name: str, column: np.ndarray, y: np.ndarray) -> str:
    """Why a column cannot help, in a few words; empty if it can."""
    n = column.size
    if column.dtype == object:
        levels = set(column.tolist())
        if len(levels) > DISTINCT * n and n >= LEAST_ROWS:
            return f"it identifies rows, {len(levels):,} of {n:,} values are different"
        if len(levels) < 2:
            return "it is constant"
        return "it is a copy of the target" if _is_relabelled(column, y) else ""
    holes = missing(column)
    if holes.all() or (not holes.any() and np.all(column == column[0])):
        return "it is empty" if holes.all() else "it is constant"
    if column.dtype.kind == "M" or holes.any():
        return ""
    if n >= LEAST_ROWS and _numbers_rows(name, column):
        return "it numbers the rows"
    return "it is a copy of the target" if _is_copy(column, y) else ""


def missing(column: np.ndarray) -> np.ndarray:
    """Which values of a column are missing."""
    if column.dtype == object:
        return np.array([value is None for value in column.tolist()], dtype=bool)
    return np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)


def _numbers_rows(name: str, column: np.ndarray) -> bool:
    """Whether whole numbers, all different, are called like identifiers. Others may be times, which can help."""
    is_whole = bool(np.all(column == np.round(column)))
    return is_whole and bool(_IDENTIFIER.fullmatch(name)) and np.unique(column).size == column.size


def _is_copy(column: np.ndarray, y: np.ndarray) -> bool:
    """Whether numbers are a linear function of the target, or its classes under other names."""
    if y.dtype == object or np.unique(y).size <= MOST_CODES:
        return np.unique(column).size <= MOST_CODES and _is_relabelled(column, y)
    if np.std(y) == 0:
        return False
    x, z = (column - column.mean()) / np.std(column), (y - y.mean()) / np.std(y)
    return bool(min(np.max(np.abs(x - z)), np.max(np.abs(x + z))) < 1e-9)


def _is_relabelled(column: np.ndarray, y: np.ndarray) -> bool:
    """Whether each value goes with one class, and each class with one value."""
    values, classes = set(column.tolist()), set(y.tolist())
    if not 2 <= len(values) == len(classes) <= y.size / 2:
        return False
    return len(set(zip(column.tolist(), y.tolist(), strict=True))) == len(values)


def labels_of(y: np.ndarray) -> np.ndarray:
    """Words as strings, whole numbers as integers."""
    if y.dtype == object:
        return y.astype(np.str_)
    return y.astype(np.int64) if np.all(y == np.round(y)) else y


def _listed(reasons: dict[str, str]) -> str:
    return "; ".join(f"{name!r}, {why}" for name, why in list(reasons.items())[:5])
