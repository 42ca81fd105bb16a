"""``fourierwalk predict``: predictions of a model for the rows of a file, block by block."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from fourierwalk import loading
from fourierwalk.commands import options as shared
from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.files.writing import check_writable, replacing
from fourierwalk.loading import Loaded
from fourierwalk.reading import files
from fourierwalk.reading.source import Source
from fourierwalk.reporting.voice import Voice, voice
from fourierwalk.tables.columns import Moment, Number
from fourierwalk.tables.encoder import names_in
from fourierwalk.tables.table import MOMENTS, NUMBERS, WORDS, Table

EXAMPLES = """  fourierwalk predict houses.fw new.csv --out predictions.csv
  fourierwalk predict flowers.fw new.csv --probabilities --out predictions.csv
  fourierwalk predict houses.fw new.parquet > predictions.csv
  fourierwalk predict houses.fw new.csv --std --interval 0.9 --out predictions.csv
"""


class Inputs(NamedTuple):
    """The columns that a model needs, and the kind of each."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(verbs, "predict", "predict the rows of a file of any size with a saved model", EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="what fourierwalk fit, or model.save, wrote")
    parser.add_argument("data", type=Path, metavar="DATA", help="a .csv, .tsv, .txt, .npz or .parquet file")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a .csv or .tsv file (default: standard output)")
    parser.add_argument("--probabilities", action="store_true", help="add a column for the probability of each class")
    parser.add_argument("--std", action="store_true", help="add a column for the standard deviation of the target")
    parser.add_argument(
        "--interval", type=float, metavar="LEVEL", help="add columns for the ends of an interval, such as 0.9"
    )
    shared.add_device(parser)
    shared.add_encoding(parser)
    shared.add_output(parser)
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Read, predict and write blocks. The output file is complete or not there."""
    speaker, loaded = voice(options.quiet), loading.read(options.model)
    _check(options, loaded)
    loaded.model.set_params(device=options.device)  # not on the device that it was fitted on
    source = files.source(options.data, options.encoding)
    inputs = needed(loaded.model, source, speaker)
    n_rows = 0
    with _output(options.out) as file, speaker.watch("Predicting"):
        writer = csv.writer(file, delimiter="\t" if _ending(options.out) == ".tsv" else ",", lineterminator="\n")
        writer.writerow(_header(loaded, options))
        for block in source.blocks(inputs.names, inputs.kinds):
            writer.writerows(_rows(loaded.model, block.table, options))
            n_rows += len(block.table)
            speaker.step(f"{n_rows:,} rows")
        if n_rows == 0:
            raise ValueError(f"{source.path} must have rows below its header, got none.")
    speaker.say(f"{n_rows:,} rows predicted{'' if options.out is None else f': {options.out}'}.")
    if options.json:
        print(json.dumps({"rows": n_rows, "out": str(options.out)}))
    return 0


def _check(options: argparse.Namespace, loaded: Loaded) -> None:
    """Check everything that can be wrong before a row is read."""
    if not isinstance(loaded.model, AdaptiveFourierRegressor | AdaptiveFourierClassifier):
        raise ValueError(f"{options.model} must hold a regressor or a classifier, got {type(loaded.model).__name__}.")
    if options.probabilities and not isinstance(loaded.model, AdaptiveFourierClassifier):
        raise ValueError("--probabilities needs a classifier, got a regressor.")
    if options.std or options.interval is not None:
        _check_error_bars(options, loaded)
    shared.check_device(options.device)
    if options.out is None:
        if options.json:
            raise ValueError("--json needs --out, because predictions go to standard output without it.")
        return
    if _ending(options.out) not in (".csv", ".tsv"):
        raise ValueError(f"--out must be a .csv or .tsv file, got {options.out}.")
    check_writable(options.out, options.data, options.model)


def _check_error_bars(options: argparse.Namespace, loaded: Loaded) -> None:
    if not isinstance(loaded.model, AdaptiveFourierRegressor):
        raise ValueError("--std and --interval need a regressor, got a classifier: take --probabilities.")
    if loaded.model.error_bars_ is None:
        raise ValueError(
            f"--std and --interval need a model file with error bars, got {options.model} without them: fit with "
            f"--error-bars, or save with error_bars=True."
        )
    if options.interval is not None and not 0 < options.interval < 1:
        raise ValueError(f"--interval must be above 0 and below 1, got {options.interval:g}.")


def _ending(path: Path | None) -> str:
    return "" if path is None else path.suffix.lower()


def needed(model: Any, source: Source, speaker: Voice) -> Inputs:
    """The model's inputs in the file, in any order. A missing column is an error. Other columns are ignored."""
    inputs = _inputs(model)
    if inputs is None:
        if len(source.names) != model.n_features_in_:
            raise ValueError(
                f"{source.path} must have {model.n_features_in_} columns, because the model was fitted without names, "
                f"got {len(source.names)}."
            )
        return Inputs(source.names, (NUMBERS,) * len(source.names))
    missing = [name for name in inputs.names if name not in source.names]
    if missing:
        raise ValueError(
            f"{source.path} must have the columns of the model, but lacks {_listed(missing)}; it has "
            f"{_listed(source.names)}."
        )
    more = [name for name in source.names if name not in inputs.names]
    if more:
        speaker.say(f"Not used: {_listed(more)}.")
    return inputs


def _inputs(model: Any) -> Inputs | None:
    names = names_in(model)
    if model.encoder_ is not None:
        columns = model.encoder_.columns_
        if names is None and all(column.name == f"x{j}" for j, column in enumerate(columns)):
            return None
        kinds = {Number: NUMBERS, Moment: MOMENTS}
        return Inputs(
            tuple(column.name for column in columns), tuple(kinds.get(type(column), WORDS) for column in columns)
        )
    return None if names is None else Inputs(tuple(names), (NUMBERS,) * len(names))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"


def _header(loaded: Loaded, options: argparse.Namespace) -> list[str]:
    """The name of the target. Several outputs are numbered."""
    model, target = loaded.model, str(loaded.about.get("target", "prediction"))
    has_one = isinstance(model, AdaptiveFourierClassifier) or model.amplitudes_.ndim == 1
    n_outputs = 1 if has_one else model.amplitudes_.shape[1]
    names = [target] if n_outputs == 1 else [f"{target}{i}" for i in range(n_outputs)]
    more = [f"p({label})" for label in model.classes_] if options.probabilities else []
    more += [f"{name} std" for name in names] if options.std else []
    ends = ("low", "high") if options.interval is not None else ()
    return [*names, *more, *(f"{name} {end}" for name in names for end in ends)]


def _rows(model: Any, table: Table, options: argparse.Namespace) -> Iterator[Sequence[Any]]:
    x = np.column_stack(table.columns) if model.encoder_ is None else table
    parts = list(model.predict(x, return_std=True)) if options.std else [model.predict(x)]
    parts += [model.predict_proba(x)] if options.probabilities else []
    parts += [model.predict_interval(x, options.interval)] if options.interval is not None else []
    return zip(*(column for part in parts for column in _columns(part)), strict=True)


def _columns(values: np.ndarray) -> list[list[Any]]:
    return values.reshape(len(values), -1).T.tolist()


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        yield text
        text.flush()
        text.detach()
