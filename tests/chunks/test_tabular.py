"""Tables in blocks: levels of all blocks, mean targets of other rows, and fits in memory where rows fit there."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from exported import feeds, run_onnx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fourierwalk
from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, TableEncoder
from fourierwalk.chunks import Blocks, Loky, Sliced
from fourierwalk.chunks.tabular import Tabular
from fourierwalk.chunks.whole import Whole
from fourierwalk.tables.means import N_FOLDS, parts_of_places

N = 900
WALK = {"n_frequencies": 16, "n_steps": 5, "random_state": 0}
EVERY_SAMPLER = pytest.mark.parametrize("sampler", ["auto", "metropolis", "descent", "resampling", "fixed"])


def table(n=N, seed=0):
    """A frame with all kinds of columns, and targets that depend on them."""
    rng = np.random.default_rng(seed)
    place, colour = rng.integers(0, 30, n), rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "x": rng.uniform(-1, 1, n),
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 5, n)),
            "colour": pd.Categorical(np.array(["red", "green", "blue"])[colour]),
            "place": [f"p{code:02d}" for code in place],
            "flag": rng.random(n) < 0.3,
            "day": np.datetime64("2020-01-01T00", "us") + rng.integers(0, 9000, n) * np.timedelta64(3600, "s"),
        }
    )
    frame.loc[rng.random(n) < 0.05, "colour"] = None
    frame.loc[rng.random(n) < 0.05, "day"] = None
    return frame, np.sin(3 * frame["x"].to_numpy()) + place / 10 + (colour == 1) + 0.1 * rng.standard_normal(n)


FRAME, Y = table()
WEIGHT = np.random.default_rng(3).uniform(0.5, 2, N)
LABELS = np.where(Y > 1.5, "dear", "cheap")


def divided(places, *columns):
    """Blocks that end at some places; some may have no rows."""
    ends = [0, *sorted(places), N]
    return [tuple(column[i:j] for column in columns) for i, j in pairwise(ends)]


@pytest.fixture
def few(monkeypatch):
    """Samples of 300 rows, so that the rows are three times as many."""
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 300)


@EVERY_SAMPLER
@pytest.mark.parametrize("weight", [(), (WEIGHT,), (np.arange(N) % 3,)])
def test_rows_that_fit_in_memory_are_fitted_there(sampler, weight):
    model = AdaptiveFourierRegressor(**WALK, sampler=sampler)
    values = model.fit(FRAME, Y, *weight).predict(FRAME)
    names, encoder = model.feature_names_in_.tolist(), model.encoder_.to_tables()
    model.fit(divided([1, 400, 400], FRAME, Y, *weight))
    assert np.array_equal(model.predict(FRAME), values)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_equal(model.encoder_.to_tables(), encoder)


def test_classes_and_features_that_fit_in_memory_are_fitted_there():
    weight = np.where(np.arange(N) % 5 == 0, 0.0, 1.0)
    labels = np.where(weight == 0, "never", LABELS)  # a class without any weight is one, too
    model = AdaptiveFourierClassifier(**WALK)
    shares = model.fit(FRAME, labels, weight).predict_proba(FRAME)
    assert np.array_equal(model.fit(divided([300], FRAME, labels, weight)).predict_proba(FRAME), shares)
    features = AdaptiveFourierFeatures(**WALK)
    columns = features.fit(FRAME, Y).transform(FRAME)
    assert np.array_equal(features.fit(divided([300], FRAME, Y)).transform(FRAME), columns)


@EVERY_SAMPLER
@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"standardize": "robust"}])
def test_the_same_blocks_give_the_same_bits_and_others_agree(few, sampler, options):
    settings = {**WALK, "sampler": sampler, "standardize": True, **options}
    models = [
        AdaptiveFourierRegressor(**settings).fit(divided(places, FRAME, Y, WEIGHT))
        for places in ([1, 400, 400], [1, 400, 400], [99, 700])
    ]
    assert np.array_equal(models[0].amplitudes_, models[1].amplitudes_)
    assert np.array_equal(models[0].frequencies_, models[1].frequencies_)
    assert np.max(np.abs(models[0].predict(FRAME) - models[2].predict(FRAME))) < 1e-10


@given(st.lists(st.integers(0, N), max_size=7), st.booleans())
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_division_does_not_matter(few, places, are_labels):
    kind, y = (AdaptiveFourierClassifier, LABELS) if are_labels else (AdaptiveFourierRegressor, Y)
    one, other = (kind(**WALK, sampler="descent").fit(divided(cuts, FRAME, y)) for cuts in ([], places))
    np.testing.assert_equal(one.encoder_.to_tables()["columns"][1], other.encoder_.to_tables()["columns"][1])
    assert (
        np.max(np.abs(one.model_(one.encoder_.transform(FRAME)) - other.model_(one.encoder_.transform(FRAME)))) < 1e-10
    )


@pytest.mark.parametrize("shift", [1e4, 1e8])
def test_targets_far_from_zero_agree_too(few, shift):
    models = [
        AdaptiveFourierRegressor(**WALK, sampler="descent").fit(divided(places, FRAME, Y + shift))
        for places in ([], [99, 700], [5, 6, 300, 850])
    ]
    values = [model.predict(FRAME) for model in models]
    assert max(np.max(np.abs(values[0] - other)) for other in values[1:]) < max(1e-10, 1e-15 * shift)


def test_the_encoder_is_that_of_all_rows_but_for_medians(few):
    model = AdaptiveFourierRegressor(**WALK).fit(divided([100, 600], FRAME, Y, WEIGHT))
    ours, memory = model.encoder_, TableEncoder().fit(FRAME, Y, WEIGHT)
    assert ours.get_feature_names_out().tolist() == memory.get_feature_names_out().tolist()
    for one, other in zip(ours.columns_, memory.columns_, strict=True):
        own, wanted = one.to_table(), other.to_table()
        if "median" in own:
            assert abs(own.pop("median") - wanted.pop("median")) <= 1
        for name in own:
            np.testing.assert_allclose(own[name], wanted[name], rtol=1e-12) if name in (
                "means",
                "shares",
                "otherwise",
            ) else np.testing.assert_equal(own[name], wanted[name])


def test_models_are_as_good_as_in_memory(few):
    frame, y = table(seed=1)
    errors = []
    for data in ((FRAME, Y), (divided([100, 600], FRAME, Y),)):
        model = AdaptiveFourierRegressor(32, sampler="descent", n_steps=60, random_state=0).fit(*data)
        errors.append(np.mean((model.predict(frame) - y) ** 2))
    assert errors[1] < 1.2 * errors[0] < 0.15 * np.var(y)


def encoded(y):
    whole = Whole.of(Blocks(divided([100, 600], FRAME, y)), False, most_sampled=300)
    return Tabular.of(whole, TableEncoder()).encoded()


def test_no_row_is_encoded_by_its_own_target():
    place = TableEncoder().fit(FRAME, Y).get_feature_names_out().tolist().index("place_mean")
    before = np.concatenate(encoded(Y).whole.chunks.each(_inputs))[:, place]
    for row in (0, 500, 899):
        y = Y.copy()
        y[row] += 100.0
        after = np.concatenate(encoded(y).whole.chunks.each(_inputs))[:, place]
        part = parts_of_places(np.arange(N))
        assert abs(after[row] - before[row]) < 1e-4  # rounding to 24 bits of a larger range
        same = (FRAME["place"] == FRAME["place"][row]).to_numpy()
        assert np.all(np.abs(after - before)[same & (part != part[row])] > 0.1)


def _inputs(chunk):
    return chunk.x


def test_the_sample_is_encoded_as_the_blocks_are_and_forgets_what_is_held_out():
    found = encoded(Y)
    again = found.whole.sample
    assert np.array_equal(again[0], found.sample.x)
    assert np.array_equal(again[1], found.y)
    held_out = np.arange(len(found.y)) % 4 == 0
    means = found.sample.means
    changed = np.where(held_out[:, None], 1e3, means.y)
    other = type(means)(means.x, means.coded, changed, means.weight, means.part, means.center, means.beyond)
    assert np.array_equal(other.inputs(held_out), means.inputs(held_out))
    assert not np.array_equal(other.inputs(), means.inputs())


def test_parts_are_even():
    counts = np.bincount(parts_of_places(np.arange(10_000)), minlength=N_FOLDS)
    assert np.all(np.abs(counts - 2000) < 200)


def test_wide_tables_have_smaller_samples(monkeypatch):
    monkeypatch.setattr("fourierwalk.chunks.tabular.SAMPLE_BYTES", 8 * 100 * 20)
    whole = Whole.of(Blocks([(FRAME, Y)]), False)
    encoder = TableEncoder()
    assert Tabular.of(whole, encoder).whole.sample_size == 2000 // len(encoder.get_feature_names_out())


@pytest.mark.parametrize("kind", [AdaptiveFourierRegressor, AdaptiveFourierClassifier])
def test_files_and_exports_are_as_in_memory(few, tmp_path, kind):
    model = kind(**WALK, sampler="descent").fit(
        divided([100], FRAME, Y if kind is AdaptiveFourierRegressor else LABELS)
    )
    new = FRAME.assign(place="nowhere", colour="black", size=np.nan)
    loaded = fourierwalk.load(model.save(tmp_path / "m.fw"))
    assert np.array_equal(loaded.predict(new), model.predict(new))
    assert np.array_equal(loaded.predict(FRAME), model.predict(FRAME))
    assert model.feature_importances_.shape == (6,)


def test_exports_to_onnx(few):
    model = AdaptiveFourierRegressor(**WALK, sampler="descent").fit(divided([100], FRAME, Y))
    (values,) = run_onnx(model.to_onnx(), feeds(model, FRAME)).values()
    np.testing.assert_allclose(values.reshape(-1), model.predict(FRAME), rtol=1e-9, atol=1e-9)


def test_validation_rows_are_frames(few):
    model = AdaptiveFourierRegressor(**WALK, sampler="descent")
    model.fit(divided([100], FRAME, Y), X_val=FRAME[:50], y_val=Y[:50])
    assert "states chosen on X_val, y_val" in model.history_.decisions
    classifier = AdaptiveFourierClassifier(**WALK, sampler="descent")
    classifier.fit(divided([100], FRAME, LABELS), X_val=FRAME[:50], y_val=LABELS[:50])
    with pytest.raises(ValueError, match="X_val and y_val must be given together"):
        model.fit(divided([100], FRAME, Y), X_val=FRAME)


@pytest.mark.parametrize("rows", [N, 200])
def test_frames_are_sliced_for_processes(few, rows):
    """Loky's processes find levels, sums and shares; the bits are those of this process."""
    one, other = (
        AdaptiveFourierRegressor(**WALK, sampler="descent").fit(chunks)
        for chunks in (Sliced(FRAME, Y, rows=rows), Loky(Sliced(FRAME, Y, rows=rows), n_jobs=2))
    )
    assert np.array_equal(one.amplitudes_, other.amplitudes_)


def test_frames_of_polars(few):
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(FRAME.assign(flag=FRAME["flag"].astype(bool)))
    parts = [(frame[:400], Y[:400]), (frame[400:], Y[400:])]
    one = AdaptiveFourierRegressor(**WALK, sampler="descent").fit(parts)
    other = AdaptiveFourierRegressor(**WALK, sampler="descent").fit(divided([400], FRAME, Y))
    assert np.array_equal(one.predict(frame), other.predict(FRAME))


def blocks_of(*columns, **more):
    """Blocks of a number x and a column k, one for each that is given."""
    rng = np.random.default_rng(0)
    return [
        (pd.DataFrame({"x": rng.normal(size=len(column)), "k": column, **more}), rng.normal(size=len(column)))
        for column in columns
    ]


OBJECTS = pd.Series([1, 2.5, 3, 4] * 100, dtype=object)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ((["a", "b"] * 200, ["c"] * 400), ["k_a", "k_b", "k_c"]),
        ((pd.Categorical(["a", "b"] * 200), pd.Categorical(["b", "z"] * 200)), ["k_a", "k_b", "k_z"]),
        (([np.nan] * 400, ["a", "b"] * 200), ["k_a", "k_b", "k_missing"]),
        ((["a", "b"] * 200, [None] * 400), ["k_a", "k_b", "k_missing"]),
        (([None] * 400, [1.5, 2.5] * 200), ["k", "k_missing"]),
        ((np.arange(400), np.arange(400) / 3), ["k"]),
        ((np.arange(400) % 3, ["0", "a"] * 200), ["k_0", "k_1", "k_2", "k_a"]),
        ((OBJECTS, pd.Series([1, "a"] * 200, dtype=object)), ["k_1", "k_2.5", "k_3", "k_4", "k_a"]),
        (([True, False] * 200, [None, True] * 200), ["k_False", "k_True", "k_missing"]),
        (([None] * 400, [None] * 400), ["k"]),
        (([np.datetime64("2020-01-01", "us")] * 400, [None] * 400), ["k_year", "k_day_of_year_cos", "k_missing"]),
        (([f"l{i % 11}" for i in range(400)], [f"m{i % 11}" for i in range(400)]), ["k_mean"]),
    ],
)
@pytest.mark.parametrize("are_few", [True, False])
def test_blocks_of_other_kinds_and_levels(monkeypatch, are_few, columns, names):
    """What a column becomes is what it becomes in memory, where all blocks are one frame."""
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 300 if are_few else 10_000)
    blocks = blocks_of(*columns)
    model = AdaptiveFourierRegressor(**WALK, sampler="metropolis").fit(blocks)
    found = model.encoder_.get_feature_names_out().tolist()
    assert found[0] == "x"
    assert set(names) <= set(found)
    whole = pd.concat([pd.DataFrame({name: frame[name].astype(object) for name in frame}) for frame, _ in blocks])
    assert found == TableEncoder().fit(whole, np.concatenate([y for _, y in blocks])).get_feature_names_out().tolist()
    assert np.all(np.isfinite(model.predict(blocks[0][0])))


@pytest.mark.parametrize("are_few", [True, False])
def test_categories_are_named_as_in_memory(monkeypatch, are_few):
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 300 if are_few else 10_000)
    codes = np.arange(400) % 20
    for named in (["k"], [1], [False, True]):
        model = AdaptiveFourierRegressor(**WALK, sampler="metropolis", categorical_features=named)
        assert model.fit(blocks_of(codes, codes + 1)).encoder_.columns_[1].levels[:3] == ("0", "1", "10")
    arrays = [(np.column_stack((frame["x"], frame["k"])), y) for frame, y in blocks_of(codes, codes + 1)]
    model = AdaptiveFourierRegressor(**WALK, sampler="metropolis", categorical_features=[1]).fit(arrays)
    assert model.encoder_.get_feature_names_out().tolist() == ["x0", "x1_mean"]
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("are_few", [True, False])
def test_missing_values_of_arrays(monkeypatch, are_few):
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 300 if are_few else 10_000)
    x = np.random.default_rng(0).standard_normal((N, 2))
    gaps = np.where((np.arange(N)[:, None] > 800) & (np.arange(2) == 1), np.nan, x)
    model = AdaptiveFourierRegressor(**WALK, sampler="metropolis")
    values = model.fit(divided([100, 500], gaps, Y)).predict(gaps)
    assert model.encoder_.get_feature_names_out().tolist() == ["x0", "x1", "x1_missing"]
    if not are_few:
        assert np.array_equal(model.fit(gaps, Y).predict(gaps), values)


def test_a_column_that_the_sample_does_not_show(few):
    """The lowest value takes the place of a median."""
    rare = np.full(N, np.nan)
    rare[[1, 2]] = [1e6, 2e6]
    model = AdaptiveFourierRegressor(**WALK, sampler="metropolis")
    for places in ([1, 2], [500]):
        column = model.fit(divided(places, FRAME.assign(rare=rare), Y)).encoder_.columns_[-1]
        assert (column.median, column.has_missing) == (1e6, True)


@pytest.mark.parametrize("are_few", [True, False])
@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (blocks_of(["a", "b"] * 200, [f"l{i}" for i in range(400)]), "at most 100 levels .* column 'k' by block 1"),
        (
            blocks_of([f"a{i % 60}" for i in range(400)], ["a"], [f"b{i % 60}" for i in range(400)]),
            "at most 100 levels in a category, got more in column 'k' by block 2: leave it out",
        ),
        ([(frame[["k"]], y) for frame, y in blocks_of(["a"] * 400, ["a"] * 400)], r"a single level in each of \['k'\]"),
    ],
)
def test_what_cannot_be_encoded_is_said(monkeypatch, are_few, blocks, message):
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 300 if are_few else 10_000)
    monkeypatch.setattr("fourierwalk.tables.facts.MOST_LEVELS", 100)
    with pytest.raises(ValueError, match=message):
        AdaptiveFourierRegressor(**WALK).fit(blocks)


def test_what_needs_memory_is_refused_for_small_tables_too():
    for model, message in (
        (AdaptiveFourierClassifier(class_weight="balanced"), "class_weight must be None for rows in blocks"),
        (AdaptiveFourierClassifier(device="cpu"), "device must be None for rows in blocks"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(divided([100], FRAME, LABELS))


def test_a_block_that_changes_between_the_passes_is_named(few):
    passes = []

    def blocks():
        passes.append(True)
        yield FRAME[:600], Y[:600]
        yield (FRAME if len(passes) < 3 else FRAME.assign(size="big"))[600:], Y[600:]

    with pytest.raises(ValueError, match="numbers in column 'size' as it did in fit, got 'big' in row 0, in block 1"):
        AdaptiveFourierRegressor(**WALK).fit(blocks)
