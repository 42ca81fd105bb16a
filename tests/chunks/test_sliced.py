import ctypes
import mmap
import os
import sys
import time

import numpy as np
import pytest
from numpy.lib.array_utils import byte_bounds

from fourierwalk.chunks import Sliced
from fourierwalk.chunks.sliced import CHUNK_BYTES, read_ahead

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10.0)


def stored(kind, folder):
    """The same two arrays on a disk."""
    if kind == "memory map":
        maps = [
            np.memmap(folder / name, values.dtype, "w+", shape=values.shape) for name, values in (("x", X), ("y", Y))
        ]
        maps[0][:], maps[1][:] = X, Y
        return maps
    if kind == "zarr":
        group = zarr.open_group(folder / "rows.zarr", mode="w")
        return [
            group.create_array(name, data=values, chunks=(4, *values.shape[1:]))
            for name, values in (("x", X), ("y", Y))
        ]
    file = h5py.File(folder / "rows.h5", "w")
    return [
        file.create_dataset(name, data=values, chunks=(4, *values.shape[1:])) for name, values in (("x", X), ("y", Y))
    ]


@pytest.mark.parametrize("kind", ["memory map", "zarr", "hdf5"])
def test_arrays_on_a_disk_are_read_by_slices(kind, tmp_path):
    chunks = list(Sliced(*stored(kind, tmp_path), rows=4))
    assert [chunk.index for chunk in chunks] == [0, 1, 2]
    assert [len(chunk) for chunk in chunks] == [4, 4, 2]
    assert np.array_equal(np.concatenate([chunk.x for chunk in chunks]), X)
    assert np.array_equal(np.concatenate([chunk.y for chunk in chunks]), Y)
    assert all(type(chunk.y) in (np.ndarray, np.memmap) for chunk in chunks)


def resident(values):
    """The share of the values' pages that the page cache holds."""
    low, high = byte_bounds(values)
    start = low // mmap.PAGESIZE * mmap.PAGESIZE
    pages = (ctypes.c_ubyte * (-(-(high - start) // mmap.PAGESIZE)))()
    assert ctypes.CDLL(None).mincore(ctypes.c_void_p(start), ctypes.c_size_t(high - start), pages) == 0
    return np.mean([page & 1 for page in pages])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has mincore and fadvise as they are used here")
def test_the_next_chunk_of_a_memory_map_is_read_ahead(tmp_path):
    path, shape = tmp_path / "x", (40_000, 16)
    np.memmap(path, np.float64, "w+", shape=shape).flush()
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    x = np.memmap(path, np.float64, "r", shape=shape)
    if resident(x) > 0:
        pytest.skip("the folder of the test is not on a disk")
    assert len(Sliced(x[100:], np.zeros(39_900), rows=15_000)[0]) == 15_000
    until = time.monotonic() + 30
    while resident(x[15_100:30_100]) < 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert resident(x[15_100:30_100]) == 1
    assert resident(x[30_100:]) < 0.5


def test_every_part_of_a_memory_map_can_be_read_ahead(tmp_path):
    x, _ = stored("memory map", tmp_path)
    for rows in (x, x[3:], np.asarray(x), x[:, ::2], x[::-1], X, X[:0]):
        for part in (slice(0, 4), slice(4, 100), slice(7, 7)):
            read_ahead(rows, part)


def test_chunks_are_whole_chunks_of_the_array(tmp_path):
    x, y = stored("zarr", tmp_path)
    assert Sliced(x, y).height % 4 == 0


def test_a_chunk_has_a_bounded_size():
    assert Sliced(np.empty((0, 100)), np.empty(0)).height == CHUNK_BYTES // (8 * 101)


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (None, None, "y must be an array of targets"),
        (np.ones(3), None, "y must have as many rows as X, 10, got 3"),
        (Y, np.ones(3), "sample_weight must have as many rows as X, 10, got 3"),
    ],
)
def test_what_does_not_fit_is_refused(y, weight, message):
    with pytest.raises(ValueError, match=message):
        Sliced(X, y, weight)


def test_rows_of_a_chunk_are_a_count():
    with pytest.raises(ValueError, match="rows must be a whole number of at least 1, got 0"):
        Sliced(X, Y, rows=0)
