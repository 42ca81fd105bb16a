"""Tuning sees training rows only, looks twice, and bears what its grids do."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge

from fourierwalk.comparison import tuning
from fourierwalk.comparison.adapters import KernelRidgeClassifier
from fourierwalk.comparison.tuning import HeldOut, Tuned, some_rows


class Warning_(KernelRidge):
    """Warns in every fit, as a network that is stopped early does."""

    def fit(self, X, y=None, sample_weight=None):
        warnings.warn("stopped early", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y)


def ridge(kind=KernelRidge, **changes):
    grid = {"model__gamma": (0.01, 1.0, 100.0), "model__alpha": (1e-3, 1.0)}
    settings = {"grid": grid, "finer": {"model__gamma": (0.3, 1.0, 3.0)}, "count": lambda model, n: n, **changes}
    return Tuned("name", "label", "regression", lambda n, d, seed: [("model", kind(kernel="rbf"))], **settings)


def rows(n=200, d=1):
    x = np.random.default_rng(0).normal(5.0, 3.0, (n, d))
    return x, 1e3 + 50 * np.sin(4 * (x[:, 0] - 5) / 3)


def test_the_second_search_is_closer_and_gamma_is_over_the_number_of_inputs():
    fitted = ridge().fit(*rows(), seed=0)
    assert fitted.chosen["model__gamma"] in (0.3, 1.0, 3.0, 30.0)
    assert fitted.chosen["model__alpha"] == 1e-3
    x, y = rows(d=2)
    wide = ridge(finer={}).fit(x, y, seed=0)
    assert wide.chosen["model__gamma"] in (0.01 / 2, 1.0 / 2, 100.0 / 2)
    assert fitted.seconds > fitted.last_seconds > 0


def test_targets_come_back_in_their_units():
    x, y = rows()
    model = ridge().fit(x, y, seed=0).model
    assert np.sqrt(np.mean((model.predict(x) - y) ** 2)) < 5
    assert ridge().columns(model) == 200


def test_kernels_narrower_than_the_rows_lie_are_not_tried():
    assert tuning._values("model__gamma", (0.1, 1.0, 10.0, 1e4), 1000, 1) == [0.1, 1.0, 10.0, 1e4]
    assert tuning._values("model__gamma", (0.1, 1.0, 10.0, 1e4), 1000, 10) == [0.01, 0.1]
    assert tuning._values("model__alpha", (0.1, 1e4), 1000, 10) == [0.1, 1e4]


def test_a_part_of_the_rows_is_tuned_on_and_all_are_fitted(monkeypatch):
    sizes = []
    original = KernelRidge.fit

    def counted(self, X, y=None, sample_weight=None):
        sizes.append(X.shape[0])
        return original(self, X, y)

    monkeypatch.setattr(KernelRidge, "fit", counted)
    ridge(tuning_rows=60).fit(*rows(), seed=0)
    assert set(sizes[:-1]) == {40}
    assert sizes[-1] == 200
    assert len(sizes) == 3 * 6 + 3 * 3 + 1


def test_rows_are_taken_by_seed_and_class():
    x, y = np.arange(100)[:, None], np.repeat([0, 1], [80, 20])
    part, labels = some_rows(x, y, 50, "classification", 0)
    assert np.bincount(labels).tolist() == [40, 10]
    np.testing.assert_array_equal(part, some_rows(x, y, 50, "classification", 0)[0])
    assert not np.array_equal(part, some_rows(x, y, 50, "classification", 1)[0])
    assert some_rows(x, y, 100, "classification", 0)[0] is x


def test_expected_warnings_are_silent_and_others_are_not():
    ridge(kind=Warning_).fit(*rows(30), seed=0)
    with pytest.warns(UserWarning, match="something else"), tuning._expected_warnings():
        warnings.warn("something else", UserWarning, stacklevel=1)


def test_absence_has_a_reason():
    assert ridge().absent(10**9) is None
    assert ridge(most_rows=10).absent(10) is None
    assert ridge(most_rows=1_000).absent(1_001) == "1,001 training rows are more than 1,000"
    assert ridge(module="no_such_library").absent(1) == "no_such_library is not installed"


def test_one_held_out_fifth_judges(monkeypatch):
    sizes = []
    original = KernelRidge.fit

    def counted(self, X, y=None, sample_weight=None):
        sizes.append(X.shape[0])
        return original(self, X, y)

    monkeypatch.setattr(KernelRidge, "fit", counted)
    grids = [{"model__gamma": (g,), "model__alpha": (1e-3, 1.0)} for g in (1.0, 100.0)]
    method = ridge(grid=grids, finer={}, search=HeldOut())
    fitted = method.fit(*rows(), seed=0)
    assert sizes == [160] * 4 + [200]
    assert set(fitted.chosen) == {"model__gamma", "model__alpha"}
    assert fitted.chosen["model__alpha"] == 1e-3
    assert method.settings() != ridge(grid=grids, finer={}).settings()


def test_the_held_out_fifth_is_by_seed_and_class():
    x, y = np.zeros((100, 1)), np.repeat([0, 1], [80, 20])
    held = [next(HeldOut().folds("classification", seed).split(x, y))[1] for seed in (0, 0, 1)]
    assert np.bincount(y[held[0]]).tolist() == [16, 4]
    np.testing.assert_array_equal(held[0], held[1])
    assert not np.array_equal(held[0], held[2])


def test_classes_too_small_to_hold_some_out_are_dropped():
    x, y = rows(60)[0], np.repeat([0, 1, 2], [30, 28, 2])
    steps = [("model", KernelRidgeClassifier(kernel="rbf"))]
    method = Tuned("n", "l", "classification", lambda n, d, seed: steps, search=HeldOut(), least_members=5)
    model = method.fit(x, y, seed=0).model
    assert model["model"].classes_.tolist() == [0, 1]
    assert method.columns(model) is None
