"""Threads: how many BLAS may use, work in several threads, and one BLAS thread pool at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

WORKERS = "fourierwalk"
"""How the names of the pool's threads begin."""


def in_threads(work: Callable[[range], None], bounds: Sequence[int], is_worth_it: bool) -> None:
    """Work on consecutive ranges, one long range for each thread: short ones would compete for the interpreter."""
    is_worker = threading.current_thread().name.startswith(WORKERS)  # it must not wait for the pool that it is of
    if not is_worth_it or len(bounds) == 2 or is_worker:
        work(range(bounds[0], bounds[-1]))
    else:
        list(_pool(len(bounds) - 1, os.getpid()).map(work, map(range, bounds[:-1], bounds[1:])))


class _OneThread:
    """A limit of one thread for some BLAS libraries. Those who need it at the same time share it; the last lifts it."""

    def __init__(self) -> None:
        self._lock, self._n_users = threading.Lock(), 0
        self._before: list[tuple[Any, int]] = []

    @contextmanager
    def on(self, libraries: Sequence[Any]) -> Iterator[None]:
        """A context in which the libraries use one thread."""
        with self._lock:
            if not self._n_users:
                self._before = [(library, library.num_threads) for library in libraries]
                for library in libraries:
                    library.set_num_threads(1)
            self._n_users += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_users -= 1
                if not self._n_users:
                    for library, n_threads in self._before:
                        library.set_num_threads(n_threads)


_ON_ONE_POOL, _ON_ALL_POOLS = _OneThread(), _OneThread()


@contextmanager
def one_pool() -> Iterator[None]:
    """A context in which NumPy's BLAS uses one thread, if SciPy has a BLAS of its own: two pools compete for cores.

    Measured on two cores: with both pools a fit of 200 rows took five times as long, one of 7,000 rows 1.5 times. Fits
    that run at the same time in several threads share the limit; the last one to end lifts it.
    """
    libraries = _blas().lib_controllers
    own = [blas for blas in libraries if "numpy" in Path(blas.filepath).parent.name] if len(libraries) > 1 else []
    with _ON_ONE_POOL.on(own):
        yield


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """A thread pool for each process, because threads do not survive a fork."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix=WORKERS)


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """The number of threads that BLAS may use now, as the user, a limit or a parallel worker has set it."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which BLAS uses one thread: for work of which several parts run at the same time.

    Parts that overlap share the limit; the last one to end lifts it.
    """
    with _ON_ALL_POOLS.on(_blas().lib_controllers):
        yield
