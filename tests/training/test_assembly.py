"""The amplitudes of all rows, the model, and all that is told about a fit."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import (
    FEATURES,
    QUICK,
    OnlyCosines,
    automatic,
    data,
    every_kind,
    folds_of,
    labelled,
    ridge,
    run,
    scaled,
    settings,
)

from fourierwalk.data.rows import Rows
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training import assembly
from fourierwalk.training.assembly import Assembly
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.data import Data
from fourierwalk.training.selection import left_out_values

NARROW = replace(QUICK, widening=1.0)
"""No wider model is ever worth its width, so a given number of frequencies is shared by many members."""

# The final solve


@pytest.mark.parametrize("early_stopping", [True, False], ids=["rows held out", "all rows"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
@every_kind
def test_the_model_is_a_ridge_on_all_scaled_rows(kind, weighted, early_stopping, xp):
    """Rows that the walk did not see count here."""
    fit = settings(features=kind.features, early_stopping=early_stopping).run(
        data(xp, weighted=weighted), np.random.default_rng(0)
    )
    x, y, weight = data(weighted=weighted)[:3]
    omega = xp.host(fit.model.frequencies)
    design = kind.design(scaled(x, weight), omega)
    ones = np.ones(len(x)) if weight is None else weight
    mean = np.average(y, axis=0, weights=weight)
    spread = np.sqrt(np.average((y - mean) ** 2, axis=0, weights=weight))
    unknowns = ridge(design, scaled(y, weight), ones, 0.1)
    assert_allclose(xp.host(fit.model.amplitudes), kind.amplitudes(unknowns) * spread, atol=1e-9)
    assert_allclose(xp.host(fit.model(xp.asarray(x))), mean + spread * (design @ unknowns).real, atol=1e-8)
    assert fit.regularization == 0.1
    assert fit.total_weight == np.sum(ones)
    assert fit.resume.state.step == 12
    assert_array_equal(fit.history.step, np.arange(1, 13))


def test_the_regularization_is_chosen_at_the_final_frequencies(monkeypatch):
    seen = []
    monkeypatch.setattr(assembly, "choose_regularization", lambda eigensystem: seen.append(eigensystem) or 0.25)
    fit = run(regularization="auto")
    assert fit.regularization == 0.25
    assert len(seen) == 1
    x, y = data()[:2]
    kind = FEATURES["cos-sin"]
    unknowns = ridge(kind.design(scaled(x), fit.model.frequencies), scaled(y), np.ones(len(x)), 0.25)
    assert_allclose(fit.model.amplitudes, kind.amplitudes(unknowns) * y.std(), atol=1e-9)
    assert any("regularization 0.25 by generalised cross-validation" in words for words in fit.history.decisions)


def test_the_regularization_of_the_best_state_is_kept():
    fit = run(seed=1, early_stopping=True, n_steps=30, regularization="auto")
    best = min(fit.history.looks, key=lambda look: look.error)
    assert best.regularization / 10 < fit.regularization < 10 * best.regularization
    x, y = data()[:2]
    kind = FEATURES["cos-sin"]
    unknowns = ridge(kind.design(scaled(x), fit.model.frequencies), scaled(y), np.ones(len(x)), fit.regularization)
    assert_allclose(fit.model.amplitudes, kind.amplitudes(unknowns) * y.std(), atol=1e-6)


def test_no_regularization_at_all_is_a_choice():
    for sampler in ("fixed", Automatic(QUICK)):
        assert run(sampler=sampler, regularization=0).regularization == 0.0


def test_the_regularization_of_an_average_is_the_geometric_mean(monkeypatch):
    given, found = [0.1, 0.001, 0.1, 0.001, 0.1], []
    final = Assembly._final

    def changed(self, member, system, events):
        one, factor = final(self, member, system, events)
        found.append(one)
        return one._replace(look=one.look._replace(regularization=given[len(found) - 1])), factor

    monkeypatch.setattr(Assembly, "_final", changed)
    fit = automatic(NARROW, n_frequencies=20).run(data(), np.random.default_rng(0))
    assert len(found) == 5
    assert fit.regularization == pytest.approx(10 ** np.mean(np.log10(given)))


def test_members_of_an_average_have_a_smaller_regularization(monkeypatch):
    """λ was chosen for a member alone. It is divided by the root of their number; amplitudes are solved for anew."""
    chosen, average = [], assembly.for_average

    def seen(members):
        chosen.extend(member.look.regularization for member in members)
        return average(members)

    monkeypatch.setattr(assembly, "for_average", seen)
    fit = automatic(NARROW, n_frequencies=20).run(data(), np.random.default_rng(0))
    assert len(fit.members) == len(chosen) == 5
    assert_allclose([member.regularization for member in fit.members], np.asarray(chosen) / np.sqrt(5))
    x, y = data()[:2]
    kind, at = FEATURES["cos-sin"], 0
    for n, regularization in fit.members:
        unknowns = ridge(
            kind.design(scaled(x), fit.model.frequencies[at : at + n]), scaled(y), np.ones(len(x)), regularization
        )
        assert_allclose(fit.model.amplitudes[at : at + n], kind.amplitudes(unknowns) * y.std() / 5, atol=1e-6)
        at += n


def test_the_final_fit_is_in_double_precision_on_all_rows():
    exact = settings(solver="direct", n_steps=0).run(data(), np.random.default_rng(0))
    for solver in (Solver("direct", "single"), Solver("direct", batch_size=20)):
        fit = settings(solver=solver, n_steps=0).run(data(), np.random.default_rng(0))
        assert_array_equal(fit.model.amplitudes, exact.model.amplitudes)


def test_the_history_says_how_amplitudes_were_solved_for():
    words = settings(solver=Solver("direct", "single")).run(data(), np.random.default_rng(0)).history.decisions
    assert any("12 steps solved on the direct path in single precision" in word for word in words)


# Calibration


def test_numbers_have_no_calibration():
    assert run().calibration is None


def test_calibration_is_on_held_out_rows_by_amplitudes_of_the_others():
    given = labelled()
    one = settings(sampler="fixed", early_stopping=True, scale_targets=False)
    fit = one.run(given, np.random.default_rng(3))
    labels = np.argmax(given.y, axis=1)
    parts = folds_of(given.x, 3, labels)
    mask, order = parts.mask(0), parts.shuffled(np.flatnonzero(parts.mask(0)))
    shares = given.y.mean(axis=0)
    design = FEATURES["cos-sin"].design(scaled(given.x), fit.model.frequencies)
    unknowns = ridge(design[~mask], (given.y - shares)[~mask], np.ones(np.sum(~mask)), 0.1)
    values, targets, weight = fit.calibration
    assert_allclose(values, design[order] @ unknowns + shares, atol=1e-9)
    assert_allclose(targets, given.y[order], atol=1e-12)
    assert weight is None


def test_calibration_without_held_out_rows_is_by_leave_one_out():
    fit = settings(scale_targets=False).run(labelled(), np.random.default_rng(0))
    shares = labelled().y.mean(axis=0)
    rows = Rows(scaled(labelled().x), labelled().y - shares)
    problem = LeastSquares(rows, FEATURES["cos-sin"].features, 0.1)
    expected = left_out_values(problem, fit.model.frequencies, 0.1) + shares
    assert_allclose(fit.calibration.values, expected, atol=1e-9)
    many = labelled(assembly.MOST_LEFT_OUT + 1)  # too many rows: on those of the fit
    fit = settings(scale_targets=False).run(many, np.random.default_rng(0))
    assert_allclose(fit.calibration.values, fit.model(many.x), atol=1e-9)


def test_calibration_of_many_rows_is_on_rows_from_all_over():
    """Also where they come sorted by class."""
    n = 10 * assembly.MOST_LEFT_OUT
    given = labelled(2 * n)
    order = np.argsort(np.argmax(given.y, axis=1))
    fit = settings(scale_targets=False).run(Data(given.x[order], given.y[order]), np.random.default_rng(0))
    assert fit.calibration.values.shape == (n, 3)
    shares = fit.calibration.targets.sum(axis=0) / given.y.sum(axis=0)
    assert_allclose(shares, 0.5, atol=0.01)


def test_whole_weights_calibrate_like_repetitions():
    """The weights add up to the most rows for which one row at a time is left out."""
    given = labelled(400)
    weight = np.full(400, 3.0)
    weight[::2] = 2.0
    again = np.repeat(np.arange(400), weight.astype(int))
    weighted = settings(scale_targets=False).run(given._replace(weight=weight), np.random.default_rng(0))
    repeated = settings(scale_targets=False).run(Data(given.x[again], given.y[again]), np.random.default_rng(0))
    assert weighted.total_weight == repeated.total_weight == assembly.MOST_LEFT_OUT
    assert_allclose(weighted.calibration.values[again], repeated.calibration.values, atol=1e-7)


def test_the_calibration_of_an_average_has_not_seen_its_rows():
    """Each row is held out from one member, and valued by that."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    labels = (np.sin(3 * x[:, 0]) + 0.3 * rng.standard_normal(300) > 0).astype(int)
    given = Data(x, np.eye(2)[labels])
    fit = automatic(NARROW, scale_targets=False, n_frequencies=20).run(given, np.random.default_rng(3))
    parts, shares = folds_of(x, 3, labels, few=1000), given.y.mean(axis=0)
    order = [parts.shuffled(np.flatnonzero(parts.mask(member))) for member in range(len(parts))]
    assert_array_equal(np.sort(np.concatenate(order)), np.arange(300))
    assert_allclose(fit.calibration.targets, given.y[np.concatenate(order)], atol=1e-12)
    omega = fit.model.frequencies
    assert len(omega) == 4 * len(parts) == 20
    expected = []
    for member, rows in enumerate(order):  # amplitudes of the other rows: any λ's, so fitted to the values themselves
        design = FEATURES["cos-sin"].design(scaled(x), omega[4 * member : 4 * member + 4])[rows]
        begin = sum(len(one) for one in order[:member])
        values = fit.calibration.values[begin : begin + len(rows)] - shares
        expected.append(design @ np.linalg.lstsq(design, values, rcond=None)[0] - values)
    assert_allclose(np.concatenate(expected), 0, atol=1e-8)
    whole = fit.model(x[np.concatenate(order)])
    assert np.max(np.abs(whole - fit.calibration.values)) > 0.01


# What a model says beyond its values


def test_importances_are_mean_squared_slopes_along_scaled_inputs():
    fit = run(sampler="descent", n_steps=20)
    x = data().x
    squares = []
    for j in range(2):
        move = 1e-5 * x.std(axis=0) * np.eye(2)[j]
        squares.append(np.mean(((fit.model(x + move) - fit.model(x - move)) / 2e-5) ** 2))
    assert_allclose(fit.model.importances, squares / np.sum(squares), rtol=1e-5)
    assert fit.model.importances[0] > 0.5  # sin(3x) of the first input


def test_features_without_slopes_have_no_importances():
    fit = run(features=OnlyCosines())
    assert fit.model.importances is None
    with pytest.raises(ValueError, match="relevance needs a model with importances"):
        fit.model.relevance()


def test_a_constant_model_warns_and_has_no_favourite_input():
    rng = np.random.default_rng(0)
    noise = Data(rng.standard_normal((300, 2)), rng.standard_normal((300, 1)))
    with pytest.warns(UserWarning, match="the model is constant. More rows"):
        fit = automatic().run(noise, np.random.default_rng(0))
    assert_allclose(fit.model(noise.x), noise.y.mean())
    assert_allclose(fit.model.importances, [0.5, 0.5])
    assert fit.regularization == math.inf
    assert not np.any(fit.model.amplitudes)
