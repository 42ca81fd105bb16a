"""New rows between near rows of a data set, where a teacher can be asked for more answers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from fourierwalk.arrays.library import is_foreign
from fourierwalk.tables.encoder import TableEncoder
from fourierwalk.tables.table import Table, is_table

N_NEAR = 5
"""The partner of a row is one of so many nearest rows."""

MOST_NEAR = 20_000
"""Partners are looked for among so many rows at most: a search among all rows would take their number squared."""

FEW_VALUES = 20
"""A column of up to this many different values is not interpolated: its new values are those of real rows."""


def rows_between(X: Any, answers: np.ndarray, n: int, rng: np.random.Generator) -> Any:
    """New rows, each between a row and one of its nearest rows, in the kind of X.

    Parameters
    ----------
    X : array or frame of shape (n_rows, d)
        The rows.
    answers : array of shape (n_rows,) or (n_rows, q)
        Numbers that belong to the rows. Categories of many levels are compared by their mean answers.
    n : int
        The number of new rows.
    rng : Generator
        The source of random numbers.

    Returns
    -------
    array or frame of shape (n, d)
        A number is between those of the two rows. A category, a date, a missing value, and a number of a column that
        has few different values, is taken from one of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.column_stack((np.linspace(0, 1, 50), np.arange(50) % 2))
    >>> new = rows_between(x, x[:, 0], 4, rng)
    >>> new.shape, bool(np.all(np.isin(new[:, 1], [0, 1])))
    ((4, 2), True)
    """
    if is_foreign(X) or scipy.sparse.issparse(X):
        raise ValueError(
            f"X must be a frame or a dense NumPy array to have rows between its rows, got {type(X).__name__}: "
            "between=0 asks the teacher at X alone."
        )
    first = rng.integers(0, len(X), n)
    second = _partners(_distinct_places(X, answers), first, rng)
    share, pick = rng.uniform(size=n), rng.uniform(size=(n, X.shape[1])) < 0.5
    if isinstance(X, np.ndarray) and X.dtype != object:
        columns = [_mixed(column, first, second, share, pick[:, j]) for j, column in enumerate(X.T)]
        return np.stack(columns, axis=1).astype(X.dtype, copy=False)
    if isinstance(X, np.ndarray):
        return np.where(pick, X[first], X[second])
    if isinstance(X, Table):
        return Table(X.names, tuple(_mixed(c, first, second, share, pick[:, j]) for j, c in enumerate(X.columns)))
    frame = nw.from_native(X, eager_only=True)
    series = [_mixed_series(frame[:, j], first, second, share, pick[:, j]) for j in range(X.shape[1])]
    return frame[first].with_columns(*series).to_native()


def _mixed_series(series: Any, first: np.ndarray, second: np.ndarray, share: np.ndarray, pick: np.ndarray) -> Any:
    """The same for a column of a frame, whose type stays."""
    chosen = series[np.where(pick, first, second).tolist()]
    if series.dtype not in (nw.Float64, nw.Float32):
        return chosen
    values = _mixed(series.to_numpy(), first, second, share, pick)
    return nw.new_series(series.name, values, series.dtype, backend=series.implementation)


def _mixed(column: np.ndarray, first: np.ndarray, second: np.ndarray, share: np.ndarray, pick: np.ndarray) -> Any:
    """Values of a column between those of two rows, or of one of them."""
    chosen = column[np.where(pick, first, second)]
    if column.dtype.kind != "f" or np.unique(column[~np.isnan(column)]).size <= FEW_VALUES:
        return chosen
    between = column[first] + share * (column[second] - column[first])
    return np.where(np.isnan(between), chosen, between)


def _partners(places: np.ndarray, first: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each of some rows one of its nearest rows."""
    from sklearn.neighbors import NearestNeighbors  # only here: it takes long to import

    others = np.arange(len(places))
    if others.size > MOST_NEAR:
        others = rng.choice(others, MOST_NEAR, replace=False)
    n_near = min(N_NEAR + 1, others.size)  # the nearest one is mostly the row itself
    near = NearestNeighbors(n_neighbors=n_near).fit(places[others])
    found = near.kneighbors(places[first], return_distance=False)
    return others[found[np.arange(len(first)), rng.integers(min(1, n_near - 1), n_near, len(first))]]


def _distinct_places(X: Any, answers: np.ndarray) -> np.ndarray:
    """The rows as numbers of comparable size, by which their distance is measured."""
    if is_table(X) or (isinstance(X, np.ndarray) and np.any(np.isnan(X))):
        X = TableEncoder().fit_transform(X, answers)
    places = np.asarray(X, dtype=np.float64)
    spread = places.std(axis=0)
    return (places - places.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
