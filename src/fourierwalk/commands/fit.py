"""``fourierwalk fit``: fit a model to a table, measure its error on held-out rows, save it."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table as Shown
from threadpoolctl import threadpool_limits

from fourierwalk.arrays.memory import free_bytes
from fourierwalk.commands import options as shared
from fourierwalk.commands.portrait import Portrait
from fourierwalk.comparison import held_out
from fourierwalk.comparison.held_out import HeldOutParts
from fourierwalk.comparison.run import error_of
from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.files import container
from fourierwalk.files.writing import check_writable
from fourierwalk.reading import files
from fourierwalk.reading.problem import Problem, read
from fourierwalk.reading.source import Source
from fourierwalk.reporting.provenance import provenance
from fourierwalk.reporting.voice import Voice, voice

ESTIMATORS = {"regression": AdaptiveFourierRegressor, "classification": AdaptiveFourierClassifier}
OURS = "fourierwalk"

EXAMPLES = """  fourierwalk fit houses.csv --target price --out houses.fw
  fourierwalk fit houses.csv --target price --drop id --report houses.html
  fourierwalk fit houses.csv --target price --checkpoint houses.checkpoint
  fourierwalk fit cells.npz --task classification --frequencies 256 --json --quiet
"""


class FittedModel(NamedTuple):
    """A model and what is reported about it. `errors` is empty if no rows were held out."""

    model: Any
    split: HeldOutParts
    errors: dict[str, float]
    seconds: float
    interrupted: bool


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(verbs, "fit", "fit a model to a CSV, TSV, NPZ or Parquet file", EXAMPLES)
    parser.add_argument("data", type=Path, metavar="DATA", help="a .csv, .tsv, .txt, .npz or .parquet file")
    shared.add_columns(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="the model's file (default: DATA's name with .fw)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="also write a page (.html) about the model")
    parser.add_argument("--frequencies", type=shared.width, default="auto", metavar="K", help="(default: auto)")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="end after about S seconds with the best model so far"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the split and of the fit (default: 0)")
    parser.add_argument("--held-out", type=float, default=0.2, metavar="SHARE", help="of the rows (default: 0.2)")
    parser.add_argument("--refit", action="store_true", help="then fit once more, to all rows, and save that model")
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="continue from this file if the fit was interrupted or killed"
    )
    parser.add_argument(
        "--error-bars", action="store_true", help="keep what predict --std and --interval need (a larger file)"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="BLAS and OpenMP threads (default: all cores)")
    shared.add_device(parser)
    shared.add_encoding(parser)
    shared.add_output(parser)
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Read, fit, measure, save, report."""
    speaker = voice(options.quiet)
    _check(options)
    out = Path(f"{options.data.stem}.fw") if options.out is None else options.out
    outputs = [path for path in (out, options.report, options.checkpoint) if path is not None]
    for i, path in enumerate(outputs):
        check_writable(path, options.data, *outputs[:i])
    source = files.source(options.data, options.encoding)
    _announce(source, options, speaker)
    problem = read(source, options.target, options.task, options.drop, options.keep)
    for sentence in problem.said:
        speaker.say(sentence)
    with threadpool_limits(options.threads):
        fitted = _fit(problem, options, speaker)
    about = _about(problem, fitted, options)
    container.write(out, type(fitted.model).__name__, {**_tables(fitted.model, options), "about": about})
    told = {"model": str(out), "bytes": out.stat().st_size, "interrupted": fitted.interrupted, **about}
    if options.report is not None:
        told["report"] = str(Portrait(problem, fitted.split, fitted.model, about).write(options.report))
    _tell(told, options, speaker)
    return 130 if fitted.interrupted else 0


def _check(options: argparse.Namespace) -> None:
    if not 0 <= options.held_out < 1:
        raise ValueError(f"--held-out must be at least 0 and below 1, got {options.held_out:g}.")
    if options.threads is not None and options.threads < 1:
        raise ValueError(f"--threads must be at least 1, got {options.threads}.")
    if options.seed < 0:
        raise ValueError(f"--seed must be at least 0, got {options.seed}.")
    shared.check_device(options.device)
    ESTIMATORS["regression"](options.frequencies, max_seconds=options.seconds)._training()


def _announce(source: Source, options: argparse.Namespace, speaker: Voice) -> None:
    """Say how much memory the fit will take, before it is taken."""
    rows, columns = source.rows(), len(source.names)
    needed = memory(rows, columns, options.frequencies)
    speaker.say(
        f"{source.path}: about {rows:,.0f} rows and {columns} columns. This takes about {needed / 1e6:,.0f} MB of "
        f"memory; {free_bytes() / 1e6:,.0f} MB are free."
    )
    if needed > free_bytes():
        raise MemoryError(
            f"{source.path} needs about {needed / 1e9:.1f} GB of memory to be fitted, and {free_bytes() / 1e9:.1f} GB "
            f"are free: take fewer rows or columns."
        )


def memory(rows: float, columns: int, frequencies: Any) -> float:
    """Roughly the bytes that a fit takes: the program, the table with its copies, and the features.

    Measured on 10⁵ rows of 20 columns: 415 MB with 16 frequencies, 884 MB with 256.
    """
    n_features = 2 * (256 if frequencies == "auto" else frequencies)
    return 2.2e8 + rows * (100.0 * columns + 9.0 * n_features) + 48.0 * n_features**2


def _fit(problem: Problem, options: argparse.Namespace, speaker: Voice) -> FittedModel:
    """Fit to the rows that are not held out, and measure the errors on those that are."""
    start, split = time.perf_counter(), held_out.parts(problem.y, problem.task, options.held_out, options.seed)
    speaker.say(f"{split.train.size:,} rows to learn from, {split.test.size:,} held out.")
    model, interrupted = _model(problem, split.train, options, speaker)
    seconds, errors = time.perf_counter() - start, {}
    if split.test.size:
        errors[OURS] = _error(problem, model, split)
    try:
        if split.test.size and not interrupted:
            with speaker.watch("Fitting the reference models"):
                errors |= held_out.reference_errors(problem.inputs, problem.y, problem.task, split, options.seed)
        if options.refit and split.test.size and not interrupted:
            everything = np.arange(problem.y.size)
            model, interrupted = _model(problem, everything, options, speaker, of_refit=".refit")
    except KeyboardInterrupt:
        interrupted = True
    return FittedModel(model, split, errors, seconds, interrupted)


def _model(
    problem: Problem, rows: np.ndarray, options: argparse.Namespace, speaker: Voice, of_refit: str = ""
) -> tuple[Any, bool]:
    """A fitted model, and whether the user has interrupted the fit. If so, it is the best model so far."""
    checkpoint = None if options.checkpoint is None else f"{options.checkpoint}{of_refit}"
    model = ESTIMATORS[problem.task](
        options.frequencies,
        random_state=options.seed,
        max_seconds=options.seconds,
        device=options.device,
        checkpoint=checkpoint,
        verbose=1,
    )
    try:
        with speaker.watch("Fitting"):
            model.fit(problem.inputs[rows], problem.y[rows])
    except KeyboardInterrupt:
        if not model.__sklearn_is_fitted__():
            raise KeyboardInterrupt("stopped before there was a model: nothing was written.") from None
        speaker.say("Stopped: the best model so far is kept.")
        return model.set_params(verbose=0, checkpoint=None), True
    return model.set_params(verbose=0, checkpoint=None), False


def _error(problem: Problem, model: Any, split: HeldOutParts) -> float:
    return error_of(problem.task, model.predict(problem.inputs[split.test]), problem.y[split.test])


def _about(problem: Problem, fitted: FittedModel, options: argparse.Namespace) -> dict[str, Any]:
    """What the file holds beside the model."""
    return {
        "target": problem.target,
        "task": problem.task,
        "rows": int(problem.y.size),
        "columns": len(problem.inputs.names),
        "n_frequencies": fitted.model.n_frequencies_,
        "said": list(problem.said),
        "measure": held_out.measure(problem.task),
        "held_out_errors": fitted.errors,
        "fitted_to_all_rows": bool(options.refit) and not fitted.interrupted,
        "seconds": round(fitted.seconds, 3),
        "provenance": provenance(),
    }


def _tables(model: Any, options: argparse.Namespace) -> dict[str, Any]:
    """What the file keeps. Classifiers have no error bars: their probabilities need nothing more."""
    keeps = options.error_bars and isinstance(model, AdaptiveFourierRegressor)
    return model.to_tables(error_bars=True) if keeps else model.to_tables()


def _tell(told: dict[str, Any], options: argparse.Namespace, speaker: Voice) -> None:
    if told["interrupted"]:
        speaker.say(f"Interrupted: the best model so far was saved to {told['model']}.")
    if options.json:
        print(json.dumps(told, allow_nan=False))
        return
    if options.quiet:
        return
    console = Console(highlight=False)
    if told["held_out_errors"]:
        console.print(_errors(told))
    console.print(
        f"{told['n_frequencies']} frequencies, {told['seconds']:.1f} s. The model: {told['model']} "
        f"({told['bytes'] / 1000:.0f} kB).",
        markup=False,
        soft_wrap=True,
    )
    if "report" in told:
        console.print(f"The page: {told['report']}", markup=False, soft_wrap=True)


def _errors(told: dict[str, Any]) -> Shown:
    table = Shown(title=f"{told['target']}, rows held out")
    table.add_column("model")
    table.add_column(told["measure"], justify="right")
    best = min(told["held_out_errors"].values())
    for name, error in told["held_out_errors"].items():
        table.add_row(name, f"{error:.4g}", style="bold" if error == best else None)
    return table
