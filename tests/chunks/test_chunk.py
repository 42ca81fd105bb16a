import numpy as np
import pandas as pd
import pytest
import scipy.sparse

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


def test_columns_that_are_no_numbers_are_named():
    with pytest.raises(ValueError, match=r"got (str|object) in column 'word': encode categories"):
        Chunk.of(0, pd.DataFrame({"word": ["a"]}), [1])
    with pytest.raises(ValueError, match="X in blocks must be dense, got a sparse csr_array in block 2"):
        Chunk.of(2, scipy.sparse.csr_array(np.eye(2)), [1, 2])
    with pytest.raises(ValueError, match="y must have 1 or 2 dimensions, got 0 in block 5"):
        Chunk.of(5, [[1.0]], 1.0)


def test_sources_are_chunks():
    assert isinstance(Sliced(np.ones((2, 1)), np.ones(2)), Chunks)
