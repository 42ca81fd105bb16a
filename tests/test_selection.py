from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import log_loss
from tables import FEATURES, Plain, every_kind, problem, ridge

from fourierwalk import rows as rows_module
from fourierwalk import selection
from fourierwalk.features import CosineSine
from fourierwalk.least_squares import LeastSquares
from fourierwalk.rows import Rows
from fourierwalk.selection import (
    PATH,
    Look,
    Selection,
    beats_the_mean_left_out,
    by_leave_one_out,
    choose_regularization,
    gcv,
    has_repeats,
    held_out_mask,
    is_gain,
    leave_one_out,
    left_out_values,
    regularization_path,
    row_hash,
    typical_error,
)
from fourierwalk.solver import Solver
from fourierwalk.temperature import CERTAIN_SCALE, best_temperature


def rows_of(backend, x, y, weight=None):
    return Rows(*(None if part is None else backend.asarray(part) for part in (x, y, weight)))


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


def test_blocks_change_no_leave_one_out(xp, monkeypatch):
    x, y, weight = problem(40)
    minimize = LeastSquares(rows_of(xp, x, y, weight), FEATURES["complex"].features, 0.0)
    omega = xp.asarray(FEATURES["complex"].frequencies(5, 2))
    at_once = left_out_values(minimize, omega, 0.1), by_leave_one_out(minimize, omega).look.error
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * 20 * 3)
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


# Better than the mean


@given(repeat=st.lists(st.integers(1, 4), min_size=9, max_size=9))
def test_the_typical_error_is_a_median_of_repeated_rows(repeat):
    values, targets, _ = problem(9)
    again = np.repeat(np.arange(9), repeat)
    expected = np.sort(np.linalg.norm((values - targets)[again], axis=1))[(again.size - 1) // 2]
    assert typical_error(values, targets, None, np.array(repeat, dtype=float)) == pytest.approx(expected, rel=1e-12)
    assert typical_error(values[again], targets[again], None) == pytest.approx(expected, rel=1e-12)


def test_the_typical_error_of_classes_is_their_rate_of_errors():
    values, targets = np.array([[0.4, 0.1], [0.0, 0.2], [-0.3, 0.1]]), np.eye(2)[[0, 0, 1]] - [0.5, 0.5]
    shares = np.array([0.5, 0.5])
    assert typical_error(values, targets, shares) == pytest.approx(1 / 3)
    assert typical_error(values, targets, shares, np.array([1.0, 3.0, 2.0])) == pytest.approx(1 / 2)


def test_a_constant_is_beaten_by_a_signal_and_not_by_noise():
    x, noise, _ = problem(60, n_outputs=1)
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(3, 2)
    signal = kind.design(x, omega)[:, :1] + 0.1 * noise
    for y, beaten in ((signal, True), (noise, False)):
        minimize = LeastSquares(Rows(x, y - y.mean()), kind.features, 0.0)
        candidate = by_leave_one_out(minimize, omega, 1e-3)
        assert beats_the_mean_left_out(minimize, candidate) == beaten
        rows = Rows(x[:40], y[:40]), Rows(x[40:], y[40:])
        looks = Selection(LeastSquares(rows[0], kind.features, 0.0), rows[1], 1e-3)
        assert looks.beats_the_mean(*looks.look(0, omega)[1:]) == beaten


def test_a_constant_is_not_beaten_by_what_follows_outliers():
    """Better in squares alone: the outliers are met, most rows are missed."""
    x = (np.arange(40)[:, None] < 12).astype(float)
    y = np.where(x > 0, 10.0, 0.1)
    kind = FEATURES["user's own"]
    looks = Selection(LeastSquares(Rows(x, y), kind.features, 0.1), Rows(x, y), 0.1)
    omega = np.array([[0.0], [np.pi]])  # 1, and 1 − 2x
    follows, exact = np.array([[5.5], [-4.5]]), np.array([[5.05], [-4.95]])
    assert_allclose(kind.design(np.array([[1.0], [0.0]]), omega) @ follows, [[10.0], [1.0]])
    errors = looks.errors(omega, [follows, 0 * follows])
    assert errors[0] < 0.1 * errors[1]
    assert not looks.beats_the_mean(omega, follows)
    assert looks.beats_the_mean(omega, exact)


@given(repeat=st.lists(st.integers(1, 3), min_size=12, max_size=12), mean=st.floats(0.05, 2.0))
def test_a_gain_is_one_of_several_standard_errors(repeat, mean):
    """More of them where rows are few; whole weights are repetitions."""
    gains = np.random.default_rng(0).standard_normal(12) + mean
    again = np.repeat(gains, repeat)
    errors = np.mean(again) / (np.std(again) / np.sqrt(again.size)) / (1 + 7 / again.size)
    for sure in (0.5, 1.0, 2.0):
        assert is_gain(again, None, sure, 7.0) == (errors > sure)
        assert is_gain(gains, np.array(repeat, dtype=float), sure, 7.0) == (errors > sure)


def test_what_beats_the_mean_by_chance_does_not():
    """The best of many models of noise on 20 rows."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((20, 1)), rng.standard_normal((20, 1))
    kind = FEATURES["user's own"]
    looks = Selection(LeastSquares(Rows(x, y), kind.features, 0.1), Rows(x, y), 0.1)
    tried = [(3 * rng.standard_normal((2, 1)), 0.4 * rng.standard_normal((2, 1))) for _ in range(1000)]
    omega, beta = min(tried, key=lambda model: looks.errors(model[0], [model[1]])[0])
    error, constant = looks.errors(omega, [beta, 0 * beta])
    assert error < 0.9 * constant
    assert not looks.beats_the_mean(omega, beta)


def test_whole_weights_are_repetitions_in_both_comparisons():
    """Better in squares; the median is ruled by few rows of a large weight, where the constant is exact."""
    x = np.random.default_rng(0).standard_normal((40, 1))
    y = np.where(np.arange(40)[:, None] < 30, 5 * np.cos(3 * x), 0.0)
    weight = np.where(np.arange(40) < 30, 1.0, 30.0)
    kind, omega, amplitudes = FEATURES["user's own"], np.array([[3.0]]), np.array([[0.4]])
    again = np.repeat(np.arange(40), weight.astype(int))
    plain, weighted, repeated = Rows(x, y), Rows(x, y, weight), Rows(x[again], y[again])
    for rows, beaten in ((plain, True), (weighted, False), (repeated, False)):
        minimize = LeastSquares(rows, kind.features, 0.1)
        looks = Selection(minimize, rows, 0.1)
        assert np.argmin(looks.errors(omega, [amplitudes, 0 * amplitudes])) == 0
        assert looks.beats_the_mean(omega, amplitudes) == beaten
        assert beats_the_mean_left_out(minimize, by_leave_one_out(minimize, omega)) == beaten


# Rows that the walk does not see


@given(order=st.permutations(range(12)), repeat=st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_equal_rows_have_equal_hashes_wherever_they_stand(order, repeat):
    x = problem(12)[0]
    places = np.repeat(order, repeat)
    assert_array_equal(row_hash(x[places], 1), row_hash(x, 1)[places])


def test_other_rows_have_other_hashes():
    x = np.round(np.random.default_rng(0).standard_normal((5000, 3)), 6)
    assert np.unique(row_hash(x, 0)).size == 5000
    assert np.unique(row_hash(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, -2.0], [0.0, 0.0]]), 0)).size == 4


def test_hashes_know_their_seed():
    x = problem(50)[0]
    assert not np.any(row_hash(x, 0) == row_hash(x, 1))
    assert_array_equal(row_hash(x, 0), row_hash(x, 0))


def test_hashes_are_the_same_in_every_library(xp):
    x = problem(50)[0]
    assert_array_equal(row_hash(xp.asarray(x), 3), row_hash(x, 3))


def test_hashes_are_the_same_in_either_precision():
    x = problem(50)[0].astype(np.float32)
    assert_array_equal(row_hash(x, 3), row_hash(x.astype(np.float64), 3))


def test_hashes_of_many_rows_are_those_of_few():
    x = np.random.default_rng(0).standard_normal((9000, 2))
    assert_array_equal(row_hash(x, 0)[4000:4200], row_hash(x[4000:4200], 0))


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_sparse_rows_hash_like_dense_ones(kind):
    x = scipy.sparse.random_array((60, 9), density=0.3, rng=np.random.default_rng(0)).toarray()
    x[3] = 0
    assert_array_equal(row_hash(kind(x), 7), row_hash(x, 7))


def test_stored_zeros_and_duplicates_do_not_change_a_sparse_hash():
    stored = scipy.sparse.csr_array((np.array([0.0, 2.0, 1.0, 2.0, -0.0]), ([0, 0, 1, 1, 1], [0, 1, 0, 0, 1])), (2, 2))
    odd = scipy.sparse.csr_array(
        (np.array([0.0, 2.0, 1.0, 2.0]), np.array([0, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2)
    )
    before = odd.data.copy()
    assert_array_equal(row_hash(stored, 0), row_hash(np.array([[0.0, 2.0], [3.0, 0.0]]), 0))
    assert_array_equal(row_hash(odd, 0), row_hash(np.array([[0.0, 2.0], [3.0, 0.0]]), 0))
    assert_array_equal(odd.data, before)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.5, 0.9])
def test_the_share_of_rows_held_out(fraction):
    x = np.random.default_rng(0).standard_normal((20000, 2))
    mask = held_out_mask(x, fraction, seed=0)
    assert mask.dtype == bool
    assert mask.mean() == pytest.approx(fraction, abs=0.01)
    assert np.mean(mask & held_out_mask(x, fraction, seed=1)) == pytest.approx(fraction**2, abs=0.01)


def test_smaller_shares_are_parts_of_larger_ones():
    x = np.random.default_rng(0).standard_normal((1000, 2))
    assert not np.any(held_out_mask(x, 0.1, 0) & ~held_out_mask(x, 0.3, 0))


def test_too_few_distinct_rows_are_not_split():
    x = np.random.default_rng(0).standard_normal((selection.MIN_DISTINCT_ROWS, 2))
    assert held_out_mask(x, 0.5, 0) is not None
    assert held_out_mask(x[1:], 0.5, 0) is None
    assert held_out_mask(np.tile(x[1:], (50, 1)), 0.5, 0) is None


def labelled(counts, seed):
    """Distinct rows whose labels come so many times each, in any order, and each row up to thrice."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    again = rng.permutation(np.repeat(np.arange(labels.size), rng.integers(1, 4, labels.size)))
    return rng.standard_normal((labels.size, 2)), labels, again


CLASSES = st.lists(st.integers(0, 90), min_size=1, max_size=5).filter(lambda counts: sum(counts) >= 100)


@given(counts=CLASSES, seed=st.integers(0, 99), fraction=st.sampled_from([0.1, 0.2, 0.5]), fold=st.integers(0, 3))
def test_every_class_is_held_out_by_its_share(counts, seed, fraction, fold):
    x, labels, again = labelled(counts, seed)
    mask = held_out_mask(x, fraction, seed, labels, fold)
    for name, count in enumerate(counts):
        assert np.sum(mask[labels == name]) == int(fraction * count + 0.5)
    assert_array_equal(held_out_mask(x[again], fraction, seed, labels[again], fold), mask[again])


@given(counts=CLASSES, seed=st.integers(0, 99), fraction=st.sampled_from([0.1, 0.2, 0.25]))
def test_folds_are_disjoint_until_all_rows_were_held_out(counts, seed, fraction):
    x, labels, _ = labelled(counts, seed)
    n_folds = int(1 / fraction)
    times = sum(held_out_mask(x, fraction, seed, labels, fold).astype(int) for fold in range(n_folds))
    for name, count in enumerate(counts):
        n = int(fraction * count + 0.5)
        if count == 0:
            continue
        assert np.sum(times[labels == name]) == n * n_folds
        if n * n_folds <= count:
            assert times[labels == name].max() <= 1
        else:  # rounding up: some come twice, none is left out
            assert times[labels == name].min() >= 1


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_repeats_are_seen_as_rows_and_as_weights(kind):
    x = problem(100)[0]
    assert not has_repeats(Rows(kind(x)))
    assert not has_repeats(Rows(kind(np.vstack([x, x[:11]]))))
    assert has_repeats(Rows(kind(np.vstack([x, x[:12]]))))
    assert not has_repeats(Rows(kind(x), None, np.where(np.arange(100) < 11, 2.0, 1.0)))
    assert has_repeats(Rows(kind(x), None, np.where(np.arange(100) < 12, 2.0, 1.0)))


def test_folds_of_plain_rows_are_disjoint():
    x = np.random.default_rng(0).standard_normal((400, 2))
    times = sum(held_out_mask(x, 0.1, 0, fold=fold).astype(int) for fold in range(10))
    assert_array_equal(times, np.ones(400))
    assert_array_equal(held_out_mask(x, 0.1, 0, fold=10), held_out_mask(x, 0.1, 0))


def test_equal_rows_of_different_labels_stay_together():
    rng = np.random.default_rng(0)
    x = np.tile(rng.standard_normal((150, 2)), (2, 1))
    labels = np.repeat([0, 1], 150)
    order = rng.permutation(300)
    mask = held_out_mask(x, 0.2, 0, labels)
    assert_array_equal(mask[:150], mask[150:])
    assert mask.sum() == 60
    assert_array_equal(held_out_mask(x[order], 0.2, 0, labels[order]), mask[order])


def test_a_rare_class_keeps_its_rows():
    x, labels, _ = labelled([200, 4], 0)
    for fold in range(10):
        assert not np.any(held_out_mask(x, 0.1, 0, labels, fold)[labels == 1])


@pytest.mark.parametrize("fraction", [1e-9, 1 - 1e-12])
def test_a_split_with_an_empty_side_is_none(fraction):
    assert held_out_mask(np.random.default_rng(0).standard_normal((200, 2)), fraction, 0) is None


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


def test_a_finer_path_around_the_best():
    (seen, held_out), _ = split(Plain)
    kind = FEATURES["cos-sin"]
    looks = Selection(LeastSquares(seen, kind.features, 0.0), held_out)
    coarse = looks.look(7, kind.frequencies(5, 2), "descent")
    path = [coarse.look.regularization * 10 ** (power / 4) for power in range(-3, 4)]
    tried = [replace(looks, regularization=value).look(7, coarse.frequencies, "descent") for value in path]
    expected = min(tried, key=lambda candidate: candidate.look.error)
    finer = looks.refined(coarse)
    assert finer.look.error == pytest.approx(expected.look.error, rel=1e-10)
    assert finer.look == expected.look._replace(error=finer.look.error)
    assert finer.look.error < coarse.look.error
    assert_allclose(finer.amplitudes, expected.amplitudes, rtol=1e-8)
    at_minimum = coarse._replace(look=coarse.look._replace(error=0.0))
    assert looks.refined(at_minimum) is at_minimum
    assert replace(looks, regularization=0.1).refined(coarse) is coarse


def test_a_look_where_every_regularization_is_too_small():
    """λN is nothing beside 10²⁰: a solution of minimum norm, and finite."""
    rows = Rows(np.ones((30, 1)), np.ones((30, 1)))

    class Huge:
        name, n_columns, n_unknowns = "huge", 1, 1
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
    nothing = xp.asarray(np.zeros((5, 3), dtype=complex))
    assert looks.mean_error == pytest.approx(looks.errors(xp.asarray(omega), [nothing])[0])
    assert not looks.is_quiet(0.0)  # of classes nobody knows


@pytest.mark.parametrize("weighted", [True, False])
def test_the_error_of_the_mean(weighted, xp):
    x, y, weight = problem(60)
    held_out = rows_of(xp, x, y, weight if weighted else np.ones(60))
    expected = np.average(np.sum(y**2, axis=1), weights=weight if weighted else None)
    looks = Selection(LeastSquares(held_out, FEATURES["cos-sin"].features, 0.1), held_out)
    assert looks.mean_error == pytest.approx(expected)
    assert looks.is_quiet(0.019 * expected)
    assert not looks.is_quiet(0.021 * expected)


def test_errors_that_are_no_numbers_are_infinite():
    (seen, held_out), _ = split(Plain)
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(5, 2)
    looks = Selection(LeastSquares(seen, kind.features, 0.2), held_out)
    fine = np.zeros((5, 2), dtype=complex)
    found = looks.errors(omega, [fine, fine + np.nan])
    assert np.isfinite(found[0])
    assert found[1] == np.inf


def test_blocks_change_no_error(xp, monkeypatch):
    (seen, held_out), _ = split(xp)
    kind = FEATURES["complex"]
    omega = xp.asarray(kind.frequencies(5, 2))
    looks = Selection(LeastSquares(seen, kind.features, 0.2), held_out, 0.2)
    at_once = looks.look(0, omega).look.error
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * 10 * 2)
    assert looks.look(0, omega).look.error == pytest.approx(at_once, rel=1e-10)
