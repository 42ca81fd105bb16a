"""The rows of every member."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, QUICK, automatic, data, ridge, scaled

from fourierwalk.data.features import CosineSine
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.streaming import Streamed
from fourierwalk.solving.solver import Solver
from fourierwalk.tables.encoder import TableEncoder
from fourierwalk.tables.table import Table
from fourierwalk.training import panel as panels
from fourierwalk.training.data import Data
from fourierwalk.training.policy import Policy
from fourierwalk.training.selection import values_at
from fourierwalk.training.split import WALK_REGULARIZATION
from fourierwalk.training.starts import Shape
from fourierwalk.training.task import Task


def panel_of(given, policy=QUICK, **changes):
    """The panel of a quick automatic search."""
    one = automatic(policy, **changes)
    start = one.start(CosineSine(), given, None)
    return Task(one, given, one.sampler, start, CosineSine(), Solver(), 7, None).prepared()[1]


def rows_as_set(*parts):
    return sorted(map(tuple, np.concatenate([part.x for part in parts])))


# Folds, and the order of rows


def test_every_member_of_a_panel_learns_from_the_rows_that_it_does_not_hold_out():
    given = data()
    panel = panel_of(given)
    assert panel.n_together == Policy().folds
    assert panel.n_rows == 150
    assert panel.holds_out
    everything = rows_as_set(panel.rows)
    held = [panel.parts(member)[1] for member in range(panel.n_together)]
    assert rows_as_set(*held) == everything  # each row once
    for member in range(panel.n_together):
        seen, held_out = panel.parts(member)
        assert rows_as_set(seen, held_out) == everything
        split = panel.split(member)
        assert_array_equal(split.problem.rows.x, seen.x)
        assert_array_equal(split.selection.held_out.x, held_out.x)
        assert split.problem.regularization == WALK_REGULARIZATION
        assert split.selection.regularization is None
    assert_array_equal(panel.parts(0)[1].x, panel.parts(panel.n_together)[1].x)  # and round again
    assert panel_of(given, regularization=0.3).split(0).selection.regularization == 0.3


def test_many_rows_hold_out_a_share():
    panel = panel_of(data(), replace(QUICK, few_rows=0))
    assert panel.n_together == 1
    assert len(panel.parts(0)[1]) == 30
    assert not set(rows_as_set(panel.parts(0)[1])) & set(rows_as_set(panel.parts(1)[1]))


def test_rows_that_were_held_out_are_new_to_a_single_member():
    for where in (panel_of(data()), panel_of(data(), replace(QUICK, few_rows=0))):
        whole = where.unsplit()
        assert whole.selection is None
        assert_array_equal(whole.problem.rows.x, where.rows.x)
    x, y = data()[:2]
    assert panel_of(Data(x, y, x_val=x[:9], y_val=y[:9]), replace(QUICK, few_rows=0)).unsplit() is None


@pytest.mark.parametrize("with_validation", [True, False])
def test_rows_come_in_a_random_order(with_validation):
    """The first of them are a sample: of sorted rows too."""
    x = np.linspace(0, 1, 400)[:, None] * [[1.0, 2.0]]
    y = np.sin(9 * x[:, :1])
    given = Data(x, y, x_val=x[::7] + 0.001, y_val=y[::7]) if with_validation else Data(x, y)
    panel = panel_of(given, replace(QUICK, few_rows=0))
    seen, held_out = panel.parts(0)
    assert len(seen) == (400 if with_validation else 320)
    half = seen.x[: len(seen) // 2, 0]
    assert abs(np.mean(half)) < 0.3  # of unit spread; in their own order −0.87
    assert np.std(half) == pytest.approx(1.0, abs=0.15)
    assert_allclose(np.sin(9 * panel_raw(given, seen)), seen.y * y.std() + y.mean(), atol=1e-9)  # with their targets
    if with_validation:
        assert_allclose(held_out.x, (given.x_val - x.mean(axis=0)) / x.std(axis=0))


def panel_raw(given, rows):
    return rows.x[:, :1] * given.x[:, 0].std() + given.x[:, 0].mean()


# The shapes of starts


def test_each_member_that_decides_has_a_shape_of_its_own():
    panel = panel_of(data())
    assert len(panel.shapes) == panel.n_together
    assert [panel.split(member).shape for member in range(3)] == list(panel.shapes[:3])
    assert panel.split(panel.n_together).shape is panel.shapes[0]
    assert panel.shapes[0].relevance[0] > panel.shapes[0].relevance[1]  # sin(3x) of the first
    assert replace(panel, shapes=()).split(0).shape is None


def test_a_spread_of_the_users_own_is_not_explored():
    panel = panel_of(data(), initial=0.5)
    (shape,) = panel.shapes
    assert isinstance(shape, Shape)
    assert shape.width == 2.0
    assert shape.root.shape == (0, 2)
    assert panel_of(data(), initial=np.ones((5, 2))).shapes == ()


# Wide rows, in coordinates


every_form = pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])


def wide(form, n_rows=120, n_inputs=150, validated=False):
    """Counts of more columns than rows."""
    rng = np.random.default_rng(0)
    x = rng.poisson(0.7, (n_rows + 20, n_inputs)).astype(float)
    y = np.sin(x[:, :1] + x[:, 1:2]) + 0.01 * rng.standard_normal((n_rows + 20, 1))
    given = Data(form(x[:n_rows]), y[:n_rows])
    return given._replace(x_val=form(x[n_rows:]), y_val=y[n_rows:]) if validated else given


def both(given, features, spanning_rows=panels.SPANNING_ROWS):
    """The panel of the inputs' own columns, and the same in coordinates."""
    one = automatic(standardize=True, features=features)
    scaling = Scaling.fit(*given[:3])
    task = Task(one, given, one.sampler, one.start(features, given, None), features, Solver(), 7, None)
    own = task._panel(scaling, *task._folds())
    return own, own.narrowed(spanning_rows)


@pytest.mark.parametrize("most", [2000, 25], ids=["of all rows", "of some rows"])
@pytest.mark.parametrize("validated", [True, False], ids=["X_val", "folds"])
@pytest.mark.parametrize("kind", ["cos-sin", "sigmoid"])
@every_form
def test_lifted_frequencies_predict_what_their_coordinates_do(form, kind, validated, most):
    """Also rows that the basis is not made of: what a frequency has no share in does not count."""
    one = FEATURES[kind]
    own, narrow = both(wide(form, validated=validated), one.features, most)
    assert own.n_inputs == 150
    assert narrow.n_inputs <= min(120, most)
    assert own.span is None
    omega = one.frequencies(5, narrow.n_inputs) / 9
    lifted = narrow.lifted(omega)
    assert lifted.shape == (5, 150 + one.extra)
    for member in range(2):
        split, expected = own.split(member), narrow.split(member)
        amplitudes = expected.problem(omega).amplitudes
        assert_allclose(split.problem(lifted).amplitudes, amplitudes, atol=1e-7)
        coefficients = one.features.coefficients(amplitudes)
        for rows, coordinates in (
            (split.problem.rows, expected.problem.rows),
            (split.selection.held_out, expected.selection.held_out),
        ):
            values = values_at(coordinates, one.features, omega, coefficients)
            assert np.std(values) > 0.05  # else the test shows nothing
            assert_allclose(values_at(rows, one.features, lifted, coefficients), values, atol=1e-9)
            assert_array_equal(coordinates.y, rows.y)


@every_form
def test_a_fit_of_wide_rows_is_a_ridge_on_their_own_columns(form):
    given = wide(form, 200, 260)
    one = automatic(replace(QUICK, few_rows=0, sure=0.0, least_width=12), regularization=0.01, n_frequencies=12)
    assert panel_of(given, one.sampler.policy).n_inputs < 260
    fit = one.run(given, np.random.default_rng(0))
    assert fit.model.frequencies.shape == (12, 260)
    x, y = wide(np.asarray, 200, 260)[:2]
    design = FEATURES["cos-sin"].design(scaled(x), fit.model.frequencies)
    unknowns = ridge(design, scaled(y), np.ones(200), 0.01)
    assert_allclose(fit.model.amplitudes, FEATURES["cos-sin"].amplitudes(unknowns) * y.std(), atol=1e-9)
    assert_allclose(fit.model(given.x), y.mean() + y.std() * (design @ unknowns), atol=1e-8)
    assert fit.model.importances.shape == (260,)


def test_rows_of_no_more_columns_than_rows_stay_as_they_are():
    panel = both(wide(np.asarray, 150, 150), CosineSine())[0]
    assert panel.narrowed() is panel
    omega = np.ones((3, 150))
    assert panel.lifted(omega) is omega


def test_streamed_rows_stay_as_they_are():
    panel = both(wide(np.asarray), CosineSine())[0]
    streamed = replace(panel, rows=replace(panel.rows, x=Streamed(panel.rows.x, "cpu")))
    assert streamed.narrowed() is streamed


@pytest.mark.parametrize(
    ("changes", "narrows"),
    [
        ({}, True),
        ({"initial": 0.5}, True),
        ({"initial": np.ones((5, 150))}, False),
        ({"early_stopping": False}, False),
    ],
    ids=["all is chosen", "a spread", "frequencies", "no rows held out"],
)
def test_which_searches_are_in_coordinates(changes, narrows):
    """Frequencies of the user's own may leave the span."""
    panel = panel_of(wide(np.asarray), **changes)
    assert (panel.span is not None) == narrows
    assert (panel.n_inputs < 150) == narrows


# Inputs that depend on targets


def levelled(n=400, n_levels=40):
    """Rows of a table with the mean target of a level, which is noise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.standard_normal(n), "id": [f"id{i}" for i in rng.integers(n_levels, size=n)]})
    return frame, rng.standard_normal((n, 1))


def encoded(frame, y):
    encoding = TableEncoder().encoded(Table.of(frame), y, None)
    return Data(encoding.x, y, is_fixed=encoding.is_fixed, means=encoding.means)


def test_no_row_of_a_split_depends_on_targets_that_are_held_out():
    given = encoded(*levelled())
    panel = panel_of(given)
    mask = panel.split_by.mask(0)
    others = np.where(mask[:, None], given.y + 1, given.y)
    changed = panel_of(given._replace(means=replace(given.means, y=others)))
    assert_array_equal(changed.split_by.mask(0), mask)
    for one, other in zip(panel.parts(0), changed.parts(0), strict=True):
        assert_array_equal(one.x, other.x)
    assert np.any(panel.parts(1)[0].x != changed.parts(1)[0].x)


def test_held_out_noise_stays_noise():
    frame, y = levelled()
    panel = panel_of(encoded(frame, y))
    for member in range(panel.n_together):
        seen, held_out = panel.parts(member)
        for rows in (seen, held_out):
            assert abs(np.corrcoef(rows.x[:, 1], rows.y[:, 0])[0, 1]) < 0.25


def test_wide_rows_that_depend_on_targets_are_narrowed():
    frame, y = levelled(150, 40)
    frame = pd.concat(
        [frame, pd.DataFrame(np.random.default_rng(1).standard_normal((150, 200))).add_prefix("z")], axis=1
    )
    panel = panel_of(encoded(frame, y))
    assert panel.span is not None
    seen, held_out = panel.parts(0)
    assert seen.x.shape[1] == held_out.x.shape[1] == panel.n_inputs < 203
