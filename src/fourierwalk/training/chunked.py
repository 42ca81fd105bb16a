"""The data of a fit on rows in chunks."""

from __future__ import annotations

from fourierwalk.chunks.chunk import Chunks
from fourierwalk.chunks.whole import Whole
from fourierwalk.training.training import Data


def chunked_data(chunks: Chunks, are_labels: bool) -> Data:
    """The data of a fit: two passes over the chunks check them, and draw the sample that is kept in memory."""
    whole = Whole.of(chunks, are_labels)
    return Data(*whole.sample, whole=whole)
