"""A cell of a comparison is a data set, a method and a split. It is written as soon as it is fitted and measured."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fourierwalk.comparison.checkouts import Width
from fourierwalk.comparison.datasets import Dataset, TrainTest
from fourierwalk.comparison.methods import Method, named
from fourierwalk.paper import results
from fourierwalk.reporting.files import write_json


class Entry(NamedTuple):
    """What is computed at once. The number of the split is also the seed of the method."""

    dataset: Dataset
    method: Method
    split: int

    @property
    def key(self) -> str:
        """Names its file."""
        return f"{self.dataset.name}/{self.method.name}/split{self.split:02d}"

    def settings(self) -> dict[str, Any]:
        """What determines the result, and how tables name it."""
        dataset, method = self.dataset, self.method
        return {
            "dataset": {"name": dataset.name, "task": dataset.task, "note": dataset.note, **dataset.settings},
            "method": {"name": method.name, "label": method.label, "family": method.family, **method.settings()},
            "split": self.split,
            "seed": self.split,
        }


def cells(
    datasets: Sequence[Dataset],
    widths: Sequence[Width],
    methods: Sequence[str] | None,
    n_splits: int | None,
    device: str | None = None,
    first_split: int = 0,
) -> list[Entry]:
    """All cells of a comparison. A split is finished before the next begins."""
    return [
        Entry(dataset, method, number)
        for dataset in datasets
        for number in dataset.numbers(n_splits, first_split)
        for method in named(dataset.task, widths, methods, device)
    ]


def is_there(folder: Path, cell: Entry, gathered: dict[str, dict[str, Any]]) -> bool:
    """Whether the cell has a result with the same settings. A cell that failed or was left out is tried again."""
    kept = results.stored(folder, cell.key, gathered)
    if kept is None or "error" not in kept["result"]:
        return False
    return kept["settings"] == json.loads(json.dumps(cell.settings()))


def compute(cell: Entry, n_threads: int | None) -> dict[str, Any]:
    """Error, seconds and columns; or the reason why there are none."""
    data = cell.dataset.splits(cell.split)
    reason = cell.method.absent(data.x.shape[0])
    if reason is not None:
        return {"skipped": reason}
    try:
        with threadpool_limits(n_threads):
            return {**measured(cell, data), "threads": n_threads}
    except Exception as error:  # if a method fails, the others go on
        return {"failure": f"{type(error).__name__}: {error}"}


def measured(cell: Entry, data: TrainTest) -> dict[str, Any]:
    """Fit on the training rows, predict the test rows."""
    fitted = cell.method.fit(data.x, data.y, cell.split)
    start = time.perf_counter()
    predicted = fitted.model.predict(data.x_test)
    seconds = time.perf_counter() - start
    return {
        "error": error_of(cell.dataset.task, predicted, data.y_test),
        "fit_seconds": fitted.seconds,
        "last_fit_seconds": fitted.last_seconds,
        "predict_seconds": seconds,
        "columns": cell.method.columns(fitted.model),
        "chosen": {name: _or_none(value) for name, value in fitted.chosen.items()},
        "n_train": data.x.shape[0],
        "n_test": data.x_test.shape[0],
        "n_inputs": data.x.shape[1],
        "target_spread": float(np.std(data.y_test)) if cell.dataset.task == "regression" else None,
    }


def _or_none(value: Any) -> Any:
    """A value that JSON can hold. The λ of a constant model is infinite, which it cannot hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def error_of(task: str, predicted: np.ndarray, truth: np.ndarray) -> float:
    """The root mean square in the target's own units, or the percentage misclassified."""
    if task == "classification":
        return float(100 * np.mean(predicted != truth))
    error = float(np.sqrt(np.mean((predicted - truth) ** 2)))
    if not np.isfinite(error):
        raise ValueError(f"predictions are not finite: the error is {error}")
    return error


def write(folder: Path, cell: Entry, result: dict[str, Any], origin: dict[str, Any]) -> Path:
    """Write a finished cell atomically."""
    content = {"settings": cell.settings(), "result": result, "provenance": origin}
    return write_json(folder / results.FOLDER / f"{cell.key}.json", content)


def gather(folder: Path) -> list[Path]:
    """Gather all cells into one file per data set."""
    return results.gather(folder, lambda key: key.split("/")[0])
