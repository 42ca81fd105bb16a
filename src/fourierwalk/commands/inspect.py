"""``fourierwalk inspect``: what a model file holds."""

from __future__ import annotations

import argparse
import json
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Shown

from fourierwalk import loading
from fourierwalk.commands import options as shared
from fourierwalk.estimators import AdaptiveFourierClassifier
from fourierwalk.loading import Loaded
from fourierwalk.model import FourierModel
from fourierwalk.tables.columns import Column, Levels, Means
from fourierwalk.tables.encoder import names_in

EXAMPLES = """  fourierwalk inspect houses.fw
  fourierwalk inspect houses.fw --json
"""


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(verbs, "inspect", "show what a model file holds", EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="what fourierwalk fit, or model.save, wrote")
    shared.add_output(parser)
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Read the file and print what it holds."""
    told = described(loading.read(options.model), options.model)
    if options.json:
        print(json.dumps(told, allow_nan=False))
    elif not options.quiet:
        _show(told, Console(highlight=False))
    return 0


def described(loaded: Loaded, path: Path) -> dict[str, Any]:
    """Everything that is shown, as JSON values."""
    estimator = None if isinstance(loaded.model, FourierModel) else loaded.model
    model = loaded.model if estimator is None else estimator.model_
    told: dict[str, Any] = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "sha256": loaded.sha256,
        "written_by": f"fourierwalk {loaded.library}",
        "kind": type(loaded.model).__name__,
        "frequencies": list(model.frequencies.shape),
        "outputs": int(model.amplitudes.shape[1]),
        "features": model.features.name,
        "scaling": model.scaling.kind,
        "inputs": _inputs(model, estimator),
        **loaded.about,
    }
    if estimator is not None:
        told["regularization"] = _plain(estimator.regularization_)
        told["decisions"] = list(estimator.history_.decisions)
        told["parameters"] = {name: _plain(value) for name, value in estimator.get_params(deep=False).items()}
    if isinstance(estimator, AdaptiveFourierClassifier):
        told["classes"] = estimator.classes_.tolist()
    return told


def _plain(value: Any) -> Any:
    """A value that JSON can hold. The λ of a constant model is infinite, which it cannot hold."""
    is_plain = value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    return value if is_plain else repr(value)


def _inputs(model: FourierModel, estimator: Any) -> list[dict[str, Any]]:
    """Name, kind, relevance, and the levels of each input; `estimator` is None if the file holds a model alone."""
    if estimator is not None and estimator.encoder_ is not None:
        columns = [_column(column) for column in estimator.encoder_.columns_]
    else:
        names = None if estimator is None else names_in(estimator)
        numbered = [f"x{j}" for j in range(int(model.scaling.inputs.center.shape[0]))]
        columns = [{"name": str(name), "kind": "number"} for name in (numbered if names is None else names)]
    if model.importances is None:
        return columns
    shares = np.asarray(model.importances if estimator is None else estimator.feature_importances_)
    return [{**each, "relevance": round(float(share), 6)} for each, share in zip(columns, shares, strict=True)]


def _column(column: Column) -> dict[str, Any]:
    levels = {"levels": list(column.levels)} if isinstance(column, Levels | Means) else {}
    return {"name": column.name, "kind": column.kind, **levels}


def _show(told: dict[str, Any], console: Console) -> None:
    about = [
        f"{told['kind']} of {told['target']!r}" if "target" in told else told["kind"],
        f"{told['frequencies'][0]} frequencies of {told['frequencies'][1]} components, features {told['features']}",
        f"inputs scaled: {told['scaling']}",
        f"{told['bytes'] / 1000:.1f} kB, written by {told['written_by']}, sha256 {told['sha256'][:16]}…",
    ]
    if told.get("held_out_errors"):
        errors = ", ".join(f"{name} {error:.4g}" for name, error in told["held_out_errors"].items())
        about.append(f"{told['measure']} on rows held out: {errors}")
    if "classes" in told:
        about.append(f"classes: {', '.join(map(str, told['classes'][:20]))}")
    for line in about:
        console.print(line, markup=False, soft_wrap=True)
    table = Shown("input", "kind", "relevance", "levels")
    ordered = sorted(told["inputs"], key=lambda each: -each.get("relevance", 0.0))
    for each in ordered[:50]:
        levels = ", ".join("missing" if level is None else level for level in each.get("levels", [])[:8])
        table.add_row(each["name"], each["kind"], f"{100 * each.get('relevance', 0.0):.1f} %", levels)
    console.print(table)
    for line in told.get("decisions", []):
        console.print(line, style="dim", markup=False, soft_wrap=True)
