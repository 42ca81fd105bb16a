import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.chunks import Chunk, Chunks, Sliced


def test_parts_of_a_chunk():
    chunk = Chunk.of(3, np.arange(8.0).reshape(4, 2), np.arange(4), np.ones(4))
    part = chunk.part(slice(1, 3))
    assert (len(part), part.index) == (2, 3)
    assert part.y.tolist() == [1, 2]
    assert part.weight.tolist() == [1, 1]


def test_tensors_stay():
    torch = pytest.importorskip("torch")
    assert isinstance(Chunk.of(0, torch.ones(1, 2), torch.ones(1)).x, torch.Tensor)


def test_lists_and_frames_become_arrays():
    assert Chunk.of(0, [[1, 2]], [3]).x.shape == (1, 2)
    assert type(Chunk.of(0, pd.DataFrame({"a": [1.0]}), pd.Series([1.0])).x) is np.ndarray


def test_columns_of_all_kinds_of_numbers_become_one_array():
    kinds = ["bool", "boolean", "Int64", "int8", "Float32", "float64"]
    frame = pd.DataFrame({kind: pd.Series([1, 0], dtype=kind) for kind in kinds})
    chunk = Chunk.of(0, frame, pd.Series([3, 4], dtype="Int64"), pd.Series([1, 2], dtype="UInt8"))
    assert np.array_equal(chunk.x, np.repeat([[1.0], [0.0]], len(kinds), axis=1))
    assert chunk.y.dtype == np.int64  # labels stay whole numbers
    assert chunk.weight.dtype == np.uint8
    assert Chunk.of(0, frame[["boolean"]], [1, 2]).x.dtype == bool
    twice = pd.DataFrame([[1, True], [2, False]], columns=["a", "a"])
    assert np.array_equal(Chunk.of(0, twice, [1, 2]).x, [[1, 1], [2, 0]])


def test_missing_values_of_nullable_columns_become_nan():
    frame = pd.DataFrame({"a": pd.Series([1, None], dtype="Int64"), "b": pd.Series([None, True], dtype="boolean")})
    assert np.array_equal(Chunk.of(0, frame, [1, 2]).x, [[1, np.nan], [np.nan, 1]], equal_nan=True)
    assert np.isnan(Chunk.of(0, [[1.0]], pd.Series([None], dtype="Int64")).y[0])


def test_frames_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [True, False], "b": [1.5, 2.5], "c": [1, None]})
    assert np.array_equal(Chunk.of(0, frame, [1, 2]).x, [[1, 1.5, 1], [0, 2.5, np.nan]], equal_nan=True)
    with pytest.raises(ValueError, match="got String in column 'word': encode categories"):
        Chunk.of(0, polars.DataFrame({"word": ["a"]}), [1])


def test_tables_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": [True, None], "b": [1.5, 2.5], "c": [1, None]})
    chunk = Chunk.of(0, table, table["b"])
    assert np.array_equal(chunk.x, [[1, 1.5, 1], [np.nan, 2.5, np.nan]], equal_nan=True)
    assert chunk.y.tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="got String in column 'word': encode categories"):
        Chunk.of(0, arrow.table({"word": ["a"]}), [1])


def test_something_with_columns_that_is_no_frame_is_an_array():
    class Matrix(np.ndarray):
        dtypes = columns = None

    assert np.array_equal(Chunk.of(0, np.ones((2, 3)).view(Matrix), [1, 2]).x, np.ones((2, 3)))


def test_columns_that_are_no_numbers_are_named():
    with pytest.raises(ValueError, match=r"got (String|Object) in column 'word': encode categories"):
        Chunk.of(0, pd.DataFrame({"word": ["a"]}), [1])
    with pytest.raises(ValueError, match="got Categorical in column 'code': encode categories"):
        Chunk.of(0, pd.DataFrame({"code": pd.Categorical([1, 2])}), [1, 2])
    with pytest.raises(ValueError, match="X in blocks must be dense, got a sparse csr_array in block 2"):
        Chunk.of(2, scipy.sparse.csr_array(np.eye(2)), [1, 2])
    with pytest.raises(ValueError, match="y must have 1 or 2 dimensions, got 0 in block 5"):
        Chunk.of(5, [[1.0]], 1.0)


def test_sources_are_chunks():
    assert isinstance(Sliced(np.ones((2, 1)), np.ones(2)), Chunks)


def test_blocks_of_nullable_columns_are_fitted():
    rng = np.random.default_rng(0)
    parts = [(rng.integers(0, 2, 200).astype(bool), rng.integers(-9, 9, 200), rng.normal(size=200)) for _ in range(2)]
    plain = [(np.stack(part, axis=1), np.where(part[0], part[2], 1.0)) for part in parts]
    frames = [
        (pd.DataFrame({"is": pd.array(a, dtype="boolean"), "n": pd.array(b, dtype="Int64"), "z": c}), y)
        for (a, b, c), (_, y) in zip(parts, plain, strict=True)
    ]
    settings = {"n_frequencies": 4, "sampler": "metropolis", "n_steps": 5, "random_state": 0}
    one, other = (AdaptiveFourierRegressor(**settings).fit(blocks) for blocks in (plain, frames))
    assert np.array_equal(one.amplitudes_, other.amplitudes_)
