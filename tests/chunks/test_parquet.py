import numpy as np
import pytest

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.chunks import ParquetChunks

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.dataset")
pytest.importorskip("pyarrow.parquet")


def written(folder, **columns):
    """A data set of two files, of three row groups together."""
    table = pa.table(columns)
    half = table.num_rows // 2
    pa.parquet.write_table(table.slice(0, half), folder / "a.parquet", row_group_size=max(1, half // 2))
    pa.parquet.write_table(table.slice(half), folder / "b.parquet")
    return pa.dataset.dataset(folder)


def columns(n=600):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (n, 2))
    return {"east": x[:, 0], "north": x[:, 1], "price": np.sin(5 * x[:, 0]) + x[:, 1], "count": np.ones(n)}


def test_row_groups_are_chunks(tmp_path):
    own = columns(8)
    chunks = list(ParquetChunks(written(tmp_path, **own), "price", "count"))
    assert [len(chunk) for chunk in chunks] == [2, 2, 4]
    assert np.array_equal(np.concatenate([chunk.x for chunk in chunks]), np.stack([own["east"], own["north"]], axis=1))
    assert np.array_equal(np.concatenate([chunk.y for chunk in chunks]), own["price"])


def test_fit_takes_a_data_set_and_the_name_of_its_target(tmp_path):
    own = columns()
    del own["count"]
    model = AdaptiveFourierRegressor(8, sampler="descent", n_steps=30, random_state=0).fit(
        written(tmp_path, **own), "price"
    )
    assert model.feature_names_in_.tolist() == ["east", "north"]
    x = np.stack([own["east"], own["north"]], axis=1)
    values = model.model_(x)[:, 0]
    assert np.mean((values - own["price"]) ** 2) < 0.01 * np.var(own["price"])


def test_a_column_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="y must name a column of the data set"):
        ParquetChunks(written(tmp_path, **columns(8)), "prize")


def test_words_are_refused_with_the_column(tmp_path):
    own = columns(8) | {"colour": ["red"] * 8}
    with pytest.raises(ValueError, match="got string in column 'colour' of block 0: encode categories"):
        list(ParquetChunks(written(tmp_path, **own), "price"))


def test_missing_values_are_found_in_their_block(tmp_path):
    own = columns(8)
    own["east"] = [*own["east"][:-1], None]
    with pytest.raises(ValueError, match="X must be finite in blocks, got NaN or infinity in block 2"):
        AdaptiveFourierRegressor(2).fit(written(tmp_path, **own), "price")


def test_booleans_are_numbers_and_missing_ones_nan(tmp_path):
    chunks = ParquetChunks(written(tmp_path, a=[True, False, None, True], b=[1, 2, 3, 4], y=[1.0, 2.0, 3.0, 4.0]), "y")
    x = np.concatenate([chunk.x for chunk in chunks])
    assert np.array_equal(x, [[1, 1], [0, 2], [np.nan, 3], [1, 4]], equal_nan=True)
