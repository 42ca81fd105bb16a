"""Parquet files, by pyarrow (extra ``files``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.reading.source import BLOCK_ROWS, FileBlock, Kind, check_file, check_names
from fourierwalk.tables.table import NUMBERS, WORDS, Table, as_moments, as_numbers, as_words


@dataclass(frozen=True)
class Parquet:
    """A Parquet file."""

    path: Path
    names: tuple[str, ...]
    file: Any

    @classmethod
    def of(cls, path: Path, encoding: str | None = None) -> Parquet:
        """Open a file. Its rows are read later."""
        check_file(path)
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError(f"{path} needs pyarrow: pip install 'fourierwalk[files]'.") from error
        try:
            file = pyarrow.parquet.ParquetFile(path)
            names = file.schema_arrow.names
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} cannot be read as Parquet: it is damaged, or something else.") from error
        return cls(path, check_names(path, names), file)

    def rows(self) -> float:
        """How many there are."""
        return float(self.file.metadata.num_rows)

    def kinds(self) -> tuple[Kind, ...]:
        """By the columns' types."""
        table = self._table(self.file.schema_arrow.empty_table())
        return tuple(Kind(kind) for kind in table.kinds)

    def blocks(self, columns: Sequence[str], kinds: Sequence[str]) -> Iterator[FileBlock]:
        """Rows of some columns, each as a kind."""
        import pyarrow

        begin, stored = 1, [self.file.schema_arrow.names[self.names.index(name)] for name in columns]
        try:
            for batch in self.file.iter_batches(BLOCK_ROWS, columns=stored):
                table = self._table(pyarrow.Table.from_batches([batch]).select(stored))
                read = tuple(_as(*each) for each in zip(columns, kinds, table.columns, strict=True))
                yield FileBlock(Table(tuple(columns), read), np.arange(begin, begin + len(table)))
                begin += len(table)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.path} is damaged after row {begin - 1}.") from error

    def _table(self, table: Any) -> Table:
        try:
            return Table.of(table)
        except TypeError as error:  # it speaks of X
            raise ValueError(f"{self.path}{str(error).removeprefix('X')}") from error


def _as(name: str, kind: str, column: np.ndarray) -> np.ndarray:
    if kind == WORDS:
        return as_words(column)
    return as_numbers(name, column) if kind == NUMBERS else as_moments(name, column)
