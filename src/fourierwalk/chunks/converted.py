"""Chunks that are converted when they are read: a table is encoded as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fourierwalk.chunks.chunk import Chunk, Chunks


@dataclass(frozen=True)
class Converted:
    """Chunks that a function converts where they are, at each pass.

    Parameters
    ----------
    chunks : Chunks
        The raw rows.
    convert : callable
        A function from a chunk to a chunk.
    """

    chunks: Chunks
    convert: Callable[[Chunk], Chunk]

    def each(self, share: Callable[[Chunk], Any]) -> list[Any]:
        """``share(chunk)`` of every chunk, in the order of the chunks."""
        return self.chunks.each(_Both(share, self.convert))

    def sum(self, share: Callable[[Chunk], Any]) -> Any:
        """The sum of ``share(chunk)`` over all chunks, in the fixed tree."""
        return self.chunks.sum(_Both(share, self.convert))


@dataclass(frozen=True)
class _Both:
    """A share of the converted chunk. It travels to where the chunks are."""

    share: Callable[[Chunk], Any]
    convert: Callable[[Chunk], Chunk]

    def __call__(self, chunk: Chunk) -> Any:
        return self.share(self.convert(chunk))
