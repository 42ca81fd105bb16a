"""CSV and TSV files, read in blocks by Python's own csv module. Only one block is in memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fourierwalk.reading.source import BLOCK_ROWS, FileBlock, Kind, check_file, check_names
from fourierwalk.reading.values import COMMA, PARSERS, POINT, OddText, has_decimal_comma, is_number, share_of_numbers
from fourierwalk.tables.table import MOMENTS, NUMBERS, WORDS, Table

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE_BYTES, SAMPLE_ROWS = 1 << 16, 200
MOSTLY = 0.9
"""A column of words gets a remark if at least this share of them are numbers."""

_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_BINARIES = {
    b"PK": "a zip or Excel file: save the sheet as CSV",
    b"\x1f\x8b": "a gzip file: unpack it first",
    b"PAR1": "a Parquet file: call it .parquet",
    b"\x93NUMPY": "a NumPy array: save it with numpy.savez, as .npz",
    b"\xd0\xcf\x11\xe0": "an old Excel file: save the sheet as CSV",
    b"%PDF": "a PDF file",
}


class Texts(NamedTuple):
    """Records of a file as text, with the line that each begins in."""

    records: list[list[str]]
    lines: list[int]


@dataclass(frozen=True)
class Delimited:
    """A text file with a header row.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str
        Encoding of the text.
    delimiter : str
        Between its columns.
    decimal : str
        Between the whole and the fractional part of numbers.
    names : tuple of str
        Of its columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("size;make\\n1,5;audi\\n;bmw\\n")
    ...     source = Delimited.of(path)
    ...     next(source.blocks(["size"], ["numbers"]))
    FileBlock(table=Table(names=('size',), columns=(array([1.5, nan]),), is_named=True), lines=array([2, 3]))
    """

    path: Path
    encoding: str
    delimiter: str
    decimal: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, path: Path, encoding: str | None = None) -> Delimited:
        """Find the encoding, delimiter, decimal mark and header at the beginning of a file."""
        check_file(path)
        with path.open("rb") as file:
            start = file.read(SAMPLE_BYTES)
        marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
        encoding = encoding or marked or "utf-8"
        _check_text(path, start, marked)
        found = {delimiter: _sample(path, encoding, delimiter) for delimiter in DELIMITERS}
        delimiter = max(found, key=lambda each: _fit(found[each]))
        records = found[delimiter]
        if not records:
            raise ValueError(f"{path} is empty.")
        header = records[0]
        if all(is_number(name) for name in header):
            raise ValueError(f"{path} must begin with a header row, got the numbers {', '.join(header[:3])}.")
        texts = [text for record in records[1:] for text in record]
        decimal = COMMA if delimiter != "," and has_decimal_comma(texts) else POINT
        return cls(path, encoding, delimiter, decimal, check_names(path, header))

    def rows(self) -> float:
        """An estimate from the size of the file and of its first lines."""
        with self.path.open("rb") as file:
            start = file.read(SAMPLE_BYTES)
        return max(1.0, self.path.stat().st_size / (len(start) / max(1, start.count(b"\n"))) - 1)

    def kinds(self) -> tuple[Kind, ...]:
        """Numbers if all texts are numbers, else moments if all are dates, else words."""
        possible = [[NUMBERS, MOMENTS] for _ in self.names]
        remarks = [""] * len(self.names)
        for texts in self._texts():
            for j, column in enumerate(zip(*texts.records, strict=True)):
                for kind in tuple(possible[j]):
                    try:
                        PARSERS[kind](column, self.decimal)
                    except OddText as odd:
                        possible[j].remove(kind)
                        if kind == NUMBERS and share_of_numbers(column, self.decimal) >= MOSTLY:
                            remarks[j] = f"holds {odd.text[:40]!r} in line {texts.lines[odd.place]} among numbers"
        return tuple(
            Kind(*((each[0],) if each else (WORDS, remark))) for each, remark in zip(possible, remarks, strict=True)
        )

    def blocks(self, columns: Sequence[str], kinds: Sequence[str]) -> Iterator[FileBlock]:
        """Rows of some columns, each read as a kind. The error for a wrong value says its line."""
        places = [self.names.index(name) for name in columns]
        for texts in self._texts():
            by_column = list(zip(*texts.records, strict=True))
            read = [
                self._column(name, kind, by_column[place], texts.lines)
                for name, kind, place in zip(columns, kinds, places, strict=True)
            ]
            yield FileBlock(Table(tuple(columns), tuple(read)), np.array(texts.lines, dtype=np.int64))

    def _column(self, name: str, kind: str, texts: Sequence[str], lines: Sequence[int]) -> np.ndarray:
        try:
            column = PARSERS[kind](texts, self.decimal)
        except OddText as odd:
            said = {NUMBERS: "numbers", MOMENTS: "dates such as 2024-12-31"}[kind]
            raise ValueError(
                f"{self.path} must hold {said} in column {name!r}, got {odd.text[:80]!r} in line {lines[odd.place]}."
            ) from odd
        if kind == NUMBERS and np.any(infinite := np.isinf(column)):
            place = int(np.argmax(infinite))
            raise ValueError(
                f"{self.path} must hold finite numbers in column {name!r}, got {texts[place].strip()[:80]!r} in line "
                f"{lines[place]}."
            )
        return column

    def _texts(self) -> Iterator[Texts]:
        """Blocks of records, all as long as the header. Empty lines are skipped."""
        records = _records(self.path, self.encoding, self.delimiter)
        next(records)
        while some := list(islice(records, BLOCK_ROWS)):
            for line, record in some:
                if len(record) != len(self.names):
                    raise ValueError(
                        f"{self.path} must have {len(self.names)} values in each line as in its header, got "
                        f"{len(record)} in line {line}."
                    )
            yield Texts([record for _, record in some], [line for line, _ in some])


def _records(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line that it begins in."""
    line = 0
    try:
        with path.open(newline="", encoding="utf-8-sig" if encoding == "utf-8" else encoding) as file:
            reader = csv.reader(file, delimiter=delimiter)
            for record in reader:
                begin, line = line + 1, reader.line_num
                if record:
                    yield begin, record
    except UnicodeError as error:
        raise ValueError(
            f"{path} cannot be read as {encoding} text in line {_odd_line(path, encoding)}: say --encoding latin-1, or "
            "whatever it is in."
        ) from error
    except LookupError as error:
        raise ValueError(f"--encoding must be one that Python knows, got {encoding!r}.") from error
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as CSV after line {line}: {error}.") from error


def _odd_line(path: Path, encoding: str) -> int:
    """The first line that is not text in this encoding."""
    with path.open(encoding=encoding, errors="replace") as file:
        return next((line for line, text in enumerate(file, 1) if "\N{REPLACEMENT CHARACTER}" in text), 1)


def _sample(path: Path, encoding: str, delimiter: str) -> list[list[str]]:
    """The first records. Damage further on in the file shows later."""
    found: list[list[str]] = []
    try:
        for _, record in islice(_records(path, encoding, delimiter), SAMPLE_ROWS):
            found.append(record)
    except ValueError:
        if not found:
            raise
    return found


def _fit(records: list[list[str]]) -> tuple[bool, int]:
    """How well a delimiter fits: most records as long as the header, and many columns."""
    width = len(records[0]) if records else 0
    alike = sum(len(record) == width for record in records)
    return width > 1 and alike >= 0.8 * len(records), width


def _check_text(path: Path, start: bytes, marked: str | None) -> None:
    for mark, said in _BINARIES.items():
        if start.startswith(mark):
            raise ValueError(f"{path} must be text, but looks like {said}.")
    if b"\0" in start and marked is None:
        raise ValueError(f"{path} must be text, but has bytes in it that are zero, as binary files do.")
