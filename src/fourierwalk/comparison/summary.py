"""From cells to tables: means and scatter over splits, and ours against the best peer, split by split."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.comparison.methods import NAMES, Name
from fourierwalk.comparison.tuning import BESIDE, OURS, PEER
from fourierwalk.reporting.scatter import with_scatter

Cells = Mapping[str, Mapping[str, Any]]

HEADER = ["method", "error", "columns", "fit s", "last fit s", "predict s"]


class Row(NamedTuple):
    """A method on a data set."""

    method: str
    label: str
    family: str
    errors: dict[int, float]  # by split
    columns: float | None  # from here on means over the splits
    fit_seconds: float
    last_fit_seconds: float
    predict_seconds: float

    @property
    def mean(self) -> float:
        """Of the errors."""
        return float(np.mean(list(self.errors.values())))

    @property
    def deviation(self) -> float:
        """Of the errors, over the splits."""
        return _deviation(list(self.errors.values()))


class Difference(NamedTuple):
    """Error of ours minus the peer's, mean and standard error over the splits that both have."""

    ours: str
    peer: str
    mean: float
    standard_error: float
    n_splits: int


def datasets(cells: Cells) -> list[str]:
    """Names, in order."""
    return sorted({key.split("/")[0] for key in cells})


def describe(cells: Cells, dataset: str) -> str:
    """Task, sizes and notes, in a sentence or two."""
    finished = [cell for cell in _of(cells, dataset) if "error" in cell["result"]]
    if not finished:
        return "No cell is finished."
    settings, result = finished[0]["settings"]["dataset"], finished[0]["result"]
    splits = {cell["settings"]["split"] for cell in finished}
    words = f"{settings['task'].capitalize()}, {result['n_inputs']} inputs, {result['n_train']:,} training and "
    words += f"{result['n_test']:,} test rows, {_counted(len(splits))}."
    return f"{words} {settings['note']}".strip()


def error_name(cells: Cells, dataset: str) -> str:
    """What the numbers are."""
    task = next(iter(_of(cells, dataset)))["settings"]["dataset"]["task"]
    return "% misclassified" if task == "classification" else "RMSE on test rows"


def rows(everything: Cells, dataset: str) -> list[Row]:
    """One row per method that finished anywhere: ours, peers, what stands beside them."""
    methods: dict[str, list[Mapping[str, Any]]] = {}
    for cell in _of(everything, dataset):
        if "error" in cell["result"]:
            methods.setdefault(cell["settings"]["method"]["name"], []).append(cell)
    return sorted((_row(name, cells) for name, cells in methods.items()), key=_place)


def best_peer(table: Sequence[Row]) -> Row | None:
    """The kernel or network peer of the lowest mean error, among those that finished most splits."""
    peers = [row for row in table if row.family == PEER]
    most = max((len(row.errors) for row in peers), default=0)
    return min((row for row in peers if len(row.errors) == most), key=lambda row: row.mean, default=None)


def differences(table: Sequence[Row]) -> list[Difference]:
    """Every width of ours against the best peer, split by split, and against peers that are better on fewer splits.

    Examples
    --------
    >>> times = (None, 1.0, 1.0, 1.0)
    >>> ours = Row("ours-8", "ours, K = 8", "ours", {0: 1.0, 1: 3.0}, *times)
    >>> peer = Row("svm", "SVR", "kernel or network", {0: 2.0, 1: 5.0}, *times)
    >>> differences([ours, peer])
    [Difference(ours='ours, K = 8', peer='SVR', mean=-1.5, standard_error=0.5, n_splits=2)]
    """
    peer = best_peer(table)
    if peer is None:
        return []
    shown = []
    for ours in (row for row in table if row.family == OURS):
        against = [gap for row in table if row.family == PEER and (gap := _difference(ours, row))]
        best = next((gap for gap in against if gap.peer == peer.label), None)
        shown += [best] if best else []
        shown += [gap for gap in against if gap.peer != peer.label and _hides(gap, best, ours, table)]
    return shown


def _difference(ours: Row, peer: Row) -> Difference | None:
    both = sorted(ours.errors.keys() & peer.errors.keys())
    if not both:
        return None
    gaps = [ours.errors[i] - peer.errors[i] for i in both]
    return Difference(ours.label, peer.label, float(np.mean(gaps)), _deviation(gaps) / math.sqrt(len(gaps)), len(gaps))


def _hides(gap: Difference, best: Difference | None, ours: Row, table: Sequence[Row]) -> bool:
    """Whether a peer that did not finish all splits is better, on its splits, than the best of those that did."""
    if best is None:
        return True
    rows = {row.label: row for row in table}
    both = ours.errors.keys() & rows[gap.peer].errors.keys() & rows[best.peer].errors.keys()
    return bool(both) and bool(np.mean([rows[gap.peer].errors[i] - rows[best.peer].errors[i] for i in both]) < 0)


def front(table: Sequence[Row]) -> list[Row]:
    """Rows that no other beats in both error and seconds to fit, the fastest first."""
    kept: list[Row] = []
    for row in sorted(table, key=lambda row: (row.fit_seconds, row.mean)):
        if not kept or row.mean < kept[-1].mean:
            kept.append(row)
    return kept


def cells_of(row: Row) -> list[str]:
    """A row as text, under `HEADER`."""
    seconds = (row.fit_seconds, row.last_fit_seconds, row.predict_seconds)
    columns = "" if row.columns is None else f"{row.columns:,.0f}"
    return [row.label, with_scatter(row.mean, row.deviation), columns, *map(shown_seconds, seconds)]


def words_of(difference: Difference) -> str:
    """A difference as a sentence."""
    amount = with_scatter(difference.mean, difference.standard_error, sign="+")
    kind = "mean ± standard error over" if difference.n_splits > 1 else "on"
    return f"{difference.ours} minus {difference.peer}: {amount} ({kind} {_counted(difference.n_splits)})."


def warnings_of(cells: Cells, dataset: str) -> list[str]:
    """A line for every method whose splits were computed with different settings, so that their mean means little."""
    settings: dict[str, list[Any]] = {}
    for cell in _of(cells, dataset):
        if "error" in cell["result"]:
            made_by = cell["settings"]["dataset"], cell["settings"]["method"]
            settings.setdefault(made_by[1]["label"], []).append(made_by)
    mixed = [label for label, several in settings.items() if any(one != several[0] for one in several)]
    return [f"{label}: its splits were computed with different settings." for label in mixed]


def left_out(cells: Cells, dataset: str) -> list[str]:
    """A line for every method that was left out or failed, with the reason."""
    reasons: dict[tuple[str, str], list[int]] = {}
    for cell in _of(cells, dataset):
        reason = cell["result"].get("skipped") or cell["result"].get("failure")
        if reason:
            reasons.setdefault((cell["settings"]["method"]["label"], reason), []).append(cell["settings"]["split"])
    return [f"{label}: {reason} ({_counted(len(splits))})." for (label, reason), splits in reasons.items()]


def shown_seconds(value: float) -> str:
    """Two digits, never a power of ten.

    Examples
    --------
    >>> shown_seconds(184.2), shown_seconds(1.84), shown_seconds(0.000184)
    ('184', '1.8', '0.00018')
    """
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _counted(n_splits: int) -> str:
    return "1 split" if n_splits == 1 else f"{n_splits} splits"


def _of(cells: Cells, dataset: str) -> list[Mapping[str, Any]]:
    return [cells[key] for key in sorted(cells) if key.split("/")[0] == dataset]


def _row(name: str, cells: Sequence[Mapping[str, Any]]) -> Row:
    results = [cell["result"] for cell in cells]
    method = cells[0]["settings"]["method"]
    errors = {cell["settings"]["split"]: cell["result"]["error"] for cell in cells}
    columns = None if results[0]["columns"] is None else _mean(results, "columns")
    seconds = (_mean(results, figure) for figure in ("fit_seconds", "last_fit_seconds", "predict_seconds"))
    return Row(name, method["label"], method["family"], errors, columns, *seconds)


def _place(row: Row) -> tuple[int, int, int, str]:
    """Sort key: ours, peers, others; within each as in the table of methods, narrow before wide."""
    kind, width, commit = Name.of(row.method)
    place = NAMES.index(kind) if kind in NAMES else len(NAMES)
    return (OURS, PEER, BESIDE).index(row.family), place, 0 if width in (None, "auto") else int(width), commit or ""


def _mean(results: Sequence[Mapping[str, Any]], figure: str) -> float:
    return float(np.mean([result[figure] for result in results]))


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
