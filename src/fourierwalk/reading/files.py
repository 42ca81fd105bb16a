"""The reader of a file, by its suffix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fourierwalk.reading.arrays import Arrays
from fourierwalk.reading.delimited import Delimited
from fourierwalk.reading.parquet import Parquet
from fourierwalk.reading.source import Source

READERS: dict[str, Callable[[Path, str | None], Source]] = {
    ".csv": Delimited.of,
    ".tsv": Delimited.of,
    ".txt": Delimited.of,
    ".npz": Arrays.of,
    ".parquet": Parquet.of,
}


def source(path: Path | str, encoding: str | None = None) -> Source:
    """Open a file. Its rows are read later.

    Parameters
    ----------
    path : path or str
        A .csv, .tsv, .txt, .npz or .parquet file.
    encoding : str, optional
        Encoding of a text file. None: UTF-8, or UTF-16 if the file begins with its byte order mark.

    Raises
    ------
    ValueError, FileNotFoundError, ImportError
        What is wrong with the file, in one sentence.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path} must be one of {', '.join(READERS)}, got {path.suffix or 'no ending'!r}.")
    return reader(path, encoding)
