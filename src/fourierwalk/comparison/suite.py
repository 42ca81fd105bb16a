"""Suites of many tables: numeric ones, on which defaults are chosen, and mixed ones; and all cells of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from fourierwalk.comparison import methods
from fourierwalk.comparison.checkouts import Checkout, Width
from fourierwalk.comparison.datasets import Dataset, Options, find
from fourierwalk.comparison.run import Entry

N_SPLITS = 3
UCI = ("concrete", "kin8nm", "power-plant")
BUNDLED = ("wine", "breast-cancer", "diabetes", "digits")
GENERATED = ("friedman1", "borehole", "noisy-4", "noisy-20")
TABULAR, MIXED = "tabular", "mixed"
N_MIXED_SPLITS = 20
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
    found = _files(folder / TABULAR, "npz", N_SPLITS)
    found |= {name: partial(_read, str(folder / "uci" / name), "uci", N_SPLITS) for name in UCI}
    return found | {name: partial(_read, name, "other", N_SPLITS) for name in (*BUNDLED, *GENERATED)}


def _mixed(data_dir: str | None) -> dict[str, Callable[[], Dataset]]:
    """Tables with words and missing values. The target is the last column."""
    return _files(_folder(MIXED, data_dir, (MIXED,)) / MIXED, "csv", N_MIXED_SPLITS)


SUITES: dict[str, Callable[[str | None], dict[str, Callable[[], Dataset]]]] = {"tables": _tables, MIXED: _mixed}


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
        for method in methods.suite(dataset.task, widths, names, sources, threads, device)
    ]


def longest_first(cells: Sequence[Entry]) -> list[Entry]:
    """The order of cells, slow ones first, so that no long one is left for the end."""
    rows = {cell.dataset.name: cell.dataset.splits(0).x.shape[0] for cell in cells}

    def cost(cell: Entry) -> int:
        return rows[cell.dataset.name] * SLOW.get(cell.method.name, 1)

    return sorted(cells, key=cost, reverse=True)
