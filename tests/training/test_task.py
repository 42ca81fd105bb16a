"""The rows that are held out, and the scaling."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, QUICK, automatic, data, folds_of, ridge, run, scaled, settings

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.training import task
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.data import Data
from fourierwalk.training.ensemble import Ensemble
from fourierwalk.training.policy import Policy

# The rows that are held out


def held_out(x, seed):
    """The rows that a fit from this seed does not show to its walk."""
    return folds_of(x, seed).mask(0)


def test_a_look_is_at_rows_that_the_walk_does_not_see(xp):
    """One look at fixed frequencies: solved on the other rows, measured on these."""
    fit = run(xp, seed=3, sampler="fixed", early_stopping=True)
    x, y = data()[:2]
    mask = held_out(x, seed=3)
    assert 10 < mask.sum() < 60
    kind, omega = FEATURES["cos-sin"], xp.host(fit.model.frequencies)
    design, targets = kind.design(scaled(x), omega), scaled(y)
    unknowns = ridge(design[~mask], targets[~mask], np.ones(np.sum(~mask)), 0.1)
    expected = np.mean((design[mask] @ unknowns - targets[mask]) ** 2)
    assert_allclose(fit.history.validation, [[0, expected]], rtol=1e-8)
    assert f"{mask.sum()} rows held out to choose by" in fit.history.decisions


def test_the_walk_sees_the_other_rows_only():
    """Its losses are those of a walk on these rows, and with the same random numbers."""
    changed = data()
    mask = held_out(changed.x, seed=0)
    changed.y[mask] = changed.y[mask][::-1]  # keeps the scaling
    whole, other = (settings(early_stopping=True).run(one, np.random.default_rng(0)) for one in (data(), changed))
    assert_allclose(whole.history.loss, other.history.loss, rtol=1e-10)
    errors, others = (fit.history.validation[1:, 1] for fit in (whole, other))  # at ω = 0 nothing is predicted yet
    assert np.all(np.abs(errors - others) > 0.01)


def test_holding_rows_out_leaves_the_random_numbers_of_the_walk_alone(monkeypatch):
    monkeypatch.setattr(task, "folds", lambda *_: None)
    split, plain = (run(early_stopping=stopping).resume.state for stopping in (True, False))
    assert_array_equal(split.frequencies, plain.frequencies)


@pytest.mark.parametrize(("n_inputs", "has_folds"), [(59, False), (61, True)])
def test_all_folds_decide_if_there_are_more_columns_than_rows(n_inputs, has_folds):
    x = np.random.default_rng(0).standard_normal((60, n_inputs))
    policy = replace(QUICK, few_rows=0, least_split=50)
    fit = automatic(policy).run(Data(x, x[:, :1]), np.random.default_rng(0))
    assert any("5 folds" in words for words in fit.history.decisions) == has_folds


@pytest.mark.parametrize(
    ("sampler", "early_stopping", "split"),
    [
        ("auto", "auto", True),
        ("auto", True, True),
        ("auto", False, False),
        ("metropolis", "auto", False),
        ("metropolis", True, True),
        ("resampling", "auto", False),
        ("descent", "auto", False),
        (Automatic(QUICK), "auto", True),
    ],
)
def test_when_rows_are_held_out(sampler, early_stopping, split):
    fit = run(sampler=sampler, early_stopping=early_stopping)
    seen = {look.phase for look in fit.history.looks}
    assert bool(seen - {"leave-one-out"}) == split
    assert any("to choose by" in words for words in fit.history.decisions) == split
    assert ("no rows held out" in fit.history.decisions) == (not split)


def test_few_rows_are_not_split():
    """A spread and λ by leave-one-out, and no steps."""
    fit = settings(sampler="auto", n_steps=None, regularization="auto").run(data(n_rows=39), np.random.default_rng(0))
    assert "no rows held out" in fit.history.decisions
    assert any(words.endswith("without steps, by leave-one-out") for words in fit.history.decisions)
    assert fit.resume.state.step == len(fit.history.infos) == 0
    assert [look.phase for look in fit.history.looks] == ["leave-one-out"]
    assert fit.regularization == fit.history.looks[0].regularization
    drawn = np.random.default_rng(0).standard_normal((6, 2))
    powers = np.log2(fit.model.frequencies / drawn * math.sqrt(2))
    assert_allclose(powers, np.round(powers[0, 0]), atol=1e-12)


def test_a_given_regularization_counts_where_one_is_left_out():
    """The spread is the best one at this λ, not at its own."""
    for regularization in (1e-6, 10.0):
        fit = settings(sampler="auto", regularization=regularization).run(data(n_rows=60), np.random.default_rng(0))
        assert fit.history.looks[0].regularization == fit.regularization == regularization


def test_given_rows_are_looked_at_instead():
    x_val, y_val = (part[:20] + 0.5 for part in data()[:2])
    given = Data(*data()[:3], x_val, y_val)
    fit = settings(n_steps=0).run(given, np.random.default_rng(0))
    x, y = data()[:2]
    kind, omega = FEATURES["cos-sin"], fit.model.frequencies
    design, targets = kind.design(scaled(x), omega), scaled(y)
    unknowns = ridge(design, targets, np.ones(len(x)), 0.1)
    new = kind.design((x_val - x.mean(axis=0)) / x.std(axis=0), omega)
    expected = np.mean((new @ unknowns - (y_val - y.mean()) / y.std()) ** 2)
    assert_allclose(fit.history.validation, [[0, expected]], rtol=1e-8)
    assert "states chosen on X_val, y_val" in fit.history.decisions
    assert len(settings().run(given, np.random.default_rng(0)).history.looks) == 5
    with pytest.raises(ValueError, match="X_val and y_val need early_stopping 'auto' or True, got False"):
        settings(early_stopping=False).run(given, np.random.default_rng(0))


@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_validation_rows_become_as_sparse_as_the_others(form):
    dense = np.arange(6.0).reshape(3, 2)
    sparse = form(dense)
    assert task._as_kept(dense, dense + 1) is dense
    assert task._as_kept(sparse, scipy.sparse.csr_array(dense)) is sparse
    made_dense, made_sparse = task._as_kept(sparse, dense), task._as_kept(dense, sparse)
    assert type(made_dense) is np.ndarray
    assert isinstance(made_sparse, scipy.sparse.csr_array)
    assert_array_equal(made_dense, dense)
    assert_array_equal(made_sparse.toarray(), dense)


@pytest.mark.parametrize("one", [settings(), automatic()], ids=["followed", "automatic"])
@pytest.mark.parametrize("n_inputs", [3, 90], ids=["narrow", "wide"])
def test_sparse_and_dense_rows_may_choose_for_each_other(n_inputs, one):
    rng = np.random.default_rng(0)
    y = rng.standard_normal((80, 1))
    x = rng.poisson(np.exp(y), (80, n_inputs)).astype(float)

    def fit(*forms):
        seen, val = (form(part) for form, part in zip(forms, (x[:60], x[60:]), strict=True))
        return one.run(Data(seen, y[:60], x_val=val, y_val=y[60:]), np.random.default_rng(0))

    kept, sparse = np.asarray, scipy.sparse.csr_array
    for forms in ((kept, sparse), (sparse, kept)):
        expected, found = fit(forms[0], forms[0]), fit(*forms)
        assert len(expected.history.looks) > 1
        assert_array_equal(found.history.validation, expected.history.validation)
        assert_array_equal(found.model(x), expected.model(x))


# The scaling


def test_the_kind_of_scaling_is_recorded():
    assert "inputs scaled: columns" in run().history.decisions
    assert "inputs scaled: none" in run(standardize=False).history.decisions


def test_targets_are_scaled_only_where_wanted():
    one_hot = Data(data().x, np.eye(3)[np.arange(150) % 3])
    fit = settings(scale_targets=False).run(one_hot, np.random.default_rng(0))
    kind = FEATURES["cos-sin"]
    design, targets = kind.design(scaled(one_hot.x), fit.model.frequencies), one_hot.y - one_hot.y.mean(axis=0)
    unknowns = ridge(design, targets, np.ones(150), 0.1)
    assert_allclose(fit.model.amplitudes, kind.amplitudes(unknowns), atol=1e-9)
    assert_allclose(fit.model.offset, [1 / 3, 1 / 3, 1 / 3])


def test_a_warm_start_keeps_the_clip_of_heavy_tails():
    """Its frequencies are of inputs that were clipped. A tail that matters is not clipped."""
    rng = np.random.default_rng(0)
    heavy = rng.standard_cauchy((300, 2))
    needed = np.where(rng.random((300, 2)) < 0.85, 0.01 * rng.standard_normal((300, 2)), rng.uniform(1, 2, (300, 2)))
    noise = 0.1 * rng.standard_normal((300, 1))
    tables = {"robust": (heavy, np.sin(4 * np.arctan(heavy[:, :1]))), "columns": (needed, np.sin(6 * needed[:, :1]))}
    for kind, (x, y) in tables.items():
        one, seeded = automatic(standardize="auto"), np.random.default_rng(0)
        first = one.run(Data(x, y + noise), seeded)
        second = one.run(Data(x, y + noise), seeded, first.resume)
        for fit in (first, second):
            assert fit.model.scaling.kind == kind
            assert f"inputs scaled: {kind}" in fit.history.decisions
        assert first.resume.scaling == second.resume.scaling == kind
    fixed = automatic(standardize=True).run(Data(heavy, tables["robust"][1]), np.random.default_rng(0))
    assert fixed.model.scaling.kind == "columns"


def test_a_warm_start_keeps_the_common_scale_of_sparse_rows():
    rng = np.random.default_rng(0)
    x = rng.poisson(np.linspace(0.02, 3.0, 12), (400, 12)).astype(np.float64)
    y = np.sin(x[:, -2:].sum(axis=1, keepdims=True))  # rare columns, which their own scale would blow up, say nothing
    one, seeded = automatic(standardize="auto"), np.random.default_rng(0)
    first = one.run(Data(scipy.sparse.csr_array(x), y), seeded)
    assert first.model.scaling.kind == "common"
    second = one.run(Data(scipy.sparse.csr_array(x), y), seeded, first.resume)
    assert second.model.scaling.kind == "common"


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [({}, "robust"), ({"heavy_tail": 1e6}, "columns"), ({"other_scaling": 1.0}, "columns")],
)
def test_the_policy_of_the_search_decides_on_a_clip(numbers, expected):
    x = np.random.default_rng(0).standard_cauchy((300, 2))
    one = automatic(replace(QUICK, **numbers), standardize="auto")
    fit = one.run(Data(x, np.sin(4 * np.arctan(x[:, :1]))), np.random.default_rng(0))
    assert fit.model.scaling.kind == expected


def test_max_seconds_cut_exploring_short():
    """The second scaling is not tried then, and all inputs are kept."""
    x = np.random.default_rng(0).standard_cauchy((300, 6))
    given = Data(x, np.sin(4 * np.arctan(x[:, :1])))
    seconds = {"robust": None, "columns": 1e-9}
    for kind, most in seconds.items():
        fit = automatic(standardize="auto", max_seconds=most).run(given, np.random.default_rng(0))
        assert fit.model.scaling.kind == kind
        assert any("inputs kept" in words for words in fit.history.decisions) == (kind == "robust")


def test_inputs_that_do_not_help_are_left_out():
    """Their frequency components and importances are zero, and the history says so."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1500, 12))
    y = np.sin(2 * x[:, 3]) + x[:, 7] * x[:, 9] + 0.3 * rng.standard_normal(1500)
    model = AdaptiveFourierRegressor(32, random_state=0).fit(x, y)
    used = np.flatnonzero(np.any(model.frequencies_ != 0, axis=0))
    assert {3, 7, 9} <= set(used)
    assert used.size <= 6
    assert f"{used.size} of 12 inputs kept: the others do not help" in model.history_.decisions
    assert_array_equal(np.flatnonzero(model.feature_importances_), used)
    assert model.score(x, y) > 0.93  # the noise leaves 0.943


# The constant beside the kernels


def clusters(n, d=10, seed=0):
    """A class in a narrow cluster, and one that is scattered all over."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.6
    return np.where(label[:, None], 0.4 * rng.standard_normal((n, d)), rng.uniform(-1.7, 1.7, (n, d))), label


FITTED = "targets measured from a constant that was fitted with the kernels, not from their mean"


def test_far_from_a_cluster_the_class_is_that_of_the_scattered_rows():
    """Amplitudes are shrunk, so a model tends to the center of its targets far from rows: not to the larger class."""
    x, label = clusters(150)
    search = Automatic(replace(Policy(), members=1))
    fits = [
        AdaptiveFourierClassifier(sampler=replace(search, policy=replace(search.policy, other_kernel=share)))
        .set_params(random_state=0)
        .fit(x, label)
        for share in (0.2, 1.0)
    ]
    assert [FITTED in fit.history_.decisions for fit in fits] == [True, False]
    new = clusters(2000, seed=1)
    wrong = [np.mean(fit.predict(new[0]) != new[1]) for fit in fits]
    assert wrong[0] < 0.8 * wrong[1]
    centers = [fit.model_.offset for fit in fits]
    assert_allclose(centers[1], [1 - label.mean(), label.mean()])
    assert centers[0][0] > 0.5 > centers[0][1]
    for fit in fits:
        assert_allclose(np.sum(fit.predict_proba(new[0]), axis=1), 1)


def test_without_a_cluster_targets_are_measured_from_their_mean():
    x = np.random.default_rng(0).standard_normal((150, 3))
    label = x[:, 0] > 0.3
    fit = AdaptiveFourierClassifier(sampler=Automatic(replace(Policy(), members=1)), random_state=0).fit(x, label)
    assert FITTED not in fit.history_.decisions
    assert_allclose(fit.model_.offset, [1 - label.mean(), label.mean()])


def test_regression_measures_targets_from_their_mean():
    """Far from rows a constant would be a guess that can be far off."""
    x, label = clusters(150)
    fit = AdaptiveFourierRegressor(sampler=Automatic(replace(Policy(), members=1)), random_state=0).fit(x, 3.0 * label)
    assert_allclose(fit.model_.offset, 3 * label.mean())


def test_a_constant_model_predicts_the_mean_whatever_the_kernels_fit(monkeypatch):
    monkeypatch.setattr(Ensemble, "beats_the_mean", lambda *_: False)
    x, label = clusters(150)
    with pytest.warns(UserWarning, match="the model is constant"):
        fit = AdaptiveFourierClassifier(random_state=0).fit(x, label)
    assert FITTED in fit.history_.decisions
    shares = np.tile([1 - label.mean(), label.mean()], (len(x), 1))
    assert_allclose(fit.model_(x), shares)
    assert_allclose(fit.model_(x + 100), shares)
