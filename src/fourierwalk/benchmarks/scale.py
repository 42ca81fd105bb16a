"""Rows beyond memory and beyond one process: seconds of a step against the same work in memory, and its growth.

A step is one solve for amplitudes by sums over all rows. All but `ranks` run in this process and its workers.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fourierwalk.benchmarks.figures import Figure, median_seconds, medians_in_turn
from fourierwalk.benchmarks.memory import peak_bytes
from fourierwalk.chunks import Blocks, Chunks, DaskChunks, Sliced
from fourierwalk.chunks.rows import ChunkedRows, Preparation, Share
from fourierwalk.chunks.targets import NumberTargets
from fourierwalk.data.affine import Affine
from fourierwalk.data.features import CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.normal_equations import InNormalEquations
from fourierwalk.solving.solver import Solver

REGULARIZATION = 1e-3


def made(start: int, n_rows: int, d: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Rows from a seeded generator; y = sin 3x₁ + x₂."""
    x = np.random.default_rng(start).standard_normal((n_rows, d), dtype=np.float32).astype(dtype)
    return x, np.sin(3 * x[:, 0]) + x[:, 1 % d]


def unscaled(d: int) -> Scaling:
    """A scaling that computes, and changes nothing."""
    return Scaling(Affine(np.zeros(d), np.ones(d)), Affine(np.zeros(1), np.ones(1)), "columns")


def chunked(chunks: Chunks, d: int, n_rows: int) -> ChunkedRows:
    """The rows of some chunks."""
    preparation = Preparation(unscaled(d), NumberTargets())
    known = (n_rows, float(n_rows))
    return ChunkedRows(np.empty((0, d)), np.empty((0, 1)), chunks=chunks, preparation=preparation, known=known)


def stepped(rows: Rows, n_frequencies: int) -> Callable[[], Any]:
    """A function that takes one step; frequencies differ each time, so that nothing is kept."""
    rng = np.random.default_rng(1)
    minimize = LeastSquares(rows, CosineSine(), REGULARIZATION, Solver("direct", max_memory=1e12))
    return lambda: minimize(rng.standard_normal((n_frequencies, int(rows.x.shape[1]))))


OUT_OF_CORE = (10_000_000, 100, 256)
"""Rows, inputs in single precision, and frequencies."""


@contextmanager
def mapped_file(n_rows: int, d: int) -> Iterator[Path]:
    """A file of inputs in single precision; ``y.npy`` beside it has the targets."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        x = np.memmap(path, np.float32, "w+", shape=(n_rows, d))
        y = np.empty(n_rows)
        for start in range(0, n_rows, 50_000):
            stop = min(start + 50_000, n_rows)
            x[start:stop], y[start:stop] = made(start, stop - start, d, np.float32)
        x.flush()
        np.save(path.with_name("y.npy"), y)
        del x  # pages that are mapped stay in the page cache
        yield path


def sliced_file(path: Path, n_rows: int, d: int) -> Sliced:
    """The rows of the file. On Linux the page cache holds nothing of it: all rows are read from the disk."""
    if sys.platform == "linux":
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return Sliced(np.memmap(path, np.float32, "r", shape=(n_rows, d)), np.load(path.with_name("y.npy")))


def bench_out_of_core(shrink: int) -> list[Figure]:
    """10⁷ rows of 100 inputs, memory-mapped, K = 256: the time of a step against the same blocks in memory."""
    n_rows, d, n_frequencies = OUT_OF_CORE[0] // shrink, *OUT_OF_CORE[1:]
    with mapped_file(n_rows, d) as path:
        chunks = list(sliced_file(path, n_rows, d))
        first = np.array(chunks[0].x), np.array(chunks[0].y)
        in_memory = Blocks([tuple(part[: len(chunk)] for part in first) for chunk in chunks])
        del chunks
        stepped(chunked(Blocks([first]), d, len(first[1])), n_frequencies)()  # a process takes longer for its first
        seconds = medians_in_turn(
            [
                lambda: stepped(chunked(sliced_file(path, n_rows, d), d, n_rows), n_frequencies)(),
                stepped(chunked(in_memory, d, n_rows), n_frequencies),
            ],
            repeats=2,
            unmeasured=0,
        )
    case = f"out of core: N = {n_rows:,}, d = {d}, K = {n_frequencies}"
    return [
        Figure(case, "s a step from disk", seconds[0]),
        Figure(case, "times the same blocks from memory", seconds[0] / seconds[1], 1.2),
    ]


def bench_out_of_core_memory(shrink: int) -> list[Figure]:
    """The memory of a fit on the same file. It needs no quiet machine."""
    n_rows, d, n_frequencies = OUT_OF_CORE[0] // shrink, *OUT_OF_CORE[1:]
    with mapped_file(n_rows, d) as path:
        peak = peak_bytes("fourierwalk.benchmarks.walk", str(path), str(n_rows), str(d), str(n_frequencies))
    case = f"out of core: N = {n_rows:,}, d = {d}, K = {n_frequencies}"
    what = "MB of anonymous memory in a fit, interpreter and libraries counted"
    return [Figure(case, what, peak / 1e6, 700)]


def bench_dask(shrink: int) -> list[Figure]:
    """Dask with two processes of one thread: against this process with two threads, and on tiny data."""
    import dask.array
    from distributed import Client, LocalCluster

    n_rows, d, n_frequencies = 1_000_000 // shrink, 10, 512
    case = f"Dask, 2 processes: N = {n_rows:,}, d = {d}, K = {n_frequencies}"
    x, y = made(0, n_rows, d)
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:

        def there(n: int, n_chunks: int, k: int) -> Callable[[], Any]:
            height = -(-n // n_chunks)
            inputs, targets = (dask.array.from_array(v[:n], chunks=(height, *v.shape[1:])).persist() for v in (x, y))
            return stepped(chunked(DaskChunks(inputs, targets, client=client), d, n), k)

        with threadpool_limits(2):
            local = stepped(Rows(x, y[:, None]), n_frequencies)
            seconds = medians_in_turn([there(n_rows, 16, n_frequencies), local], 3)
            tiny = median_seconds(there(min(1000, n_rows), 2, 16), 20)
    return [
        Figure(case, "s a step", seconds[0]),
        Figure(case, "times one process with two threads", seconds[0] / seconds[1], 1.25),
        Figure("Dask, 2 processes: N = 1,000, K = 16", "ms a step", 1e3 * tiny, 50),
    ]


def bench_distributed(shrink: int) -> list[Figure]:
    """Two gloo ranks of torch.distributed, against one process with two threads."""
    n_rows, d, n_frequencies = 1_000_000 // shrink, 10, 512
    case = f"torch.distributed, 2 gloo ranks: N = {n_rows:,}, d = {d}, K = {n_frequencies}"
    x, y = made(0, n_rows, d)
    with threadpool_limits(2):
        local = median_seconds(stepped(Rows(x, y[:, None]), n_frequencies), 3)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "fourierwalk.benchmarks.ranks", str(n_rows), str(d), str(n_frequencies)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = json.loads(done.stdout.splitlines()[-1])
    return [Figure(case, "s a step", seconds), Figure(case, "times one process with two threads", seconds / local, 1.2)]


def bench_growth(shrink: int) -> list[Figure]:
    """The growth of a direct step on all rows with their number, and of what travels at each step."""
    d, n_frequencies, case = 10, 64, "direct step over N, d = 10, K = 64"
    sizes = [n // shrink for n in (100_000, 1_000_000, 10_000_000)]
    block = made(0, 50_000, d)
    steps = []
    for n_rows in sizes:
        parts = [min(50_000, n_rows - start) for start in range(0, n_rows, 50_000)]
        blocks = Blocks([tuple(values[:part] for values in block) for part in parts])
        steps.append(stepped(chunked(blocks, d, n_rows), n_frequencies))
    with threadpool_limits(1):  # seconds of the processor: other programs on the machine do not count
        seconds = medians_in_turn(steps, 3, time.process_time)
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    sent = [_sent_bytes(made(0, n, d), d, n_frequencies) for n in (1_000, 50_000)]
    name = f"exponent of a thread's seconds, {sizes[0]:,} to {sizes[-1]:,} rows"
    return [
        Figure(case, f"{name}: at least", slope, 0.95, at_most=False),
        Figure(case, f"{name}: at most", slope, 1.05),
        *(Figure(case, f"microseconds a row, {n:,} rows", 1e6 * s / n) for n, s in zip(sizes, seconds, strict=True)),
        Figure(case, "bytes a step and worker, 50 times the rows over one time", sent[1] / sent[0], 1.0),
        Figure(case, "MB a step and worker", sent[1] / 1e6),
    ]


def _sent_bytes(rows: tuple[np.ndarray, np.ndarray], d: int, n_frequencies: int) -> float:
    """The bytes of a share's question and answer."""
    term = InNormalEquations(CosineSine(), np.ones((n_frequencies, d)))
    share = Share(term, Preparation(unscaled(d), NumberTargets()), 4096)
    answer = Sliced(*rows).sum(share)
    return float(math.fsum(len(pickle.dumps(part)) for part in (share, answer)))


BENCHES: dict[str, Callable[[int], list[Figure]]] = {
    "out-of-core": bench_out_of_core,
    "out-of-core-memory": bench_out_of_core_memory,
    "dask": bench_dask,
    "distributed": bench_distributed,
    "growth": bench_growth,
}
