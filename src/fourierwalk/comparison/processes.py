"""Several cells at a time, each in a process of its own. If one dies, the others go on."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from fourierwalk.comparison import run
from fourierwalk.comparison.checkouts import POOLS


def computed(
    cells: Iterable[Any], n_jobs: int, threads: int, compute: Callable[[Any, int], dict[str, Any]] = run.compute
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield cells and their results as they finish. The next cell starts when a process is free."""
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ValueError("--jobs above 1 needs processes that fork, which this system does not have.")
    waiting = iter(cells)
    running: dict[Any, tuple[Any, Any]] = {}
    try:
        while True:
            while len(running) < n_jobs and (cell := next(waiting, None)) is not None:
                pipe, process = _started(cell, threads, compute)
                running[pipe] = process, cell
            if not running:
                return
            for ready in wait(list(running)):
                process, cell = running.pop(ready)
                yield cell, _received(ready, process)
    finally:
        for process, _ in running.values():
            process.terminate()


def _started(cell: Any, threads: int, compute: Callable[[Any, int], dict[str, Any]]) -> tuple[Connection, Any]:
    context = multiprocessing.get_context("fork")  # rows and methods are inherited, not pickled
    pipe, end = context.Pipe(duplex=False)
    process = context.Process(target=_compute, args=(cell, threads, compute, end))
    with warnings.catch_warnings():  # about threads in the parent: it computes nothing, and BLAS survives a fork
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    end.close()
    return pipe, process


def _compute(cell: Any, threads: int, compute: Callable[[Any, int], dict[str, Any]], end: Connection) -> None:
    os.environ.update(dict.fromkeys(POOLS, str(threads)))  # for libraries that are loaded later
    end.send(compute(cell, threads))
    end.close()


def _received(pipe: Any, process: Any) -> dict[str, Any]:
    try:
        result = pipe.recv()
    except EOFError:
        result = None
    pipe.close()
    process.join()
    return {"failure": f"its process ended with code {process.exitcode}"} if result is None else result
