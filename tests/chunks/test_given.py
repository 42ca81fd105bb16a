import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fourierwalk.chunks import Blocks, Sliced
from fourierwalk.chunks.given import chunks_of
from fourierwalk.chunks.whole import SAMPLE_ROWS

X, Y = np.ones((6, 2)), np.ones(6)


@pytest.mark.parametrize(
    "x",
    [
        X,
        X.tolist(),
        pd.DataFrame(X),
        scipy.sparse.csr_array(X),
        [[1.0, 2.0]],
        [],
        "words",
        {},
        None,
        3,
    ],
)
@pytest.mark.parametrize("y", [Y, None])
def test_what_is_in_memory_stays_there(x, y):
    assert chunks_of(x, y) is None


def test_tensors_stay_where_they_are():
    torch = pytest.importorskip("torch")
    assert chunks_of(torch.ones(6, 2), torch.ones(6)) is None
    assert chunks_of(torch.ones(6, 2)) is None


def test_blocks_are_recognised():
    class Own:
        def __iter__(self):
            yield X, Y

    for blocks in ([(X, Y)], [[X, Y, Y]], ((X, Y),), Own(), lambda: iter([(X, Y)])):
        assert isinstance(chunks_of(blocks), Blocks)
    chunks = Sliced(X, Y)
    assert chunks_of(chunks) is chunks


def test_a_memory_map_is_taken_in_chunks_if_it_is_large(tmp_path):
    mapped = np.memmap(tmp_path / "x", np.float32, "w+", shape=(SAMPLE_ROWS + 1, 2))
    assert chunks_of(mapped[:-1], np.zeros(SAMPLE_ROWS)) is None
    assert isinstance(chunks_of(mapped, np.zeros(SAMPLE_ROWS + 1)), Sliced)


def test_a_data_set_needs_the_name_of_its_target(tmp_path):
    pa, dataset, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.dataset", "pyarrow.parquet"))
    parquet.write_table(pa.table({"a": [1.0]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="y must name a column of the data set"):
        chunks_of(dataset.dataset(tmp_path))
