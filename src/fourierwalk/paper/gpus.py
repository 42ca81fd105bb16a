"""Which cells were computed on a GPU. Their rows are marked in every table of K by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fourierwalk.paper.cases import CASES
from fourierwalk.paper.summary import Cells

MARK = "†"


def gpu_of(cell: Mapping[str, Any]) -> str:
    """The GPU that a cell was computed on; "" if none."""
    if cell["settings"]["experiment"]["method"] in ("gradient", "check"):
        return ""  # always computed on the processor
    return str(cell["provenance"].get("machine", {}).get("gpu", ""))


def widths(cells: Cells, case: str) -> dict[str, list[int]]:
    """For each experiment of a case, by its label, the K that have a cell from a GPU."""
    labels = {experiment.name: experiment.label for experiment in CASES[case].experiments}
    each: dict[str, set[int]] = {}
    for key, cell in cells.items():
        name, experiment, _ = key.split("/")
        if name == case and experiment in labels and gpu_of(cell):
            each.setdefault(labels[experiment], set()).add(cell["settings"]["width"])
    return {label: sorted(each[label]) for label in labels.values() if label in each}


def marked(cells: Cells, case: str, rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows that begin with K. Those with a cell from a GPU get a mark."""
    there = {str(width) for some in widths(cells, case).values() for width in some}
    return [[f"{row[0]} {MARK}" if row[0] in there else row[0], *row[1:]] for row in rows]


def note(cells: Cells, case: str) -> str:
    """What the mark means, and for which methods; "" if nothing is marked."""
    names = sorted({gpu_of(cell) for key, cell in cells.items() if key.startswith(f"{case}/")} - {""})
    which = "; ".join(f"{label}, K = {_span(some)}" for label, some in widths(cells, case).items())
    return f"{MARK} computed on a GPU ({', '.join(names)}): {which}. All else on processors." if which else ""


def _span(some: Sequence[int]) -> str:
    return f"{some[0]}" if len(some) == 1 else f"{some[0]} to {some[-1]}"
