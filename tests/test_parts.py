import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import fourierwalk
from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor, parts
from fourierwalk.inputs import device as place

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 2))
Y = 5 + np.sin(2 * X[:, 0]) * X[:, 1]
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [4.7, 5.3])]
WEIGHT = RNG.uniform(0.2, 3, 300)
START = np.random.default_rng(1).standard_normal((20, 2))


def fixed(kind=AdaptiveFourierRegressor, **given):
    """Frequencies that are given, so that every fit has the same."""
    settings = {"sampler": "fixed", "initial": START, "regularization": 1e-4, "standardize": False, **given}
    return kind(20, random_state=0, **settings)


def in_parts(model, x, y, cuts, weight=None, **options):
    for rows in np.split(np.arange(len(y)), cuts):
        part = None if weight is None else weight[rows]
        model.partial_fit(x[rows], y[rows], sample_weight=part, **options)
    return model


# The same as one fit


@pytest.mark.parametrize("features", ["cos-sin", "complex"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
def test_a_hundred_parts_are_one_fit(features, weight):
    whole = fixed(features=features).fit(X, Y, weight)
    found = in_parts(fixed(features=features), X, Y, np.arange(3, 300, 3), weight)
    assert_allclose(found.amplitudes_, whole.amplitudes_, rtol=1e-10, atol=1e-10)
    assert found.amplitudes_.shape == (20,)
    assert found._total_weight == pytest.approx(300 if weight is None else WEIGHT.sum())


def test_a_hundred_parts_of_classes_are_one_fit():
    whole = fixed(AdaptiveFourierClassifier).fit(X, LABELS, WEIGHT)
    names = ["middle", "low", "high"]
    found = in_parts(fixed(AdaptiveFourierClassifier), X, LABELS, np.arange(60, 300, 3), WEIGHT, classes=names)
    assert_allclose(found.amplitudes_, whole.amplitudes_, rtol=1e-10, atol=1e-10)
    assert_array_equal(found.classes_, whole.classes_)


def test_scaling_of_inputs_stays_and_targets_are_centred_at_the_mean_of_all():
    """One fit of the inputs as the first part has scaled them."""
    found = in_parts(fixed(standardize=True), X, Y, [100, 150])
    first = fixed(standardize=True).fit(X[:100], Y[:100]).model_.scaling.inputs
    whole = fixed().fit(first.apply(X), Y - Y.mean())
    assert_allclose(found.amplitudes_, whole.amplitudes_, rtol=1e-10, atol=1e-10)
    assert_allclose(found.model_.offset, [Y.mean()])
    assert_allclose(found.predict(X), whole.predict(first.apply(X)) + Y.mean(), atol=1e-9)


@pytest.mark.parametrize("kind", [AdaptiveFourierRegressor, AdaptiveFourierClassifier])
def test_rows_of_a_fit_count(kind):
    y = Y if kind is AdaptiveFourierRegressor else LABELS
    found = fixed(kind).fit(X[:200], y[:200], WEIGHT[:200]).partial_fit(X[200:], y[200:], sample_weight=WEIGHT[200:])
    assert_allclose(found.amplitudes_, fixed(kind).fit(X, y, WEIGHT).amplitudes_, rtol=1e-10, atol=1e-10)


def test_averaged_models_stay_those_of_the_fit():
    """Sums over the rows of the fit alone give its amplitudes again."""
    noisy = Y + 0.1 * np.random.default_rng(2).standard_normal(300)
    model = AdaptiveFourierRegressor(n_steps=5, random_state=0).fit(X, noisy)
    before, frequencies, values = model.amplitudes_, model.frequencies_, model.predict(X)
    assert len(model._members) > 1
    parts.begin(model, None)
    assert model.frequencies_ is frequencies
    assert_allclose(model.amplitudes_, before, rtol=1e-6, atol=1e-8)
    assert_allclose(model.predict(X), values, atol=1e-8)


def test_class_weights_count_in_every_part():
    given = {"low": 3.0, "high": 0.5}
    settings = {"kind": AdaptiveFourierClassifier, "class_weight": given}
    whole = fixed(**settings).fit(X, LABELS)
    found = in_parts(fixed(**settings), X, LABELS, [100, 200])
    assert_allclose(found.amplitudes_, whole.amplitudes_, rtol=1e-10, atol=1e-10)


def test_equal_weights_of_parts_are_in_the_same_units():
    found = fixed().partial_fit(X[:100], Y[:100], 2.0).partial_fit(X[100:], Y[100:], 1.0)
    whole = fixed().fit(X, Y, np.repeat([2.0, 1.0], [100, 200]))
    assert_allclose(found.amplitudes_, whole.amplitudes_, rtol=1e-10, atol=1e-10)


def test_rows_without_weight_do_not_count():
    weight = np.arange(300) % 3 * 1.0
    far = np.where(weight == 0, 1e3, Y)
    settings = {"clamp": True}
    found = in_parts(fixed(**settings), X, far, [90], weight, half_life=50)
    kept = weight > 0
    other = in_parts(fixed(**settings), X[kept], Y[kept], [60], weight[kept], half_life=50)
    assert_allclose(found.amplitudes_, other.amplitudes_, rtol=1e-10, atol=1e-10)
    assert_allclose(found.model_.bounds, other.model_.bounds)


# Forgetting


@given(st.lists(st.integers(1, 299), max_size=6, unique=True), st.floats(5, 1000))
def test_parts_do_not_matter_to_what_is_forgotten(cuts, half_life):
    """A row counts half when so many have come after it, in whatever parts; the first part has all rows of START."""
    model = fixed()
    found = in_parts(model, X, Y, sorted(cuts), half_life=half_life)
    ages = np.arange(300)[::-1]
    expected = fixed().fit(X, Y, 0.5 ** (ages / half_life))
    assert_allclose(found.amplitudes_, expected.amplitudes_, rtol=1e-8, atol=1e-9)


def test_forgetting_follows_a_change():
    fresh = np.random.default_rng(4).standard_normal((600, 2))
    changed = -np.sin(2 * fresh[:, 0]) * fresh[:, 1]
    remembers, forgets = (fixed(standardize=True).partial_fit(X, Y) for _ in range(2))
    remembers.partial_fit(fresh, changed)
    forgets.partial_fit(fresh, changed, half_life=50)
    errors = [np.mean((model.predict(fresh) - changed) ** 2) for model in (remembers, forgets)]
    assert errors[1] < 0.1 * errors[0]


# Other kinds of rows


def test_arrays_of_any_library(foreign):
    x, y = foreign.asarray(X), foreign.asarray(Y)
    found = fixed().partial_fit(x[:100, :], y[:100]).partial_fit(x[100:, :], y[100:])
    assert_allclose(foreign.host(found.amplitudes_), fixed().fit(X, Y).amplitudes_, rtol=1e-9, atol=1e-9)


def test_sparse_rows():
    found = in_parts(fixed(), scipy.sparse.csr_array(X), Y, [100])
    assert_allclose(found.amplitudes_, fixed().fit(X, Y).amplitudes_, rtol=1e-9, atol=1e-9)


def test_tables_are_encoded_as_in_the_first_part():
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")})
    model = AdaptiveFourierRegressor(10, sampler="fixed", regularization=1e-3, random_state=0)
    model.partial_fit(frame[:100], Y[:100]).partial_fit(frame[100:], Y[100:])
    whole = AdaptiveFourierRegressor(
        10, sampler="fixed", initial=model.frequencies_, regularization=1e-3, standardize=False
    )
    columns = model.model_.scaling.inputs.apply(model.encoder_.transform(frame))
    assert_allclose(model.amplitudes_, whole.fit(columns, Y - Y.mean()).amplitudes_, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame.rename(columns={"a": "other"}), Y)


def test_sums_are_made_on_the_device_and_kept_on_the_host(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(place, "on_device", lambda values, device: torch.as_tensor(values))
    found = in_parts(fixed(device="cuda"), X, Y, [100])
    assert type(found._seen.equations[0].gram) is type(found.amplitudes_) is np.ndarray
    assert_allclose(found.amplitudes_, fixed().fit(X, Y).amplitudes_, rtol=1e-9, atol=1e-9)


def test_predictions_are_clamped_to_all_targets():
    model = fixed(clamp=True).partial_fit(X[:100], Y[:100])
    model.partial_fit(X[100:200], np.where(np.arange(100) == 5, 100.0, Y[100:200]))
    low, high = min(Y[:100].min(), Y[100:200].min()), 100.0
    assert_allclose(model.model_.bounds[:, 0], [low - 0.1 * (high - low), high + 0.1 * (high - low)])


def test_several_outputs():
    y = np.stack((Y, -Y), axis=1)
    found = in_parts(fixed(), X, y, [50, 100])
    assert_allclose(found.amplitudes_, fixed().fit(X, y).amplitudes_, rtol=1e-10, atol=1e-10)


def test_classes_that_come_later_are_known_from_the_first_part():
    order = np.argsort(LABELS == "high", kind="stable")
    model = in_parts(fixed(AdaptiveFourierClassifier), X[order], LABELS[order], [60], classes=list(set(LABELS)))
    assert_array_equal(model.classes_, ["high", "low", "middle"])
    whole = fixed(AdaptiveFourierClassifier).fit(X, LABELS)
    assert_allclose(model.amplitudes_, whole.amplitudes_, rtol=1e-9, atol=1e-9)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


# Pickles and files


def test_pickles_go_on_where_they_were():
    model = fixed().partial_fit(X[:100], Y[:100])
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.partial_fit(X[100:], Y[100:]).amplitudes_, model.partial_fit(X[100:], Y[100:]).amplitudes_)


GONE = "partial_fit must know the sums over the rows of fit, which files and pickles do not hold, got a model"


def test_pickles_hold_no_rows(tmp_path):
    model = fixed().fit(X, Y)
    data = pickle.dumps(model)
    assert len(data) < 20_000
    for other in (pickle.loads(data), fourierwalk.load(model.save(tmp_path / "model.fw"))):
        with pytest.raises(ValueError, match=GONE):
            other.partial_fit(X, Y)
        assert_array_equal(other.predict(X), model.predict(X))


def test_a_fit_begins_again():
    model = in_parts(fixed(), X, Y, [100]).fit(X[:150], Y[:150]).partial_fit(X[150:], Y[150:])
    assert_allclose(model.amplitudes_, fixed().fit(X, Y).amplitudes_, rtol=1e-10, atol=1e-10)


# Bad input

REGRESSION = fixed().partial_fit(X, Y)
CLASSES = fixed(AdaptiveFourierClassifier).partial_fit(X, LABELS)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: REGRESSION.partial_fit(X[:, :1], Y), "X has 1 features, but AdaptiveFourierRegressor is expecting 2"),
        (lambda: REGRESSION.partial_fit(X, None), "y must be targets, got None."),
        (lambda: REGRESSION.partial_fit(X, Y[:9]), "y must have as many rows as X, 300, got 9."),
        (
            lambda: REGRESSION.partial_fit(X, np.stack((Y, Y), 1)),
            "y must have as many outputs as in the first part, 1, got 2.",
        ),
        (lambda: REGRESSION.partial_fit(X, np.where(Y > 5, np.nan, Y)), "y contains NaN"),
        (lambda: REGRESSION.partial_fit(X, Y, np.ones(7)), "sample_weight must have shape (300,)"),
        (lambda: REGRESSION.partial_fit(X, Y, half_life=0), "half_life must be"),
        (lambda: REGRESSION.partial_fit(X, Y, half_life="long"), "half_life must be"),
        (lambda: CLASSES.partial_fit(X[:, :1], LABELS), "X has 1 features, but AdaptiveFourierClassifier is expecting"),
        (
            lambda: CLASSES.partial_fit(X[:2], ["low", "other"]),
            "y must hold labels of the classes ['high', 'low', 'middle'] only, got 'other': give all classes to the",
        ),
        (lambda: CLASSES.partial_fit(X[:2], None), "y must be labels, got None."),
        (lambda: CLASSES.partial_fit(X[:3], ["low"]), "y must have as many rows as X, 3, got 1."),
        (
            lambda: CLASSES.partial_fit(X, LABELS, classes=["low", "high"]),
            "classes must be those of the first part, ['high', 'low', 'middle'], got ['high', 'low'].",
        ),
        (
            lambda: fixed(AdaptiveFourierClassifier).partial_fit(X, LABELS, classes=["low", "high"]),
            "y must hold labels of the classes ['high', 'low'] only, got 'middle': add it to classes.",
        ),
        (
            lambda: fixed(AdaptiveFourierClassifier).partial_fit(X, LABELS, classes=["low"]),
            "classes must be at least 2 labels, got ['low'].",
        ),
        (
            lambda: fixed(AdaptiveFourierClassifier).partial_fit(X[:9], ["low"] * 9, classes=["low", "high"]),
            "y must have at least 2 classes, got 1 class",
        ),
        (
            lambda: fixed(AdaptiveFourierClassifier, class_weight="balanced").partial_fit(X, LABELS),
            "class_weight must be None or a dict for partial_fit, because one part does not show",
        ),
    ],
)
def test_bad_parts_are_refused_in_one_sentence_and_change_nothing(call, words):
    before = [model.amplitudes_ for model in (REGRESSION, CLASSES)]
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    assert words in str(error.value)
    assert all(model.amplitudes_ is kept for model, kept in zip((REGRESSION, CLASSES), before, strict=True))


def test_a_part_of_classes_without_weight_is_a_sentence():
    model = AdaptiveFourierClassifier(8, n_steps=2, random_state=0, class_weight={"low": 0})
    model.partial_fit(X, LABELS, classes=["low", "middle", "high"])
    before, low = model.decision_function(X), LABELS == "low"
    with pytest.raises(ValueError, match=r"^class_weight must leave a row of the part with a weight above 0, "):
        model.partial_fit(X[low], LABELS[low])
    assert_array_equal(model.decision_function(X), before)
