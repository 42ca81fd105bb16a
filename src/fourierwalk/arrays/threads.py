"""Threads: how many BLAS may use, work in several of them, and one pool at a time."""

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


def in_threads(work: Callable[[range], None], bounds: Sequence[int], is_worth_it: bool) -> None:
    """Work on consecutive ranges, one thread each: threads that fetch many short ones wait for the interpreter."""
    if not is_worth_it or len(bounds) == 2:
        work(range(bounds[0], bounds[-1]))
    else:
        list(_pool(len(bounds) - 1, os.getpid()).map(work, map(range, bounds[:-1], bounds[1:])))


@contextmanager
def one_pool() -> Iterator[None]:
    """NumPy's own BLAS on one thread, where SciPy has another: two pools take the cores from each other.

    Measured on two cores: a fit of 200 rows took five times as long with both, one of 7,000 rows half as long again.
    Fits that overlap in threads share the limit; the last one to end lifts it.
    """
    libraries = _blas().lib_controllers
    own = [each for each in libraries if "numpy" in Path(each.filepath).parent.name] if len(libraries) > 1 else []
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
    """A pool per process: threads do not survive a fork."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="fourierwalk")


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """The threads that BLAS may use now: what the user, a limit or an enclosing worker has set."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)
