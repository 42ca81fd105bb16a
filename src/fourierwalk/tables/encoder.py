"""TableEncoder: a scikit-learn transformer from a table of words, dates and numbers to columns of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from fourierwalk.arrays.library import is_foreign, to_host
from fourierwalk.parameters import count
from fourierwalk.tables.columns import Column, Levels, Means, Moment, Number, from_table
from fourierwalk.tables.facts import Facts, codes_of
from fourierwalk.tables.means import Coded, CrossFitted, Grouped, parts, whole
from fourierwalk.tables.table import MOMENTS, WORDS, Table, as_words, is_table
from fourierwalk.weights import weights

MAX_ONE_HOT = 12
"""Categories of up to this many levels are one-hot encoded."""

MOST_CLASSES = 32
"""Targets with more distinct whole numbers than this are numbers, not classes."""

FROM_DTYPE = "from_dtype"
"""Categories are recognised by the type of their column."""

FORMAT = 1


class Encoding(NamedTuple):
    """The encoded rows of a fit."""

    x: np.ndarray
    is_fixed: np.ndarray  # columns that must not be scaled to unit variance
    means: CrossFitted | None  # the columns of mean targets, if there are any


class Beyond(NamedTuple):
    """What is known of all rows; the table of a fit may be a sample of them."""

    facts: tuple[Facts, ...]  # about each column, of all rows
    center: np.ndarray  # about the mean of the targets
    part: np.ndarray | None = None  # of each row of the sample, for cross-fitted means; None: its contents decide
    sums: tuple[Grouped, ...] = ()  # for each column of many levels, over the rows that are not in the sample


class TableEncoder(TransformerMixin, BaseEstimator):
    """Words, categories, dates and missing values as columns of numbers.

    Parameters
    ----------
    categorical_features : "from_dtype", array of bool, of int or of str, or None, default="from_dtype"
        Which columns are categories, as in scikit-learn's histogram-based boosting. "from_dtype": columns of strings,
        categories and Booleans. An array: a mask, indices or names. None: no column.
    max_one_hot : int, default=12
        Categories of up to this many levels are one-hot encoded; missing values count as a level, and two levels share
        one column. Categories of more levels are encoded by the mean target of each level: `fit` then needs y.

    Attributes
    ----------
    columns_ : tuple
        The fitted encoder of each input column.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array of str
        The names of the columns, if X has names.

    Notes
    -----
    Numbers are unchanged. A missing number becomes the median; if `fit` has seen some, one more column marks them.
    Dates become the year with its fraction, and cosine and sine of the time of year, of the week and of the day.
    A level that `fit` has not seen becomes the mean of the rows.

    ``fit_transform(X, y)`` differs from ``fit(X, y).transform(X)`` if there are mean targets: it encodes each row by
    the targets of other rows, as scikit-learn's ``TargetEncoder`` does. Train on the result of `fit_transform`.

    Examples
    --------
    >>> import pandas as pd
    >>> from fourierwalk import TableEncoder
    >>> cars = pd.DataFrame({"doors": [2, None, 4], "fuel": ["gas", "diesel", "gas"]})
    >>> encoder = TableEncoder().fit(cars)
    >>> encoder.get_feature_names_out()
    array(['doors', 'doors_missing', 'fuel_gas'], dtype=object)
    >>> encoder.transform(cars)
    array([[2., 0., 1.],
           [2., 1., 0.],
           [4., 0., 1.]])
    """

    def __init__(self, categorical_features: Any = FROM_DTYPE, max_one_hot: int = MAX_ONE_HOT) -> None:
        self.categorical_features = categorical_features
        self.max_one_hot = max_one_hot

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TableEncoder:
        """Learn levels, medians and mean targets.

        Parameters
        ----------
        X : frame or array of shape (n, d)
            The table.
        y : array of shape (n,) or (n, q), optional
            Targets, numbers or labels. Only categories of many levels need them.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and encode each row; mean targets are those of other rows."""
        return self._fit(X, y, sample_weight).x

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Encoding:
        count("max_one_hot", self.max_one_hot, 2)
        table = self._table(X, reset=True)
        targets = None if y is None else targets_of(y)
        check_consistent_length(table, targets)
        if sample_weight is None:
            return self.encoded(table, targets, None)
        return self.encoded(table, targets, weights(sample_weight, len(table)))

    def encoded(
        self,
        table: Table,
        y: np.ndarray | None,
        weight: np.ndarray | None,
        groups: np.ndarray | None = None,
        beyond: Beyond | None = None,
    ) -> Encoding:
        """Fit to checked rows, (n, q) targets and weights, and encode them; rows of a group stay together.

        If the table is a sample, `beyond` says what is known of all rows.
        """
        if beyond is None:
            center = np.zeros(0) if y is None else np.average(y, axis=0, weights=weight)
            beyond = Beyond(self.facts(table, weight), center)
        self._set_columns(table, y, weight, beyond)
        x = self.encode(table)
        is_fixed = np.array([fixed for column in self.columns_ for fixed in column.is_fixed], dtype=bool)
        coded = self.coded(table)
        if y is None or not coded:
            return Encoding(x, is_fixed, None)
        part = np.zeros(len(x), dtype=np.int64) if beyond.part is None else beyond.part
        means = CrossFitted(x, coded, y, weight, part, beyond.center, beyond.sums)
        if beyond.part is None:
            means = replace(means, part=parts(np.column_stack((means.identities(), y)), groups))
        return Encoding(means.inputs(), is_fixed, means)

    def facts(self, table: Table, weight: np.ndarray | None, block: int = 0) -> tuple[Facts, ...]:
        """The facts about each column; rows of weight zero are ignored."""
        is_category = self._categories(table)
        if weight is not None and np.any(weight == 0):
            table, weight = table[weight > 0], weight[weight > 0]
        columns = zip(table.names, table.columns, is_category, strict=True)
        return tuple(Facts.of(name, values, category, weight, block) for name, values, category in columns)

    def outline(self, facts: Sequence[Facts], n_targets: int) -> TableEncoder:
        """Make the columns as far as facts say them: all but medians and mean targets."""
        table = Table(tuple(each.name for each in facts), (np.empty(0),) * len(facts))
        self._set_columns(table, np.empty((0, n_targets)), None, Beyond(tuple(facts), np.zeros(n_targets)))
        return self

    def _set_columns(self, table: Table, y: np.ndarray | None, weight: np.ndarray | None, beyond: Beyond) -> None:
        """Fit the encoder of each column; rows of weight zero are ignored."""
        if weight is not None and np.any(weight == 0):
            kept = weight > 0
            table, y, weight = table[kept], None if y is None else y[kept], weight[kept]
        sums = iter(beyond.sums)
        self.columns_: tuple[Column, ...] = tuple(
            self._fitted(facts, values, y, weight, beyond.center, sums)
            for facts, values in zip(beyond.facts, table.columns, strict=True)
        )

    def encode(self, table: Table) -> np.ndarray:
        """The encoded columns of a table that was checked to have the columns of `fit`."""
        parts = [column.encode(values) for column, values in zip(self.columns_, table.columns, strict=True)]
        return np.concatenate(parts, axis=1)

    def transform(self, X: Any) -> np.ndarray:
        """The encoded columns, (n, n_columns), float64."""
        check_is_fitted(self)
        return self.encode(self._table(X, reset=False))

    def codes(self, X: Any) -> np.ndarray:
        """The table as numbers that are not yet encoded, (n, d): what models in torch and C take (`to_torch`, `to_c`).

        Numbers stay as they are. A category becomes the index of its level, −1 if `fit` has not seen it. A date becomes
        microseconds since 1970. A missing number or date is NaN.

        Examples
        --------
        >>> import pandas as pd
        >>> cars = pd.DataFrame({"doors": [2, None], "fuel": ["gas", "diesel"]})
        >>> TableEncoder().fit(cars).codes(cars)
        array([[ 2.,  1.],
               [nan,  0.]])
        """
        check_is_fitted(self)
        columns = self._table(X, reset=False).columns
        return np.column_stack([each.codes(values) for each, values in zip(self.columns_, columns, strict=True)])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `transform` gives."""
        check_is_fitted(self)
        names = [column.name for column in self.columns_]
        if input_features is not None and list(input_features) != names:
            raise ValueError(f"input_features must equal the names of fit, {names}, got {list(input_features)}.")
        return np.array([label for column in self.columns_ for label in column.labels], dtype=object)

    def summed(self, values: np.ndarray) -> np.ndarray:
        """For each input column, the sum of the values of its encoded columns."""
        ends = np.cumsum([len(column.labels) for column in self.columns_])
        return np.array([part.sum() for part in np.split(np.asarray(values), ends[:-1])])

    def to_tables(self) -> dict[str, Any]:
        """All that was fitted, as strings, numbers and arrays, for `from_tables`."""
        check_is_fitted(self)
        return {
            "format": FORMAT,
            "has_names": names_in(self) is not None,
            "columns": [column.to_table() for column in self.columns_],
        }

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any]) -> TableEncoder:
        """The inverse of `to_tables`; lists are accepted in place of arrays."""
        if tables.get("format") != FORMAT:
            raise ValueError(f"tables must be of format {FORMAT}, got {tables.get('format')!r}.")
        if not isinstance(tables.get("columns"), list | tuple) or not isinstance(tables.get("has_names"), bool):
            raise ValueError("tables must have a list of columns, and say whether these have names.")
        encoder = cls()
        encoder.columns_ = tuple(from_table(column) for column in tables["columns"])
        encoder.n_features_in_ = len(encoder.columns_)
        if tables["has_names"]:
            encoder.feature_names_in_ = np.array([column.name for column in encoder.columns_], dtype=object)
        return encoder

    def coded(self, table: Table) -> list[Coded]:
        """The columns of mean targets: the codes of their levels, and their place among the encoded columns."""
        coded, start = [], 0
        for column, values in zip(self.columns_, table.columns, strict=True):
            width = len(column.labels)
            if isinstance(column, Means):
                codes = codes_of(column.levels, as_words(values))
                coded.append(Coded(codes, len(column.levels), slice(start, start + width)))
            start += width
        return coded

    def _fitted(
        self,
        facts: Facts,
        values: np.ndarray,
        y: np.ndarray | None,
        weight: np.ndarray | None,
        center: np.ndarray,
        sums: Iterator[Grouped],
    ) -> Column:
        """The fitted encoder of a column. The next of `sums` is over rows that are not here, if there is one."""
        if facts.weights is None:
            return (Moment if facts.kind == MOMENTS else Number).fit(facts, values, weight)
        n_levels = len(facts.weights)
        if n_levels <= self.max_one_hot:
            return Levels.fit(facts)
        if y is None:
            raise ValueError(
                f"y must be given, because column {facts.name!r} has {n_levels} levels, more than "
                f"max_one_hot={self.max_one_hot}: their mean targets take their place."
            )
        own = Grouped.of(codes_of(facts.levels, as_words(values)), n_levels, y, weight, center)
        others = next(sums, None)
        return Means.fit(facts, own if others is None else own + whole(others, n_levels))

    def _categories(self, table: Table) -> list[bool]:
        """Which columns are categories. A column of words that is not one is an error."""
        chosen = named_columns(self.categorical_features, table)
        for name, values, kind, is_category in zip(table.names, table.columns, table.kinds, chosen, strict=True):
            first = next((word for word in values.tolist() if word is not None), None) if kind == WORDS else None
            if first is not None and not is_category:
                raise ValueError(
                    f"categorical_features must name every column of words, got {self.categorical_features!r}, but "
                    f"column {name!r} holds {first!r}."
                )
        return chosen

    def _table(self, X: Any, *, reset: bool) -> Table:
        """The checked table."""
        if not is_table(X):
            X = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
            return Table.of(X)
        return checked_table(self, X, "X", reset=reset)


def names_in(estimator: Any) -> np.ndarray | None:
    """The names of the columns that an estimator was fitted on. scikit-learn sets them only if there are names."""
    return getattr(estimator, "feature_names_in_", None)


def checked_table(estimator: Any, X: Any, name: str, *, reset: bool) -> Table:
    """A frame as a `Table`. With `reset` the estimator gets the names of its columns; else they must be the same."""
    if not isinstance(X, Table):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        estimator.n_features_in_ = len(X.names)
        if X.is_named:
            estimator.feature_names_in_ = np.array(X.names, dtype=object)
    else:
        check_names(name, X.names, getattr(estimator, "feature_names_in_", X.names))
    table = Table.of(X)
    if 0 in table.shape:
        raise ValueError(f"{name} must have at least one row and one column, got shape {table.shape}.")
    return table


def check_names(name: str, given: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise a `ValueError` that says which columns are missing, unexpected or in another order."""
    if list(given) == list(wanted):
        return
    missing, added = [one for one in wanted if one not in given], [one for one in given if one not in wanted]
    if missing or added:
        what = [f"without {_named(missing[:5])}"] * bool(missing) + [f"with {_named(added[:5])}"] * bool(added)
    else:
        what = [f"in the order {_named(given[:5])}"]
    raise ValueError(f"{name} must have the columns of fit, {_named(wanted)}, got a table {' and '.join(what)}.")


def _named(names: Sequence[str]) -> list[str]:
    """At most 50 names, each of at most 80 characters."""
    short = [name if len(name) <= 80 else f"{name[:79]}…" for name in names[:50]]
    return short if len(names) <= 50 else [*short, f"… {len(names) - 50} more"]


def is_from_dtype(categorical_features: Any) -> bool:
    """Whether categories are recognised by the type of their column."""
    return isinstance(categorical_features, str) and categorical_features == FROM_DTYPE


def named_columns(categorical_features: Any, table: Table) -> list[bool]:
    """For each column, whether `categorical_features` names it."""
    names, n = list(table.names), len(table.names)
    if isinstance(categorical_features, str):
        if not is_from_dtype(categorical_features):
            raise ValueError(
                f"categorical_features must be 'from_dtype', a mask, indices, names or None, got "
                f"{categorical_features!r}."
            )
        return [kind == WORDS for kind in table.kinds]
    given = np.asarray([] if categorical_features is None else categorical_features)
    if given.dtype == bool:
        if given.shape != (n,):
            raise ValueError(f"categorical_features must have {n} entries as a mask, got shape {given.shape}.")
        return given.tolist()
    listed = given.reshape(-1).tolist()
    if listed and all(isinstance(entry, str) for entry in listed):
        unknown = [entry for entry in listed if entry not in names]
        listed = [names.index(entry) for entry in listed if entry in names]
    else:
        unknown = [entry for entry in listed if not isinstance(entry, int) or not 0 <= entry < n]
    if unknown:
        raise ValueError(f"categorical_features must be columns of X, {names}, or their indices, got {unknown[0]!r}.")
    return [j in listed for j in range(n)]


def are_classes(y: Any) -> bool:
    """Whether targets look like labels: strings, or whole numbers with few distinct values."""
    values = to_host(y) if is_foreign(y) else np.asarray(y)
    if y is None or values.ndim == 0 or (values.dtype.kind == "f" and not np.all(np.isfinite(values))):
        return False
    return type_of_target(values) in ("binary", "multiclass") and np.unique(values).size <= MOST_CLASSES


def targets_of(y: Any) -> np.ndarray:
    """Targets as numbers, (n, q). Labels become one-hot columns; two classes share one column."""
    if are_classes(y):
        classes, codes = np.unique(np.asarray(y).reshape(-1), return_inverse=True)
        return np.eye(classes.size)[codes][:, 1 if classes.size == 2 else 0 :]
    numbers = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    return numbers.reshape(len(numbers), -1)
