import inspect
import pickle
import re
import warnings

import numpy as np
import oracle
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import check_estimator
from tables import OnlyCosines

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor
from fourierwalk.data.features import Activation, sigmoid
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.solver import Solver
from fourierwalk.training.starts import KINDS

ESTIMATORS = [AdaptiveFourierRegressor, AdaptiveFourierClassifier, AdaptiveFourierFeatures]
N_CHECKS = {AdaptiveFourierRegressor: 60, AdaptiveFourierClassifier: 63, AdaptiveFourierFeatures: 55}
CONSTANT = "Nothing was found that predicts the targets better than their mean"
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
every_predictor = pytest.mark.parametrize("kind", ESTIMATORS[:2], ids=lambda kind: kind.__name__)


def small(kind=AdaptiveFourierRegressor, **settings):
    """An estimator that fits in a moment, in double precision everywhere."""
    return kind(**{"n_frequencies": 8, "n_steps": 20, "random_state": 0, "solver": Solver(), **settings})


def data(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 2)) * [1.0, 5.0] + [0.0, 10.0]
    return X, 4 * np.sin(2 * X[:, 0]) + 0.2 * X[:, 1] + 50 + 0.1 * rng.standard_normal(n_rows)


def labelled(n_classes=3, n_rows=150):
    X, y = data(n_rows)
    return X, np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))


def targets(kind, n_rows=150):
    return labelled(n_rows=n_rows) if kind is AdaptiveFourierClassifier else data(n_rows)


def output(model, X):
    """All that a fitted estimator says, as numbers."""
    if hasattr(model, "transform"):
        return model.transform(X)
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def scaled(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


# scikit-learn's contract


@pytest.mark.filterwarnings(f"ignore:{CONSTANT}:UserWarning")  # some checks fit noise
@every_estimator
def test_all_checks_of_scikit_learn_run_and_pass(kind):
    results = check_estimator(kind(), on_fail=None, on_skip=None)
    trouble = {one["check_name"]: repr(one["exception"]) for one in results if one["status"] != "passed"}
    assert trouble == {}  # a skipped check is trouble too: pandas or SCIPY_ARRAY_API is missing
    exact = sklearn.__version__.startswith("1.9.")
    assert len(results) == N_CHECKS[kind] if exact else len(results) >= 40


@every_estimator
def test_clones_are_unfitted_and_have_the_same_parameters(kind):
    start = np.random.default_rng(0).standard_normal((8, 2))
    model = small(kind, sampler="fixed", initial=start, features=OnlyCosines()).fit(*targets(kind))
    copy = clone(model)
    assert not hasattr(copy, "frequencies_")
    assert copy.get_params().keys() == model.get_params().keys()
    assert isinstance(copy.features, OnlyCosines)
    assert_array_equal(copy.initial, model.initial)
    for name in model.get_params().keys() - {"features", "initial"}:
        assert getattr(copy, name) == getattr(model, name)
    assert_allclose(output(copy.fit(*targets(kind)), data()[0]), output(model, data()[0]), rtol=0)


@every_estimator
def test_fit_leaves_parameters_and_data_alone(kind):
    X, y = targets(kind)
    model, before = small(kind), (X.copy(), y.copy())
    parameters = dict(model.get_params())
    assert model.fit(X, y) is model
    assert model.get_params() == parameters
    assert_array_equal(X, before[0])
    assert_array_equal(y, before[1])


@every_estimator
def test_pickles_say_the_same(kind):
    X, y = targets(kind)
    model = small(kind).fit(X, y)
    assert_array_equal(output(pickle.loads(pickle.dumps(model)), X), output(model, X))


@every_estimator
def test_what_is_learnt(kind):
    X, y = targets(kind)
    model = small(kind, sampler="resampling", patience=100).fit(X, y)
    assert model.frequencies_.shape == (8, 2)
    assert model.amplitudes_.shape == {AdaptiveFourierClassifier: (8, 3), AdaptiveFourierFeatures: (8, 1)}.get(
        kind, (8,)
    )
    assert np.iscomplexobj(model.amplitudes_)
    assert model.regularization_ > 0
    assert model.n_steps_ == model.n_iter_ == model.history_.step[-1] == 20
    assert model.n_features_in_ == 2
    assert model.history_.acceptance.shape == (20,)


@pytest.mark.parametrize(
    "random_state", [7, np.int64(7), np.random.RandomState(7), np.random.default_rng(7)], ids=lambda r: type(r).__name__
)
def test_random_states(random_state):
    X, y = data()
    copy = pickle.loads(pickle.dumps(random_state))
    one, other = (small(random_state=state).fit(X, y).predict(X) for state in (random_state, copy))
    assert_array_equal(one, other)
    assert np.any(one != small(random_state=8).fit(X, y).predict(X))
    small(random_state=None).fit(X, y)


# The algorithms of the paper, one call away


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("settings", [{}, {"adapt_after": 10, "max_norm": 4.0}], ids=["Algorithm 1", "Algorithm 2"])
def test_the_estimator_walks_the_walk_of_the_paper(settings, n_outputs, xp):
    X = data()[0]
    y = np.column_stack([np.sin((2 + j) * X[:, 0]) + 0.1 * X[:, 1] + 9 for j in range(n_outputs)])
    model = AdaptiveFourierRegressor(
        n_frequencies=6,
        sampler="metropolis",
        features="complex",
        regularization=0.1,
        step_size=0.7,
        exponent=4.0,
        refit_every=7,
        n_steps=45,
        standardize=True,
        random_state=3,
        **settings,
    ).fit(xp.asarray(X), xp.asarray(y))
    arguments = [scaled(X), scaled(y), 6, 45, 0.7, 4.0, 0.1, 7, *settings.values(), np.random.default_rng(3)]
    omega, beta = (oracle.algorithm_2 if settings else oracle.algorithm_1)(*arguments)[:2]
    assert_allclose(xp.host(model.frequencies_), omega, rtol=0, atol=1e-9)
    assert_allclose(xp.host(model.amplitudes_), beta * y.std(axis=0), rtol=0, atol=1e-9)
    values = y.mean(axis=0) + y.std(axis=0) * (oracle.features(scaled(X), omega) @ beta).real
    assert_allclose(xp.host(model.predict(xp.asarray(X))), values, rtol=0, atol=1e-8)
    assert model.n_steps_ == 45


def test_the_settings_of_the_paper_by_name():
    """δ = 2.4²/d and γ = 3d − 2."""
    X, y = data()
    common = {"sampler": "metropolis", "features": "complex", "regularization": 0.1, "standardize": True}
    named = small(step_size="paper", exponent="paper", **common).fit(X, y)
    numbers = small(step_size=2.4**2 / 2, exponent=4.0, **common).fit(X, y)
    assert_array_equal(named.frequencies_, numbers.frequencies_)
    assert_array_equal(named.history_.step_size, np.full(20, 2.88))


def test_fixed_is_plain_random_features_with_a_ridge():
    X, y = data()
    model = AdaptiveFourierRegressor(
        20, sampler="fixed", initial=1.5, features="complex", regularization=0.01, standardize=True, random_state=4
    ).fit(X, y)
    omega = 1.5 * np.random.default_rng(4).standard_normal((20, 2))
    waves = np.exp(1j * scaled(X) @ omega.T)
    beta = np.linalg.solve(waves.conj().T @ waves + 0.01 * len(X) * np.eye(20), waves.conj().T @ scaled(y))
    assert_array_equal(model.frequencies_, omega)
    assert_allclose(model.amplitudes_, y.std() * beta, atol=1e-9)
    new = data(30, seed=1)[0]
    values = y.mean() + y.std() * (np.exp(1j * (new - X.mean(axis=0)) / X.std(axis=0) @ omega.T) @ beta).real
    assert_allclose(model.predict(new), values, atol=1e-9)
    assert model.n_steps_ == 0


@pytest.mark.parametrize("features", ["complex", "cos-sin"])
def test_predictions_by_hand(features):
    """f(x) = offset + Re Σ βₖ exp(iωₖ·x̃), and the same in the inputs' own units."""
    X, y = data()
    model = small(features=features).fit(X, y)
    waves = np.exp(1j * scaled(X) @ model.frequencies_.T)
    assert_allclose(model.predict(X), y.mean() + (waves @ model.amplitudes_).real, atol=1e-9)
    omega, beta = model.model_.spectrum()
    assert_allclose(model.predict(X), y.mean() + (np.exp(1j * X @ omega.T) @ beta[:, 0]).real, atol=1e-8)
    assert_allclose(omega, model.frequencies_ / X.std(axis=0))


@pytest.mark.parametrize(
    "features",
    [OnlyCosines(), Activation(np.tanh), Activation(np.tanh, bias=False), sigmoid(), "sigmoid"],
    ids=["own object", "tanh", "tanh without bias", "sigmoid object", "sigmoid"],
)
def test_other_features(features):
    X = np.linspace(-2, 2, 200)[:, None]
    y = np.cos(3 * X[:, 0])
    model = AdaptiveFourierRegressor(24, features=features, random_state=0, n_steps=100)
    odd = getattr(features, "bias", True) is False
    with warnings.catch_warnings():
        if odd:  # sums of odd functions cannot fit an even one
            warnings.filterwarnings("ignore", CONSTANT)
        model.fit(X, y)
    assert model.frequencies_.shape[1] == (1 if odd or isinstance(features, OnlyCosines) else 2)
    if not odd:
        assert model.n_frequencies_ == 24
        assert model.score(X, y) > 0.9


def test_a_sampler_object():
    X, y = data()
    mine = Metropolis(RandomWalk(0.7), exponent=4.0, refit_every=5)
    by_object = small(sampler=mine, regularization=0.1).fit(X, y)
    by_name = small(sampler="metropolis", step_size=0.7, exponent=4.0, refit_every=5, regularization=0.1).fit(X, y)
    assert_array_equal(by_object.frequencies_, by_name.frequencies_)


@pytest.mark.parametrize(
    "settings",
    [
        {"features": "complex"},
        {"n_frequencies": 100},
        {"solver": "dual"},
        {"solver": "direct", "n_frequencies": 100},
        {"regularization": 1e-3},
        {"adapt_after": 5},
        {"max_norm": 3.0},
        {"standardize": False, "step_size": 1.0},
        {"initial": 1.0},
        {"early_stopping": True, "sampler": "metropolis"},
        {"early_stopping": False},
        {"validation_fraction": 0.3},
    ],
    ids=str,
)
def test_every_setting_gives_a_model_that_follows_the_data(settings):
    X, y = data(300)
    X[:, 1] = X[:, 1] / 5 - 2
    model = small(**{"n_frequencies": 30, "n_steps": 60, **settings}).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.all(np.linalg.norm(model.frequencies_, axis=1) < settings.get("max_norm", np.inf))


# Outputs


def test_shapes_of_targets_and_predictions():
    X, y = data()
    one, column, two = (small().fit(X, part) for part in (y, y[:, None], np.column_stack([y, -y])))
    assert one.predict(X).shape == (150,)
    assert one.amplitudes_.shape == (8,)
    assert column.predict(X).shape == (150, 1)
    assert column.amplitudes_.shape == (8, 1)
    assert two.predict(X).shape == (150, 2)
    assert two.amplitudes_.shape == (8, 2)
    assert_array_equal(column.predict(X)[:, 0], one.predict(X))
    assert_allclose(two.predict(X)[:, 0], -two.predict(X)[:, 1], atol=1e-9)


@every_estimator
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(kind, dtype, xp):
    X, y = targets(kind)
    X = X.astype(np.float32).astype(np.float64)  # the same rows in either precision
    y = y.astype(np.float32).astype(np.float64) if kind is AdaptiveFourierRegressor else y
    there = xp.asarray(X.astype(dtype))
    model = small(kind).fit(there, xp.asarray(y.astype(dtype) if kind is AdaptiveFourierRegressor else y))
    assert xp.dtype(output(model, there)) == np.dtype(dtype).name
    assert xp.dtype(model.frequencies_) == "float64"
    if kind is AdaptiveFourierClassifier:
        assert xp.dtype(model.predict_proba(there)) == np.dtype(dtype).name
    assert_allclose(xp.host(output(model, there)), output(small(kind).fit(X, y), X), rtol=1e-3, atol=1e-3)


def test_whole_numbers_are_inputs_too(xp):
    X = np.arange(300).reshape(150, 2) % 17
    model = small().fit(xp.asarray(X), xp.asarray(data()[1]))
    assert xp.dtype(model.predict(xp.asarray(X))) == "float64"
    assert_allclose(
        xp.host(model.predict(xp.asarray(X))), small().fit(X.astype(float), data()[1]).predict(X), atol=1e-6
    )


# The classifier


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("words", [True, False], ids=["words", "numbers"])
def test_labels(n_classes, words):
    X, codes = labelled(n_classes)
    y = np.array(["e", "d", "c", "b", "a"])[codes] if words else codes * 10 - 7
    model = small(AdaptiveFourierClassifier, n_frequencies=30).fit(X, y)
    assert_array_equal(model.classes_, np.unique(y))
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.8
    assert model.amplitudes_.shape == (30, n_classes)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (150, n_classes)
    assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)
    assert probabilities.min() > 0
    assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    decision = model.decision_function(X)
    best = (decision > 0).astype(int) if n_classes == 2 else decision.argmax(axis=1)
    assert_array_equal(model.classes_[best], model.predict(X))
    assert decision.shape == ((150,) if n_classes == 2 else (150, n_classes))


def test_the_classifier_is_least_squares_on_one_hot_targets():
    X, y = labelled()
    settings = {"sampler": "fixed", "regularization": 0.05, "standardize": True, "features": "complex"}
    model = small(AdaptiveFourierClassifier, **settings).fit(X, y)
    waves = np.exp(1j * scaled(X) @ model.frequencies_.T)
    one_hot = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    beta = np.linalg.solve(waves.conj().T @ waves + 0.05 * len(X) * np.eye(8), waves.conj().T @ one_hot)
    assert_allclose(model.amplitudes_, beta, atol=1e-9)
    values = np.eye(3)[y].mean(axis=0) + (waves @ beta).real
    assert_allclose(model.decision_function(X), values, atol=1e-9)
    assert_array_equal(model.predict(X), values.argmax(axis=1))


def test_the_classifier_walks_on_one_hot_targets_that_are_not_scaled():
    """Rare classes keep their small share in the norm over outputs that the walk tests."""
    X, y = data()
    labels = np.digitize(y, np.quantile(y, [0.05, 0.3]))
    settings = {"sampler": "metropolis", "regularization": 0.1, "standardize": True, "features": "complex"}
    model = small(AdaptiveFourierClassifier, n_steps=45, step_size=0.7, exponent=4.0, **settings).fit(X, labels)
    one_hot = np.eye(3)[labels] - np.eye(3)[labels].mean(axis=0)
    omega, beta = oracle.algorithm_1(scaled(X), one_hot, 8, 45, 0.7, 4.0, 0.1, 10, np.random.default_rng(0))
    assert_allclose(model.frequencies_, omega, rtol=0, atol=1e-9)
    assert_allclose(model.amplitudes_, beta, rtol=0, atol=1e-9)


def test_probabilities_are_a_softmax_at_the_temperature_of_held_out_rows():
    X, y = labelled(n_rows=220)
    model = small(AdaptiveFourierClassifier).fit(X, y)
    values = model.decision_function(X)
    plain = (model.predict_proba(X) * (220 + 3) - 1) / 220  # without the share that is spread evenly
    odds = np.log(plain[:, 1:] / plain[:, :1]) / (values[:, 1:] - values[:, :1])
    assert_allclose(odds, odds[0, 0], rtol=1e-6)
    assert odds[0, 0] > 2  # values of one-hot targets are between 0 and 1: a softmax of them alone is too even


@pytest.mark.parametrize(
    ("n_rows", "regularization"),
    [(90, "auto"), (700, "auto"), (700, 1e-7)],
    ids=["leave-one-out", "held-out rows", "overfitted"],
)
def test_probabilities_are_calibrated(n_rows, regularization):
    """Also of values that follow noise: the log loss on fresh rows is lower than that of softmax(values)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows + 4000, 2))
    y = (1.5 * np.sin(2 * X[:, 0]) + X[:, 1] + 1.5 * rng.standard_normal(len(X)) > 0).astype(int)
    model = AdaptiveFourierClassifier(32, sampler="fixed", early_stopping=True, initial=1.0, random_state=0)
    model.set_params(regularization=regularization).fit(X[:n_rows], y[:n_rows])
    new, truth = X[n_rows:], y[n_rows:]
    found = model.predict_proba(new)
    for scale in (1.0, 10.0):  # what the values say as they are, and with too much confidence
        assert log_loss(truth, found) < log_loss(truth, softmax(scale * model.model_(new), axis=1))
    best = minimize_scalar(lambda s: log_loss(truth, softmax(s * model.model_(new), axis=1)), bounds=(0.05, 20)).fun
    assert log_loss(truth, found) < best + 0.05
    assert expected_calibration_error(truth, found[:, 1]) < 0.1
    assert brier_score_loss(truth, found[:, 1]) < 0.2


def expected_calibration_error(truth, probability, n_bins=10):
    """The mean of |share of ones − mean probability| over bins of the probability."""
    bins = np.minimum((n_bins * probability).astype(int), n_bins - 1)
    parts = [bins == one for one in np.unique(bins)]
    return sum(part.mean() * abs(truth[part].mean() - probability[part].mean()) for part in parts)


@pytest.mark.parametrize("words", [True, False], ids=["words", "numbers"])
def test_balanced_classes_are_scikit_learns(words):
    X, codes = data()[0], np.digitize(data()[1], np.quantile(data()[1], [0.1, 0.4]))
    y = np.array(["b", "c", "a"])[codes] if words else codes
    weight, settings = compute_sample_weight("balanced", y), {"n_frequencies": 16, "patience": 100}
    balanced = small(AdaptiveFourierClassifier, **settings, class_weight="balanced").fit(X, y)
    weighted = small(AdaptiveFourierClassifier, **settings).fit(X, y, sample_weight=weight)
    assert_allclose(balanced.decision_function(X), weighted.decision_function(X), atol=1e-9)
    assert_allclose(balanced.predict_proba(X), weighted.predict_proba(X), atol=1e-9)
    plain = small(AdaptiveFourierClassifier, **settings).fit(X, y)
    assert np.abs(plain.decision_function(X) - balanced.decision_function(X)).max() > 1e-2


def test_whole_class_weights_are_repetitions():
    X, y = labelled(n_rows=36)
    names = np.array(["a", "b", "c"])[y]
    again = np.repeat(np.arange(36), np.array([3, 1, 2])[y])
    weighted = small(AdaptiveFourierClassifier, class_weight={"a": 3, "c": 2}).fit(X, names)
    repeated = small(AdaptiveFourierClassifier).fit(X[again], names[again])
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)
    sample_weight = np.arange(36) % 3
    both = small(AdaptiveFourierClassifier, class_weight={"a": 3, "c": 2}).fit(X, names, sample_weight=sample_weight)
    again = np.repeat(np.arange(36), np.array([3, 1, 2])[y] * sample_weight)
    repeated = small(AdaptiveFourierClassifier).fit(X[again], names[again])
    assert_allclose(both.decision_function(X), repeated.decision_function(X), atol=1e-7)


def test_class_weights_in_other_libraries(foreign):
    X, y = labelled()
    settings = {"class_weight": "balanced", "regularization": 0.01}
    there = small(AdaptiveFourierClassifier, **settings).fit(foreign.asarray(X), foreign.asarray(y))
    here = small(AdaptiveFourierClassifier, **settings).fit(X, y)
    found = foreign.host(there.decision_function(foreign.asarray(X)))
    assert_allclose(found, here.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    ("class_weight", "sentence"),
    [
        ("even", "class_weight must be None, 'balanced' or a dict, got 'even'"),
        ([1, 2], "class_weight must be None, 'balanced' or a dict, got list"),
        ({9: 1.0}, "class_weight must name classes of y only, got 9"),
        ({0: -1.0}, "class_weight[0] must be a finite number of at least 0, got -1.0"),
        ({0: np.nan}, "class_weight[0] must be a finite number of at least 0, got nan"),
        ({0: "1"}, "class_weight[0] must be a finite number of at least 0, got '1'"),
        ({0: 0, 1: 0}, "class_weight must leave at least 2 classes of y, got 1"),
    ],
    ids=str,
)
def test_bad_class_weights(class_weight, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        small(AdaptiveFourierClassifier, class_weight=class_weight).fit(*labelled())


def test_two_classes_differ():
    X, y = labelled(2)
    model = small(AdaptiveFourierClassifier).fit(X, y)
    values = model.model_(X)
    assert_allclose(model.decision_function(X), values[:, 1] - values[:, 0])


# The transformer


def test_columns_by_hand():
    X, y = data()
    model = small(AdaptiveFourierFeatures).fit(X, y)
    phases = scaled(X) @ model.frequencies_.T
    assert_allclose(model.transform(X), np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(8), atol=1e-10)
    assert_array_equal(small(AdaptiveFourierFeatures).fit_transform(X, y), model.transform(X))
    assert_array_equal(model.frequencies_, small().fit(X, y).frequencies_)


@pytest.mark.parametrize(("features", "n_columns"), [("cos-sin", 16), ("complex", 16), ("sigmoid", 8)])
def test_names_of_columns(features, n_columns):
    model = small(AdaptiveFourierFeatures, features=features).fit(*data())
    assert model.transform(data()[0]).shape == (150, n_columns)
    assert not np.iscomplexobj(model.transform(data()[0]))
    assert list(model.get_feature_names_out()) == [f"adaptivefourierfeatures{i}" for i in range(n_columns)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(library):
    X, y = data()
    frame = pytest.importorskip(library).DataFrame
    model = small(AdaptiveFourierFeatures).set_output(transform=library).fit(X, y)
    columns = model.transform(X)
    assert isinstance(columns, frame)
    assert list(columns.columns) == list(model.get_feature_names_out())
    assert_array_equal(columns.to_numpy(), small(AdaptiveFourierFeatures).fit(X, y).transform(X))


def test_labels_are_targets_of_the_transformer_too():
    X, y = labelled()
    by_code = small(AdaptiveFourierFeatures).fit(X, y)
    by_word = small(AdaptiveFourierFeatures).fit(X, np.array(["x", "y", "z"])[y])
    assert_array_equal(by_code.transform(X), by_word.transform(X))
    assert_array_equal(by_code.frequencies_, small(AdaptiveFourierClassifier).fit(X, y).frequencies_)


# Frames, sparse inputs, pipelines


@every_estimator
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(kind, library):
    X, y = targets(kind)
    frames = pytest.importorskip(library)
    frame, series = frames.DataFrame, frames.Series
    table = frame({"left": X[:, 0], "right": X[:, 1]})
    settings = {
        "regularization": 0.03
    }  # where descent does not amplify rounding: a frame's columns are in another order
    model = small(kind, **settings).fit(table, series(y))
    assert list(model.feature_names_in_) == ["left", "right"]
    assert_allclose(output(model, table), output(small(kind, **settings).fit(X, y), X), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="feature names should match"):
        output(model, frame({"right": X[:, 1], "left": X[:, 0]}))


def refuse_dense(monkeypatch, n_columns):
    """Rows of inputs must stay sparse; single rows (extremes), and products of rows with rows, need not."""

    def refusing(plain):
        def refuse(self, *arguments, **keywords):
            is_inputs = self.ndim == 2 and self.shape[0] > 1 and n_columns in self.shape
            assert not is_inputs, "sparse inputs were made dense"
            return plain(self, *arguments, **keywords)

        return refuse

    for sparse in (scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array):
        monkeypatch.setattr(sparse, "toarray", refusing(sparse.toarray))
        monkeypatch.setattr(sparse, "todense", refusing(sparse.todense))


@every_estimator
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_inputs_are_never_made_dense(kind, form, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    dense = (rng.random((160, 12)) * (rng.random((160, 12)) < 0.3)).astype(dtype)
    y = np.sin(3 * dense[:, 0]) + 3 * dense[:, 1]
    y = (y > np.median(y)).astype(int) if kind is AdaptiveFourierClassifier else y
    settings = {"standardize": True, "regularization": 0.01, "initial": 0.5}
    expected = output(small(kind, **settings).fit(dense, y), dense)
    X = scipy.sparse.csr_array(dense).asformat(form)

    refuse_dense(monkeypatch, n_columns=12)
    explored = small(kind).fit(X, y)
    assert {look.phase for look in explored.history_.looks} >= {"shaped", "sparse", "descent"}  # rows were held out
    assert output(explored, X).dtype == dtype
    model = small(kind, **settings).fit(X, y, np.ones(160))
    assert output(model, X).dtype == dtype
    assert_allclose(output(model, X), expected, rtol=0, atol=1e-7 if dtype == np.float64 else 1e-5)


def test_pipelines_and_cross_validation():
    X, y = load_iris(return_X_y=True)
    classifier = make_pipeline(StandardScaler(), small(AdaptiveFourierClassifier, n_frequencies=24))
    features = make_pipeline(small(AdaptiveFourierFeatures, n_frequencies=24), LogisticRegression(C=100, max_iter=1000))
    for pipeline in (classifier, features):
        assert cross_val_score(pipeline, X, y, cv=KFold(3, shuffle=True, random_state=0)).min() > 0.85


def test_grid_search():
    X, y = data()
    grid = {"n_frequencies": [1, 30], "regularization": [1e-3, "auto"], "features": ["complex", "cos-sin"]}
    search = GridSearchCV(small(n_steps=40), grid, cv=3).fit(X, y)
    assert search.best_params_["n_frequencies"] == 30
    assert search.best_score_ > 0.9
    assert search.best_estimator_.frequencies_.shape == (30, 2)


# Weights


@every_estimator
@pytest.mark.parametrize("settings", [{}, {"n_frequencies": 256, "n_steps": None}], ids=["small", "default"])
@pytest.mark.parametrize("n_rows", [15, 39])
def test_weights_are_repetitions_in_any_order(kind, n_rows, settings):
    X, y = targets(kind, n_rows)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 30, n_rows)
    again = rng.permutation(np.repeat(np.arange(n_rows), weight))
    weighted = small(kind, **settings).fit(X, y, sample_weight=weight)
    repeated = small(kind, **settings).fit(X[again], y[again])
    assert_allclose(output(weighted, X), output(repeated, X), rtol=0, atol=1e-7)
    assert_allclose(weighted.regularization_, repeated.regularization_, rtol=1e-7)
    if kind is AdaptiveFourierFeatures:
        assert np.abs(output(weighted, X) - output(small(kind, **settings).fit(X, y), X)).max() > 1e-3
    if kind is AdaptiveFourierClassifier:
        assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


@every_estimator
def test_weights_are_repetitions_where_rows_are_held_out(kind):
    """Repeated rows stay together, in any order; at a λ where descent does not amplify rounding."""
    X, y = targets(kind, 220)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, 220)
    again = rng.permutation(np.repeat(np.arange(220), weight))
    settings = {"n_steps": 60, "patience": 60, "regularization": 0.03, "initial": 0.5}
    weighted = small(kind, **settings).fit(X, y, sample_weight=weight)
    repeated = small(kind, **settings).fit(X[again], y[again])
    assert len(weighted.history_.looks) > 2
    assert weighted.n_steps_ == 60
    assert_allclose(output(weighted, X), output(repeated, X), rtol=0, atol=1e-7)
    assert np.abs(output(weighted, X) - output(small(kind, **settings).fit(X, y), X)).max() > 1e-3
    if kind is AdaptiveFourierClassifier:
        assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


@every_estimator
def test_weights_are_repetitions_of_averages_too(kind):
    X, y = targets(kind, 500)
    weight = np.random.default_rng(1).integers(0, 4, 500)
    again = np.random.default_rng(2).permutation(np.repeat(np.arange(500), weight))
    settings = {"n_frequencies": "auto", "n_steps": 6, "regularization": 0.01, "initial": 0.5}
    weighted = small(kind, **settings).fit(X, y, sample_weight=weight)
    repeated = small(kind, **settings).fit(X[again], y[again])
    for model in (weighted, repeated):
        assert any(words.startswith("model 7 of 7") for words in model.history_.decisions)
    assert_allclose(output(weighted, X), output(repeated, X), rtol=0, atol=1e-6)


@every_estimator
def test_equal_weights_are_no_weights(kind, xp):
    X, y = targets(kind)
    X, y = xp.asarray(X), xp.asarray(y)
    plain = xp.host(output(small(kind).fit(X, y), X))
    for ones in (1, np.ones(150), [1] * 150, xp.asarray(np.ones(150)), np.full(150, 3), np.full(150, 1e-9), 0.1):
        assert_array_equal(xp.host(output(small(kind).fit(X, y, ones), X)), plain)


def test_weights_that_are_no_whole_numbers_are_relative():
    X, y = data()
    weight = np.random.default_rng(0).random(150) + 0.1
    one, other = (small().fit(X, y, factor * weight).predict(X) for factor in (1.0, 37.3))
    assert_allclose(one, other, atol=1e-7)
    assert np.abs(one - small().fit(X, y).predict(X)).max() > 1e-3


@pytest.mark.parametrize("every", [2, 4])
def test_rows_without_weight_do_not_count(every, xp):
    """Neither as values nor as rows to hold out: with every second one 100 are left, with every fourth 50."""
    X, y = data(200)
    weight = (np.arange(200) % every == 0).astype(float)
    y_wild = np.where(weight > 0, y, 1e9)
    model = small().fit(xp.asarray(X), xp.asarray(y_wild), xp.asarray(weight))
    expected = small().fit(X[weight > 0], y[weight > 0]).predict(X)
    assert_allclose(xp.host(model.predict(xp.asarray(X))), expected, atol=1e-6)


def test_weights_are_routed():
    X, y = data()
    weight = np.random.default_rng(0).integers(1, 9, 150).astype(float)
    cv = KFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = small().set_fit_request(sample_weight=True)
        values = cross_val_predict(make_pipeline(scaler, routed), X, y, cv=cv, params={"sample_weight": weight})
        deaf = small().set_fit_request(sample_weight=False)
        # scikit-learn 1.6 fails on params=None
        unweighted = cross_val_predict(make_pipeline(scaler, deaf), X, y, cv=cv, params={})
    expected = np.empty(150)
    for train, test in cv.split(X):
        scaler = StandardScaler().fit(X[train])
        model = small().fit(scaler.transform(X[train]), y[train], sample_weight=weight[train])
        expected[test] = model.predict(scaler.transform(X[test]))
    assert_allclose(values, expected, atol=1e-9)
    assert np.abs(values - unweighted).max() > 1e-3


# Validation rows


@every_predictor
def test_states_are_chosen_on_given_rows(kind, xp):
    X, y = targets(kind, 220)
    train = tuple(xp.asarray(part[:150]) for part in (X, y))
    settings = {"sampler": "metropolis", "n_steps": 60, "step_size": 2.0, "exponent": 0.5}
    given = {"X_val": xp.asarray(X[150:]), "y_val": xp.asarray(y[150:])}
    model = small(kind, **settings).fit(*train, **given)
    errors = model.history_.validation
    assert_array_equal(errors[:, 0], np.arange(0, 70, 10))
    best = int(errors[np.argmin(errors[:, 1]), 0])
    assert 0 < best < 60  # else the test shows nothing
    short = small(kind, **{**settings, "n_steps": best}).fit(*train, **given)
    assert_array_equal(xp.host(model.frequencies_), xp.host(short.frequencies_))
    assert "states chosen on X_val, y_val" in model.history_.decisions
    other = small(kind, **settings).fit(*train, X_val=train[0], y_val=train[1])
    assert model.history_.validation[-1, 1] != other.history_.validation[-1, 1]


@pytest.mark.parametrize("name", ["X", "X_val"])
@pytest.mark.parametrize(("factor", "bound"), [(1e170, "below 1e\\+150"), (1e-170, "above 1e-150")])
def test_values_whose_squares_overflow_are_refused_before_anything_is_computed(name, factor, bound):
    """Warnings are errors here: none may come before the sentence."""
    X, y = make_friedman1(150, random_state=0)
    given = {"X": X[:100], "X_val": X[100:]}
    given[name] = factor * given[name]
    with pytest.raises(ValueError, match=f"^{name} must have values of a magnitude {bound}"):
        AdaptiveFourierRegressor().fit(given["X"], y[:100], X_val=given["X_val"], y_val=y[100:])


@every_predictor
def test_the_automatic_search_is_judged_on_given_rows(kind, xp):
    X, y = (xp.asarray(part) for part in targets(kind, 220))
    model = small(kind).fit(X[:150, :], y[:150], X_val=X[150:, :], y_val=y[150:])
    assert "states chosen on X_val, y_val" in model.history_.decisions
    assert {look.phase for look in model.history_.looks} == {*KINDS, "descent"} - {
        "walk"
    }  # one width: nothing to walk from
    other = small(kind).fit(X[:150, :], y[:150], X_val=X[:150, :], y_val=y[:150])
    assert model.history_.validation[-1, 1] != other.history_.validation[-1, 1]


def test_the_error_on_given_rows_is_that_of_the_model():
    X, y = data(220)
    settings = {"sampler": "fixed", "regularization": 0.1, "features": "complex"}
    model = small(**settings).fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    squares = np.mean((model.predict(X[150:]) - y[150:]) ** 2) / y[:150].var()
    assert_allclose(model.history_.validation, [[0, squares]], rtol=1e-9)


def test_validation_rows_go_through_a_pipeline():
    X, y = data(220)
    X_val, y_val = X[150:], y[150:]
    with sklearn.config_context(enable_metadata_routing=True):
        last = small().set_fit_request(X_val=True, y_val=True)
        pipeline = Pipeline([("scale", StandardScaler()), ("model", last)], transform_input=["X_val"])
        pipeline.fit(X[:150], y[:150], X_val=X_val, y_val=y_val)
    scaler = StandardScaler().fit(X[:150])
    expected = small().fit(scaler.transform(X[:150]), y[:150], X_val=scaler.transform(X_val), y_val=y_val)
    assert_array_equal(pipeline[-1].history_.validation, expected.history_.validation)
    assert len(expected.history_.looks) > 1


def test_validation_rows_may_be_sparse_or_frames():
    X, y = data(220)
    expected = small(standardize=True).fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:]).history_.validation
    assert len(expected) > 3
    sparse = small(standardize=True).fit(X[:150], y[:150], X_val=scipy.sparse.csc_array(X[150:]), y_val=list(y[150:]))
    assert_allclose(sparse.history_.validation, expected, rtol=1e-8)
    table = pd.DataFrame(X, columns=["a", "b"])
    frame = small(standardize=True).fit(table[:150], y[:150], X_val=table[150:], y_val=pd.Series(y[150:]))
    assert_allclose(frame.history_.validation, expected, rtol=1e-8)


# Warm starts


@every_estimator
@pytest.mark.parametrize("initial", [None, 0.5])
def test_two_warm_fits_are_one_long_fit(kind, initial, xp):
    X, y = (xp.asarray(part) for part in targets(kind))
    settings = {"sampler": "metropolis", "initial": initial, "adapt_after": 6, "max_norm": 9.0, "refit_every": 7}
    whole = small(kind, n_steps=40, **settings).fit(X, y)
    warm = small(kind, n_steps=20, warm_start=True, **settings).fit(X, y).fit(X, y)
    cold = small(kind, n_steps=20, **settings).fit(X, y).fit(X, y)
    assert warm.n_steps_ == whole.n_steps_ == 40
    assert_array_equal(xp.host(output(warm, X)), xp.host(output(whole, X)))
    assert_array_equal(warm.history_.step, np.arange(21, 41))
    assert cold.n_steps_ == 20
    assert np.any(xp.host(cold.frequencies_) != xp.host(warm.frequencies_))


def test_a_pickled_warm_start_goes_on():
    X, y = data()
    settings = {"sampler": "metropolis", "warm_start": True}
    first = small(n_steps=20, **settings).fit(X, y)
    again = pickle.loads(pickle.dumps(first))
    assert_array_equal(again.fit(X, y).predict(X), first.fit(X, y).predict(X))
    assert_array_equal(first.frequencies_, small(n_steps=40, sampler="metropolis").fit(X, y).frequencies_)


def test_a_warm_start_takes_more_steps_and_other_rows():
    model = small(n_steps=10, patience=100, warm_start=True).fit(*data())
    model.set_params(n_steps=15, regularization=0.1).fit(*data(130, seed=5))
    assert model.n_steps_ == 25
    assert model.regularization_ == 0.1


@pytest.mark.parametrize(
    ("change", "columns", "sentence"),
    [
        ({"n_frequencies": 4}, 2, "n_frequencies must stay 8 for a warm start, got 4"),
        ({}, 1, "X and features must keep frequencies of 2 components for a warm start, got 1"),
        ({"features": "sigmoid"}, 2, "X and features must keep frequencies of 2 components for a warm start, got 3"),
    ],
)
def test_a_warm_start_that_does_not_fit(change, columns, sentence):
    X, y = data()
    model = small(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=sentence):
        model.set_params(**change).fit(X[:, :columns], y)


def test_a_warm_start_in_another_library():
    torch = pytest.importorskip("torch")
    X, y = data()
    model = small(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="X must stay numpy on cpu for a warm start, got torch on cpu"):
        model.fit(torch.asarray(X), torch.asarray(y))


# Other libraries


@every_estimator
@pytest.mark.parametrize("features", ["cos-sin", "complex", "sigmoid"])
@pytest.mark.parametrize(
    "settings",
    [{"n_steps": 40, "regularization": 0.01}, {"n_steps": 6}, {"n_steps": 40, "sampler": "metropolis"}, {"n_rows": 36}],
    ids=["auto", "λ chosen", "metropolis", "few rows"],
)
def test_what_comes_in_goes_out(kind, features, settings, xp):
    """The walk is the same in every library: at a λ, or for a number of steps, where descent amplifies no rounding."""
    X, y = targets(kind, settings.get("n_rows", 150))
    settings = {name: value for name, value in settings.items() if name != "n_rows"}
    there = xp.asarray(X)
    model = small(kind, features=features, **settings).fit(there, xp.asarray(y))
    here = small(kind, features=features, **settings).fit(X, y)
    assert_allclose(xp.host(model.frequencies_), here.frequencies_, rtol=0, atol=1e-6)
    largest = max(1.0, np.abs(here.amplitudes_).max())  # of sigmoids hundreds, at a small λ
    assert_allclose(xp.host(model.amplitudes_) / largest, here.amplitudes_ / largest, rtol=0, atol=1e-6)
    assert_allclose(xp.host(output(model, there)), output(here, X), rtol=0, atol=1e-6)
    assert model.n_features_in_ == 2
    if kind is AdaptiveFourierClassifier:
        assert_allclose(xp.host(model.predict_proba(there)), here.predict_proba(X), rtol=0, atol=1e-6)
        assert_array_equal(xp.host(model.predict(there)), here.predict(X))
        assert_array_equal(xp.host(model.classes_), here.classes_)


@every_estimator
def test_averages_in_other_libraries(kind, foreign):
    X, y = targets(kind, 500)
    settings = {"n_frequencies": "auto", "n_steps": 6, "regularization": 0.01}
    there = small(kind, **settings).fit(foreign.asarray(X), foreign.asarray(y))
    here = small(kind, **settings).fit(X, y)
    assert any(words.startswith("model 7 of 7") for words in here.history_.decisions)
    assert_allclose(foreign.host(there.frequencies_), here.frequencies_, rtol=0, atol=1e-6)
    assert_allclose(foreign.host(output(there, foreign.asarray(X))), output(here, X), rtol=0, atol=1e-6)


def test_targets_may_come_from_numpy(xp):
    X, y = data()
    labels = np.array(["no", "yes"])[(y > 50).astype(int)]
    assert xp.owns(small().fit(xp.asarray(X), y).predict(xp.asarray(X)))
    assert xp.owns(small().fit(xp.asarray(X), y.tolist()).predict(xp.asarray(X)))
    model = small(AdaptiveFourierClassifier).fit(xp.asarray(X), labels)
    assert_array_equal(model.predict(xp.asarray(X)), small(AdaptiveFourierClassifier).fit(X, labels).predict(X))
    assert xp.owns(model.predict_proba(xp.asarray(X)))


def test_many_outputs_in_other_libraries(xp):
    X, y = data()
    both, few = np.column_stack([y, np.cos(X[:, 0])]), small(n_steps=10)  # steps make rounding errors larger
    model = clone(few).fit(xp.asarray(X), xp.asarray(both))
    assert_allclose(xp.host(model.predict(xp.asarray(X))), few.fit(X, both).predict(X), atol=1e-6)


@every_estimator
def test_another_library_at_predict(kind, foreign):
    X, y = targets(kind)
    there, here = small(kind).fit(foreign.asarray(X), foreign.asarray(y)), small(kind).fit(X, y)
    for inputs in (X, scipy.sparse.csr_array(X), X.tolist()):
        with pytest.raises(ValueError, match=f"X must be on the device .* that fit saw.*got {type(inputs).__name__}"):
            output(there, inputs)
    names = {"torch": "torch on cpu", "torch on a GPU": "torch on cuda", "CuPy": "cupy on"}
    library = names.get(foreign.name, "array_api_strict on")
    with pytest.raises(ValueError, match=f"X must be on the device .* that fit saw, numpy on cpu, got {library}"):
        output(here, foreign.asarray(X))


def test_a_new_fit_may_be_in_another_library(xp):
    X, y = data()
    there = xp.asarray(X), xp.asarray(y)
    model = small().fit(X, y).fit(*there, X_val=there[0], y_val=there[1])
    assert xp.owns(model.predict(there[0]))
    assert type(model.fit(X, y, X_val=X, y_val=y).predict(X)) is np.ndarray


# Bad input: a sentence that names the argument and what came


BAD_SETTINGS = [
    *[("n_frequencies", value, f"got {value!r}") for value in (0, -3, 2.5, "8", "all", None, True)],
    *[("n_steps", value, f"got {value!r}") for value in (-1, 2.5, "8")],
    *[("step_size", value, f"got {value!r}") for value in (0, -0.1, np.nan, np.inf, "big", [1.0])],
    *[("exponent", value, f"got {value!r}") for value in (0, -1.0, "big")],
    *[("refit_every", value, f"got {value!r}") for value in (0, -1, 1.5, None)],
    *[("adapt_after", value, f"got {value!r}") for value in (-1, 0.5, "soon")],
    *[("max_norm", value, f"got {value!r}") for value in (0, -1.0, np.nan, "big")],
    *[("initial", value, f"got {value!r}") for value in (-1.0, "zeros", np.nan)],
    ("initial", np.zeros((3, 2)), "got shape (3, 2)"),
    ("initial", np.full((8, 2), np.inf), "got NaN or infinity"),
    *[("regularization", value, f"got {value!r}") for value in (-0.1, np.nan, None, "gcv")],
    *[("validation_fraction", value, f"got {value!r}") for value in (0, 1, -0.1, 1.5, None)],
    *[("patience", value, f"got {value!r}") for value in (0, -1, 1.5)],
    *[("verbose", value, f"got {value!r}") for value in (-1, "loud")],
    ("sampler", "gibbs", "one of ['auto', 'metropolis', 'resampling', 'descent', 'fixed'], got 'gibbs'"),
    ("sampler", 3, "got int"),
    ("features", "wavelet", "one of ['complex', 'cos-sin', 'sigmoid'] or a features object, got 'wavelet'"),
    ("features", 3, "got int"),
    ("standardize", "yes", "one of ['auto', 'robust', True, False], got 'yes'"),
    ("standardize", None, "one of ['auto', 'robust', True, False], got None"),
    ("clamp", "yes", "one of ['auto', True, False], got 'yes'"),
    *[("max_seconds", value, f"got {value!r}") for value in (0, -1.0, np.nan, np.inf, "1")],
    ("early_stopping", "maybe", "one of ['auto', True, False], got 'maybe'"),
    ("solver", "qr", "one of ['auto', 'direct', 'spectral', 'dual'], got 'qr'"),
]


@every_estimator
@pytest.mark.parametrize(("name", "value", "came"), BAD_SETTINGS, ids=lambda part: str(part).replace("\n", ""))
def test_bad_settings(kind, name, value, came):
    with pytest.raises((ValueError, TypeError), match=f"{name} must be.*{re.escape(came)}"):
        small(kind, **{name: value}).fit(*targets(kind))


def test_constructors_check_nothing():
    """scikit-learn's contract: parameters are checked by fit."""
    for name, value, _ in BAD_SETTINGS:
        assert AdaptiveFourierRegressor().set_params(**{name: value}).get_params()[name] is value


def spoilt(values, place, value):
    values = values.copy()
    values[place] = value
    return values


@every_estimator
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_inputs_that_are_not_finite(kind, value, xp):
    X, y = targets(kind)
    bad = xp.asarray(spoilt(X, (3, 1), value))
    if xp.name == "numpy" and np.isnan(value):  # a missing value: NumPy's arrays may have some
        assert np.all(np.isfinite(output(small(kind).fit(bad, y), bad)))
        return
    with pytest.raises(ValueError, match=r"X .*(NaN|infinity)"):
        small(kind).fit(bad, xp.asarray(y))
    model = small(kind).fit(xp.asarray(X), xp.asarray(y))
    with pytest.raises(ValueError, match=r"X .*(NaN|infinity)"):
        output(model, bad)


@every_estimator
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_targets_that_are_not_finite(kind, value, xp):
    X, y = targets(kind)
    with pytest.raises(ValueError, match=r"y .*(NaN|infinity)"):
        small(kind).fit(xp.asarray(X), xp.asarray(spoilt(y.astype(float), 3, value)))


def test_sparse_inputs_that_are_not_finite():
    X, y = data()
    with pytest.raises(ValueError, match=r"X must be dense where values are missing, got NaN in a sparse csr_array\."):
        small().fit(scipy.sparse.csr_array(spoilt(X, (3, 1), np.nan)), y)


@every_estimator
def test_complex_inputs(kind, xp):
    X, y = targets(kind)
    with pytest.raises(ValueError, match=r"(?i)complex data not supported"):
        small(kind).fit(xp.asarray(X + 1j), xp.asarray(y))
    model = small(kind).fit(xp.asarray(X), xp.asarray(y))
    with pytest.raises(ValueError, match=r"(?i)complex data not supported"):
        output(model, xp.asarray(X + 1j))


def test_complex_targets(xp):
    X, y = data()
    with pytest.raises(ValueError, match=r"(?i)complex data not supported"):
        small().fit(xp.asarray(X), xp.asarray(y + 1j))


@every_estimator
@pytest.mark.parametrize("shape", [(150,), (75, 2, 1), (0, 2), (150, 0)], ids=str)
def test_inputs_of_a_wrong_shape(kind, shape, xp):
    y = targets(kind)[1][: shape[0]]
    with pytest.raises(
        ValueError, match=r"2D array|dim 3|3 dimensions|[Ff]ound array with|at least one row and one column"
    ):
        small(kind).fit(xp.asarray(np.ones(shape)), xp.asarray(y))


def test_targets_of_a_wrong_shape(xp):
    X, y = data()
    with pytest.raises(ValueError, match=r"got 3|dim 3"):
        small().fit(xp.asarray(X), xp.asarray(y[:, None, None]))
    with pytest.raises((ValueError, TypeError), match=r"got 0|got scalar"):
        small().fit(xp.asarray(X), xp.asarray(1.0))
    with pytest.raises(ValueError, match=r"y .*shape \(150, 2\)"):
        small(AdaptiveFourierClassifier).fit(xp.asarray(X), xp.asarray(np.ones((150, 2))))


@every_estimator
def test_targets_that_are_missing(kind, xp):
    with pytest.raises(ValueError, match=r"y .*None"):
        small(kind).fit(xp.asarray(data()[0]), None)


@every_estimator
def test_lengths_that_differ(kind, xp):
    X, y = targets(kind)
    with pytest.raises(ValueError, match=r"150.*100"):
        small(kind).fit(xp.asarray(X), xp.asarray(y[:100]))


@every_estimator
@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (-np.ones(150), "sample_weight must be finite and not negative, got a minimum of -1.0"),
        (spoilt(np.ones(150), 4, -0.5), "sample_weight must be finite and not negative, got a minimum of -0.5"),
        (np.zeros(150), "sample_weight must have a positive entry, got only zeros"),
        (np.full(150, np.nan), "sample_weight must be finite and not negative, got a minimum of nan"),
        (np.full(150, np.inf), "sample_weight must be finite"),
        (np.ones(149), r"sample_weight must have shape \(150,\).*got shape \(149,\)"),
        (np.ones((150, 1)), r"sample_weight must have shape \(150,\).*got shape \(150, 1\)"),
    ],
    ids=["negative", "one negative", "zeros", "NaN", "infinite", "short", "two-dimensional"],
)
def test_bad_weights(kind, weight, sentence, xp):
    X, y = targets(kind)
    with pytest.raises(ValueError, match=sentence):
        small(kind).fit(xp.asarray(X), xp.asarray(y), sample_weight=xp.asarray(weight))


def test_one_class_only(xp):
    X = data()[0]
    with pytest.raises(ValueError, match=r"y must have at least 2 classes, got 1 class: .*7"):
        small(AdaptiveFourierClassifier).fit(xp.asarray(X), xp.asarray(np.full(150, 7)))


def test_numbers_are_no_labels(xp):
    X, y = data()
    with pytest.raises(ValueError, match="continuous"):
        small(AdaptiveFourierClassifier).fit(xp.asarray(X), xp.asarray(y))


@every_estimator
def test_predict_before_fit(kind, xp):
    X = xp.asarray(data()[0])
    methods = {"predict", "predict_proba", "decision_function", "transform"} & set(dir(kind))
    assert methods
    for method in methods:
        with pytest.raises(NotFittedError, match=f"{kind.__name__} instance is not fitted yet"):
            getattr(small(kind), method)(X)


@every_estimator
@pytest.mark.parametrize("n_columns", [1, 3])
def test_another_number_of_columns(kind, n_columns, xp):
    X, y = targets(kind)
    model = small(kind).fit(xp.asarray(X), xp.asarray(y))
    with pytest.raises(ValueError, match=f"X has {n_columns} features, but {kind.__name__} is expecting 2 features"):
        output(model, xp.asarray(np.ones((5, n_columns))))


@every_predictor
def test_bad_validation_rows(kind, xp):
    X, y = (xp.asarray(part) for part in targets(kind))
    model = small(kind)
    with pytest.raises(ValueError, match="X_val and y_val must be given together, got X_val without y_val"):
        model.fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="X_val and y_val must be given together, got y_val without X_val"):
        model.fit(X, y, y_val=y)
    with pytest.raises(
        ValueError, match=r"X_val (has 1 features, but .* is expecting 2|must have 2 columns like X, got 1)"
    ):
        model.fit(X, y, X_val=X[:, :1], y_val=y)
    with pytest.raises(ValueError, match="y_val must have as many rows as X_val, 150, got 50"):
        model.fit(X, y, X_val=X, y_val=y[:50])
    with pytest.raises(ValueError, match=r"X_val .*NaN"):
        model.fit(X, y, X_val=xp.asarray(np.full((5, 2), np.nan)), y_val=y[:5])


def test_validation_targets_that_do_not_fit(xp):
    X, y = (xp.asarray(part) for part in data())
    with pytest.raises(ValueError, match="y_val must have as many outputs as y, 1, got 2"):
        small().fit(X, y, X_val=X, y_val=xp.asarray(np.ones((150, 2))))
    with pytest.raises(ValueError, match=r"y.* NaN"):
        small().fit(X, y, X_val=X, y_val=xp.asarray(np.full(150, np.nan)))
    labels = xp.asarray(labelled()[1])
    with pytest.raises(ValueError, match=r"y_val must hold labels of y only, got .*9"):
        small(AdaptiveFourierClassifier).fit(X, labels, X_val=X, y_val=xp.asarray(np.full(150, 9)))


def test_validation_rows_of_another_library(foreign):
    X, y = data()
    there = foreign.asarray(X), foreign.asarray(y)
    with pytest.raises(ValueError, match=r"X_val must be on the device .*got ndarray"):
        small().fit(*there, X_val=X, y_val=y)
    with pytest.raises(ValueError, match=r"X_val must be on the device .* numpy on cpu, got"):
        small().fit(X, y, X_val=there[0], y_val=y)
    with pytest.raises(ValueError, match=r"y_val must be on the device .* numpy on cpu, got"):
        small().fit(X, y, X_val=X, y_val=there[1])


# Edges


@every_estimator
@pytest.mark.parametrize("n_rows", [2, 5, 39, 101])
def test_few_rows(kind, n_rows):
    X, y = targets(kind, n_rows)
    y = np.arange(n_rows) % 2 if kind is AdaptiveFourierClassifier else y
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=CONSTANT)  # the classes are noise
        model = small(kind, n_frequencies=20).fit(X, y)
    assert np.all(np.isfinite(output(model, X)))


@pytest.mark.parametrize("value", [0.0, 7.3])
def test_constant_inputs_and_targets(xp, value):
    """The constant model is right there: no warning."""
    X, y = xp.asarray(np.full((150, 2), 0.1)), xp.asarray(np.full(150, value))
    assert_allclose(xp.host(small().fit(X, y).predict(X)), value)


def test_a_constant_column_changes_nothing_but_the_random_numbers():
    X, y = data()
    model = small(n_frequencies=30, n_steps=60).fit(np.column_stack([X, np.full(150, 0.1)]), y)
    assert model.score(np.column_stack([X, np.full(150, 0.1)]), y) > 0.9
    assert np.all(np.isfinite(model.frequencies_))


@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e100])
def test_units_do_not_matter(factor):
    X, y = data()
    model = small(standardize=True, early_stopping=False)  # held-out rows are picked by their contents
    plain = model.fit(X, y).predict(X)
    assert_allclose(model.fit(factor * X, factor * y).predict(factor * X) / factor, plain, rtol=1e-6)


def test_noise_is_not_followed():
    """The guard: the best state on rows that the walk does not see, with λ chosen."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    with pytest.warns(UserWarning, match=CONSTANT):
        model = AdaptiveFourierRegressor(random_state=0).fit(X, y)
    new = rng.standard_normal((2000, 3))
    assert np.mean(model.predict(new) ** 2) < 0.3


def test_whole_numbers_are_classes_to_the_transformer_in_every_library(xp):
    X, y = labelled()
    model = small(AdaptiveFourierFeatures).fit(xp.asarray(X), xp.asarray(y))
    assert model.amplitudes_.shape[1] == np.unique(y).size


def test_the_transformer_takes_validation_rows(xp):
    X, y = (xp.asarray(part) for part in data())
    model = small(AdaptiveFourierFeatures).fit(X, y, X_val=X, y_val=y)
    assert "states chosen on X_val, y_val" in model.history_.decisions


def test_one_class_with_weight_is_one_class():
    X, y = labelled()
    with pytest.raises(ValueError, match="y must have at least 2 classes, got 1 class"):
        small(AdaptiveFourierClassifier).fit(X, y, sample_weight=(y == y[0]).astype(float))


@pytest.mark.parametrize("seed", ["a", -1, 1.5])
def test_bad_random_state(seed):
    with pytest.raises(ValueError, match=f"random_state must be .*, got {seed!r}"):
        small().set_params(random_state=seed).fit(*data())


@pytest.mark.parametrize("weight", [["a"] * 150, [1j] * 150])
def test_weights_that_are_no_numbers(weight):
    with pytest.raises(ValueError, match="sample_weight must be real numbers, got"):
        small().fit(*data(), sample_weight=weight)


def test_truth_values_of_a_grid_over_an_array():
    model = small(standardize=np.True_, early_stopping=np.True_).fit(*data())
    assert any("held out" in decision and "no rows" not in decision for decision in model.history_.decisions)


def test_tensors_that_require_gradients():
    torch = pytest.importorskip("torch")
    X, y = (torch.asarray(part, requires_grad=True) for part in data())
    assert not small().fit(X, y).predict(X).requires_grad


# Groups


def grouped(n_groups=25, n_rows=200):
    """Targets that are mostly each group's own noise, of rows that lie close together within a group."""
    rng = np.random.default_rng(0)
    groups = np.arange(n_rows) % n_groups
    centers = rng.standard_normal((n_groups, 2))
    X = centers[groups] + 0.05 * rng.standard_normal((n_rows, 2))
    return X, np.sin(centers[groups, 0]) + rng.standard_normal(n_groups)[groups], groups


def test_rows_of_a_group_are_held_out_together():
    """What is learnt of a group by heart does not help on others: the held-out error says so."""
    X, y, groups = grouped()
    settings = {
        "sampler": "fixed",
        "initial": 2.0,
        "early_stopping": True,
        "validation_fraction": 0.4,
        "n_frequencies": 200,
    }
    alone, together = (small(**settings).fit(X, y, groups=given) for given in (None, groups))
    assert together.history_.validation[0, 1] > 2 * alone.history_.validation[0, 1]
    assert together.regularization_ > 2 * alone.regularization_
    names = np.array([f"group {code:02}" for code in range(25)])[groups]
    for same in (names, groups * 7 - 30, list(groups)):
        assert_array_equal(small(**settings).fit(X, y, groups=same).predict(X), together.predict(X))


@every_estimator
def test_groups_change_the_automatic_fit(kind):
    X, y = targets(kind)
    alone, together = (small(kind).fit(X, y, groups=given) for given in (None, np.arange(150) % 30))
    assert np.abs(output(alone, X) - output(together, X)).max() > 1e-6


@every_estimator
@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (np.arange(149), "groups must have shape (150,), one entry per row of X, got shape (149,)."),
        (np.zeros((150, 1)), "groups must have shape (150,), one entry per row of X, got shape (150, 1)."),
        (np.zeros(150), "groups must name at least 2 groups, got 1."),
        (np.arange(150) % 3, "groups must name at least 5 groups, one for each fold, got 3."),
        (np.where(np.arange(150) < 9, np.nan, 1.0), "groups must not have missing entries, got NaN."),
    ],
    ids=["short", "two-dimensional", "one group", "three groups", "NaN"],
)
def test_bad_groups(kind, groups, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        small(kind).fit(*targets(kind), groups=groups)


# What the automatic training learns


@every_predictor
def test_the_number_of_frequencies_is_found(kind):
    X, y = targets(kind, 300)
    found, given = kind(random_state=0).fit(X, y), small(kind).fit(X, y)
    assert found.n_frequencies_ == found.frequencies_.shape[0] == len(found.amplitudes_) > 0
    assert given.n_frequencies_ == 8
    assert found.score(X, y) > 0.9


def test_other_samplers_take_256_frequencies():
    model = AdaptiveFourierRegressor(sampler="fixed", random_state=0).fit(*data())
    assert model.n_frequencies_ == 256


@every_predictor
def test_importances_find_the_relevant_inputs(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 10)) * np.logspace(-3, 3, 10)  # units do not matter
    y = np.sin(X[:, 2] / X[:, 2].std()) + X[:, 7] / X[:, 7].std()
    y = (y > 0).astype(int) if kind is AdaptiveFourierClassifier else y
    model = kind(random_state=0).fit(X, y)
    found = model.feature_importances_
    assert found.shape == (10,)
    assert found.sum() == pytest.approx(1)
    assert set(np.argsort(found)[-2:]) == {2, 7}
    assert found[[2, 7]].sum() > 0.8
    with pytest.raises(NotFittedError):
        _ = kind().feature_importances_


@pytest.mark.parametrize(
    "settings", [{}, {"clamp": True, "sampler": "fixed", "initial": 1.0}], ids=["auto", "asked for"]
)
def test_predictions_stay_in_the_range_of_the_targets(settings):
    X, y = data()
    y = np.column_stack([y, 1000 - 30 * y])
    low, high = y.min(axis=0), y.max(axis=0)
    margin = 0.1 * (high - low)
    far = np.random.default_rng(1).standard_normal((3000, 2)) * 1000
    settings = {"regularization": 1e-9, "n_frequencies": 60, **settings}
    clamped, free = (small(**{**settings, **more}).fit(X, y) for more in ({}, {"clamp": False}))
    assert_array_equal(clamped.predict(far), np.clip(free.predict(far), low - margin, high + margin))
    assert np.all(np.any(free.predict(far) > high + margin, axis=0))  # else the test shows nothing
    assert np.all(np.any(free.predict(far) < low - margin, axis=0))


def test_only_the_automatic_regression_is_clamped_by_default():
    X, y = labelled()
    assert small(AdaptiveFourierClassifier, clamp=True).fit(X, y).model_.bounds is None
    assert small(sampler="fixed").fit(*data()).model_.bounds is None
    assert small().fit(*data()).model_.bounds.shape == (2, 1)


def test_time_that_is_up_ends_a_fit_with_a_model():
    X, y = data(400)
    model = AdaptiveFourierRegressor(max_seconds=1e-6, random_state=0).fit(X, y)
    assert any(words.startswith("max_seconds have passed") for words in model.history_.decisions)
    assert model.n_frequencies_ < AdaptiveFourierRegressor(random_state=0).fit(X, y).n_frequencies_
    assert model.score(X, y) > 0.5


@every_estimator
def test_an_exponent_needs_a_metropolis_test(kind):
    sentence = (
        "exponent must be None for sampler='auto', which has no Metropolis test, got 3.0: "
        "take sampler='metropolis' or 'resampling'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        small(kind, exponent=3.0).fit(*targets(kind))
    for sampler in ("metropolis", "resampling"):
        small(kind, exponent=3.0, sampler=sampler).fit(*targets(kind))


@every_estimator
def test_the_state_of_the_walk_is_pickled_for_a_warm_start_only(kind):
    X, y = targets(kind)
    settings = {"sampler": "metropolis", "adapt_after": 5, "n_frequencies": 200}
    cold, warm = (small(kind, warm_start=warm, **settings).fit(X, y) for warm in (False, True))
    again = pickle.loads(pickle.dumps(cold))
    assert "_last" in vars(cold)
    assert "_last" not in vars(again)
    assert "_last" in vars(pickle.loads(pickle.dumps(warm)))
    assert len(pickle.dumps(cold)) < len(pickle.dumps(warm)) - cold.frequencies_.nbytes
    assert_array_equal(output(again, X), output(cold, X))


@every_estimator
def test_after_a_fit_that_failed_there_is_no_model(kind):
    X, y = targets(kind)
    model = small(kind).fit(X, y)
    for setting in ({"patience": 0}, {"initial": np.zeros((3, 2))}):
        with pytest.raises(ValueError, match="must be"):
            model.set_params(**setting).fit(X, y)
        with pytest.raises(NotFittedError):
            output(model, X)
        assert not hasattr(model, "n_frequencies_")
        model.set_params(patience=None, initial=None).fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(spoilt(X, (3, 1), np.inf), y)
    with pytest.raises(NotFittedError):
        output(model, X)


def test_counts_of_many_sparse_columns(monkeypatch):
    """300 × 5,000: no array of d² or N × d numbers."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array(
        (600, 5000), density=0.01, rng=rng, data_sampler=lambda size: rng.integers(1, 5, size)
    )
    X = scipy.sparse.csr_array(X).astype(np.float64)
    often = scipy.sparse.csr_array(rng.poisson(1.0, (600, 4)).astype(np.float64))
    X = scipy.sparse.csr_array(scipy.sparse.hstack([often, X[:, 4:]]))
    y = np.tanh(often @ np.array([1.0, -1.0, 0.5, -0.5])) + 0.05 * rng.standard_normal(600)
    refuse_dense(monkeypatch, n_columns=5000)
    model = AdaptiveFourierRegressor(32, n_steps=6, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.05


def test_signatures_differ_by_class_weight_alone():
    regressor, classifier = (inspect.signature(kind).parameters for kind in ESTIMATORS[:2])
    assert list(classifier.values()) == [*regressor.values(), classifier["class_weight"]]
    assert inspect.signature(AdaptiveFourierFeatures).parameters == regressor
    fits = [list(inspect.signature(kind.fit).parameters.values()) for kind in ESTIMATORS]
    assert fits[0] == fits[1] == fits[2]


# Tables: words, categories, dates and missing values


def cars(kind, n_rows=300, seed=0):
    """A frame with holes, few and many levels and a date, and what it says about a target."""
    rng = np.random.default_rng(seed)
    make, fuel, size = rng.integers(25, size=n_rows), rng.integers(3, size=n_rows), rng.standard_normal(n_rows)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n_rows) < 0.1, np.nan, size),
            "make": pd.Categorical([f"make{one:02d}" for one in make]),
            "fuel": np.array(["gas", "diesel", "steam"])[fuel],
            "built": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(1000, size=n_rows), "D"),
        }
    )
    y = 0.2 * make + 2.0 * (fuel == 1) + np.sin(2 * size)
    return frame, y if kind is not AdaptiveFourierClassifier else np.where(y > np.median(y), "dear", "cheap")


@every_estimator
def test_frames_of_both_libraries(kind):
    pl = pytest.importorskip("polars")
    frame, y = cars(kind)
    model = small(kind).fit(frame, y)
    again = small(kind).fit(pl.from_pandas(frame), y)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.frequencies_.shape == (8, len(model.encoder_.get_feature_names_out()))
    assert_array_equal(output(model, frame), output(again, pl.from_pandas(frame)))


@every_predictor
def test_tables_are_learnt(kind):
    frame, y = cars(kind, 1000)
    score = kind(64, random_state=0, max_seconds=20).fit(frame[:800], y[:800]).score(frame[800:], y[800:])
    assert score > (0.8 if kind is AdaptiveFourierRegressor else 0.85)


@every_estimator
def test_relevance_adds_up_over_the_columns_of_an_input(kind):
    frame, y = cars(kind)
    model = small(kind).fit(frame, y)
    shares = model.feature_importances_
    assert shares.shape == (4,)
    assert_allclose(shares.sum(), 1.0)
    ends = np.cumsum([len(column.labels) for column in model.encoder_.columns_])
    assert_allclose(shares[1], model.model_.relevance()[ends[0] : ends[1]].sum())


def test_a_rare_level_matters_as_much_as_it_is_seen():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"rare": np.where(rng.random(2000) < 0.03, "yes", "no"), "x": rng.standard_normal(2000)})
    y = 1.0 * (frame["rare"] == "yes") + frame["x"]
    shares = small(n_steps=None).fit(frame, y).feature_importances_
    assert_allclose(shares, [0.03 / 1.03, 1 / 1.03], atol=0.03)


@every_estimator
def test_unknown_levels_and_new_holes(kind):
    frame, y = cars(kind)
    model = small(kind).fit(frame.assign(size=1.0), y)
    new = pd.DataFrame({"size": [np.nan], "make": ["new"], "fuel": [None], "built": [pd.NaT]})
    assert np.all(np.isfinite(output(model, new)))


@every_estimator
def test_holes_in_arrays(kind):
    X, y = targets(kind)
    X[::7, 1] = np.nan
    model = small(kind).fit(X, y)
    assert model.encoder_.get_feature_names_out().tolist() == ["x0", "x1", "x1_missing"]
    assert model.feature_importances_.shape == (2,)
    assert np.all(np.isfinite(output(model, X)))
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert_array_equal(output(small(kind).fit(frame, y), frame), output(model, X))


@every_estimator
def test_holes_that_fit_has_not_seen_are_the_middle_of_the_column(kind):
    X, y = targets(kind)
    model = small(kind, standardize=True).fit(X, y)
    assert model.encoder_ is None
    holed, middle = X.copy(), X.copy()
    holed[:5, 1], middle[:5, 1] = np.nan, X[:, 1].mean()
    assert_allclose(output(model, holed), output(model, middle))
    raw = small(kind, standardize=False).fit(X, y)
    with pytest.raises(ValueError, match="X must not have missing values where fit saw none, got NaN in column 1"):
        output(raw, holed)
    with pytest.raises(ValueError, match="X_val must not have missing values where fit saw none"):
        small(kind).fit(X, y, X_val=holed, y_val=y)


@every_estimator
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_has_its_own_sentence(kind, value):
    X, y = targets(kind)
    model = small(kind).fit(X, y)
    X[3, 1] = value
    for table in (X, pd.DataFrame(X, columns=["a", "b"]), scipy.sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"infinity|X must be finite or missing in column 'b', got -?inf in row 3"):
            small(kind).fit(table, y)
    with pytest.raises(ValueError, match="infinity"):
        output(model, X)
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="infinity"):
        small(kind).fit(X, y)


@every_estimator
def test_sparse_holes_are_refused(kind):
    X, y = targets(kind)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="X must be dense where values are missing, got NaN in a sparse csr_array"):
        small(kind).fit(scipy.sparse.csr_array(X), y)


@every_estimator
def test_numeric_frames_are_arrays(kind):
    X, y = targets(kind)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert_array_equal(output(small(kind).fit(frame, y), frame), output(small(kind).fit(X, y), X))


@every_estimator
def test_categories_of_an_array_by_index(kind):
    X, y = targets(kind)
    X[:, 0] = np.round(X[:, 0])
    model = small(kind, categorical_features=[0], sampler="fixed").fit(X, y)
    assert set(model.encoder_.get_feature_names_out()) >= {"x0_0", "x0_1", "x1"}
    with pytest.raises(ValueError, match="categorical_features must be columns of X"):
        small(kind, categorical_features=[2]).fit(X, y)


@every_estimator
def test_validation_rows_of_a_table_are_encoded_as_others(kind):
    frame, y = cars(kind)
    model = small(kind).fit(frame[:200], y[:200], X_val=frame[200:], y_val=y[200:])
    assert "states chosen on X_val, y_val" in model.history_.decisions
    assert np.all(np.isfinite(output(model, frame)))


def test_mean_targets_of_noise_are_not_believed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"id{i:03d}" for i in rng.integers(150, size=600)], "x": rng.standard_normal(600)})
    y = rng.standard_normal(600)
    with pytest.warns(UserWarning, match=CONSTANT):
        AdaptiveFourierRegressor(16, random_state=0).fit(frame, y)


def test_held_out_rows_say_what_new_rows_say():
    """The held-out error that the search goes by is one of rows whose targets nothing has seen."""
    frame, y = cars(AdaptiveFourierRegressor, 1500)
    y = y + np.random.default_rng(1).standard_normal(1500)
    model = AdaptiveFourierRegressor(16, random_state=0, max_seconds=20).fit(frame[:1000], y[:1000])
    held_out = np.min(model.history_.validation[:, 1]) * np.var(y[:1000])
    new = np.mean((model.predict(frame[1000:]) - y[1000:]) ** 2)
    assert 0.6 < held_out / new < 1.6


def test_weights_and_groups_with_tables():
    frame, y = cars(AdaptiveFourierRegressor)
    weight = np.where(np.arange(300) < 20, 0.0, 2.0)
    odd = frame.assign(make=frame["make"].astype(str))
    odd.loc[:19, "make"] = "only here"
    model = small().fit(odd, y, weight, groups=np.arange(300) % 30)
    assert "only here" not in model.encoder_.columns_[1].levels
    assert_array_equal(
        model.predict(odd[20:]), small().fit(odd[20:], y[20:], groups=np.arange(20, 300) % 30).predict(odd[20:])
    )


@every_estimator
def test_tables_pickle_and_clone(kind):
    frame, y = cars(kind)
    model = small(kind, categorical_features=["make", "fuel"]).fit(frame, y)
    assert_array_equal(output(pickle.loads(pickle.dumps(model)), frame), output(model, frame))
    assert clone(model).categorical_features == ["make", "fuel"]
    model.set_params(categorical_features="from_dtype").fit(*targets(kind))
    assert model.encoder_ is None


def test_columns_of_predict_must_be_those_of_fit():
    frame, y = cars(AdaptiveFourierRegressor)
    model = small().fit(frame, y)
    with pytest.raises(ValueError, match="The feature names should match"):
        model.predict(frame.rename(columns={"make": "brand"}))
    with pytest.raises(ValueError, match="X must hold numbers in column 'size' as it did in fit, got 'large' in row 0"):
        model.predict(frame.assign(size="large"))
    with pytest.raises(ValueError, match="Found input variables with inconsistent numbers of samples"):
        small().fit(frame, y[:-1])
