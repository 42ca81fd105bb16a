"""The table of coverages beside their bars, as Markdown, from the cells of a folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.paper import results
from fourierwalk.reporting.files import write_text
from fourierwalk.reporting.provenance import describe

FILE = "coverage.md"
LEVEL, SHOWN = 0.9, "0.9"
BARS = {"concrete": 2.95, "kin8nm": -1.33, "power-plant": 2.72}
"""The largest negative log likelihoods that count as good: below those of deep ensembles."""

OURS = ("set", "splits", "test rows", "coverage", "allowed", "width")
THEIRS = ("MAPIE: coverage", "MAPIE: width", "ratio of widths")
HEADER = (*OURS, *THEIRS, "NLL", "NLL bar", "seconds", "MAPIE: seconds")


def write(folder: Path) -> str:
    """Write the table to the folder, and return it."""
    found = results.read(folder)
    text = "\n".join([*_table(found), "", *_sentences(found), "", *_origins(found), ""])
    write_text(folder / FILE, text)
    return text


def _cells(found: dict[str, Any], name: str, method: str) -> dict[int, dict[str, Any]]:
    """Results by split."""
    return {
        cell["settings"]["split"]: cell["result"]
        for cell in found.values()
        if (cell["settings"]["dataset"]["name"], cell["settings"]["method"]) == (name, method)
        and "coverage" in cell["result"]
    }


def names(found: dict[str, Any]) -> list[str]:
    """The data sets, tables before rows that are not exchangeable."""
    groups = {cell["settings"]["dataset"]["name"]: cell["settings"]["dataset"]["group"] for cell in found.values()}
    return sorted(groups, key=lambda name: (groups[name] == "dependent", name))


def covered(cells: dict[int, dict[str, Any]]) -> tuple[float, int]:
    """The share of all test rows inside their intervals, and their number."""
    n = sum(cell["n_test"] for cell in cells.values())
    return sum(cell["coverage"][SHOWN] * cell["n_test"] for cell in cells.values()) / n, n


def _table(found: dict[str, Any]) -> list[str]:
    lines: list[tuple[str, ...]] = [HEADER, ("---",) * len(HEADER)]
    for name in names(found):
        own, peer = _cells(found, name, "ours"), _cells(found, name, "mapie")
        if own:
            lines.append(_row(name, own, peer))
    return ["| " + " | ".join(line) + " |" for line in lines]


def _row(name: str, own: dict[int, dict[str, Any]], peer: dict[int, dict[str, Any]]) -> tuple[str, ...]:
    share, n = covered(own)
    both = sorted(set(own) & set(peer))
    theirs = ("", "", "", "")
    if both:
        width = _mean(peer[split]["width"] for split in both)
        ratio = _mean(own[split]["width"] for split in both) / width
        seconds = _mean(peer[split]["fit_seconds"] for split in both)
        theirs = (f"{covered({i: peer[i] for i in both})[0]:.3f}", f"{width:.3f}", f"{ratio:.3f}", f"{seconds:.1f}")
    bar = f"{BARS[name]:g}" if name in BARS else ""
    return (
        name,
        str(len(own)),
        str(n),
        f"{share:.3f}",
        f"± {allowed(n):.3f}",
        f"{_mean(cell['width'] for cell in own.values()):.3f}",
        *theirs[:3],
        f"{_mean(cell['nll'] for cell in own.values()):.3f}",
        bar,
        f"{_mean(cell['fit_seconds'] for cell in own.values()):.1f}",
        theirs[3],
    )


def allowed(n: int) -> float:
    """How far the coverage of n test rows may be from 0.9: 0.05 and two standard errors."""
    return 0.05 + 2 * math.sqrt(LEVEL * (1 - LEVEL) / n)


def _sentences(found: dict[str, Any]) -> list[str]:
    """The means over all tables."""
    tables = [name for name in names(found) if _cells(found, name, "ours") and not _is_dependent(found, name)]
    if not tables:
        return []
    shares = [covered(_cells(found, name, "ours"))[0] for name in tables]
    lines = [f"Mean coverage of {len(tables)} tables: {np.mean(shares):.3f}."]
    ratios = []
    for name in tables:
        own, peer = _cells(found, name, "ours"), _cells(found, name, "mapie")
        ratios += [own[split]["width"] / peer[split]["width"] for split in sorted(set(own) & set(peer))]
    if ratios:
        mean = math.exp(float(np.mean(np.log(ratios))))
        lines.append(f"Geometric mean of width over MAPIE's, {len(ratios)} splits: {mean:.3f}.")
    lines.append("Widths are divided by the standard deviation of the targets; likelihoods are in their units.")
    return lines


def _is_dependent(found: dict[str, Any], name: str) -> bool:
    return any(
        cell["settings"]["dataset"]["group"] == "dependent"
        for cell in found.values()
        if cell["settings"]["dataset"]["name"] == name
    )


def _origins(found: dict[str, Any]) -> list[str]:
    return sorted({f"Commit {cell['provenance']['commit']}: {describe(cell['provenance'])}" for cell in found.values()})


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
