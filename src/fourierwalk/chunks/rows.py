"""Rows in chunks, scaled when they are read: the same questions as to rows in memory, answered by sums alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from fourierwalk.arrays.library import like, scalar
from fourierwalk.chunks.chunk import Chunk, Chunks
from fourierwalk.chunks.survey import checked_weight, positive
from fourierwalk.chunks.targets import LabelTargets, NumberTargets
from fourierwalk.chunks.tree import tree
from fourierwalk.data.hashes import below, row_hash
from fourierwalk.data.rows import Block, Rows
from fourierwalk.data.scaling import Scaling


@dataclass(frozen=True)
class Withholding:
    """Rows that are held out, picked by a seeded hash of their inputs: equal rows stay together."""

    share: float
    seed: int

    def mask(self, chunk: Chunk) -> np.ndarray:
        """Which rows of a chunk are held out."""
        return below(row_hash(chunk.x, self.seed), self.share)


@dataclass(frozen=True)
class Preparation:
    """How a chunk of raw rows becomes scaled rows. It travels to where the chunks are."""

    scaling: Scaling
    targets: NumberTargets | LabelTargets
    factor: float | None = None  # of the weights; None: all of them are one
    held_out: Withholding | None = None  # these rows are left out

    def rows(self, chunk: Chunk) -> Rows:
        """The scaled rows of a chunk."""
        chunk = positive(chunk)
        if self.held_out is not None:
            chunk = chunk.taken(np.flatnonzero(~self.held_out.mask(chunk)))
        if self.factor is None:
            return self.scaling.rows(chunk.x, self.targets.columns(chunk))
        weight = checked_weight(chunk)
        own = np.ones(len(chunk)) if weight is None else weight  # other chunks may have weights
        return self.scaling.rows(chunk.x, self.targets.columns(chunk), like(own * self.factor, chunk.x))


@dataclass(frozen=True)
class Share:
    """The share of a chunk in a sum over scaled rows: ``term(block)``, summed over parts of a bounded size."""

    term: Callable[[Block], Any]
    preparation: Preparation
    height: int

    def __call__(self, chunk: Chunk) -> Any:
        """The share; None if the chunk has no rows."""
        parts = (chunk.part(slice(start, start + self.height)) for start in range(0, len(chunk), self.height))
        prepared = (self.preparation.rows(part) for part in parts)
        return tree(self.term(rows.whole()) for rows in prepared if len(rows))


@dataclass(frozen=True)
class Totals:
    """Number, weight and Σw|y|² of some rows."""

    n_rows: int
    weight: float
    energy: Any

    @classmethod
    def of(cls, block: Block) -> Totals:
        """The totals of a block."""
        rows = Rows(block.x, block.y, block.weight)
        return cls(len(rows), rows.total_weight, rows.target_energy)

    def __add__(self, other: Totals) -> Totals:
        return Totals(self.n_rows + other.n_rows, self.weight + other.weight, self.energy + other.energy)


@dataclass(frozen=True)
class ChunkedRows(Rows):
    """Rows in chunks that nobody holds together. `x` and `y` are empty arrays: they say library, device and columns.

    Parameters
    ----------
    x, y : array of shape (0, d) and (0, q)
        Empty arrays.
    chunks : Chunks
        The raw rows.
    preparation : Preparation
        How they are scaled when they are read.
    n_chunks : int
        The number of chunks.
    known : tuple of int and float, optional
        The number of rows and their total weight, if an earlier pass has counted them.
    reach : tuple of two arrays of shape (d,), optional
        The lowest and the highest scaled inputs, likewise.
    """

    chunks: Chunks = field(kw_only=True)
    preparation: Preparation = field(kw_only=True)
    n_chunks: int = field(kw_only=True, default=1)
    known: tuple[int, float] | None = field(kw_only=True, default=None)
    reach: Any = field(kw_only=True, default=None)  # type: ignore[misc]
    in_chunks: ClassVar[bool] = True
    gpu_part: ClassVar[int] = 64  # smaller blocks: the chunks that they are made of are on the GPU too

    def __len__(self) -> int:
        return int(self._totals.n_rows) if self.known is None else self.known[0]

    @cached_property
    def target_energy(self) -> Any:
        """Σw|y|²."""
        return scalar(self._totals.energy)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights; without weights the number of rows."""
        return float(self._totals.weight) if self.known is None else self.known[1]

    @cached_property
    def _totals(self) -> Totals:
        return self.sum(Totals.of, width=1)

    @property
    def n_sums(self) -> int:  # type: ignore[override]
        """The most sums that a pass holds at the same time."""
        return 2 + int(np.ceil(np.log2(max(2, self.n_chunks))))

    def block_height(self, width: int) -> int:
        """The most rows of a block with `width` columns of doubles, and three arrays of inputs."""
        return max(1, self._budget() // (8 * max(1, width + 3 * int(self.x.shape[1]))))

    def sum(self, term: Callable[[Block], Any], width: int, beside: int = 0) -> Any:
        """The sum of ``term(block)`` over all rows, in a tree that the order of the chunks fixes."""
        total = self.chunks.sum(Share(term, self.preparation, self.block_height(width + beside)))
        if total is None:
            raise ValueError("X must have at least one row to learn from, got none in any block.")
        return total

    def blocks(self, width: int, beside: int = 0) -> Iterator[Block]:
        """Not possible: chunks may be anywhere."""
        self._refuse("one by one")

    def whole(self) -> Block:
        """Not possible: nobody holds all rows."""
        self._refuse("as one array")

    def take(self, chosen: Any) -> Rows:
        """Not possible: rows have no numbers here."""
        self._refuse("by their numbers")

    def _refuse(self, how: str) -> NoReturn:
        raise ValueError(f"rows in blocks can be summed, but not taken {how}: give X and y as arrays in memory.")
