"""What users give to `fit` that is not an array in memory, recognised and taken as chunks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fourierwalk.arrays.library import is_foreign
from fourierwalk.chunks.blocks import Blocks
from fourierwalk.chunks.chunk import Chunks
from fourierwalk.chunks.dask import DaskChunks, is_dask
from fourierwalk.chunks.parquet import ParquetChunks
from fourierwalk.chunks.sliced import Sliced
from fourierwalk.chunks.whole import SAMPLE_BYTES, SAMPLE_ROWS


def chunks_of(x: Any, y: Any = None, weight: Any = None) -> Chunks | None:
    """The chunks of what a user gives to `fit`; None if it is an array, a matrix or a frame in memory.

    A memory map is taken in chunks if it has more rows than the sample of a fit in chunks: below that a fit in memory
    is the same.

    Examples
    --------
    >>> import numpy as np
    >>> chunks_of(np.ones((3, 2)), np.ones(3)) is None
    True
    >>> type(chunks_of([(np.ones((3, 2)), np.ones(3))])).__name__
    'Blocks'
    """
    if _is_chunks(x) or (y is None and _are_blocks(x)):
        for name, values in (("y", y), ("sample_weight", weight)):
            if values is not None:
                raise ValueError(f"{name} must be None, because blocks bring their own, got {type(values).__name__}.")
        return x if _is_chunks(x) else Blocks(x)
    if is_dask(x):
        return DaskChunks(x, y, weight)
    if is_sliced(x):
        return Sliced(x, y, weight)
    return ParquetChunks(x, y, weight) if _is_dataset(x) else None


def is_sliced(x: Any) -> bool:
    """Whether x is a large memory map, or an array of Zarr or h5py."""
    if isinstance(x, np.memmap):
        if "joblib_memmapping_folder" in str(x.filename):  # an array in memory, as joblib hands it to a worker
            return False
        return x.ndim == 2 and (x.shape[0] > SAMPLE_ROWS or 8 * x.size > SAMPLE_BYTES)
    return type(x).__module__.partition(".")[0] in ("zarr", "h5py") and hasattr(x, "shape")


def _is_chunks(x: Any) -> bool:
    """Whether x has the two methods of `Chunks`; arrays have `sum`, but not `each`."""
    return callable(getattr(x, "each", None)) and callable(getattr(x, "sum", None))


def _are_blocks(x: Any) -> bool:
    """Whether x is something to iterate, or to call, for blocks: not an array, a frame or a list of numbers."""
    if is_foreign(x) or any(hasattr(x, name) for name in ("shape", "columns", "__array__")) or _is_dataset(x):
        return False
    if isinstance(x, list | tuple):
        return (
            len(x) > 0 and all(isinstance(block, list | tuple) and len(block) in (2, 3) for block in x) and _holds(x[0])
        )
    return isinstance(x, Iterator) or (isinstance(x, Iterable) and not isinstance(x, str | bytes | dict)) or callable(x)


def _holds(block: Any) -> bool:
    """Whether the first entry of a block has two dimensions: rows, not numbers."""
    return len(getattr(block[0], "shape", np.shape(block[0]))) == 2


def _is_dataset(x: Any) -> bool:
    """Whether x is a data set of pyarrow, which is not imported for the question."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(x, module.Dataset)
