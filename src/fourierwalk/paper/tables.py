"""The paper's results as tables of K by method, with units, and with what was computed on a GPU marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fourierwalk.paper.cases import Case
from fourierwalk.paper.summary import Found, curve
from fourierwalk.reporting.scatter import with_scatter

Table = tuple[str, list[str], list[list[str]]]
"""Caption, columns, rows."""

ON_GPU = "†"


def width_table(found: Found, case: Case, figure: str, what: str) -> Table:
    """A figure of the results by K and method: mean ± standard deviation.

    Parameters
    ----------
    found : dict
        The cells.
    case : Case
        Whose methods are the columns.
    figure : str
        The name of the figure among a cell's results.
    what : str
        What it is, with its unit.
    """
    lines = {each: curve(found, case.name, each.name, figure) for each in case.experiments}
    lines = {each: line for each, line in lines.items() if line.widths.size}
    counts = sorted({int(n) for line in lines.values() for n in line.n_seeds})
    rows = []
    for width in sorted({int(w) for line in lines.values() for w in line.widths}):
        cells = []
        for experiment, line in lines.items():
            at = [i for i, w in enumerate(line.widths) if w == width]
            mark = ON_GPU if is_on_gpu(found, case.name, experiment.name, width) else ""
            cells.append(mark + with_scatter(line.mean[at[0]], line.deviation[at[0]]) if at else "–")
        rows.append([str(width), *cells])
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{what}, mean ± standard deviation of {seeds} seeds", ["K", *(each.label for each in lines)], rows


def is_on_gpu(found: Found, case: str, experiment: str, width: int) -> bool:
    """Whether any cell of an experiment at a width was computed on a GPU."""
    start = f"{case}/{experiment}/K{width:05d}-"
    return any(gpu_of(cell) for key, cell in found.items() if key.startswith(start))


def gpu_of(cell: Mapping[str, Any]) -> str:
    """The GPU that a cell was computed on; "" where it was none."""
    if cell["settings"]["experiment"]["method"] in ("gradient", "check"):
        return ""  # always on the processor
    return str(cell["provenance"].get("machine", {}).get("gpu", ""))


def gpu_note(found: Found, case: str) -> str:
    """What the mark means, where a case has one."""
    names = sorted({gpu_of(cell) for key, cell in found.items() if key.startswith(f"{case}/")} - {""})
    return f"{ON_GPU} computed on a GPU ({', '.join(names)}); all else on processors." if names else ""
