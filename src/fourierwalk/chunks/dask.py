"""Chunks of Dask arrays and data frames (extra ``dask``): the workers that hold them compute their shares."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import array_api_compat as compat
import narwhals.stable.v2 as nw
import numpy as np

from fourierwalk.arrays.library import is_foreign, like, to_host
from fourierwalk.arrays.threads import one_thread
from fourierwalk.chunks.chunk import Chunk
from fourierwalk.chunks.moving import mapped
from fourierwalk.chunks.tree import joined, tree

POLL_SECONDS = 2.0
"""How often a waiting fit looks whether scheduler and workers are still there."""


SENT_WITH_TASKS = 2**20
"""Up to this many bytes in all, frequencies travel with each task; beyond, they are a task of their own, sent once."""


class DaskChunks:
    """Chunks of a Dask array or data frame, one task for each chunk and step; sums are made on the workers.

    Only the frequencies go to the workers at each step, and one sum comes back. Chunks that the user has persisted stay
    where they are; others are made again at each step. A lost worker's tasks are repeated elsewhere by Dask.

    Parameters
    ----------
    x : dask.array.Array or dask.dataframe.DataFrame
        The inputs. Columns of a frame may be categories, known or not, words and dates.
    y : dask collection or str
        The targets, chunked as x is; or the name of a column of the frame x.
    weight : dask collection or str, optional
        The weights, likewise.
    client : distributed.Client, optional
        The cluster. None: the current client; without one the tasks run in threads of this process.
    timeout : float
        Seconds without any worker after which an error is raised.
    """

    def __init__(self, x: Any, y: Any, weight: Any = None, *, client: Any = None, timeout: float = 60.0) -> None:
        named = [column for column in (y, weight) if isinstance(column, str)]
        for column in named:
            if not is_dask_frame(x) or column not in x.columns:
                raise ValueError(f"y and sample_weight must name columns of the frame X, got {column!r}.")
        y, weight = (x[column] if isinstance(column, str) else column for column in (y, weight))
        x = x.drop(columns=named) if named else x
        for name, values in (("y", y), ("sample_weight", weight)):
            if values is not None or name == "y":
                _check_alike(name, values, x)
        columns = [_delayed(values) for values in (x, y, weight) if values is not None]
        self.parts = list(zip(*columns, strict=True))
        self.client, self.timeout = _current() if client is None else client, timeout

    def each(self, share: Callable[[Chunk], Any]) -> list[Any]:
        """``share(chunk)`` of every chunk, in the order of the chunks."""
        import dask

        return list(self._computed(dask.delayed(_listed, pure=False)(*self._leaves(share))))

    def sum(self, share: Callable[[Chunk], Any]) -> Any:
        """The sum of ``share(chunk)`` over all chunks, in the fixed tree, added on the workers."""
        import dask

        return self._computed(tree(self._leaves(share), dask.delayed(joined, pure=False)))

    def _leaves(self, share: Callable[[Chunk], Any]) -> list[Any]:
        import cloudpickle
        import dask

        sent: Any = _Sent(share)
        if len(cloudpickle.dumps(share)) * len(self.parts) > SENT_WITH_TASKS:
            sent = dask.delayed(sent, traverse=False, pure=False)
        apply = dask.delayed(_share, pure=False)
        return [apply(sent, index, *part) for index, part in enumerate(self.parts)]

    def _computed(self, task: Any) -> Any:
        if self.client is None:
            return task.compute()
        from concurrent.futures import CancelledError

        try:
            future = self.client.compute(task, optimize_graph=False)
            seen = time.monotonic()
            while not _is_done(future):
                seen = self._looked(seen)
            return future.result()
        except (CancelledError, OSError) as error:
            raise RuntimeError(
                "the Dask scheduler was lost in the middle of a fit: its connection is closed and its futures are gone."
            ) from error

    def _looked(self, seen: float) -> float:
        """The last time that the cluster had a worker; an error if it is gone, or has had none for too long."""
        if self.client.status != "running":
            raise OSError(f"the client is {self.client.status}")
        if self.client.scheduler_info(n_workers=1)["workers"]:
            return time.monotonic()
        if time.monotonic() - seen > self.timeout:
            raise RuntimeError(f"the Dask cluster has had no worker for {self.timeout:g} seconds: start workers.")
        return seen


class _Sent:
    """A share on its way: Dask takes it as it is, and looks for no tasks inside it."""

    def __init__(self, share: Callable[[Chunk], Any]) -> None:
        self.share = share


def _share(sent: _Sent, index: int, *part: Any) -> Any:
    """The share of a chunk, computed on its device and by one thread: a worker has a task for each of its threads."""
    with one_thread():
        chunk = Chunk.of(index, *part)
        if not is_foreign(chunk.x):
            return sent.share(chunk)
        there = mapped(sent.share, lambda values: like(to_host(values), chunk.x))
        return mapped(there(chunk), to_host)


def _listed(*shares: Any) -> list[Any]:
    return list(shares)


def _is_done(future: Any) -> bool:
    """Whether the future is done, after a wait of at most `POLL_SECONDS`."""
    from distributed import TimeoutError, wait

    try:
        wait(future, timeout=POLL_SECONDS)
    except TimeoutError:
        return False
    return True


def _delayed(values: Any) -> list[Any]:
    """The chunks of a Dask collection as delayed objects; columns are put together."""
    if not compat.is_dask_array(values):  # a frame or a series
        return list(values.to_delayed())
    values = values.rechunk({1: -1}) if values.ndim > 1 and len(values.chunks[1]) > 1 else values
    return list(np.ravel(values.to_delayed(optimize_graph=False)))


def _check_alike(name: str, values: Any, x: Any) -> None:
    import dask

    if not dask.is_dask_collection(values):
        raise ValueError(f"{name} must be a Dask collection like X, got {type(values).__name__}.")
    if _sizes(values) != _sizes(x):
        raise ValueError(
            f"{name} must be chunked like X, in rows of {_sizes(x)}, got {_sizes(values)}: rechunk one of them."
        )


def _sizes(values: Any) -> str:
    """The rows of each chunk, as text; unknown sizes are shown as nan."""
    if not compat.is_dask_array(values):
        return f"{values.npartitions} partitions"
    sizes = values.chunks[0]
    if any(size != size for size in sizes):
        return f"{len(sizes)} partitions"
    return str(sizes) if len(sizes) <= 8 else f"({', '.join(map(str, sizes[:6]))}, …, {sizes[-1]}), {len(sizes)} chunks"


def _current() -> Any:
    """The current client of distributed; None if there is none."""
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None


def is_dask(values: Any) -> bool:
    """Whether the values are a Dask array or data frame."""
    return compat.is_dask_array(values) or is_dask_frame(values)


def is_dask_frame(values: Any) -> bool:
    """Whether the values are a Dask data frame."""
    return nw.dependencies.is_dask_dataframe(values)
