"""Fits on rows in chunks, beside fits on the same rows in memory."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import r2_score
from tables import QUICK

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, Solver
from fourierwalk.chunks import Blocks, Sliced
from fourierwalk.chunks.whole import Whole
from fourierwalk.data.hashes import row_hash
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.data import Data

N = 600
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 4))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(N)
W = RNG.uniform(0.5, 2, N)
FIXED = {"sampler": "fixed", "n_frequencies": 12, "initial": 1.0, "regularization": 1e-3, "random_state": 0}


class Counted(Sliced):
    """Chunks that count how often they are read."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


def divided(places, *arrays):
    """The arrays in blocks that end at some places; blocks may be empty."""
    ends = [0, *sorted(places), len(arrays[0])]
    return Blocks([tuple(array[i:j] for array in arrays) for i, j in pairwise(ends)])


@pytest.mark.parametrize("sampler", ["metropolis", "resampling", "descent", "fixed"])
@pytest.mark.parametrize("weight", [None, W, np.arange(N) % 3])
def test_samplers_fit_what_they_fit_in_memory(sampler, weight):
    settings = {"n_steps": 8, "regularization": 1e-2, "standardize": False, "random_state": 0}
    model = AdaptiveFourierRegressor(8, sampler=sampler, **settings)
    values = model.fit(X, Y, weight).predict(X)
    blocks = divided([10, 200], X, Y, *([] if weight is None else [weight]))
    assert np.max(np.abs(model.fit(blocks).predict(X) - values)) < 1e-8


@given(st.lists(st.integers(0, N), max_size=6))
@settings(deadline=None, max_examples=15)
def test_the_division_into_blocks_does_not_matter(places):
    models = [AdaptiveFourierRegressor(**FIXED).fit(divided(cuts, X, Y)) for cuts in ([], places)]
    assert np.array_equal(models[0].frequencies_, models[1].frequencies_)
    assert np.max(np.abs(models[0].predict(X) - models[1].predict(X))) < 1e-10


def fitted(chunks, n_frequencies, n_steps):
    """A fit with a sample of about 100 rows in memory: far fewer than there are."""
    rows = Whole.of(chunks, are_labels=False, most_sampled=100)
    training = replace(AdaptiveFourierRegressor(n_frequencies, n_steps=n_steps)._training(), error_bars=True)
    return training.run(Data(*rows.sample, whole=rows), np.random.default_rng(0))


def test_frequencies_of_a_sample_and_amplitudes_of_all_rows():
    chunks = Counted(X, Y, rows=90)
    fit = fitted(chunks, 6, 5)
    assert "frequencies are chosen on a random sample of" in fit.history.decisions[0]
    assert any("by generalised cross-validation on all rows" in text for text in fit.history.decisions)
    assert chunks.passes == 3  # the survey, the sample, and the amplitudes
    other = fitted(divided([33, 34, 350], X, Y), 6, 5)
    assert np.array_equal(other.model.frequencies, fit.model.frequencies)
    assert np.max(np.abs(other.model(X) - fit.model(X))) < 1e-10
    assert r2_score(Y, fit.model(X)[:, 0]) > 0.7


def test_rows_that_fit_in_memory_are_taken_there():
    model = AdaptiveFourierRegressor(4, n_steps=3, random_state=0).fit(Sliced(X, Y, rows=90))
    assert "all of them were taken into memory" in model.history_.decisions[0]


def test_in_few_dimensions_one_pass_makes_a_grid():
    chunks = Counted(X[:, :1], np.sin(9 * X[:, 0]), rows=90)
    settings = {"sampler": "metropolis", "n_frequencies": 16, "n_steps": 20, "initial": 1.0, "regularization": 1e-3}
    solver = Solver("spectral")
    model = AdaptiveFourierRegressor(**settings, max_norm=6.0, solver=solver, random_state=0).fit(chunks)
    assert chunks.passes <= 6  # survey, sample, energy, at most two grids, and the amplitudes of the end
    direct = AdaptiveFourierRegressor(**settings, max_norm=6.0, solver="direct", random_state=0).fit(chunks)
    assert np.allclose(model.frequencies_, direct.frequencies_, atol=1e-8)
    assert np.max(np.abs(model.predict(X[:, :1]) - direct.predict(X[:, :1]))) < 1e-6


def test_early_stopping_holds_rows_out_of_every_sum():
    model = AdaptiveFourierRegressor(8, sampler="descent", n_steps=10, early_stopping=True, random_state=0)
    some, others = (model.fit(divided(cuts, X, Y)) and (model.predict(X), model.history_) for cuts in ([], [50, 51]))
    assert "rows held out to choose by" in some[1].decisions[2]
    assert np.max(np.abs(some[0] - others[0])) < 1e-9
    assert np.allclose(some[1].validation, others[1].validation)


def test_validation_rows_of_the_user():
    model = AdaptiveFourierRegressor(8, sampler="descent", n_steps=10, random_state=0)
    model.fit(Blocks([(X, Y)]), X_val=X[:50], y_val=Y[:50])
    assert len(model.history_.looks) > 1


def test_labels_in_blocks():
    labels = np.where(Y > 0, "up", "down")
    model = AdaptiveFourierClassifier(8, sampler="descent", n_steps=20, random_state=0)
    model.fit(divided([100, 222], X, labels), X_val=X[:50], y_val=labels[:50])
    assert model.classes_.tolist() == ["down", "up"]
    assert model.score(X, labels) > 0.9
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="y must have at least 2 classes, got 1: 'up'"):
        model.fit(Blocks([(X, np.full(N, "up"))]))


def test_several_outputs_and_features():
    targets = np.stack([Y, -Y], axis=1)
    assert AdaptiveFourierRegressor(**FIXED).fit(divided([9], X, targets)).predict(X).shape == (N, 2)
    assert AdaptiveFourierFeatures(**FIXED).fit(divided([9], X, Y)).transform(X).shape == (N, 24)


def test_blocks_of_torch_are_computed_by_torch():
    torch = pytest.importorskip("torch")
    tensors = Blocks([(torch.as_tensor(X[part]), torch.as_tensor(Y[part])) for part in (slice(0, 99), slice(99, N))])
    model = AdaptiveFourierRegressor(**FIXED).fit(tensors)
    assert isinstance(model.frequencies_, torch.Tensor)
    expected = AdaptiveFourierRegressor(**FIXED).fit(divided([99], X, Y)).predict(X)
    assert np.max(np.abs(model.predict(torch.as_tensor(X)).numpy() - expected)) < 1e-10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": Solver(batch_size=10)}, "solver.batch_size must be None for rows in blocks, got 10"),
        ({"solver": "dual"}, "solver='dual' needs all rows in memory, got rows in blocks"),
        ({"device": "cpu"}, "device must be None for rows in blocks, got str"),
    ],
)
def test_settings_that_need_rows_in_memory_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AdaptiveFourierRegressor(**FIXED | options).fit(Blocks([(X, Y)]))


def test_arguments_that_need_rows_in_memory_are_refused():
    with pytest.raises(ValueError, match="groups must be None for rows in blocks"):
        AdaptiveFourierRegressor(**FIXED).fit(Blocks([(X, Y)]), groups=np.arange(N))
    with pytest.raises(ValueError, match="y must be None, because blocks bring their own, got ndarray"):
        AdaptiveFourierRegressor(**FIXED).fit(Blocks([(X, Y)]), Y)
    with pytest.raises(ValueError, match="class_weight must be None for rows in blocks"):
        AdaptiveFourierClassifier(**FIXED, class_weight="balanced").fit(Blocks([(X, Y > 0)]))


def test_an_iterator_is_refused_before_it_is_read():
    with pytest.raises(ValueError, match="got a generator, which can be read only once"):
        AdaptiveFourierRegressor(**FIXED).fit((X, Y) for _ in range(2))


@pytest.mark.parametrize("rows", [600, 90])
def test_error_bars_of_rows_in_blocks(rows):
    fit = fitted(Sliced(X, Y, rows=rows), 8, 20)
    low, high = fit.error_bars.interval(fit.model, X, [0.9]).T
    assert 0.8 < np.mean((low <= Y) & (high >= Y)) <= 1
    mean, deviation = fit.error_bars.mean_and_std(fit.model, X).T
    assert np.allclose(mean, fit.model(X)[:, 0], rtol=0, atol=1e-12)
    assert np.all(deviation > 0)


def test_a_part_does_not_follow_a_fit_on_blocks():
    model = AdaptiveFourierRegressor(**FIXED).fit(Blocks([(X, Y)]))
    with pytest.raises(ValueError, match="partial_fit after fit needs the rows of fit in memory, got a fit on rows"):
        model.partial_fit(X, Y)


def test_a_checkpoint_of_rows_in_blocks_is_of_these_rows(tmp_path):
    settings = FIXED | {"sampler": "metropolis", "n_steps": 6, "checkpoint": str(tmp_path / "walk.fw")}
    first = AdaptiveFourierRegressor(**settings).fit(Sliced(X, Y, rows=90))
    again = AdaptiveFourierRegressor(**settings).fit(Sliced(X, Y, rows=90))
    assert np.array_equal(again.amplitudes_, first.amplitudes_)


# Repeated rows


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_rows_become_one_with_their_weights_together(xp, weighted):
    """Rows with equal inputs but other targets stay apart. The first of equal rows stays in its place."""
    x, y = np.array([[1.0, 2], [3, 4], [1, 2], [1, 2], [3, 4]]), np.array([[5.0], [6], [5], [7], [6]])
    weight = np.array([1.0, 2, 3, 4, 5]) if weighted else None
    given = Data(xp.asarray(x), xp.asarray(y), None if weight is None else xp.asarray(weight))
    merged, hashes = given.distinct(row_hash(x, 0))
    assert_array_equal(xp.host(merged.x), x[[0, 1, 3]])
    assert_array_equal(xp.host(merged.y), y[[0, 1, 3]])
    assert_array_equal(xp.host(merged.weight), [4, 7, 4] if weighted else [2, 2, 1])
    assert_array_equal(hashes, row_hash(x, 0)[[0, 1, 3]])


def test_rows_of_round_numbers_are_told_apart():
    """Their hashes for folds are equal."""
    x = np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2]])
    assert min(np.unique(row_hash(x, seed)).size for seed in range(20)) < 3
    for seed in range(20):
        assert len(Data(x, np.zeros((3, 1))).distinct(row_hash(x, seed))[0].x) == 3


def test_equal_rows_of_two_groups_stay_apart():
    x = np.ones((4, 1))
    merged, _ = Data(x, x, groups=np.array([0, 1, 1, 0])).distinct(row_hash(x, 0))
    assert_array_equal(merged.groups, [0, 1])
    assert_array_equal(merged.weight, [2, 2])


def test_sparse_rows_stay_sparse():
    x = scipy.sparse.csr_array(np.array([[0.0, 1], [0, 1], [2, 0]]))
    merged, _ = Data(x, np.zeros((3, 1))).distinct(row_hash(x, 0))
    assert_array_equal(merged.x.toarray(), [[0, 1], [2, 0]])


def test_rows_that_all_differ_are_not_copied():
    given = Data(X, Y[:, None])
    assert given.distinct(row_hash(X, 0))[0] is given


@pytest.mark.parametrize("kind", [AdaptiveFourierRegressor, AdaptiveFourierClassifier])
def test_whole_weights_equal_repeated_rows_beyond_the_sample_of_a_kernel(kind):
    """The sample, the folds and the budgets count distinct rows."""
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((900, 3)), rng.integers(1, 4, 900)
    y = np.sin(2 * x[:, 0]) * x[:, 1] + 0.1 * rng.standard_normal(900)
    y = y if kind is AdaptiveFourierRegressor else (y > 0).astype(int)
    again = rng.permutation(np.repeat(np.arange(900), weight))
    model = kind(sampler=Automatic(QUICK), random_state=0)
    weighted, repeated = (clone(model).fit(x, y, sample_weight=weight), clone(model).fit(x[again], y[again]))
    values = [getattr(fit, "decision_function", fit.predict)(x) for fit in (weighted, repeated)]
    assert_allclose(values[0], values[1], atol=1e-5 * np.ptp(values[0]))
    assert weighted.history_.decisions[:3] == repeated.history_.decisions[:3]
