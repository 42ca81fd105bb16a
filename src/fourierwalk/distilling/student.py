"""distill: a student that learns the answers of a teacher."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import _safe_indexing

from fourierwalk.distilling.answers import Labels, Numbers, Probabilities, answers_of
from fourierwalk.distilling.between import rows_between
from fourierwalk.inputs import generator
from fourierwalk.parameters import number
from fourierwalk.tables.table import Table, is_table

HELD_OUT = 0.1
"""The share of X that the student does not see if there are no test rows."""

LEAST_ROWS = 10
"""The least number of rows of X if there are no test rows."""


@dataclass(frozen=True)
class Distillation:
    """How close a student is to its teacher, at test rows.

    Attributes
    ----------
    n_rows, n_between, n_test : int
        The numbers of rows of X that the student was fitted to, of new rows between them, and of test rows.
    measure : str
        What the differences are: a root mean square, or a share of rows with another class.
    student_to_teacher : float
        The difference between student and teacher.
    student_error, teacher_error : float or None
        Their differences to y_test, if it was given.
    student_seconds, teacher_seconds : float
        Seconds that they took for all test rows.
    """

    n_rows: int
    n_between: int
    n_test: int
    measure: str
    student_to_teacher: float
    student_error: float | None
    teacher_error: float | None
    student_seconds: float
    teacher_seconds: float

    def __str__(self) -> str:
        """The report in a few sentences."""
        parts = [
            f"{self.n_rows:,} rows and {self.n_between:,} rows between them.",
            f"At {self.n_test:,} other rows the student differs from the teacher by {self.student_to_teacher:.4g} "
            f"({self.measure}), and takes {self.student_seconds / self.teacher_seconds:.2g} times its seconds.",
        ]
        if self.student_error is not None:
            parts.append(f"Errors: student {self.student_error:.4g}, teacher {self.teacher_error:.4g}.")
        return " ".join(parts)


def distill(
    teacher: Any,
    X: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    student: Any = None,
    between: float = 1.0,
    random_state: Any = None,
) -> Any:
    """A Fourier model that gives nearly the answers of a fitted model, from its answers alone.

    The teacher is asked at the rows of X and at new rows between them. Targets are not needed.

    Parameters
    ----------
    teacher : object
        Any fitted model with `predict`, or with `predict_proba` and `classes_`. It gets rows in the kind of X.
    X : array or frame of shape (n, d)
        Rows like those that the student is for, such as the teacher's own training rows.
    X_test : array or frame, optional
        Rows that neither of the two has seen, for the report. None: a tenth of X, which the student does not see.
    y_test : array, optional
        The targets of X_test, for the errors of both.
    student : AdaptiveFourierRegressor or AdaptiveFourierClassifier, optional
        The settings of the student. None: the defaults.
    between : float, default=1.0
        The number of new rows, as a multiple of the rows of X. 0: none.
    random_state : int, RandomState, Generator or None, default=None
        Fixes the new rows, the tenth of X, and the fit of a student with default settings.

    Returns
    -------
    AdaptiveFourierRegressor or AdaptiveFourierClassifier
        The fitted student. Its attribute `distillation_` is a `fourierwalk.distilling.student.Distillation`: how close
        it is to the teacher at the test rows.

    Raises
    ------
    TypeError
        If the teacher has neither `predict` nor `predict_proba`.
    ValueError
        If the teacher's answers are not finite numbers, or if X is sparse or not of NumPy and `between` is not 0.

    Notes
    -----
    A new row lies between a row and one of its five nearest rows. Its numbers are interpolated; a category, a date and
    a number of a column with few different values are taken from one of the two rows. This is the idea of MUNGE [1]_.
    A classifier learns the teacher's probabilities in place of one-hot targets.

    References
    ----------
    .. [1] Bucilă, Caruana, Niculescu-Mizil: *Model compression* (2006).

    Examples
    --------
    >>> import numpy as np
    >>> import fourierwalk
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> x = np.random.default_rng(0).uniform(-2, 2, (1000, 2))
    >>> forest = RandomForestRegressor(random_state=0).fit(x, np.sin(2 * x[:, 0]) + x[:, 1])
    >>> student = fourierwalk.distill(forest, x, random_state=0)
    >>> student.distillation_.n_test, bool(student.distillation_.student_to_teacher < 0.1)
    (100, True)
    """
    number("between", between, at_least=0)
    ask, rng = answers_of(teacher), generator(random_state)
    X, X_test = _rows("X", X), None if X_test is None else _rows("X_test", X_test)
    wanted = type(ask.new_student(0))
    if student is not None and not isinstance(student, wanted):
        raise TypeError(f"student must be an {wanted.__name__} for this teacher, got {type(student).__name__}.")
    if y_test is not None and X_test is not None and len(y_test) != X_test.shape[0]:
        raise ValueError(f"y_test must have as many rows as X_test, {X_test.shape[0]}, got {len(y_test)}.")
    if X_test is None:
        if y_test is not None:
            raise ValueError("X_test and y_test must be given together, got only y_test.")
        X, X_test = _split(X, rng)
    rows, answers = [X], [_finite(ask.of(teacher, X))]
    n_between = round(between * len(answers[0]))
    if n_between:
        rows.append(rows_between(X, _as_numbers(answers[0]), n_between, rng))
        answers.append(_finite(ask.of(teacher, rows[1])))
    student = ask.new_student(int(rng.integers(2**31))) if student is None else student
    student = ask.taught(student, _stacked(rows), np.concatenate(answers))
    student.distillation_ = _report(ask, student, teacher, (len(answers[0]), n_between), X_test, y_test)
    return student


def _rows(name: str, X: Any) -> Any:
    """Lists and arrays of objects as arrays of numbers, or as they are if they hold words."""
    X = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if not isinstance(X, np.ndarray) or X.dtype != object or is_table(X):
        return X
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be rows of numbers and words, got an array of other objects.") from error


def _split(X: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """The rows for the student, and a random share of them for the report."""
    n_rows = int(np.shape(X)[0]) if not hasattr(X, "shape") else int(X.shape[0])
    if n_rows < LEAST_ROWS:
        raise ValueError(f"X must have at least {LEAST_ROWS} rows if there is no X_test, got {n_rows}.")
    order = rng.permutation(n_rows)
    n_test = max(1, round(HELD_OUT * n_rows))
    return _safe_indexing(X, np.sort(order[n_test:])), _safe_indexing(X, np.sort(order[:n_test]))


def _report(
    ask: Numbers | Labels | Probabilities, student: Any, teacher: Any, n: tuple[int, int], X_test: Any, y_test: Any
) -> Distillation:
    answers, seconds = [], []
    for model in (student, teacher):
        start = time.perf_counter()
        answers.append(ask.predicted(model, X_test))
        seconds.append(time.perf_counter() - start)
    errors = [None, None] if y_test is None else [ask.difference(each, y_test) for each in answers]
    return Distillation(*n, len(answers[0]), ask.measure, ask.difference(*answers), *errors, *seconds)


def _finite(answers: np.ndarray) -> np.ndarray:
    if answers.dtype.kind == "f" and not np.all(np.isfinite(answers)):
        raise ValueError("teacher must answer with finite numbers, got NaN or infinity.")
    return answers


def _as_numbers(answers: np.ndarray) -> np.ndarray:
    """Numbers by which categories can be compared: labels become the numbers of their classes."""
    return answers if answers.dtype.kind == "f" else np.unique(answers, return_inverse=True)[1].astype(np.float64)


def _stacked(rows: list[Any]) -> Any:
    """Arrays or frames, one below the other."""
    if len(rows) == 1:
        return rows[0]
    if isinstance(rows[0], np.ndarray):
        return np.concatenate(rows)
    if isinstance(rows[0], Table):
        return Table(rows[0].names, tuple(map(np.concatenate, zip(*(each.columns for each in rows), strict=True))))
    return nw.concat([nw.from_native(each, eager_only=True) for each in rows]).to_native()
