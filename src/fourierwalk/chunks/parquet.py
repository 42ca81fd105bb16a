"""Chunks of a Parquet data set: the row groups of its files (extra ``files``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fourierwalk.chunks.chunk import Chunk, InProcess


class ParquetChunks(InProcess):
    """Chunks of a pyarrow data set: one for each row group of its files.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
        The data set, as ``pyarrow.dataset.dataset(path)`` opens it.
    target : str
        The column of the targets. All columns but this one and the weights are inputs: numbers, words, dictionaries,
        dates and truth values, of which some may be missing.
    weight : str, optional
        The column of the weights.
    """

    def __init__(self, dataset: Any, target: str, weight: str | None = None) -> None:
        for name, column in (("y", target), ("sample_weight", weight)):
            is_named = isinstance(column, str) and column in dataset.schema.names
            if not is_named and (name == "y" or column is not None):
                got = repr(column) if isinstance(column, str) else type(column).__name__
                raise ValueError(f"{name} must name a column of the data set, {dataset.schema.names}, got {got}.")
        self.target, self.weight = target, weight
        self.names = [name for name in dataset.schema.names if name not in (target, weight)]
        self._schema, fragments = dataset.schema, list(dataset.get_fragments())
        other = [fragment for fragment in fragments if not hasattr(fragment, "split_by_row_group")]
        if other:
            raise ValueError(f"X must be a data set of Parquet files, got a {type(other[0]).__name__}.")
        self._groups = [group for fragment in fragments for group in fragment.split_by_row_group()]

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, index: int) -> Chunk:
        asked = [*self.names, self.target, *([] if self.weight is None else [self.weight])]
        table = self._groups[index].to_table(schema=self._schema, columns=asked)
        weight = None if self.weight is None else table.column(self.weight)
        return Chunk.of(index, table.select(self.names), table.column(self.target), weight)

    def __iter__(self) -> Iterator[Chunk]:
        return (self[index] for index in range(len(self)))
