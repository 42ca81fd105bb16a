"""Suites of many tables: numeric ones, on which defaults are chosen, mixed ones, ones of few rows; and their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from fourierwalk.comparison import methods
from fourierwalk.comparison.checkouts import Checkout, Width
from fourierwalk.comparison.datasets import Dataset, Options, TrainTest, find
from fourierwalk.comparison.run import Entry
from fourierwalk.comparison.tuning import ON_A_FIFTH, CrossValidation, Search

N_SPLITS = 3
UCI = ("concrete", "kin8nm", "power-plant")
BUNDLED = ("wine", "breast-cancer", "diabetes", "digits")
GENERATED = ("friedman1", "borehole", "noisy-4", "noisy-20")
TABULAR, MIXED, FEW = "tabular", "mixed", "few"
N_MANY_SPLITS = 20
FEW_ROWS = (60, 120, 250, 400)
FEW_OF = ("airfoil", "autompg", "ionosphere", "segment", "stock", "vehicle")
MOST_TEST_ROWS = 2_000
MOST_TRAINED = 0.8  # of all rows
SLOW = {"svm": 8, "kernel-ridge": 6, "xrfm": 4, "network": 2}  # rough cost relative to the others, for the order


def datasets(suite: str, data_dir: str | None, names: Sequence[str] = ()) -> list[Dataset]:
    """A suite's data sets, or those of the given names."""
    readers = SUITES[suite](data_dir)
    unknown = [name for name in names if name not in readers]
    if unknown:
        raise ValueError(f"DATASET must be one of the suite's {', '.join(readers)}, got {unknown[0]!r}.")
    return [read() for name, read in readers.items() if not names or name in names]


def _tables(data_dir: str | None) -> dict[str, Callable[[], Dataset]]:
    """Data sets by name, read when called: the folder's tables, the UCI sets, the bundled and the generated ones."""
    folder = _folder("tables", data_dir, (TABULAR, *(f"uci/{name}" for name in UCI)))
    readers = _files(folder / TABULAR, "npz", N_SPLITS)
    readers |= {name: partial(_read, str(folder / "uci" / name), "uci", N_SPLITS) for name in UCI}
    return readers | {name: partial(_read, name, "other", N_SPLITS) for name in (*BUNDLED, *GENERATED)}


def _mixed(data_dir: str | None) -> dict[str, Callable[[], Dataset]]:
    """Tables with words and missing values. The target is the last column."""
    return _files(_folder(MIXED, data_dir, (MIXED,)) / MIXED, "csv", N_MANY_SPLITS)


def _few(data_dir: str | None) -> dict[str, Callable[[], Dataset]]:
    """Few rows of sets that have more, in several numbers; the name has the number."""
    folder = _folder(FEW, data_dir, (TABULAR,)) / TABULAR
    sets = [find(str(folder / f"{name}.npz"), Options()) for name in FEW_OF] + [find(name) for name in BUNDLED[:3]]
    return {
        f"{each.name}-{n}": partial(_thinned, each, n)
        for each in sets
        for n in FEW_ROWS
        if n <= MOST_TRAINED * _n(each)
    }


def _n(dataset: Dataset) -> int:
    rows = dataset.splits(0)
    return len(rows.y) + len(rows.y_test)


SUITES: dict[str, Callable[[str | None], dict[str, Callable[[], Dataset]]]] = {
    "tables": _tables,
    MIXED: _mixed,
    FEW: _few,
}
SEARCHES: dict[str, Search] = {FEW: CrossValidation()}
"""How peers are tuned: on one held-out fifth, but with few rows by cross-validation."""


def _files(folder: Path, kind: str, n_splits: int) -> dict[str, Callable[[], Dataset]]:
    paths = sorted(folder.glob(f"*.{kind}"))
    if not paths:
        raise ValueError(f"--data-dir {folder.parent} must hold .{kind} files in its folder {folder.name}, got none.")
    return {path.stem: partial(_read, str(path), folder.name, n_splits) for path in paths}


def _folder(suite: str, data_dir: str | None, parts: Sequence[str]) -> Path:
    if not data_dir:
        raise ValueError(
            f"--suite {suite} needs --data-dir, a folder that holds {' and '.join(parts)} (or $FOURIERWALK_DATA)."
        )
    folder = Path(data_dir)
    for part in parts:
        if not (folder / part).is_dir():
            raise FileNotFoundError(f"--data-dir {folder} must hold the folder {part}, which is not there.")
    return folder


def _read(name: str, group: str, n_splits: int) -> Dataset:
    dataset = find(name, Options())
    n_splits = n_splits if dataset.most_splits is None else min(n_splits, dataset.most_splits)
    return replace(dataset, n_splits=n_splits, settings={**dataset.settings, "group": group})


def _thinned(dataset: Dataset, n_rows: int) -> Dataset:
    """Random training rows of a set, as many as said; test rows are others, at most 2,000."""
    whole = dataset.splits(0)
    x, y = np.concatenate((whole.x, whole.x_test)), np.concatenate((whole.y, whole.y_test))
    n_test = min(MOST_TEST_ROWS, len(y) - n_rows)

    def splits(number: int) -> TrainTest:
        stratify = y if dataset.task == "classification" else None
        train, test = train_test_split(
            np.arange(len(y)), train_size=n_rows, test_size=n_test, random_state=number, stratify=stratify
        )
        return TrainTest(x[train], y[train], x[test], y[test])

    settings = {**dataset.settings, "rows": n_rows, "test": n_test, "group": FEW}
    return replace(
        dataset,
        name=f"{dataset.name}-{n_rows}",
        splits=splits,
        n_splits=N_MANY_SPLITS,
        most_splits=None,
        settings=settings,
    )


def cells(
    chosen: Sequence[Dataset],
    widths: Sequence[Width],
    names: Sequence[str] | None,
    sources: Sequence[Checkout],
    threads: int,
    n_splits: int | None = None,
    first_split: int = 0,
    device: str | None = None,
) -> list[Entry]:
    """All cells. A split is finished before the next begins."""
    return [
        Entry(dataset, method, number)
        for dataset in chosen
        for number in dataset.numbers(n_splits, first_split)
        for method in methods.suite(
            dataset.task, widths, names, sources, threads, device, SEARCHES.get(dataset.settings["group"], ON_A_FIFTH)
        )
    ]


def longest_first(cells: Sequence[Entry]) -> list[Entry]:
    """The order of cells, slow ones first, so that no long one is left for the end."""
    rows = {cell.dataset.name: cell.dataset.splits(0).x.shape[0] for cell in cells}

    def cost(cell: Entry) -> int:
        return rows[cell.dataset.name] * SLOW.get(cell.method.name, 1)

    return sorted(cells, key=cost, reverse=True)
