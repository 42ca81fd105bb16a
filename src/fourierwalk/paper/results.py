"""Results as JSON: one file per finished cell, or one per experiment once they are gathered."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fourierwalk.paper.cases import Cell
from fourierwalk.reporting.files import write_json, write_text

FOLDER, GATHERED = "cells", "gathered"


def settings(cell: Cell, scale: str) -> dict[str, Any]:
    """Everything that determines the result of a cell. A stored cell is used only if this is the same."""
    case = dataclasses.asdict(cell.case)
    for shared in ("experiments", "widths", "realisations", "more_realisations", "shown_in", "title"):
        case.pop(shared)
    return {
        "case": case,
        "experiment": _of_experiment(cell),
        "width": cell.width,
        "seed": cell.seed,
        "scale": scale,
    }


def _of_experiment(cell: Cell) -> dict[str, Any]:
    """Double precision is not stored, so that older cells are still found."""
    experiment = dataclasses.asdict(cell.experiment)
    if experiment["precision"] == "double":
        experiment.pop("precision")
    return experiment


def write(folder: Path, cell: Cell, scale: str, result: dict[str, Any], origin: dict[str, Any]) -> Path:
    """Write a finished cell atomically."""
    content = {"settings": settings(cell, scale), "result": result, "provenance": origin}
    return write_json(folder / FOLDER / f"{cell.key}.json", content)


def is_there(folder: Path, cell: Cell, scale: str, gathered: dict[str, dict[str, Any]]) -> bool:
    """Whether this cell, with the same settings, is among the results."""
    kept = stored(folder, cell.key, gathered)
    return kept is not None and kept["settings"] == json.loads(json.dumps(settings(cell, scale)))


def stored(folder: Path, key: str, gathered: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """A cell by its key. A loose file takes precedence over a gathered one."""
    return _load(folder / FOLDER / f"{key}.json") or gathered.get(key)


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """All cells of a folder by their key. A loose file takes precedence over a gathered one."""
    cells = read_gathered(folder)
    for path in sorted((folder / FOLDER).rglob("*.json")):
        content = _load(path)
        if content is not None:
            cells[str(path.relative_to(folder / FOLDER).with_suffix(""))] = content
    return cells


def read_gathered(folder: Path) -> dict[str, dict[str, Any]]:
    """The cells of the gathered files."""
    cells: dict[str, dict[str, Any]] = {}
    for path in sorted((folder / GATHERED).glob("*.json")):
        content = _load(path)
        if content is None:
            raise ValueError(f"{path} is not a results file: it cannot be read as JSON.")
        origins = content["provenance"]
        cells.update(
            {
                key: {"settings": cell["settings"], "result": cell["result"], "provenance": origins[cell["provenance"]]}
                for key, cell in content["cells"].items()
            }
        )
    return cells


def experiment_of(key: str) -> str:
    """The name of the file that a cell is gathered into."""
    case, experiment, _ = key.split("/")
    return case if case in ("gap", "sweep", "theory") else f"{case}-{experiment}"


def gather(folder: Path, file_of: Callable[[str], str] = experiment_of) -> list[Path]:
    """Gather all cells into one file per experiment, each provenance once, and remove the loose files."""
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for key, cell in read(folder).items():
        groups.setdefault(file_of(key), {})[key] = cell
    written = [write_text(folder / GATHERED / f"{name}.json", _packed(cells)) for name, cells in groups.items()]
    for path in sorted((folder / FOLDER).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    return written


def _packed(cells: dict[str, dict[str, Any]]) -> str:
    """JSON with a line per cell. Each cell refers to its provenance by number."""
    origins: list[dict[str, Any]] = []
    lines = []
    for key, cell in sorted(cells.items()):
        origin = {name: value for name, value in cell["provenance"].items() if name != "date"}
        if origin not in origins:
            origins.append(origin)
        packed = {**cell, "provenance": origins.index(origin)}
        lines.append(f"{json.dumps(key)}: {json.dumps(packed, sort_keys=True, allow_nan=False)}")
    head = json.dumps(origins, sort_keys=True, allow_nan=False)
    body = ",\n".join(lines)
    return f'{{"provenance": {head},\n"cells": {{\n{body}\n}}}}\n'


def _load(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def of(cells: dict[str, dict[str, Any]], case: str, experiment: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(K, seed, result) of an experiment's cells, in order."""
    for key in sorted(cells):
        if key.startswith(f"{case}/{experiment}/"):
            yield cells[key]["settings"]["width"], cells[key]["settings"]["seed"], cells[key]["result"]
