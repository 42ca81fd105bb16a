import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_kind, problem, ridge

from fourierwalk import rows as rows_module
from fourierwalk import selection
from fourierwalk.least_squares import LeastSquares
from fourierwalk.rows import Rows
from fourierwalk.selection import Selection, choose_regularization, gcv, held_out_mask, regularization_path, row_hash
from fourierwalk.solver import Solver


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
def test_a_check_measures_amplitudes_of_its_own(kind, weighted, anywhere):
    (seen, held_out), ((x, y, weight), (x_val, y_val, weight_val)) = split(anywhere, weighted)
    if not weighted:
        weight, weight_val = np.ones(45), np.ones(15)
    omega = kind.frequencies(5, 2)
    check = Selection(LeastSquares(seen, kind.features, 0.2), held_out, 0.2).check(30, anywhere.asarray(omega))
    unknowns = ridge(kind.design(x, omega), y, weight, 0.2)
    residual = (kind.design(x_val, omega) @ unknowns).real - y_val
    expected = np.sum(weight_val * np.sum(residual**2, axis=1)) / np.sum(weight_val)
    assert check.error == pytest.approx(expected, rel=1e-8)
    assert (check.step, check.regularization) == (30, 0.2)
    assert_array_equal(anywhere.host(check.frequencies), omega)


@every_kind
def test_a_check_chooses_its_own_regularization(kind):
    (seen, held_out), ((x, y, weight), _) = split(Plain)
    omega = kind.frequencies(5, 2)
    minimize = LeastSquares(seen, kind.features, 123.0)
    check = Selection(minimize, held_out).check(0, omega)
    chosen = choose_regularization(minimize.eigensystem(omega))
    assert check.regularization == chosen
    solved = kind.amplitudes(ridge(kind.design(x, omega), y, weight, chosen))
    assert check.error == pytest.approx(Selection(minimize, held_out).error(omega, solved), rel=1e-4)


def test_blocks_change_no_error(xp, monkeypatch):
    (seen, held_out), _ = split(xp)
    kind = FEATURES["complex"]
    omega = xp.asarray(kind.frequencies(5, 2))
    looks = Selection(LeastSquares(seen, kind.features, 0.2), held_out, 0.2)
    at_once = looks.check(0, omega).error
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * 10 * 2)
    assert looks.check(0, omega).error == pytest.approx(at_once, rel=1e-10)
