"""One table drives the tests: every method of both tasks learns, counts its columns and repeats itself."""

import sys
import types

import numpy as np
import oracle
import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.comparison import methods, peers
from fourierwalk.comparison.methods import NAMES, named, table
from fourierwalk.comparison.tuning import BESIDE, OURS, PEER

N = 120
COLUMNS = {
    "ours-8": 16,
    "fixed-8": 16,
    "rbf-sampler": N,
    "nystroem": N,
    "kernel-ridge": N,
    "gaussian-process": N,
    "mlp": 200,
    "boosting": None,
}
OPTIONAL = ("lightgbm", "xgboost", "xrfm")


def rows(task):
    x = np.random.default_rng(0).uniform(-1, 1, (2 * N, 2)) * [1.0, 100.0]
    y = np.sin(2 * x[:, 0]) + x[:, 1] / 100
    return (x[:N], y[:N], x[N:], y[N:]) if task == "regression" else (x[:N], (y[:N] > 0) * 1, x[N:], (y[N:] > 0) * 1)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("name", [*COLUMNS, "svm"])
def test_every_method_learns(task, name):
    (method,) = [method for method in table(task, [8]) if method.name == name]
    x, y, x_test, y_test = rows(task)
    assert method.absent(N) is None
    fitted = method.fit(x, y, 0)
    predicted = fitted.model.predict(x_test)
    assert predicted.shape == y_test.shape
    wrong = np.std(predicted - y_test) / np.std(y_test) if task == "regression" else np.mean(predicted != y_test)
    assert wrong < (0.45 if name in ("mlp", "boosting") else 0.2)
    assert 0 < fitted.last_seconds <= fitted.seconds
    columns = method.columns(fitted.model)
    assert 0 < columns <= N if name == "svm" else columns == COLUMNS[name]


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_ours_is_the_default_estimator(task):
    method = named(task, [8], ["ours"])[0]
    estimator = AdaptiveFourierRegressor if task == "regression" else AdaptiveFourierClassifier
    model = method.fit(*rows(task)[:2], 5).model
    assert type(model) is estimator
    assert model.get_params() == estimator(8, random_state=5).get_params()
    assert method.settings() != named(task, [16], ["ours"])[0].settings()


def test_the_table_has_both_tasks_and_three_families():
    for task in ("regression", "classification"):
        found = table(task, [8, 16])
        ours, fixed, printed = (["ours-8", "ours-16"], ["fixed-8", "fixed-16"], ["algorithm-1-8", "algorithm-1-16"])
        assert [method.name for method in found[:6]] == [*ours, *fixed, *printed]
        assert {method.family for method in found} == {OURS, PEER, BESIDE}
        beside = {method.name for method in found if method.family == BESIDE}
        assert beside == {"boosting", "lightgbm", "xgboost", *printed}  # trees, and the paper's own sampler
        assert len({method.label for method in found}) == len(found)
    assert [method.name for method in named("regression", [8], ["fixed", "mlp"])] == ["fixed-8", "mlp"]
    assert len(named("regression", [8], None)) == len(NAMES) - 1  # the ablation on request only
    with pytest.raises(ValueError, match=r"--methods must name some of ours, ablation, fixed, .*, got 'forest'"):
        named("regression", [8], ["ours", "forest"])


def test_algorithm_1_is_the_printed_one():
    (method,) = named("regression", [8], ["algorithm-1"])
    x, y, x_test, _ = rows("regression")
    model = method.fit(x, y, 5).model
    means, spreads = (np.mean(np.column_stack([x, y]), axis=0), np.std(np.column_stack([x, y]), axis=0))
    scaled = (np.column_stack([x, y]) - means) / spreads  # by N, as estimators do, where Algorithm 3 has N − 1
    omega, beta = oracle.algorithm_1(
        scaled[:, :2], scaled[:, 2:], 8, 1_000, 2.4**2 / 2, 3 * 2 - 2, 0.1, 10, np.random.default_rng(5)
    )
    np.testing.assert_allclose(model.frequencies_, omega, rtol=1e-6, atol=1e-9)
    values = np.exp(1j * ((x_test - means[:2]) / spreads[:2]) @ omega.T) @ beta
    np.testing.assert_allclose(model.predict(x_test), values[:, 0].real * spreads[2] + means[2], rtol=1e-6, atol=1e-9)
    assert method.columns(model) == 16


def test_algorithm_1_needs_a_width():
    assert named("regression", ["auto"], ["algorithm-1"]) == []


EVERY_KIND = {"shaped", "isotropic", "sparse", "long", "long sparse", "walk", "descent"}
KINDS_LOOKED_AT = dict.fromkeys(methods.VARIANTS, EVERY_KIND) | {
    "start-only": EVERY_KIND - {"descent"},
    "unexplored": {"isotropic", "descent"},
    "dense": EVERY_KIND - {"sparse", "long sparse"},
    "no-walk": EVERY_KIND - {"walk"},
    "short": EVERY_KIND - {"long", "long sparse"},
    "metropolis-only": {"walk"},
}


@pytest.mark.filterwarnings("ignore:Nothing was found")  # ten held-out rows may say so
@pytest.mark.parametrize("kind", methods.VARIANTS)
def test_the_ablation_leaves_out_what_it_says(kind):
    (method,) = [each for each in named("regression", [64], ["ablation"]) if each.name == f"ablation-{kind}-64"]
    x, y, x_test, _ = rows("regression")
    model = method.fit(x, y, 0).model
    steps, looks = set(model.history_.phase), {look.phase for look in model.history_.looks}
    assert steps == {"start-only": set(), "metropolis-only": {"walk"}}.get(kind, {"descent"})
    assert looks - {"start", "given"} <= KINDS_LOOKED_AT[kind]  # given: a member starts again from an earlier one
    assert looks >= KINDS_LOOKED_AT[kind] - {"walk"}
    assert np.all(np.isfinite(model.predict(x_test)))
    ours = named("regression", [64], ["ours"])[0]
    assert method.settings() != ours.settings()
    assert (model.regularization_ == 1e-3) == (kind == "fixed-ridge")
    n_folds = [words for words in model.history_.decisions if words.startswith("5 folds")]
    assert bool(n_folds) == (kind not in ("single", "no-folds", "metropolis-only"))


def test_the_ablation_has_labels_of_its_own():
    found = named("regression", [8], ["ablation"])
    assert len({method.label for method in found}) == len(found) == len(methods.VARIANTS)


def test_sizes_that_are_too_much():
    limits = {method.name: method for method in table("regression", [8])}
    assert limits["kernel-ridge"].absent(10_000) is None
    assert "10,001" in limits["kernel-ridge"].absent(10_001)
    assert "10,001" in limits["svm"].absent(10_001)
    assert limits["gaussian-process"].absent(1_500) is None
    assert "1,501" in limits["gaussian-process"].absent(1_501)
    assert limits["nystroem"].absent(10**7) is None


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_missing_library_is_a_note(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    (method,) = named("regression", [8], [name])
    assert method.absent(10) == f"{name} is not installed"


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize(("library", "kind"), [("lightgbm", "LGBM"), ("xgboost", "XGB")])
def test_a_library_that_is_there_is_used(monkeypatch, task, library, kind):
    forest = ExtraTreesRegressor if task == "regression" else ExtraTreesClassifier

    class Booster(forest):
        def __init__(
            self,
            n_estimators=500,
            learning_rate=0.1,
            num_leaves=31,
            max_depth=6,
            verbose=0,
            n_jobs=None,
            random_state=0,
        ):
            super().__init__(n_estimators=5, max_depth=max_depth, n_jobs=1, random_state=random_state)
            self.learning_rate, self.num_leaves = learning_rate, num_leaves
            threads.append(n_jobs)

    threads = []
    kinds = {f"{kind}{end}": Booster for end in ("Regressor", "Classifier")}
    monkeypatch.setitem(sys.modules, library, types.SimpleNamespace(**kinds))
    (method,) = named(task, [8], [library])
    assert method.absent(10) is None
    x, y, x_test, _ = rows(task)
    fitted = method.fit(x, y, 1)
    assert set(fitted.chosen) == {f"model__{name.rpartition('__')[2]}" for name in method.grid}
    assert fitted.model.predict(x_test).shape == (N,)
    assert method.columns(fitted.model) is None
    as_many_as_allowed = 0 if library == "lightgbm" else None  # None is all cores to LightGBM
    assert threads[0] == as_many_as_allowed


def test_the_number_of_components_is_bounded_by_the_rows():
    for name in ("nystroem", "rbf-sampler"):
        (method,) = named("regression", [8], [name])
        assert dict(method.steps(50, 2, 0))["features"].n_components == 50
        assert dict(method.steps(10**6, 2, 0))["features"].n_components == peers.N_COMPONENTS
