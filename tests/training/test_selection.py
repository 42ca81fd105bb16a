from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import log_loss
from tables import FEATURES, Plain, every_kind, problem, ridge

from fourierwalk.data.features import CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training import selection
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.selection import (
    PATH,
    Candidate,
    Look,
    Selection,
    by_leave_one_out,
    choose_regularization,
    gcv,
    leave_one_out,
    left_out_values,
    refined,
    regularization_path,
)
from fourierwalk.training.temperature import CERTAIN_SCALE, best_temperature


def rows_of(backend, x, y, weight=None, **options):
    return Rows(*(None if part is None else backend.asarray(part) for part in (x, y, weight)), **options)


# λ


@pytest.mark.parametrize(("n_rows", "n_frequencies"), [(40, 5), (12, 20)], ids=["tall", "wide"])
@every_kind
def test_gcv_is_its_definition(kind, n_rows, n_frequencies, anywhere):
    """(|y − Hy|²/N) / (1 − tr H/N)², with the matrix H written out."""
    x, y, _ = problem(n_rows)
    omega = kind.frequencies(n_frequencies, 2)
    eigensystem = LeastSquares(rows_of(anywhere, x, y), kind.features, 0.0).eigensystem(anywhere.asarray(omega))
    design = kind.design(x, omega)
    for regularization in (0.01, 0.1, 3.0):
        penalty = regularization * n_rows * np.eye(design.shape[1])
        hat = design @ np.linalg.solve(design.conj().T @ design + penalty, design.conj().T)
        residual = np.sum(np.abs(y - hat @ y) ** 2) / n_rows
        expected = residual / (1 - np.trace(hat).real / n_rows) ** 2
        assert gcv(eigensystem, regularization) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("path", ["direct", "dual"])
def test_gcv_counts_weights_as_repetitions(path):
    x, y, weight = problem(20)
    again = np.repeat(np.arange(20), weight.astype(int))
    omega = FEATURES["cos-sin"].frequencies(4, 2)
    features = FEATURES["cos-sin"].features
    weighted = LeastSquares(Rows(x, y, weight), features, 0.0, Solver(path)).eigensystem(omega)
    repeated = LeastSquares(Rows(x[again], y[again]), features, 0.0, Solver(path)).eigensystem(omega)
    assert gcv(weighted, 0.1) == pytest.approx(gcv(repeated, 0.1), rel=1e-10)
    assert choose_regularization(weighted) == pytest.approx(choose_regularization(repeated), rel=1e-10)


def test_the_choice_minimises_gcv_on_the_path():
    x, y, _ = problem(60)
    minimize = LeastSquares(Rows(x, y), FEATURES["cos-sin"].features, 0.0)
    eigensystem = minimize.eigensystem(FEATURES["cos-sin"].frequencies(20, 2))
    path = regularization_path(eigensystem)
    chosen = choose_regularization(eigensystem)
    assert chosen in path
    assert gcv(eigensystem, chosen) == min(gcv(eigensystem, value) for value in path)
    assert type(chosen) is float


def test_noise_wants_a_larger_regularization_than_a_signal():
    x, noise, _ = problem(60, n_outputs=1)
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(10, 2)
    signal = kind.design(x, omega)[:, :1]
    chosen = [
        choose_regularization(LeastSquares(Rows(x, y), kind.features, 0.0).eigensystem(omega)) for y in (signal, noise)
    ]
    assert chosen[0] < 1e-3 * chosen[1]


@every_kind
def test_the_path_bounds_the_condition_number(kind):
    x, y, _ = problem(60)
    eigensystem = LeastSquares(Rows(x, y), kind.features, 0.0).eigensystem(kind.frequencies(10, 2))
    path, largest = regularization_path(eigensystem), eigensystem.values[-1] / 60
    assert_allclose([path[0], path[-1]], [largest / selection.CONDITION, largest])
    assert_allclose(np.diff(np.log(path)), np.log(selection.CONDITION) / 24)


@every_kind
def test_equal_frequencies_still_have_a_regularization(kind, anywhere):
    """At ω = 0 there is one column, or with no bias none at all."""
    x, y, _ = problem(20)
    for n_frequencies in (4, 40):
        omega = anywhere.asarray(np.zeros((n_frequencies, 2 + kind.extra)))
        eigensystem = LeastSquares(rows_of(anywhere, x, y), kind.features, 0.0).eigensystem(omega)
        chosen = choose_regularization(eigensystem)
        assert 0 < chosen < np.inf
        assert np.all(np.isfinite(anywhere.host(eigensystem.amplitudes(chosen))))


# Leave-one-out


def refits(kind, x, y, weight, omega, regularization):
    """Values at each row of a ridge without one unit of its weight; λN is that of all rows."""
    values = np.empty(y.shape, dtype=complex)
    ridge_of_all = regularization * np.sum(weight)
    for i in range(len(x)):
        left = weight - (np.arange(len(x)) == i)
        unknowns = ridge(kind.design(x, omega), y, left, ridge_of_all / np.sum(left))
        values[i] = (kind.design(x[i : i + 1], omega) @ unknowns)[0]
    return values


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n_rows", "n_frequencies"), [(40, 5), (12, 20)], ids=["tall", "wide"])
@every_kind
def test_leave_one_out_is_as_many_refits(kind, n_rows, n_frequencies, weighted, xp):
    x, y, weight = problem(n_rows)
    omega, path = kind.frequencies(n_frequencies, 2), np.array([0.01, 0.1, 3.0])
    minimize = LeastSquares(rows_of(xp, x, y, weight if weighted else None), kind.features, 0.0)
    there, ones = xp.asarray(omega), weight if weighted else np.ones(n_rows)
    found = leave_one_out(minimize, minimize.eigensystem(there), there, path)
    for regularization, error in zip(path.tolist(), found, strict=True):
        values = refits(kind, x, y, ones, omega, regularization)
        expected = np.average(np.sum(np.abs(values - y) ** 2, axis=1), weights=ones)
        assert error == pytest.approx(expected, rel=1e-8)
        assert_allclose(left_out_values(minimize, there, regularization), values.real, atol=1e-8)


@pytest.mark.parametrize("path", ["direct", "dual"])
def test_leave_one_out_counts_weights_as_repetitions(path):
    x, y, weight = problem(20)
    again = np.repeat(np.arange(20), weight.astype(int))
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(4, 2)
    weighted = LeastSquares(Rows(x, y, weight), kind.features, 0.0, Solver(path))
    repeated = LeastSquares(Rows(x[again], y[again]), kind.features, 0.0, Solver(path))
    assert_allclose(left_out_values(weighted, omega, 0.1)[again], left_out_values(repeated, omega, 0.1), atol=1e-12)
    one, other = (by_leave_one_out(minimize, omega) for minimize in (weighted, repeated))
    assert one.look.error == pytest.approx(other.look.error, rel=1e-10)
    assert one.look.regularization == pytest.approx(other.look.regularization, rel=1e-10)


def test_blocks_change_no_leave_one_out(xp):
    x, y, weight = problem(40)
    minimize = LeastSquares(rows_of(xp, x, y, weight), FEATURES["complex"].features, 0.0)
    omega = xp.asarray(FEATURES["complex"].frequencies(5, 2))
    at_once = left_out_values(minimize, omega, 0.1), by_leave_one_out(minimize, omega).look.error
    minimize = replace(minimize, rows=rows_of(xp, x, y, weight, block_bytes=8 * 20))
    assert_allclose(left_out_values(minimize, omega, 0.1), at_once[0], rtol=1e-10)
    assert by_leave_one_out(minimize, omega).look.error == pytest.approx(at_once[1], rel=1e-10)


@every_kind
def test_the_choice_minimises_leave_one_out_on_the_path(kind, xp):
    x, y, weight = problem(30)
    minimize = LeastSquares(rows_of(xp, x, y, weight), kind.features, 0.0)
    omega = kind.frequencies(5, 2)
    there = xp.asarray(omega)
    eigensystem = minimize.eigensystem(there)
    path = regularization_path(eigensystem)
    errors = leave_one_out(minimize, eigensystem, there, path)
    (step, error, regularization, phase), _, amplitudes = by_leave_one_out(minimize, there)
    assert (step, phase) == (0, "leave-one-out")
    assert error == errors.min()
    assert regularization == path[np.argmin(errors)]
    unknowns = ridge(kind.design(x, omega), y, weight, regularization)
    assert_allclose(xp.host(amplitudes), kind.amplitudes(unknowns), atol=1e-6)


@pytest.mark.parametrize("regularization", [0.0, 0.3])
def test_leave_one_out_at_a_given_regularization(regularization):
    x, y, _ = problem(30)
    kind = FEATURES["cos-sin"]
    minimize = LeastSquares(Rows(x, y), kind.features, 123.0)
    omega = kind.frequencies(5, 2)
    look = by_leave_one_out(minimize, omega, regularization).look
    values = refits(kind, x, y, np.ones(30), omega, regularization)
    assert look.regularization == regularization
    assert look.error == pytest.approx(np.mean(np.sum((values.real - y) ** 2, axis=1)), rel=1e-6)


def test_leave_one_out_where_all_columns_are_zero():
    """No inputs, no bias, no ridge: what is left is the mean."""
    y = problem(20)[1]
    minimize = LeastSquares(Rows(np.zeros((20, 2)), y), FEATURES["no bias"].features, 0.0)
    omega = FEATURES["no bias"].frequencies(4, 2)
    assert by_leave_one_out(minimize, omega, 0.0).look.error == pytest.approx(np.mean(np.sum(y**2, axis=1)))
    assert_array_equal(left_out_values(minimize, omega, 0.0), np.zeros((20, 2)))


# States


def split(backend, weighted=True):
    x, y, weight = problem(60)
    parts = (x[:45], y[:45], weight[:45]), (x[45:], y[45:], weight[45:])
    return [rows_of(backend, *(part if weighted else part[:2])) for part in parts], parts


@pytest.mark.parametrize("weighted", [True, False])
@every_kind
def test_a_look_measures_amplitudes_of_its_own(kind, weighted, xp):
    (seen, held_out), ((x, y, weight), (x_val, y_val, weight_val)) = split(xp, weighted)
    if not weighted:
        weight, weight_val = np.ones(45), np.ones(15)
    omega = kind.frequencies(5, 2)
    looks = Selection(LeastSquares(seen, kind.features, 123.0), held_out, 0.2)
    look, frequencies, amplitudes = looks.look(30, xp.asarray(omega), "descent")
    unknowns = ridge(kind.design(x, omega), y, weight, 0.2)
    residual = (kind.design(x_val, omega) @ unknowns).real - y_val
    expected = np.sum(weight_val * np.sum(residual**2, axis=1)) / np.sum(weight_val)
    assert look.error == pytest.approx(expected, rel=1e-8)
    assert look == Look(30, look.error, 0.2, "descent")
    assert_array_equal(xp.host(frequencies), omega)
    assert_allclose(xp.host(amplitudes), kind.amplitudes(unknowns), atol=1e-9)


@pytest.mark.parametrize("path", ["direct", "dual"])
@every_kind
def test_a_look_chooses_the_best_of_a_path_on_held_out_rows(kind, path, xp):
    (seen, held_out), ((x, y, weight), (x_val, y_val, weight_val)) = split(xp)
    omega = kind.frequencies(5, 2)
    minimize = LeastSquares(seen, kind.features, 123.0, Solver(path))
    errors = {}
    for regularization in PATH:
        unknowns = ridge(kind.design(x, omega), y, weight, regularization)
        residual = (kind.design(x_val, omega) @ unknowns).real - y_val
        errors[regularization] = np.average(np.sum(residual**2, axis=1), weights=weight_val)
    best = min(errors, key=errors.get)
    look, _, amplitudes = Selection(minimize, held_out).look(0, xp.asarray(omega))
    assert look.regularization == best
    assert look.error == pytest.approx(errors[best], rel=1e-6)
    unknowns = ridge(kind.design(x, omega), y, weight, best)
    assert_allclose(xp.host(amplitudes), kind.amplitudes(unknowns), atol=1e-6)


@pytest.mark.parametrize("start", [0, 3, 9])
def test_a_look_near_another_walks_along_the_path(start, monkeypatch):
    """Neighbours first; beyond them only while the end is the best. For errors with one valley: the best of all."""
    for valley in range(10):
        asked = []

        def along(self, omega, path, asked=asked):
            asked.extend(path)
            return [(value, np.full((3, 1), value)) for value in path]

        def errors(self, omega, amplitudes, valley=valley):
            return [abs(PATH.index(each[0, 0]) - valley) + 1.0 for each in amplitudes]

        monkeypatch.setattr(LeastSquares, "along", along)
        monkeypatch.setattr(Selection, "errors", errors)
        x = np.zeros((4, 2))
        selection = Selection(LeastSquares(Rows(x, x), CosineSine(), 0.1), Rows(x, x))
        found = selection.look_near(Look(0, 1.0, PATH[start]), 7, x, "descent")
        assert found.look == Look(7, 1.0, PATH[valley], "descent")
        low, high = min(start, valley) - 1, max(start, valley) + 1
        assert sorted(asked) == list(PATH[max(0, low) : high + 1])


def test_a_look_near_where_every_neighbour_is_too_small(monkeypatch):
    """The whole path is tried."""
    monkeypatch.setattr(
        LeastSquares, "along", lambda self, omega, path: [(v, np.zeros((3, 1))) for v in path if v >= 1e-3]
    )
    monkeypatch.setattr(
        Selection, "errors", lambda self, omega, amplitudes: [1.0 + i for i, _ in enumerate(amplitudes)]
    )
    x = np.zeros((4, 2))
    looks = Selection(LeastSquares(Rows(x, x), CosineSine(), 0.1), Rows(x, x))
    assert looks.look_near(Look(0, 1.0, PATH[0]), 7, x, "descent").look.regularization == pytest.approx(1e-3)


def test_the_path_of_looks():
    assert_allclose(PATH, 10.0 ** np.arange(-8, 2))


@pytest.mark.parametrize("n_members", [1, 3])
def test_members_have_one_regularization_from_a_finer_path(n_members):
    """Plain loops: every λ between the members' own and three quarters of a decade beyond, for all members."""
    rng, features = np.random.default_rng(0), FEATURES["cos-sin"].features
    x = rng.standard_normal((48, 2))
    rows = Rows(x, np.sin(2 * x[:, :1]) + 0.3 * rng.standard_normal((48, 1)))
    judges, members = [], []
    for member in range(n_members):
        held = np.arange(48) % 4 == member
        problem = LeastSquares(rows.take(np.flatnonzero(~held)), features, 0.0)
        judges.append(Selection(problem, rows.take(np.flatnonzero(held)), tie=0.0))
        members.append(judges[-1].look(7, 2.0 * rng.standard_normal((10, 2)), "descent"))
    own = [member.look.regularization for member in members]
    assert len(set(own)) == n_members  # else nothing is pooled
    path = [min(own) * 10 ** (power / 4) for power in range(-3, round(4 * np.log10(max(own) / min(own))) + 4)]
    tried = {
        value: [
            replace(judge, regularization=value).look(7, member.frequencies, "descent")
            for judge, member in zip(judges, members, strict=True)
        ]
        for value in path
    }
    means = {value: np.mean([each.look.error for each in candidates]) for value, candidates in tried.items()}
    expected, found = tried[min(means, key=means.get)], refined(members, judges)
    assert means[min(means, key=means.get)] < min(
        means[value] for value in path if abs(np.log10(value) - round(np.log10(value))) < 1e-9
    )
    for one, other in zip(found, expected, strict=True):
        assert one.look.regularization == pytest.approx(other.look.regularization, rel=1e-12)
        assert one.look.error == pytest.approx(other.look.error, rel=1e-10)
        assert (one.look.step, one.look.phase) == (7, "descent")
        assert_allclose(one.amplitudes, other.amplitudes, rtol=1e-8)


def test_the_largest_of_tied_regularizations_is_shared():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((48, 2))
    rows = Rows(x, np.sin(2 * x[:, :1]) + 0.3 * rng.standard_normal((48, 1)))
    problem = LeastSquares(rows.take(np.arange(36)), FEATURES["cos-sin"].features, 0.0)
    judge = Selection(problem, rows.take(np.arange(36, 48)), tie=0.0)
    member = judge.look(7, 2.0 * rng.standard_normal((10, 2)), "descent")
    largest = member.look.regularization * 10**0.75
    (least,), (tied,) = refined([member], [judge]), refined([member], [replace(judge, tie=1e9)])
    assert least.look.regularization < 0.9 * largest  # else the test shows nothing
    assert tied.look.regularization == pytest.approx(largest)


def test_a_regularization_of_the_users_own_and_singular_equations_are_not_refined(monkeypatch):
    (seen, held_out), _ = split(Plain)
    kind = FEATURES["cos-sin"]
    looks = Selection(LeastSquares(seen, kind.features, 0.0), held_out)
    coarse = looks.look(7, kind.frequencies(5, 2), "descent")
    assert refined([coarse], [replace(looks, regularization=0.1)])[0] is coarse
    monkeypatch.setattr(Selection, "along", lambda *given: [])
    assert refined([coarse], [looks])[0] is coarse


def test_a_look_where_every_regularization_is_too_small():
    """λN is nothing beside 10²⁰: a solution of minimum norm, and finite."""
    rows = Rows(np.ones((30, 1)), np.ones((30, 1)))

    class Huge:
        name, n_columns, n_unknowns = "huge", 1, 1
        dimension = staticmethod(lambda n_features: n_features)
        columns = staticmethod(lambda block, omega: 1e10 * np.ones((block.x.shape[0], omega.shape[0])))
        system = staticmethod(lambda gram, moment: (gram, moment))
        matrix = amplitudes = coefficients = staticmethod(lambda values: values)

    looks = Selection(LeastSquares(rows, Huge(), 0.0, Solver("direct")), rows)
    with pytest.warns(RuntimeWarning, match="singular to working precision"):
        look, _, amplitudes = looks.look(0, np.ones((4, 1)))
    assert look.regularization == PATH[-1]
    assert look.error == pytest.approx(0, abs=1e-10)
    assert np.all(np.isfinite(amplitudes))


@pytest.mark.parametrize("weighted", [True, False])
def test_looks_of_classes_are_log_losses_at_the_best_temperature(weighted, xp):
    x, _, weight = problem(60)
    codes = (np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] > 0).astype(int) + (x[:, 1] > 1)
    shares = np.bincount(codes) / 60
    y, weight = np.eye(3)[codes] - shares, weight if weighted else np.ones(60)
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(5, 2)
    seen, held_out = (rows_of(xp, x[part], y[part], weight[part]) for part in (slice(45), slice(45, None)))
    minimize = LeastSquares(seen, kind.features, 0.0)
    looks = Selection(minimize, held_out, 0.2, xp.asarray(shares))
    found = looks.look(0, xp.asarray(omega)).look.error
    unknowns = ridge(kind.design(x[:45], omega), y[:45], weight[:45], 0.2)
    values = kind.design(x[45:], omega) @ unknowns + shares
    scale = float(best_temperature(values, np.eye(3)[codes[45:]], weight[45:], CERTAIN_SCALE)[0])
    probabilities = softmax(scale * values, axis=1)
    assert 1 < scale < 100  # else the test shows nothing
    assert found == pytest.approx(
        log_loss(codes[45:], probabilities, sample_weight=weight[45:], labels=[0, 1, 2]), rel=1e-7
    )


@pytest.mark.parametrize("weighted", [True, False])
@every_kind
def test_gains_are_what_each_held_out_row_gains_over_the_mean(kind, weighted, xp):
    (seen, held_out), (_, (x_val, y_val, weight_val)) = split(xp, weighted)
    omega = kind.frequencies(5, 2)
    looks = Selection(LeastSquares(seen, kind.features, 0.0), held_out, 0.2)
    candidate = looks.look(0, xp.asarray(omega))
    unknowns = ridge(kind.design(xp.host(seen.x), omega), xp.host(seen.y), weight_of(seen, xp), 0.2)
    expected = []
    for i in range(15):
        values = (kind.design(x_val[i : i + 1], omega) @ unknowns)[0].real
        gain = sum(target**2 - (value - target) ** 2 for value, target in zip(values, y_val[i], strict=True))
        expected.append(gain * weight_val[i] if weighted else gain)
    found = looks.gains(candidate)
    assert type(found) is np.ndarray
    assert np.ptp(np.sign(expected)) == 2  # else a sign could be lost
    expected = np.array(expected) / (np.mean(weight_val) if weighted else 1.0)
    assert_allclose(np.sort(found), np.sort(expected), rtol=1e-6)


def test_gains_are_those_over_the_mean_from_whatever_targets_are_measured(xp):
    (seen, held_out), _ = split(xp, False)
    kind, shift = FEATURES["cos-sin"], np.array([0.5, -1.5])
    plain = Selection(LeastSquares(seen, kind.features, 0.0), held_out, 0.2)
    moved = replace(plain, held_out=replace(held_out, y=held_out.y - xp.asarray(shift)), mean=xp.asarray(-shift))
    candidate = plain.look(0, xp.asarray(kind.frequencies(5, 2)))
    nothing = candidate._replace(amplitudes=0 * candidate.amplitudes)
    targets = xp.host(held_out.y)
    expected = np.sum(targets**2 - (targets - shift) ** 2, axis=1)  # zero now stands for the shift
    assert_allclose(np.sort(moved.gains(nothing)), np.sort(expected), rtol=1e-6)
    assert_allclose(plain.gains(nothing), 0 * expected)


def weight_of(rows, backend):
    return np.ones(len(rows)) if rows.weight is None else backend.host(rows.weight)


@pytest.mark.parametrize("weighted", [True, False])
def test_gains_of_classes_are_those_of_log_losses(weighted, xp):
    """Either model at its best temperature."""
    x, _, weight = problem(60)
    codes = (np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] > 0).astype(int) + (x[:, 1] > 1)
    shares = np.bincount(codes) / 60
    one_hot, weight = np.eye(3)[codes], weight if weighted else np.ones(60)
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(5, 2)
    seen, held_out = (
        rows_of(xp, x[part], one_hot[part] - shares, weight[part] if weighted else None)
        for part in (slice(45), slice(45, None))
    )
    looks = Selection(LeastSquares(seen, kind.features, 0.0), held_out, 0.2, xp.asarray(shares))
    found = looks.gains(looks.look(0, xp.asarray(omega)))
    unknowns = ridge(kind.design(x[:45], omega), one_hot[:45] - shares, weight[:45], 0.2)
    fitted = kind.design(x[45:], omega) @ unknowns + shares
    losses = []
    for values in (np.tile(shares, (15, 1)), fitted):
        scale = float(best_temperature(values, one_hot[45:], weight[45:], CERTAIN_SCALE)[0])
        losses.append([-np.log(softmax(scale * row)[code]) for row, code in zip(values, codes[45:], strict=True)])
    assert np.ptp(np.sign(found)) == 2
    expected = weight[45:] * (np.array(losses[0]) - losses[1]) / np.mean(weight[45:])
    assert_allclose(np.sort(found), np.sort(expected), rtol=1e-6)


def test_gains_and_errors_agree():
    """The mean of the gains is what the error is below that of the mean; the constant model gains nothing."""
    (seen, held_out), (_, (_, y_val, weight_val)) = split(Plain)
    kind = FEATURES["cos-sin"]
    looks = Selection(LeastSquares(seen, kind.features, 0.0), held_out)
    candidate = looks.look(0, kind.frequencies(5, 2))
    constant = np.average(np.sum(y_val**2, axis=1), weights=weight_val)
    assert np.mean(looks.gains(candidate)) == pytest.approx(constant - candidate.look.error)
    again = replace(looks, held_out=looks.held_out.take(np.tile(np.arange(15), 2)))
    assert_allclose(again.gains(candidate), looks.gains(candidate))
    assert_array_equal(looks.gains(candidate._replace(amplitudes=0 * candidate.amplitudes)), np.zeros(15))


@pytest.mark.parametrize("regularization", [0.0, 1e-8, 10.0])
def test_a_constant_model_is_one_of_infinite_regularization(regularization):
    some = Candidate(Look(0, 1.0, regularization), np.ones((2, 1)), np.zeros((2, 1)))
    assert some.is_constant is False
    assert some._replace(look=some.look._replace(regularization=np.inf)).is_constant is True


@pytest.mark.parametrize(("share", "at"), [(0.9, 7), (1.1, 4)])
def test_of_errors_as_good_as_the_best_the_largest_regularization_is_taken(share, at, monkeypatch):
    """As good: within a small share of the best."""
    errors = np.full(10, 9.0)
    errors[[4, 7]] = 1.0, 1.0 + share * DEFAULT.tie
    monkeypatch.setattr(LeastSquares, "along", lambda self, omega, path: [(v, np.zeros((3, 1))) for v in path])
    monkeypatch.setattr(Selection, "errors", lambda self, omega, amplitudes: errors.tolist())
    x = np.zeros((4, 2))
    looks = Selection(LeastSquares(Rows(x, x), CosineSine(), 0.1), Rows(x, x))
    assert looks.look(3, x).look == Look(3, errors[at], PATH[at])


def test_a_look_near_one_off_the_path_tries_the_whole_path():
    """So does one near a constant model; a given λ is tried alone."""
    (seen, held_out), _ = split(Plain)
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(5, 2)
    looks = Selection(LeastSquares(seen, kind.features, 0.0), held_out)
    whole = looks.look(7, omega, "descent").look
    for regularization in (np.inf, 3e-5):
        assert looks.look_near(Look(0, 1.0, regularization), 7, omega, "descent").look == whole
    assert replace(looks, regularization=0.3).look_near(whole, 7, omega, "descent").look.regularization == 0.3


def test_errors_that_are_no_numbers_are_infinite():
    (seen, held_out), _ = split(Plain)
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(5, 2)
    looks = Selection(LeastSquares(seen, kind.features, 0.2), held_out)
    fine = np.zeros((5, 2), dtype=complex)
    found = looks.errors(omega, [fine, fine + np.nan])
    assert np.isfinite(found[0])
    assert found[1] == np.inf


def test_blocks_change_no_error(xp):
    (seen, held_out), _ = split(xp)
    kind = FEATURES["complex"]
    omega = xp.asarray(kind.frequencies(5, 2))
    looks = Selection(LeastSquares(seen, kind.features, 0.2), held_out, 0.2)
    at_once = looks.look(0, omega).look.error
    looks = replace(looks, held_out=replace(held_out, block_bytes=8 * 10))
    assert looks.look(0, omega).look.error == pytest.approx(at_once, rel=1e-10)
