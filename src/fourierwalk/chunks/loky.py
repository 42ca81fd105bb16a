"""Chunks that several processes of this machine read and sum, by joblib's loky."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from fourierwalk.chunks.chunk import Chunk
from fourierwalk.chunks.tree import tree

ATTEMPTS = 3
"""A pass over the rows is repeated this many times if a process dies; shares are pure functions, so nothing is lost."""


class Indexed(Protocol):
    """Chunks that any process can read by their number, such as `Sliced` and `ParquetChunks`."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Chunk: ...


class Loky:
    """Chunks that several processes of this machine read and sum, each with one share of the cores.

    Parameters
    ----------
    chunks : Sliced or ParquetChunks
        The chunks. They are sent to the processes: files are best, because only their names travel.
    n_jobs : int
        The number of processes; −1 is one for each core.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.chunks import Loky, Sliced
    >>> chunks = Loky(Sliced(np.ones((4, 1)), np.ones(4), rows=2), n_jobs=2)
    >>> chunks.sum(len)
    4
    """

    def __init__(self, chunks: Indexed, n_jobs: int = -1) -> None:
        if not hasattr(chunks, "__getitem__") or not hasattr(chunks, "__len__"):
            raise ValueError(
                f"Loky needs chunks that have numbers (Sliced, ParquetChunks), got {type(chunks).__name__}."
            )
        if type(getattr(chunks, "x", None)).__module__.startswith("h5py"):
            raise ValueError("Loky needs arrays that other processes can open, got an h5py dataset: Zarr can be.")
        self.chunks, self.n_jobs = chunks, n_jobs

    def each(self, share: Callable[[Chunk], Any]) -> list[Any]:
        """``share(chunk)`` of every chunk, in the order of the chunks."""
        return self._repeated(lambda: list(self._shares(share)))

    def sum(self, share: Callable[[Chunk], Any]) -> Any:
        """The sum of ``share(chunk)`` over all chunks, in the fixed tree."""
        return self._repeated(lambda: tree(self._shares(share)))

    def _shares(self, share: Callable[[Chunk], Any]) -> Iterator[Any]:
        from joblib import Parallel, delayed

        parallel = Parallel(self.n_jobs, backend="loky", return_as="generator", mmap_mode="r")
        yield from parallel(delayed(_share)(self.chunks, index, share) for index in range(len(self.chunks)))

    def _repeated(self, run: Callable[[], Any]) -> Any:
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        for attempt in range(ATTEMPTS):
            try:
                return run()
            except TerminatedWorkerError as error:
                if attempt + 1 == ATTEMPTS:
                    raise RuntimeError(
                        f"a process of n_jobs={self.n_jobs} died in each of {ATTEMPTS} attempts at one pass over the "
                        "rows: smaller chunks or fewer processes need less memory."
                    ) from error
        raise AssertionError("unreachable")


def _share(chunks: Indexed, index: int, share: Callable[[Chunk], Any]) -> Any:
    return share(chunks[index])
