"""Coverage, width and likelihood of our error bars, beside MAPIE's cross-validation+ around our own estimator."""

from __future__ import annotations

import importlib.util
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from fourierwalk.comparison import suite
from fourierwalk.comparison.datasets import Dataset
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.paper import results
from fourierwalk.reporting.files import write_json
from fourierwalk.uncertainty import calibration

LEVELS = (0.5, 0.8, 0.9, 0.95)
SHOWN = LEVELS.index(0.9)
GROUPS, UCI_SPLITS = ("tabular", "uci"), 5
PEER_FOLDS = 5
N_SUBJECTS, N_VISITS, N_MONTHS, MONTHS_TOGETHER = 120, 10, 1200, 24


class SplitRows(NamedTuple):
    """Training rows, whose groups are held out together if there are any, and test rows."""

    x: Any
    y: np.ndarray
    x_test: Any
    y_test: np.ndarray
    groups: np.ndarray | None = None


class CoverageCell(NamedTuple):
    """A data set, a method and a split. At most `rows` training rows are taken, at random."""

    name: str
    group: str
    rows_of: Callable[[int], SplitRows]
    method: str
    split: int
    rows: int | None
    made_of: dict[str, Any]

    @property
    def key(self) -> str:
        """Names its file."""
        return f"{self.name}/{self.method}/split{self.split:02d}"

    def settings(self) -> dict[str, Any]:
        """What determines the result."""
        return {
            "dataset": {"name": self.name, "group": self.group, **self.made_of},
            "method": self.method,
            "split": self.split,
            "most_rows": self.rows,
        }

    def problem(self) -> SplitRows:
        """The rows."""
        found = self.rows_of(self.split)
        if self.rows is None or len(found.y) <= self.rows:
            return found
        some = np.sort(np.random.default_rng(self.split).permutation(len(found.y))[: self.rows])
        return found._replace(
            x=found.x[some], y=found.y[some], groups=None if found.groups is None else found.groups[some]
        )


class IntervalsFound(NamedTuple):
    """What a method gives: intervals (n, 2, n_levels), and, where it has them, means and standard deviations."""

    intervals: np.ndarray
    mean: np.ndarray
    std: np.ndarray | None
    fit_seconds: float
    more: dict[str, Any]


def ours(problem: SplitRows, seed: int) -> IntervalsFound:
    """One fit with default settings."""
    start = time.perf_counter()
    model = AdaptiveFourierRegressor(random_state=seed).fit(problem.x, problem.y, groups=problem.groups)
    seconds = time.perf_counter() - start
    mean, std = model.predict(problem.x_test, return_std=True)
    bars = model.error_bars_
    more = {
        "members": len(bars.sizes),
        "n_frequencies": int(sum(bars.sizes)),
        "noise_varies": bool(bars.noise.waves.size),
        "degrees": float(bars.noise.degrees[0]),
        "held_out": int(bars.conformal.weight.size),
        "std_bytes": int(sum(factor.nbytes for factor in bars.posterior.factors)),
    }
    return IntervalsFound(model.predict_interval(problem.x_test, list(LEVELS)), mean, std, seconds, more)


def mapie(problem: SplitRows, seed: int) -> IntervalsFound:
    """MAPIE's cross-validation+, which fits our estimator once more for each of five folds."""
    from mapie.regression import CrossConformalRegressor

    start = time.perf_counter()
    peer = CrossConformalRegressor(
        clone(AdaptiveFourierRegressor(random_state=seed)),
        confidence_level=list(LEVELS),
        method="plus",
        cv=PEER_FOLDS,
        random_state=seed,
    )
    peer.fit_conformalize(problem.x, problem.y, groups=problem.groups)
    seconds = time.perf_counter() - start
    mean, intervals = peer.predict_interval(problem.x_test)
    return IntervalsFound(intervals, mean, None, seconds, {})


METHODS: dict[str, Callable[[SplitRows, int], IntervalsFound]] = {"ours": ours, "mapie": mapie}


def cells(
    data_dir: str | None,
    names: Sequence[str],
    methods: Sequence[str] | None,
    n_splits: int | None,
    rows: int | None,
) -> list[CoverageCell]:
    """All cells: the regressions of the suite of tables, and rows that are not exchangeable."""
    unknown = [name for name in methods or () if name not in METHODS]
    if unknown:
        raise ValueError(f"--methods must be some of {', '.join(METHODS)}, got {unknown[0]!r}.")
    problems = [*_tables(data_dir, [name for name in names if name not in DEPENDENT])] if data_dir else []
    problems += [(name, "dependent", rows_of, range(suite.N_SPLITS), {}) for name, rows_of in DEPENDENT.items()]
    known = [name for name, *_ in problems]
    for name in names:
        if name not in known:
            raise ValueError(f"DATASET must be one of {', '.join(known)}, got {name!r}.")
    return [
        CoverageCell(name, group, rows_of, method, split, rows, made_of)
        for name, group, rows_of, splits, made_of in problems
        if not names or name in names
        for split in (splits if n_splits is None else splits[:n_splits])
        for method in methods or METHODS
    ]


def _tables(data_dir: str, names: Sequence[str]) -> Iterator[tuple[str, str, Any, range, dict[str, Any]]]:
    for dataset in suite.datasets("tables", data_dir):
        group = str(dataset.settings["group"])
        if dataset.task == "regression" and group in GROUPS and (not names or dataset.name in names):
            splits = dataset.numbers(UCI_SPLITS if group == "uci" else suite.N_SPLITS)
            yield dataset.name, group, _rows_of(dataset), splits, {"sha256": dataset.settings["sha256"]}


def _rows_of(dataset: Dataset) -> Callable[[int], SplitRows]:
    return lambda split: SplitRows(*dataset.splits(split))


def subjects(split: int) -> SplitRows:
    """Repeated measurements: each subject has an offset of its own. Test rows are of new subjects."""
    rng = np.random.default_rng([split, 7])
    subject = np.repeat(np.arange(2 * N_SUBJECTS), N_VISITS)
    person = rng.standard_normal((2 * N_SUBJECTS, 3))[subject]
    x = np.concatenate((person, rng.uniform(-2, 2, (subject.size, 1))), axis=1)
    offset = 0.5 * rng.standard_normal(2 * N_SUBJECTS)[subject]
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 3] + offset + 0.2 * rng.standard_normal(subject.size)
    seen = subject < N_SUBJECTS
    return SplitRows(x[seen], y[seen], x[~seen], y[~seen], subject[seen])


def seasons(split: int) -> SplitRows:
    """A trend with a season and noise that remembers the last month. Whole blocks of two years are test rows."""
    rng = np.random.default_rng([split, 8])
    month = np.arange(N_MONTHS)
    noise = np.zeros(N_MONTHS)
    for t in range(1, N_MONTHS):
        noise[t] = 0.7 * noise[t - 1] + 0.3 * rng.standard_normal()
    y = 0.004 * month + np.sin(2 * np.pi * month / 12) + noise
    block = month // MONTHS_TOGETHER
    test = np.isin(block, rng.permutation(N_MONTHS // MONTHS_TOGETHER)[: N_MONTHS // MONTHS_TOGETHER // 5])
    angle = 2 * np.pi * month / 12
    x = np.stack((month / 12, np.cos(angle), np.sin(angle)), axis=1)
    return SplitRows(x[~test], y[~test], x[test], y[test], block[~test])


DEPENDENT: dict[str, Callable[[int], SplitRows]] = {"subjects": subjects, "seasons": seasons}
"""Rows that are not exchangeable, with the groups to hold out together."""


def absent(method: str) -> str | None:
    """Why a method cannot be fitted."""
    if method == "mapie" and importlib.util.find_spec("mapie") is None:
        return "MAPIE is not installed (pip install mapie)"
    return None


def compute(cell: CoverageCell, n_threads: int | None) -> dict[str, Any]:
    """Coverage, width, likelihood and seconds; or the reason why there are none."""
    reason = absent(cell.method)
    if reason is not None:
        return {"skipped": reason}
    try:
        with threadpool_limits(n_threads), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = cell.problem()
            return {**measured(METHODS[cell.method](problem, cell.split), problem), "threads": n_threads}
    except Exception as error:  # if a cell fails, the others go on
        return {"failure": f"{type(error).__name__}: {error}"}


def measured(found: IntervalsFound, problem: SplitRows) -> dict[str, Any]:
    """The figures of one cell."""
    truth = problem.y_test
    intervals = np.asarray(found.intervals, dtype=np.float64)
    spread = float(np.std(problem.y))
    content = {
        "coverage": dict(zip(map(str, LEVELS), calibration.coverage(truth, intervals).tolist(), strict=True)),
        "width": float(np.mean(intervals[:, 1, SHOWN] - intervals[:, 0, SHOWN])) / spread,
        "rmse": float(np.sqrt(np.mean((truth - found.mean) ** 2))),
        "fit_seconds": found.fit_seconds,
        "n_train": len(problem.y),
        "n_test": len(truth),
        **found.more,
    }
    if found.std is not None:
        integral = calibration.probability_integral(truth, found.mean, found.std, found.more["degrees"])
        content["nll"] = calibration.negative_log_likelihood(truth, found.mean, found.std, found.more["degrees"])
        content["nll_normal"] = calibration.negative_log_likelihood(truth, found.mean, found.std)
        content["integral"] = np.histogram(integral, bins=calibration.N_BINS, range=(0, 1))[0].tolist()
    return content


def is_there(folder: Path, cell: CoverageCell, gathered: dict[str, dict[str, Any]]) -> bool:
    """Whether the cell has a result with the same settings. A cell that failed or was left out is tried again."""
    found = results.stored(folder, cell.key, gathered)
    if found is None or "coverage" not in found["result"]:
        return False
    return found["settings"] == json.loads(json.dumps(cell.settings()))


def write(folder: Path, cell: CoverageCell, result: dict[str, Any], origin: dict[str, Any]) -> Path:
    """Write a finished cell atomically."""
    content = {"settings": cell.settings(), "result": result, "provenance": origin}
    return write_json(folder / results.FOLDER / f"{cell.key}.json", content)
