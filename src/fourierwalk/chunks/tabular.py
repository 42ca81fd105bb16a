"""Tables in chunks: facts about all rows and a sample of them make the encoder, and each pass encodes what it reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.chunks.chunk import Chunk, in_block
from fourierwalk.chunks.converted import Converted
from fourierwalk.chunks.survey import Tally, checked_weight, surveyed
from fourierwalk.chunks.targets import LabelTargets, NumberTargets
from fourierwalk.chunks.whole import SAMPLE_BYTES, Picked, Whole, on_host, rounded
from fourierwalk.tables.columns import Means
from fourierwalk.tables.encoder import Beyond, Encoding, TableEncoder
from fourierwalk.tables.facts import codes_of
from fourierwalk.tables.means import N_FOLDS, Grouped, by_part, parts_of_places
from fourierwalk.tables.table import as_words


class Encoded(NamedTuple):
    """A table in chunks, encoded as numbers: all rows, and the sample in memory."""

    whole: Whole
    sample: Encoding
    y: np.ndarray
    weight: np.ndarray | None


@dataclass(frozen=True)
class Tabular:
    """A table in chunks.

    Parameters
    ----------
    whole : Whole
        The raw rows. Their survey has facts about the columns.
    encoder : TableEncoder
        The encoder. `encoded` fits it.
    """

    whole: Whole
    encoder: TableEncoder

    @classmethod
    def of(cls, whole: Whole, encoder: TableEncoder) -> Tabular:
        """The table, with a sample whose inputs are not too large once they are encoded."""
        targets = whole.targets
        n_targets = (whole.survey.n_outputs or 1) if isinstance(targets, NumberTargets) else len(targets.names)
        encoder.outline(whole.survey.inputs.columns, n_targets)  # type: ignore[union-attr]
        width = max(1, len(encoder.get_feature_names_out()))
        return cls(replace(whole, most_sampled=min(whole.most_sampled, max(1, SAMPLE_BYTES // (8 * width)))), encoder)

    def gathered(self) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """All rows in memory: inputs, targets and weights as they were given."""
        chunks = [chunk for chunk in self.whole.chunks.each(on_host) if len(chunk)]
        weight = None
        if any(chunk.weight is not None for chunk in chunks):
            weight = np.concatenate([np.ones(len(c)) if c.weight is None else c.weight for c in chunks])
        return self.whole.stacked(chunks), np.concatenate([chunk.y for chunk in chunks]), weight

    def encoded(self) -> Encoded:
        """Fit the encoder, and encode all rows: those of the sample now, the others whenever they are read."""
        whole, encoder, picked = self.whole, self.encoder, self.whole.picked
        chunks = whole.chunks.each(picked)
        places = picked.places(0, whole.n_rows)[np.concatenate([_counts(chunk) for chunk in chunks])]
        x, y, weight = whole.arrays(chunks)
        facts: Any = whole.survey.inputs
        beyond = Beyond(facts.columns, self._center, parts_of_places(places), self._sums())
        sample = encoder.encoded(x, for_means(y, whole.targets), weight, beyond=beyond)
        means = () if sample.means is None else tuple(sample.means.means())
        converted = Converted(whole.chunks, Encode(encoder, picked.starts, means))
        survey = surveyed(converted, isinstance(whole.targets, LabelTargets))
        return Encoded(replace(whole, chunks=converted, survey=survey, is_fixed=sample.is_fixed), sample, y, weight)

    @property
    def _center(self) -> np.ndarray:
        """About the mean of the targets, the same for all divisions into chunks; zero for labels."""
        targets = self.whole.survey.targets
        return np.zeros(1) if isinstance(targets, Tally) else rounded(targets)[0]

    def _sums(self) -> tuple[Grouped, ...]:
        """Sums over the rows that are not in the sample, for each category of many levels."""
        levels = {j: column.levels for j, column in enumerate(self.encoder.columns_) if isinstance(column, Means)}
        if not levels:
            return ()
        factor = self.whole.survey.weights.factor
        share = MeanSums(levels, self.whole.picked, self.whole.targets, factor, self._center)
        sums, ends = self.whole.chunks.sum(share), np.cumsum([0, *share.sizes]).tolist()
        return tuple(sums[start : start + size] for start, size in zip(ends, share.sizes, strict=False))


@dataclass(frozen=True)
class MeanSums:
    """The share of a chunk in the sums that mean targets are made of, over the rows that are not in the sample."""

    levels: dict[int, tuple[str | None, ...]]  # of each column that has many
    picked: Picked
    targets: NumberTargets | LabelTargets
    factor: float | None  # of the weights; None: all of them are one
    center: np.ndarray  # about the mean of the targets

    @property
    def sizes(self) -> list[int]:
        """The number of sums of each column: one for each level in each part."""
        return [N_FOLDS * len(levels) for levels in self.levels.values()]

    def __call__(self, chunk: Chunk) -> Grouped:
        """The sums of all columns, one column after the other."""
        start, counts = self.picked.starts[chunk.index], _counts(chunk)
        counts[self.picked.places(start, start + len(chunk)) - start] = False
        rows = np.flatnonzero(counts)
        part, chunk, n = parts_of_places(start + rows), chunk.taken(rows), len(self.levels)
        y, weight = for_means(self.targets.columns(chunk), self.targets), None
        if self.factor is not None:
            own = checked_weight(chunk)
            weight = np.tile(np.ones(len(chunk)) if own is None else own, n) * self.factor
        return Grouped.of(self._codes(chunk, part), sum(self.sizes), np.tile(y, (n, 1)), weight, self.center)

    def _codes(self, chunk: Chunk, part: np.ndarray) -> np.ndarray:
        """The place of each row's sum, for all columns."""
        columns, starts = chunk.table.columns, np.cumsum([0, *self.sizes])
        return np.concatenate(
            [
                start + by_part(codes_of(levels, as_words(columns[j])), part, len(levels))
                for start, (j, levels) in zip(starts, self.levels.items(), strict=False)
            ]
        )


@dataclass(frozen=True)
class Encode:
    """A chunk of a table as numbers. Mean targets are those of other parts of the rows, never of the row itself."""

    encoder: TableEncoder
    starts: tuple[int, ...]  # rows before each chunk
    means: tuple[np.ndarray, ...] = ()  # for each category of many levels, those that encode each part

    def __call__(self, chunk: Chunk) -> Chunk:
        """The encoded chunk."""
        with in_block(chunk.index):
            table = chunk.table
            x = self.encoder.encode(table)
        if self.means:
            part = parts_of_places(self.starts[chunk.index] + np.arange(len(chunk)))
            for column, means in zip(self.encoder.coded(table), self.means, strict=True):
                x[:, column.place] = means[part, column.codes]
        return replace(chunk, x=x)


def for_means(y: np.ndarray, targets: NumberTargets | LabelTargets) -> np.ndarray:
    """The targets whose means take the place of levels: of two classes the second says it all."""
    return y[:, 1:] if isinstance(targets, LabelTargets) and len(targets.names) == 2 else y


def _counts(chunk: Chunk) -> np.ndarray:
    """Which rows have a weight above zero."""
    weight = checked_weight(chunk)
    return np.ones(len(chunk), dtype=bool) if weight is None else weight > 0
