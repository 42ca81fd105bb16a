"""All rows in chunks of a fit: their survey, a sample in memory, their scaling, and the rows as sums see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, like, to_host
from fourierwalk.chunks.chunk import Chunk, Chunks
from fourierwalk.chunks.rows import ChunkedRows, Preparation, Withholding
from fourierwalk.chunks.survey import ColumnMoments, Survey, TableFacts, Tally, positive, surveyed
from fourierwalk.chunks.targets import LabelTargets, NumberTargets
from fourierwalk.data.affine import Affine
from fourierwalk.data.hashes import picked_places
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.spread import common_spread, spread_of
from fourierwalk.tables.encoder import FROM_DTYPE
from fourierwalk.tables.table import Table

SAMPLE_ROWS = 200_000
"""The most rows of the sample in memory: `sampler="auto"` learns a width of 256 from fewer, whatever their number."""

SAMPLE_BYTES = 64 * 2**20
"""The most bytes of the sample's inputs as doubles."""

SAMPLE_SEED = 0
"""The sample does not depend on `random_state`: a seed varies the fit, not its rows."""


@dataclass(frozen=True)
class Picked:
    """The share of a chunk in the sample: rows that a hash of their place picks, however they are divided."""

    starts: tuple[int, ...]  # rows before each chunk
    n_rows: int  # of all chunks
    n_picked: int

    def __call__(self, chunk: Chunk) -> Chunk:
        """The picked rows of a chunk, those of weight zero too."""
        start = self.starts[chunk.index]
        return on_host(chunk.taken(self.places(start, start + len(chunk)) - start))

    def places(self, start: int, stop: int) -> np.ndarray:
        """The places from start to stop that are picked."""
        return picked_places(start, stop, self.n_rows, self.n_picked, SAMPLE_SEED)


@dataclass(frozen=True)
class Withheld:
    """The share of a chunk in the validation rows."""

    held_out: Withholding

    def __call__(self, chunk: Chunk) -> Chunk:
        """The validation rows of a chunk."""
        chunk = positive(chunk)
        return on_host(chunk.taken(np.flatnonzero(self.held_out.mask(chunk))))


@dataclass(frozen=True)
class Whole:
    """All rows of a fit, in chunks.

    Parameters
    ----------
    chunks : Chunks
        The raw rows.
    survey : Survey
        What the first pass has found.
    targets : NumberTargets or LabelTargets
        How raw targets become columns.
    most_sampled : int
        The most rows of the sample in memory.
    is_fixed : array of bool, of shape (d,), optional
        Columns that are only centred, such as the 0 and 1 of a level of a category.
    """

    chunks: Chunks
    survey: Survey
    targets: NumberTargets | LabelTargets
    most_sampled: int = SAMPLE_ROWS
    is_fixed: np.ndarray | None = None

    @classmethod
    def of(
        cls, chunks: Chunks, are_labels: bool, most_sampled: int | None = None, categories: Any = FROM_DTYPE
    ) -> Whole:
        """The rows after one pass over them, which checks every block."""
        survey = surveyed(chunks, are_labels, categories)
        most_sampled = SAMPLE_ROWS if most_sampled is None else most_sampled
        if not isinstance(survey.targets, Tally):
            return cls(chunks, survey, NumberTargets(), most_sampled)
        names = sorted(label for label, weight in survey.targets.weights.items() if weight > 0)
        if len(names) < 2:
            raise ValueError(f"y must have at least 2 classes, got {len(names)}: {names[0]!r}.")
        return cls(chunks, survey, LabelTargets(tuple(names)), most_sampled)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.survey.n_rows

    @property
    def n_inputs(self) -> int:
        """The number of columns."""
        return self.survey.inputs.n_inputs

    @property
    def sample_size(self) -> int:
        """About as many rows are in the sample."""
        return min(self.most_sampled, max(1, SAMPLE_BYTES // (8 * self.n_inputs)))

    @property
    def is_in_sample(self) -> bool:
        """Whether the sample holds all rows."""
        return self.n_rows <= self.sample_size

    @property
    def picked(self) -> Picked:
        """How the sample is picked."""
        starts = tuple(int(start) for start in np.cumsum((0, *self.survey.sizes[:-1])))
        return Picked(starts, self.n_rows, min(self.n_rows, self.sample_size))

    @cached_property
    def sample(self) -> tuple[Any, Array, Array | None]:
        """Inputs, targets and weights of a random sample of the rows that fits in memory; of all rows if they do."""
        return self.arrays(self.chunks.each(self.picked))

    def arrays(self, picked: Iterable[Chunk]) -> tuple[Any, Array, Array | None]:
        """Picked chunks, one below the other, as the data of a fit in memory; rows of weight zero are left out."""
        kept = [chunk for chunk in map(positive, picked) if len(chunk)]
        y = np.concatenate([self.targets.columns(chunk) for chunk in kept])
        anchor = self.survey.anchor
        weight = None
        if self.survey.weights.factor is not None:
            own = np.concatenate([np.ones(len(c)) if c.weight is None else c.weight for c in kept])
            weight = like(own * self.survey.weights.factor, anchor)
        return self.stacked(kept), like(y, anchor), weight

    def stacked(self, chunks: Sequence[Chunk]) -> Any:
        """The inputs of chunks, one below the other: an array of floats, or a `Table`."""
        if isinstance(self.survey.inputs, TableFacts):
            return Table.joined([chunk.table for chunk in chunks], self.survey.inputs.kinds)
        x = np.concatenate([chunk.x for chunk in chunks])
        return like(x if x.dtype.kind == "f" else x.astype(np.float64), self.survey.anchor)

    def scaled(self, scaling: Scaling) -> Scaling:
        """A scaling of the sample, with means and spreads of all rows in place of the sample's.

        A robust scaling keeps the sample's medians and quartiles, which are no sums. Means and spreads are rounded to
        24 bits: another division into chunks then gives the same scaling, to the last bit.
        """
        move, moments = self._moved, self._moments
        center, spread = rounded(moments)
        inputs: Any = scaling.inputs
        is_scaled = np.ones(center.size, dtype=bool) if self.is_fixed is None else ~self.is_fixed
        if scaling.kind == "columns":
            inputs = Affine(move(center), move(np.where(is_scaled, spread, 1.0)))
        elif scaling.kind == "common":
            common = _bits24(common_spread(spread[is_scaled]))
            inputs = Affine(move(center), move(np.where(is_scaled, common, 1.0)))
        if scaling.kind == "none":
            return scaling
        if isinstance(self.survey.targets, Tally):
            total = sum(self.survey.targets.weights.values())
            shares = np.array([self.survey.targets.weights[name] / total for name in self.targets.names])  # type: ignore[union-attr]
            return replace(scaling, inputs=inputs, targets=replace(scaling.targets, center=move(_bits24(shares))))
        center, spread = rounded(self.survey.targets)
        return replace(scaling, inputs=inputs, targets=Affine(move(center), move(spread)))

    def rows(self, scaling: Scaling, held_out: Withholding | None = None) -> ChunkedRows:
        """All rows, scaled; those held out are left out."""
        preparation = Preparation(scaling, self.targets, self.survey.weights.factor, held_out)
        x, q = self.survey.anchor, int(scaling.targets.center.shape[0])
        y = like(np.empty((0, q)), x)
        facts = self.survey.weights
        total = float(facts.n_positive) if facts.factor is None else facts.total * facts.factor
        return ChunkedRows(
            x,
            y,
            chunks=self.chunks,
            preparation=preparation,
            n_chunks=len(self.survey.sizes),
            known=(facts.n_positive, total) if held_out is None else None,
            reach=self._reach(scaling),
        )

    def _reach(self, scaling: Scaling) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest scaled inputs: scalings are increasing."""
        low, high = (self._moved(bound[None, :]) for bound in (self._moments.low, self._moments.high))
        return to_host(scaling.inputs.apply(low))[0], to_host(scaling.inputs.apply(high))[0]

    def held_out(self, fraction: float, seed: int) -> Withholding:
        """Validation rows: a fraction of all rows, but not more than are in a sample."""
        return Withholding(min(fraction, self.sample_size / self.n_rows), seed)

    def validation(self, scaling: Scaling, held_out: Withholding) -> Rows:
        """The validation rows, scaled and in memory."""
        picked = self.chunks.each(Withheld(held_out))
        if not any(len(chunk) for chunk in picked):
            raise ValueError(f"validation_fraction must hold out at least one of {self.n_rows} rows, got none.")
        return scaling.rows(*self.arrays(picked))

    @property
    def bounds(self) -> Array | None:
        """The lowest and the highest target, (2, q); None for labels."""
        targets = self.survey.targets
        return self._moved(np.stack((targets.low, targets.high))) if isinstance(targets, ColumnMoments) else None

    @property
    def _moments(self) -> ColumnMoments:
        """Means, variances and ranges of the inputs; a table must be encoded to have them."""
        if isinstance(self.survey.inputs, TableFacts):
            raise TypeError("rows of a table must be encoded as numbers before they are scaled.")
        return self.survey.inputs

    def _moved(self, values: np.ndarray) -> Array:
        return like(values, self.survey.anchor)


def on_host(chunk: Chunk) -> Chunk:
    """The rows as NumPy arrays of their own, not views of a larger one."""
    x = chunk.x if isinstance(chunk.x, Table) else np.array(to_host(chunk.x))
    weight = None if chunk.weight is None else np.array(to_host(chunk.weight), dtype=np.float64)
    return Chunk(chunk.index, x, np.array(to_host(chunk.y)), weight)


def rounded(moments: ColumnMoments) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations with 24 bits; means are rounded to a share of 2⁻²⁴ of the deviation."""
    spread = _bits24(spread_of(moments.mean, moments.deviations, moments.weight))
    unit = 2.0 ** (np.floor(np.log2(spread)) - 24)
    return np.round(moments.mean / unit) * unit, spread


def _bits24(values: Any) -> Any:
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2.0**24), exponent - 24)
