import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fourierwalk.chunks import Chunk, Chunks, Sliced
from fourierwalk.tables.table import Table


def test_parts_of_a_chunk():
    chunk = Chunk.of(3, np.arange(8.0).reshape(4, 2), np.arange(4), np.ones(4))
    part = chunk.part(slice(1, 3))
    assert (len(part), part.index) == (2, 3)
    assert part.y.tolist() == [1, 2]
    assert part.weight.tolist() == [1, 1]


def test_tensors_stay():
    torch = pytest.importorskip("torch")
    assert isinstance(Chunk.of(0, torch.ones(1, 2), torch.ones(1)).x, torch.Tensor)


def test_lists_become_arrays_and_frames_tables():
    assert Chunk.of(0, [[1, 2]], [3]).x.shape == (1, 2)
    chunk = Chunk.of(0, pd.DataFrame({"a": [1.0], "b": ["x"]}), pd.Series([1.0]))
    assert isinstance(chunk.x, Table)
    assert chunk.table is chunk.x
    assert type(chunk.y) is np.ndarray
    assert Chunk.of(0, np.array([["a", 1.0]], dtype=object), [1]).x.kinds == ("words", "numbers")
    assert Chunk.of(0, np.array([[2, 1.0]], dtype=object), [1]).x.kinds == ("numbers", "numbers")
    assert Chunk.of(0, [[1, 2]], [3]).table.columns[1].tolist() == [2.0]


def test_rows_of_tables_are_taken():
    chunk = Chunk.of(1, pd.DataFrame({"b": ["x", "y", "z"]}), [1, 2, 3], [1, 1, 1])
    some = chunk.taken(np.array([2, 0]))
    assert some.x.columns[0].tolist() == ["z", "x"]
    assert some.y.tolist() == [3, 1]
    assert chunk.moved(np.ones(2)).tolist() == [1, 1]


def test_targets_and_weights_may_be_columns_of_frames():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    chunk = Chunk.of(0, frame, pd.Series([3, 4], dtype="Int64"), pd.Series([1, 2], dtype="UInt8"))
    assert chunk.y.dtype == np.int64  # labels stay whole numbers
    assert chunk.weight.dtype == np.uint8
    assert np.isnan(Chunk.of(0, [[1.0]], pd.Series([None], dtype="Int64")).y[0])
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": [True, None], "b": [1.5, 2.5]})
    assert Chunk.of(0, table, table["b"]).y.tolist() == [1.5, 2.5]
    assert Chunk.of(0, table, table["a"]).y.tolist()[0] == 1


def test_something_with_columns_that_is_no_frame_is_an_array():
    class Matrix(np.ndarray):
        dtypes = columns = None

    assert np.array_equal(Chunk.of(0, np.ones((2, 3)).view(Matrix), [1, 2]).x, np.ones((2, 3)))


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (scipy.sparse.csr_array(np.eye(2)), ValueError, "X in blocks must be dense, got a sparse csr_array in block 2"),
        (np.ones((2, 0)), ValueError, "X must have at least one column, got none in block 2"),
        (pd.DataFrame(index=[0, 1]), ValueError, "X must have at least one column, got none in block 2"),
        (np.array([["a"], ["b"]]), ValueError, "got <U1 in block 2: words may stand in a frame"),
        (pd.DataFrame({"a": [{}, {}]}), TypeError, "words or dates in column 'a', got dict, in block 2"),
        (pd.DataFrame([[1, 2]] * 2, columns=["a", "a"]), ValueError, "unique column names, got: - 'a' 2 times, in bl"),
        (pd.DataFrame([[1, 2]] * 2, columns=["a", 1]), TypeError, r"all words or none, got \['a', 1\], in block 2"),
    ],
)
def test_inputs_that_are_no_rows_are_named(x, error, message):
    with pytest.raises(error, match=message):
        Chunk.of(2, x, [1, 2])


def test_targets_have_one_or_two_dimensions():
    with pytest.raises(ValueError, match="y must have 1 or 2 dimensions, got 0 in block 5"):
        Chunk.of(5, [[1.0]], 1.0)


def test_sources_are_chunks():
    assert isinstance(Sliced(np.ones((2, 1)), np.ones(2)), Chunks)
