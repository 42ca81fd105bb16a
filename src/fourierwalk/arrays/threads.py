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


@contextmanager
def one_pool() -> Iterator[None]:
    """A context in which NumPy's BLAS uses one thread, if SciPy has a BLAS of its own: two pools compete for cores.

    Measured on two cores: with both pools a fit of 200 rows took five times as long, one of 7,000 rows 1.5 times. Fits
    that run at the same time in several threads share the limit; the last one to end lifts it.
    """
    libraries = _blas().lib_controllers
    own = [blas for blas in libraries if "numpy" in Path(blas.filepath).parent.name] if len(libraries) > 1 else []
    with _LOCK:
        if not _INSIDE:
            _BEFORE[:] = [(library, library.num_threads) for library in own]
            for library in own:
                library.set_num_threads(1)
        _INSIDE.append(True)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                for library, n_threads in _BEFORE:
                    library.set_num_threads(n_threads)


_LOCK = threading.Lock()


_INSIDE: list[bool] = []


_BEFORE: list[tuple[Any, int]] = []


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
    with _LOCK:
        if not _LIMITED:
            _LIMITS[:] = [(library, library.num_threads) for library in _blas().lib_controllers]
            for library, _ in _LIMITS:
                library.set_num_threads(1)
        _LIMITED.append(True)
    try:
        yield
    finally:
        with _LOCK:
            _LIMITED.pop()
            if not _LIMITED:
                for library, n_threads in _LIMITS:
                    library.set_num_threads(n_threads)


_LIMITED: list[bool] = []


_LIMITS: list[tuple[Any, int]] = []
