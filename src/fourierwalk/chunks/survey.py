"""The first pass over the chunks: sizes, means, variances and ranges; what is wrong with a block is said here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from fourierwalk.arrays.library import Array, float64, is_foreign, like, namespace, to_host
from fourierwalk.chunks.chunk import Chunk, Chunks
from fourierwalk.chunks.tree import tree
from fourierwalk.data.rows import BLOCK_BYTES
from fourierwalk.data.scaling import MOST_MAGNITUDE


@dataclass(frozen=True)
class ColumnMoments:
    """Weighted mean, squared deviations and range of some columns. Two of them add up by Chan's formula."""

    weight: float
    mean: np.ndarray
    deviations: np.ndarray  # Σw(x − mean)²
    low: np.ndarray
    high: np.ndarray

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
    inputs: ColumnMoments
    targets: ColumnMoments | Tally
    weights: Weights
    n_outputs: int | None  # None: targets have one dimension
    anchor: Array  # an empty array of the chunks' library

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.sizes + other.sizes,
            self.inputs + other.inputs,
            self.targets + other.targets,  # type: ignore[operator]
            self.weights.merged(other.weights),
            self.n_outputs,
            self.anchor,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.sizes)


class _Part(NamedTuple):
    """The share of one chunk, with what must be the same in all of them."""

    survey: Survey | None  # None: a chunk without rows
    n_rows: int
    n_inputs: int
    n_outputs: int | None


@dataclass(frozen=True)
class Surveyor:
    """The share of a chunk in a survey; `counts_labels` says whether targets are labels."""

    counts_labels: bool

    def __call__(self, chunk: Chunk) -> _Part:
        """The survey of a chunk; an error if it is not usable."""
        n_outputs = None if chunk.y.ndim == 1 else int(chunk.y.shape[1])
        counted = positive(chunk)
        if not len(counted):
            return _Part(None, len(chunk), int(chunk.x.shape[1]), n_outputs)
        weight = checked_weight(counted)
        measured = tree(self._measured(part) for part in _parts(counted))
        targets: Any = Tally(_counted(counted, weight)) if self.counts_labels else measured.targets
        facts = Weights.of(weight, len(counted))
        survey = Survey((len(chunk),), measured.inputs, targets, facts, n_outputs, _anchor(chunk.x))
        return _Part(survey, len(chunk), int(chunk.x.shape[1]), n_outputs)

    def _measured(self, chunk: Chunk) -> _Measured:
        x, weight = _finite("X", chunk.x, chunk.index), checked_weight(chunk)
        counts = None if weight is None else like(weight, x)
        if self.counts_labels:
            return _Measured(ColumnMoments.of(x, counts), None)
        y = _finite("y", numbers(chunk.y, chunk.index), chunk.index)
        return _Measured(ColumnMoments.of(x, counts), ColumnMoments.of(y, counts))


@dataclass(frozen=True)
class _Measured:
    inputs: ColumnMoments
    targets: ColumnMoments | None

    def __add__(self, other: _Measured) -> _Measured:
        targets = None if self.targets is None else self.targets + other.targets  # type: ignore[operator]
        return _Measured(self.inputs + other.inputs, targets)


def surveyed(chunks: Chunks, counts_labels: bool) -> Survey:
    """The survey of all chunks."""
    parts: list[_Part] = chunks.each(Surveyor(counts_labels))
    sizes = tuple(part.n_rows for part in parts)
    if not any(sizes):
        raise ValueError("X must have at least one row, got none in any block.")
    for index, part in enumerate(parts):
        if part[2:] != parts[0][2:]:
            raise ValueError(
                f"all blocks must have {_described(parts[0])} like the first, got {_described(part)} in block {index}."
            )
    total = tree(part.survey for part in parts)
    if total is None:
        raise ValueError("sample_weight must have a positive entry, got only zeros.")
    return replace(total, sizes=sizes)


def positive(chunk: Chunk) -> Chunk:
    """The rows of a chunk whose weight is not zero."""
    weight = checked_weight(chunk)
    if weight is None or np.all(weight > 0):
        return chunk
    return chunk.part(like(np.flatnonzero(weight > 0), chunk.x))


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


def _anchor(x: Array) -> Array:
    return float64(x[:0])


def _described(part: _Part) -> str:
    outputs = "" if part.n_outputs is None else f" and {part.n_outputs} outputs"
    return f"{part.n_inputs} columns{outputs}"
