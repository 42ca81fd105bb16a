import numpy as np
import pytest

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.chunks import Loky, ParquetChunks

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
    for place, name in enumerate(("east", "north")):
        assert np.array_equal(np.concatenate([chunk.x.columns[place] for chunk in chunks]), own[name])
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


def tabular(n=600):
    """Columns of words, dictionaries, dates, truth values and gaps, and their target."""
    rng = np.random.default_rng(1)
    x, colour, place = rng.uniform(-1, 1, n), rng.integers(0, 3, n), rng.integers(0, 30, n)
    names = np.array(["red", "green", "blue"])
    return {
        "x": [None if i % 11 == 5 else value for i, value in enumerate(x.tolist())],
        "colour": pa.array(names[colour].tolist()).dictionary_encode(),
        "place": [f"p{code}" for code in place.tolist()],
        "day": pa.array((np.datetime64("2020-01-01", "D") + rng.integers(0, 400, n)).tolist()),
        "flag": [None if i % 13 == 5 else bool(i % 3) for i in range(n)],
        "price": np.sin(4 * x) + (colour == 1) + place / 10,
    }


def test_columns_of_all_kinds_are_fitted_as_in_memory(tmp_path):
    own = tabular()
    model = AdaptiveFourierRegressor(8, sampler="descent", n_steps=10, random_state=0)
    in_blocks = model.fit(written(tmp_path, **own), "price").predict(frame := pa.table(own).drop_columns("price"))
    assert model.encoder_.get_feature_names_out().tolist()[:6] == [
        "x", "x_missing", "colour_blue", "colour_green", "colour_red", "place_mean"
    ]  # fmt: skip
    assert np.array_equal(in_blocks, model.fit(frame, own["price"]).predict(frame))


@pytest.mark.parametrize("workers", [1, 2])
def test_levels_are_found_in_all_row_groups(tmp_path, workers, monkeypatch):
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 100)
    own = tabular()
    chunks = ParquetChunks(written(tmp_path, **own), "price")
    model = AdaptiveFourierRegressor(64, sampler="descent", n_steps=40, random_state=0)
    model.fit(chunks if workers == 1 else Loky(chunks, n_jobs=2))
    place = model.encoder_.columns_[2]
    assert place.levels == tuple(sorted({*own["place"]}))
    assert np.corrcoef(place.means[:, 0], [int(level[1:]) for level in place.levels])[0, 1] > 0.9
    values = model.predict(pa.table(own).drop_columns("price"))
    assert np.mean((values - own["price"]) ** 2) < 0.2 * np.var(own["price"])


def test_labels_may_be_a_dictionary(tmp_path):
    own = tabular()
    own["colour_of_roof"] = own.pop("colour")
    model = AdaptiveFourierClassifier(8, sampler="descent", n_steps=5, random_state=0)
    assert model.fit(written(tmp_path, **own), "colour_of_roof").classes_.tolist() == ["blue", "green", "red"]


def test_what_is_wrong_is_said_with_the_block_and_the_column(tmp_path):
    own = columns(8)
    own["east"] = [*own["east"][:-1], np.inf]
    with pytest.raises(ValueError, match="finite or missing in column 'east', got inf in row 3, in block 2"):
        AdaptiveFourierRegressor(2).fit(written(tmp_path, **own), "price")
    own["east"] = [[1.0]] * 8
    with pytest.raises(TypeError, match="words or dates in column 'east', got list, in block 0"):
        AdaptiveFourierRegressor(2).fit(written(tmp_path, **own), "price")
