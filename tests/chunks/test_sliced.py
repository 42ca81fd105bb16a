import numpy as np
import pytest

from fourierwalk.chunks import Sliced
from fourierwalk.chunks.sliced import CHUNK_BYTES

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
