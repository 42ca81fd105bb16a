"""Distillation of a bag of tuned boosting ensembles: the student's error and speed beside its teacher's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from threadpoolctl import threadpool_limits

from fourierwalk.benchmarks.figures import Figure, medians_in_turn
from fourierwalk.comparison import peers
from fourierwalk.comparison.datasets import Dataset, TrainTest
from fourierwalk.comparison.suite import datasets
from fourierwalk.distilling import distill

SETS = ("airfoil", "puma8NH", "stock", "wind")
TREES = ("cpu-act", "power-plant")
"""Tables on which boosting has a smaller error than a Fourier model that is fitted to the targets themselves."""

N_BAGGED = 8


def benches(data_dir: str | None) -> dict[str, Callable[[int], Iterator[Figure]]]:
    """The benchmarks, if there is a folder of data."""
    if data_dir is None:
        return {}
    return {
        "distill": partial(distilled, data_dir=data_dir, sets=SETS, n_splits=2),
        "distill-trees": partial(distilled, data_dir=data_dir, sets=TREES, n_splits=1),
    }


def bag(dataset: Dataset, data: TrainTest, seed: int) -> Any:
    """Eight LightGBM ensembles, tuned on a held-out fifth, each fitted to a bootstrap sample."""
    boosting = next(method for method in peers.suite(dataset.task, 1) if method.name == "lightgbm")
    missing = boosting.absent(data.x.shape[0])
    if missing is not None:
        raise ImportError(f"bench --only distill needs LightGBM, but {missing}: pip install 'fourierwalk[compare]'.")
    bagged = BaggingRegressor if dataset.task == "regression" else BaggingClassifier
    tuned = boosting.fit(data.x, data.y, seed).model
    return bagged(clone(tuned), N_BAGGED, random_state=seed).fit(data.x, data.y)


def distilled(shrink: int, data_dir: str, sets: Sequence[str], n_splits: int) -> Iterator[Figure]:
    """Some tables of the suite, some splits each, on one thread."""
    wanted = datasets("tables", data_dir, sets)
    for dataset in wanted[:1] if shrink > 1 else wanted:
        with threadpool_limits(1):
            yield from _of_set(dataset, 1 if shrink > 1 else n_splits, shrink)


def _of_set(dataset: Dataset, n_splits: int, shrink: int) -> Iterator[Figure]:
    reports, rows = [], []
    for split in range(n_splits):
        data = dataset.splits(split)
        data = TrainTest(data.x[:: min(shrink, 4)], data.y[:: min(shrink, 4)], data.x_test, data.y_test)
        teacher = bag(dataset, data, split)
        student = distill(teacher, data.x, X_test=data.x_test, y_test=data.y_test, random_state=split)
        reports.append(student.distillation_)
        row = data.x_test[:1]
        ours, theirs = medians_in_turn([partial(each.predict, row) for each in (student, teacher)], 21)
        rows.append(theirs / ours)
    ratio = _mean(report.student_error for report in reports) / _mean(report.teacher_error for report in reports)
    many = _mean(report.teacher_seconds / report.student_seconds for report in reports)
    case = f"distill, {dataset.name}, {reports[0].n_rows:,} rows, {n_splits} split{'s' * (n_splits > 1)}"
    yield Figure(case, "student's test error over its teacher's", ratio, 1.03, True)
    yield Figure(case, "difference of student and teacher over the teacher's error", _share(reports))
    yield Figure(case, "times faster than its teacher, one row", _mean(rows), 5.0, False)
    yield Figure(case, "times faster than its teacher, all test rows", many, 5.0, False)


def _share(reports: Sequence[Any]) -> float:
    return _mean(report.student_to_teacher for report in reports) / _mean(report.teacher_error for report in reports)


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
