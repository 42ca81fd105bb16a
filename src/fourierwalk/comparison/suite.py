"""The development suite: the data sets that defaults are chosen on, and all cells of a run over them."""

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
TABULAR = "tabular"
SLOW = {"svm": 8, "kernel-ridge": 6, "xrfm": 4, "network": 2}  # about how much longer than the others, for the order


def datasets(data_dir: str | None, names: Sequence[str] = ()) -> list[Dataset]:
    """The suite's data sets, or those of the given names."""
    readers = _readers(data_dir)
    unknown = [name for name in names if name not in readers]
    if unknown:
        raise ValueError(f"DATASET must be one of the suite's {', '.join(readers)}, got {unknown[0]!r}.")
    return [read() for name, read in readers.items() if not names or name in names]


def _readers(data_dir: str | None) -> dict[str, Callable[[], Dataset]]:
    """By name, read when called: the tables of the folder, the UCI sets, the bundled and the generated ones."""
    folder = _folder(data_dir)
    tables = sorted((folder / TABULAR).glob("*.npz"))
    if not tables:
        raise ValueError(f"--data-dir {folder} must hold .npz files in its folder {TABULAR}, got none.")
    found: dict[str, Callable[[], Dataset]] = {path.stem: partial(_read, str(path), TABULAR) for path in tables}
    found |= {name: partial(_read, str(folder / "uci" / name), "uci") for name in UCI}
    return found | {name: partial(_read, name, "other") for name in (*BUNDLED, *GENERATED)}


def _folder(data_dir: str | None) -> Path:
    if not data_dir:
        raise ValueError("--suite tables needs --data-dir, a folder that holds tabular and uci (or $FOURIERWALK_DATA).")
    folder = Path(data_dir)
    for part in (TABULAR, *(f"uci/{name}" for name in UCI)):
        if not (folder / part).is_dir():
            raise FileNotFoundError(f"--data-dir {folder} must hold the folder {part}, which is not there.")
    return folder


def _read(name: str, group: str) -> Dataset:
    dataset = find(name, Options())
    n_splits = N_SPLITS if dataset.most_splits is None else min(N_SPLITS, dataset.most_splits)
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
    """All cells; a split is finished before the next begins."""
    return [
        Entry(dataset, method, number)
        for dataset in chosen
        for number in dataset.numbers(n_splits, first_split)
        for method in methods.suite(dataset.task, widths, names, sources, threads, device)
    ]


def longest_first(cells: Sequence[Entry]) -> list[Entry]:
    """So that no long one is left for the end, when most processes have nothing to do."""
    rows = {cell.dataset.name: cell.dataset.splits(0).x.shape[0] for cell in cells}

    def cost(cell: Entry) -> int:
        return rows[cell.dataset.name] * SLOW.get(cell.method.name, 1)

    return sorted(cells, key=cost, reverse=True)
