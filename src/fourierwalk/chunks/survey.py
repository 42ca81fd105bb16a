"""The first pass over the chunks: sizes, means, variances, ranges, levels; what is wrong with a block is said here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from array_api_compat import device

from fourierwalk.arrays.library import Array, float64, is_foreign, like, namespace, to_host
from fourierwalk.chunks.chunk import Chunk, Chunks, in_block
from fourierwalk.chunks.tree import joined, tree
from fourierwalk.data.rows import BLOCK_BYTES
from fourierwalk.data.scaling import MOST_MAGNITUDE
from fourierwalk.tables.encoder import FROM_DTYPE, TableEncoder, is_from_dtype
from fourierwalk.tables.facts import Facts
from fourierwalk.tables.table import NUMBERS, WORDS, Table


@dataclass(frozen=True)
class ColumnMoments:
    """Weighted mean, squared deviations and range of some columns. Two of them add up by Chan's formula."""

    weight: float
    mean: np.ndarray
    deviations: np.ndarray  # Σw(x − mean)²
    low: np.ndarray
    high: np.ndarray

    @property
    def n_inputs(self) -> int:
        """The number of columns."""
        return int(self.mean.size)

    def facts(self, block: int) -> TableFacts:
        """What is known of the columns of numbers, if later blocks turn out to be tables."""
        return TableFacts(
            tuple(Facts(f"x{j}", NUMBERS, True, False, float(low), block=block) for j, low in enumerate(self.low))
        )

    @classmethod
    def of(cls, values: Array, weight: Array | None) -> ColumnMoments:
        """The moments of the rows of one array, (n, d)."""
        xp, values = namespace(values), float64(values)
        ones = xp.ones(values.shape[0], dtype=xp.float64, device=device(values)) if weight is None else weight
        total = float(xp.sum(ones))
        mean = ones @ values / total
        deviations = ones @ (values - mean[None, :]) ** 2
        low, high = xp.min(values, axis=0), xp.max(values, axis=0)
        return cls(total, *(to_host(part) for part in (mean, deviations, low, high)))

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        total, gap = self.weight + other.weight, other.mean - self.mean
        return ColumnMoments(
            total,
            self.mean + gap * (other.weight / total),
            self.deviations + other.deviations + gap**2 * (self.weight * other.weight / total),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


@dataclass(frozen=True)
class TableFacts:
    """Facts about the columns of a table, before they are encoded as numbers."""

    columns: tuple[Facts, ...]

    @property
    def n_inputs(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the columns of all chunks become when they are put together."""
        return tuple(each.kind if each.weights is None else WORDS for each in self.columns)

    def __add__(self, other: TableFacts) -> TableFacts:
        return TableFacts(tuple(one + two for one, two in zip(self.columns, other.columns, strict=True)))


@dataclass(frozen=True)
class Tally:
    """The total weight of each label."""

    weights: dict[Any, float]

    def __add__(self, other: Tally) -> Tally:
        labels = [*self.weights, *(label for label in other.weights if label not in self.weights)]
        return Tally({label: self.weights.get(label, 0.0) + other.weights.get(label, 0.0) for label in labels})


class Weights(NamedTuple):
    """What decides the meaning of the weights (see `fourierwalk.weights`)."""

    n_positive: int = 0
    total: float = 0.0
    least: float = np.inf  # of the positive ones
    most: float = 0.0
    are_whole: bool = True

    @classmethod
    def of(cls, weight: np.ndarray | None, n_rows: int) -> Weights:
        """The facts about the weights of one chunk."""
        if weight is None:
            return cls(n_rows, float(n_rows), 1.0, 1.0, True)
        positive = weight[weight > 0]
        if not positive.size:
            return cls()
        whole = bool(np.all(positive == np.round(positive)))
        return cls(positive.size, float(positive.sum()), float(positive.min()), float(positive.max()), whole)

    def merged(self, other: Weights) -> Weights:
        """The facts about both parts."""
        return Weights(
            self.n_positive + other.n_positive,
            self.total + other.total,
            min(self.least, other.least),
            max(self.most, other.most),
            self.are_whole and other.are_whole,
        )

    @property
    def factor(self) -> float | None:
        """Weights are multiplied by it: whole numbers stay, others get a mean of one. None: all of them are equal."""
        if self.least >= self.most:
            return None
        return 1.0 if self.are_whole else self.n_positive / self.total


@dataclass(frozen=True)
class Survey:
    """What one pass over the chunks has found."""

    sizes: tuple[int, ...]  # rows of each chunk
    inputs: ColumnMoments | TableFacts
    targets: ColumnMoments | Tally
    weights: Weights
    n_outputs: int | None  # None: targets have one dimension
    anchor: Array  # an empty array of the chunks' library
    names: tuple[str, ...] | None = None  # of the columns, if they have names

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.sizes + other.sizes,
            self.inputs + other.inputs,  # type: ignore[operator]
            self.targets + other.targets,  # type: ignore[operator]
            self.weights.merged(other.weights),
            self.n_outputs,
            self.anchor,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.sizes)


class _Columns(NamedTuple):
    """What must be the same in all chunks."""

    n_inputs: int
    n_outputs: int | None
    names: tuple[str, ...] | None  # None: the inputs have no names

    def __str__(self) -> str:
        inputs = f"{self.n_inputs} columns" if self.names is None else f"the columns {list(self.names[:20])}"
        return inputs if self.n_outputs is None else f"{inputs} and {self.n_outputs} outputs"


@dataclass(frozen=True)
class _Part:
    """The share of some chunks."""

    survey: Survey | None  # None: chunks without rows
    sizes: tuple[int, ...]
    block: int  # the first of the chunks
    columns: _Columns
    varies: ClassVar[bool] = True  # levels and labels have no fixed number

    def __add__(self, other: _Part) -> _Part:
        if self.columns != other.columns:
            raise ValueError(
                f"all blocks must have the same columns, got {self.columns} in block {self.block} and {other.columns} "
                f"in block {other.block}."
            )
        survey = joined(self._beside(other), other._beside(self))
        return replace(self, survey=survey, sizes=self.sizes + other.sizes)

    def _beside(self, other: _Part) -> Survey | None:
        """The survey; facts about a table take the place of moments if the other has a table."""
        if self.survey is None or other.survey is None or isinstance(other.survey.inputs, ColumnMoments):
            return self.survey
        inputs = self.survey.inputs
        return replace(self.survey, inputs=inputs if isinstance(inputs, TableFacts) else inputs.facts(self.block))


@dataclass(frozen=True)
class Surveyor:
    """The share of a chunk in a survey.

    Parameters
    ----------
    counts_labels : bool
        Whether targets are labels.
    categories : optional
        Which columns are categories, as `TableEncoder` takes it.
    """

    counts_labels: bool
    categories: Any = FROM_DTYPE

    def __call__(self, chunk: Chunk) -> _Part:
        """The survey of a chunk; an error if it is not usable."""
        n_outputs = None if chunk.y.ndim == 1 else int(chunk.y.shape[1])
        names = chunk.x.names if isinstance(chunk.x, Table) and chunk.x.is_named else None
        counted = positive(chunk)
        survey = self._survey(counted, n_outputs) if len(counted) else None
        return _Part(survey, (len(chunk),), chunk.index, _Columns(int(chunk.x.shape[1]), n_outputs, names))

    def _survey(self, chunk: Chunk, n_outputs: int | None) -> Survey:
        weight, index = checked_weight(chunk), chunk.index
        inputs: Any = self._facts(chunk, weight)
        if inputs is None:
            inputs = tree(_moments("X", part.x, part) for part in _parts(chunk))
        targets: Any
        if self.counts_labels:
            targets = Tally(_counted(chunk, weight))
        else:
            targets = tree(_moments("y", numbers(part.y, index), part) for part in _parts(chunk))
        return Survey((len(chunk),), inputs, targets, Weights.of(weight, len(chunk)), n_outputs, _anchor(chunk.x))

    def _facts(self, chunk: Chunk, weight: np.ndarray | None) -> TableFacts | None:
        """Facts about a table, or about an array of NumPy with missing values or categories. None: numbers only."""
        has_categories = self.categories is not None and not is_from_dtype(self.categories)
        with in_block(chunk.index):
            if is_foreign(chunk.x):
                if has_categories:
                    kind = type(chunk.x).__name__
                    raise ValueError(f"categorical_features needs X as a frame or a dense NumPy array, got {kind}.")
                return None
            if not isinstance(chunk.x, Table) and not has_categories and not _has_gaps(chunk.x):
                return None
            facts = TableEncoder(self.categories).facts(chunk.table, weight, chunk.index)
        return TableFacts(tuple(each.bounded(chunk.index) for each in facts))


def surveyed(chunks: Chunks, counts_labels: bool, categories: Any = FROM_DTYPE) -> Survey:
    """The survey of all chunks. A second pass counts the levels of columns that are numbers in only some chunks."""
    survey = _summed(chunks, Surveyor(counts_labels, categories))
    if isinstance(survey.inputs, ColumnMoments) or all(each.is_counted for each in survey.inputs.columns):
        return survey
    return _summed(chunks, Surveyor(counts_labels, [kind == WORDS for kind in survey.inputs.kinds]))


def _summed(chunks: Chunks, surveyor: Surveyor) -> Survey:
    total: _Part | None = chunks.sum(surveyor)
    if total is None or not any(total.sizes):
        raise ValueError("X must have at least one row, got none in any block.")
    if total.survey is None:
        raise ValueError("sample_weight must have a positive entry, got only zeros.")
    return replace(total.survey, sizes=total.sizes, names=total.columns.names)


def positive(chunk: Chunk) -> Chunk:
    """The rows of a chunk whose weight is not zero."""
    weight = checked_weight(chunk)
    if weight is None or np.all(weight > 0):
        return chunk
    return chunk.taken(np.flatnonzero(weight > 0))


def numbers(y: Array, index: int) -> Array:
    """Targets as doubles, (n, q)."""
    if not is_foreign(y) and y.dtype.kind not in "biuf":
        raise ValueError(f"y must be real numbers, got {y.dtype} in block {index}.")
    y = float64(y)
    return y[:, None] if y.ndim == 1 else y


def checked_weight(chunk: Chunk) -> np.ndarray | None:
    """The weights of a chunk as a NumPy array of doubles."""
    if chunk.weight is None:
        return None
    weight = np.asarray(to_host(chunk.weight), dtype=np.float64)
    if weight.shape != (len(chunk),):
        raise ValueError(f"sample_weight must have one dimension, got {weight.ndim} in block {chunk.index}.")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError(
            f"sample_weight must be finite and not negative, got a minimum of {np.min(weight)} in block {chunk.index}."
        )
    return weight


def _parts(chunk: Chunk) -> Iterator[Chunk]:
    """The chunk in parts of a bounded size as doubles."""
    height = max(1, BLOCK_BYTES // (8 * max(1, int(chunk.x.shape[1]))))
    return (chunk.part(slice(start, start + height)) for start in range(0, len(chunk), height))


def _finite(name: str, values: Array, index: int) -> Array:
    xp = namespace(values)
    if not xp.isdtype(values.dtype, "real floating"):
        return float64(values)
    if not bool(xp.all(xp.isfinite(values))):
        raise ValueError(f"{name} must be finite in blocks, got NaN or infinity in block {index}.")
    largest = float(xp.max(xp.abs(values)))
    if largest > MOST_MAGNITUDE:
        raise ValueError(f"{name} must have values below {MOST_MAGNITUDE:g}, got {largest:g} in block {index}.")
    return values


def _counted(chunk: Chunk, weight: np.ndarray | None) -> dict[Any, float]:
    """The total weight of each label of a chunk."""
    labels = to_host(chunk.y)
    if labels.ndim != 1:
        raise ValueError(f"y must hold one label a row, got {labels.ndim} dimensions in block {chunk.index}.")
    if labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
        raise ValueError(f"y must be finite in blocks, got NaN or infinity in block {chunk.index}.")
    names, codes = np.unique(labels, return_inverse=True)
    totals = np.bincount(codes.reshape(-1), weight, minlength=names.size).astype(np.float64)
    return dict(zip(names.tolist(), totals.tolist(), strict=True))


def _anchor(x: Array | Table) -> Array:
    return np.empty((0, x.shape[1])) if isinstance(x, Table) else float64(x[:0])


def _has_gaps(x: np.ndarray) -> bool:
    """Whether some numbers are missing (NaN)."""
    return x.dtype.kind == "f" and bool(np.isnan(np.min(x)))


def _moments(name: str, values: Array, chunk: Chunk) -> ColumnMoments:
    """The moments of the inputs or of the targets of a chunk, which must be finite."""
    weight, values = checked_weight(chunk), _finite(name, values, chunk.index)
    return ColumnMoments.of(values, None if weight is None else like(weight, values))
