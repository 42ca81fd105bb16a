import functools
import operator
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_differentiable_kind, every_kind, objective, problem, ridge, slopes

from fourierwalk.arrays.products import UNITS
from fourierwalk.data.features import Activation, ComplexExponentials, CosineSine
from fourierwalk.data.rows import Block, Rows
from fourierwalk.solving import direct, normal_equations
from fourierwalk.solving.latest import Latest
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.normal_equations import NormalEquations
from fourierwalk.solving.solver import Solver

REGULARIZATION = 0.03
every_path = pytest.mark.parametrize("path", ["direct", "dual"])
every_size = pytest.mark.parametrize(("n_rows", "n_frequencies"), [(40, 5), (9, 12)], ids=["tall", "wide"])
weighted_or_not = pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])


def rows_of(backend, x, y, weight=None):
    return Rows(*(None if part is None else backend.asarray(part) for part in (x, y, weight)))


@every_size
@every_path
@weighted_or_not
@every_kind
def test_minimizer_is_plain_least_squares(kind, weighted, path, n_rows, n_frequencies, anywhere):
    x, y, weight = problem(n_rows)
    omega = kind.frequencies(n_frequencies, 2)
    rows = rows_of(anywhere, x, y, weight if weighted else None)
    solution = LeastSquares(rows, kind.features, REGULARIZATION, Solver(path))(anywhere.asarray(omega))
    weight = weight if weighted else np.ones(n_rows)
    design = kind.design(x, omega)
    unknowns = ridge(design, y, weight, REGULARIZATION)
    assert_allclose(anywhere.host(solution.amplitudes), kind.amplitudes(unknowns), rtol=0, atol=1e-8)
    assert float(solution.loss) == pytest.approx(objective(design, unknowns, y, weight, REGULARIZATION), abs=1e-8)
    assert solution.info == (path, False, "double", False, True)


@every_kind
def test_auto_takes_the_smaller_system(kind):
    x, y, _ = problem(20)
    minimize = LeastSquares(Rows(x, y), kind.features, REGULARIZATION)
    n_unknowns = kind.features.n_unknowns
    assert minimize(kind.frequencies(20 // n_unknowns, 2)).info.path == "direct"
    assert minimize(kind.frequencies(20 // n_unknowns + 1, 2)).info.path == "dual"


@every_path
@every_kind
def test_the_loss_is_the_smallest_around(kind, path):
    """A definition of the minimum that knows no normal equations."""
    x, y, weight = problem(30)
    omega = kind.frequencies(4, 2)
    loss = LeastSquares(Rows(x, y, weight), kind.features, REGULARIZATION, Solver(path))(omega).loss
    design = kind.design(x, omega)
    unknowns = ridge(design, y, weight, REGULARIZATION)
    for seed in range(20):
        near = unknowns + 1e-3 * np.random.default_rng(seed).standard_normal(unknowns.shape)
        assert objective(design, near, y, weight, REGULARIZATION) > loss


@every_path
@every_kind
def test_weights_are_repetitions(kind, path):
    x, y, weight = problem(15)
    again = np.random.default_rng(0).permutation(np.repeat(np.arange(15), weight.astype(int)))
    omega = kind.frequencies(4, 2)
    weighted = LeastSquares(Rows(x, y, weight), kind.features, REGULARIZATION, Solver(path))(omega)
    repeated = LeastSquares(Rows(x[again], y[again]), kind.features, REGULARIZATION, Solver(path))(omega)
    assert_allclose(weighted.amplitudes, repeated.amplitudes, rtol=0, atol=1e-10)
    assert float(weighted.loss) == pytest.approx(float(repeated.loss), abs=1e-12)


def test_the_ridge_counts_rows_and_not_outputs():
    """λ|β|² against a mean over rows: the same y in more columns changes no amplitude."""
    x, y, _ = problem(30, n_outputs=1)
    omega = FEATURES["complex"].frequencies(4, 2)
    one = LeastSquares(Rows(x, y), ComplexExponentials(), 1.0)(omega).amplitudes
    five = LeastSquares(Rows(x, np.tile(y, 5)), ComplexExponentials(), 1.0)(omega).amplitudes
    assert_allclose(five, np.tile(one, 5), atol=1e-13)


# The sums


@given(cuts=st.lists(st.integers(1, 39), unique=True, max_size=6), seed=st.integers(0, 9), weighted=st.booleans())
def test_any_split_of_the_rows_adds_up_to_the_same_sums(cuts, seed, weighted):
    x, y, weight = problem(40)
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(3, 2, seed)
    order = np.random.default_rng(seed).permutation(40)

    def share(part):
        return NormalEquations.of_block(
            Block(x[part], y[part], weight[part] if weighted else None), CosineSine(), omega
        )

    merged = functools.reduce(operator.add, [share(part) for part in np.split(order, sorted(cuts))])
    design, w = kind.design(x, omega), weight if weighted else np.ones(40)
    assert_allclose(merged.gram, design.T @ (design * w[:, None]), atol=1e-12)
    assert_allclose(merged.moment, design.T @ (y * w[:, None]), atol=1e-12)
    assert_allclose(merged.target_energy, np.sum(y * y * w[:, None]), rtol=1e-13)
    assert merged.weight == np.sum(w)


@every_kind
def test_blocks_change_nothing(kind, anywhere, monkeypatch):
    x, y, weight = problem(40)
    omega = anywhere.asarray(kind.frequencies(5, 2))
    minimize = LeastSquares(rows_of(anywhere, x, y, weight), kind.features, REGULARIZATION, Solver("direct"))
    at_once = minimize(omega)
    low = replace(minimize.rows, block_bytes=8 * 5 * kind.features.n_columns * 3)
    heights = []
    monkeypatch.setattr(kind.features.__class__, "columns", counted(kind.features.__class__.columns, heights))
    in_blocks = replace(minimize, rows=low)(omega)
    assert heights == [3] * 13 + [1]
    assert_allclose(anywhere.host(in_blocks.amplitudes), anywhere.host(at_once.amplitudes), rtol=0, atol=1e-10)
    assert float(in_blocks.loss) == pytest.approx(float(at_once.loss), abs=1e-12)


def test_the_equations_made_last_are_not_made_again(anywhere, monkeypatch):
    """For the same array, at any λ and for a path of them; not for another array, nor for other rows."""
    x, y, _ = problem(40)
    omega = anywhere.asarray(np.random.default_rng(0).standard_normal((5, 2)))
    minimize = LeastSquares(rows_of(anywhere, x, y), CosineSine(), REGULARIZATION, Solver("direct"))
    heights = []
    monkeypatch.setattr(CosineSine, "columns", counted(CosineSine.columns, heights))
    first = minimize(omega)
    again = replace(minimize, regularization=1.0)(omega)
    list(minimize.along(omega, [0.1, 1.0]))
    assert heights == [40]
    assert_array_equal(anywhere.host(minimize(omega).amplitudes), anywhere.host(first.amplitudes))
    fresh = LeastSquares(minimize.rows, CosineSine(), 1.0, Solver("direct"))
    assert_array_equal(anywhere.host(again.amplitudes), anywhere.host(fresh(omega).amplitudes))
    minimize(omega + 0)
    minimize(omega)
    other = replace(minimize, rows=rows_of(anywhere, x[:30], y[:30]))
    other(omega)
    assert heights == [40, 40, 40, 40, 30]


def test_equations_of_changed_arrays_or_other_features_are_made_anew(xp):
    """Changed in place too, where the library can tell."""
    x, y, _ = problem(40)
    omega = xp.asarray(np.random.default_rng(0).standard_normal((5, 2)))
    minimize = LeastSquares(rows_of(xp, x, y), CosineSine(), REGULARIZATION, Solver("direct"))
    first = float(minimize(omega).loss)
    other = replace(minimize, features=ComplexExponentials())
    assert float(other(omega).loss) == float(replace(other, latest=Latest())(omega).loss) != first
    assert float(minimize(omega).loss) == first
    if xp.name in ("numpy", "torch", "torch on a GPU"):
        omega *= 3
        assert float(minimize(omega).loss) == float(minimize(omega + 0).loss) != first


@pytest.mark.parametrize(("precision", "ridge"), [("single", 1e-7), ("single", 1.0), ("bf16", 1.0), ("auto", 1.0)])
def test_what_a_gpu_sums_in_singles_and_factorises_in_doubles_is_trusted_as_singles(precision, ridge, remote):
    torch, rng = remote, np.random.default_rng(0)
    x, omega = torch.asarray(rng.standard_normal((2000, 1))), torch.asarray(rng.standard_normal((6, 1)))
    rows = Rows(x, torch.sin(x))
    solution = LeastSquares(rows, CosineSine(), ridge, Solver("direct", precision))(omega)
    exact = LeastSquares(rows, CosineSine(), ridge, Solver("direct"))(omega)
    apart = float((solution.amplitudes - exact.amplitudes).abs().max() / exact.amplitudes.abs().max())
    assert solution.info.raised == (ridge < 1e-3)
    assert apart < (1e-9 if solution.info.raised else 1e-5 if precision == "single" else 2e-2)


def test_own_activations_are_not_rounded_unasked(remote):
    """Nothing bounds their values."""
    torch, solver = remote, Solver("direct", "auto")
    x = torch.ones((1, 2), dtype=torch.float64).expand(int(direct.ROUNDED_FROM) // 1000**2, 2)  # takes no memory
    rows, omega = Rows(x, x[:, :1]), torch.ones((1000, 3), dtype=torch.float64)
    assert direct.Direct(rows, Activation(torch.tanh), omega).precisions(solver, 1.0) == ("double",)
    assert direct.Direct(rows, CosineSine(), omega[:500, :2]).precisions(solver, 1.0)[0] == "bf16"
    assert direct.Direct(rows, CosineSine(), omega[:499, :2]).precisions(solver, 1.0) == ("double",)


def test_small_products_are_not_rounded_unasked(remote):
    """Double precision takes no longer for them."""
    torch = remote
    x = torch.asarray(np.random.default_rng(0).standard_normal((50, 2)))
    minimize = LeastSquares(Rows(x, x[:, :1]), CosineSine(), 1.0, Solver("direct", "auto"))
    assert minimize(torch.ones((3, 2), dtype=torch.float64)).info.precision == "double"


@pytest.mark.parametrize("precision", ["double", "single", "bf16"])
def test_weights_leave_columns_where_tensor_cores_want_them(precision):
    torch, (x, y, weight) = pytest.importorskip("torch"), problem(13)
    block = Block(*map(torch.asarray, (x, y, weight)))
    omega = torch.asarray(np.random.default_rng(0).standard_normal((5, 2)))
    columns, values = normal_equations.weighted(block, CosineSine(), omega, precision)
    plain, _ = normal_equations.weighted(replace(block, weight=None), CosineSine(), omega, precision)
    assert columns.stride() == plain.stride() == (1, 16)
    assert columns.dtype == plain.dtype
    expected = plain.double().numpy() * np.sqrt(weight)[:, None]
    # Two calls of a cosine may differ in its last bit: a processor computes the last rows of a column one by one.
    last_bit = np.finfo(np.float64).eps
    assert_allclose(columns.double().numpy(), expected, rtol=2 * UNITS[precision] + last_bit)
    assert_allclose(values.numpy(), y * np.sqrt(weight)[:, None])


def counted(columns, heights):
    def wrapper(self, block, frequencies):
        heights.append(int(block.x.shape[0]))
        return columns(self, block, frequencies)

    return wrapper


# Where the equations are singular


@every_path
@pytest.mark.parametrize("name", ["complex", "cos-sin", "sigmoid", "user's own"])
def test_without_ridge_the_fallback_has_minimum_norm(name, path, anywhere):
    kind = FEATURES[name]
    x, y, _ = problem(30)
    omega = np.tile(kind.frequencies(3, 2), (2, 1))  # every frequency twice: no unique minimiser
    design = kind.design(x, omega)
    with pytest.warns(RuntimeWarning, match="larger regularization, or fewer frequencies"):
        solution = LeastSquares(rows_of(anywhere, x, y), kind.features, 0.0, Solver(path))(anywhere.asarray(omega))
    assert solution.info == (path, True, "double", False, True)
    unknowns = np.linalg.lstsq(design, y, rcond=1e-6)[0]
    assert_allclose(anywhere.host(solution.amplitudes), kind.amplitudes(unknowns), rtol=0, atol=1e-6)
    assert float(solution.loss) == pytest.approx(objective(design, unknowns, y, np.ones(30), 0.0), abs=1e-8)


@every_path
@pytest.mark.parametrize("regularization", [0.0, 1e-300, 1e-18])
@every_kind
def test_equal_frequencies_never_give_nan(kind, regularization, path, anywhere):
    """All frequencies zero is where the paper starts; features without a bias are all zero there."""
    x, y, weight = problem(20)
    omega = anywhere.asarray(np.zeros((6, 2 + kind.extra)))
    minimize = LeastSquares(rows_of(anywhere, x, y, weight), kind.features, regularization, Solver(path))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The equations for the amplitudes are singular", RuntimeWarning)
        solution = minimize(omega)
    mean = np.average(y, axis=0, weights=weight)
    design = kind.design(x, np.zeros((6, 2 + kind.extra)))
    best = mean if np.any(design) else 0
    assert np.all(np.isfinite(anywhere.host(solution.amplitudes)))
    assert float(solution.loss) == pytest.approx(np.sum(np.average((y - best) ** 2, axis=0, weights=weight)))


@every_path
def test_a_regular_system_without_ridge_needs_no_fallback(path):
    x, y, _ = problem(30 if path == "direct" else 4)
    kind = FEATURES["complex"]
    omega = kind.frequencies(4 if path == "direct" else 30, 2)
    solution = LeastSquares(Rows(x, y), kind.features, 0.0, Solver(path))(omega)
    assert not solution.info.fallback
    assert_allclose(solution.amplitudes, np.linalg.lstsq(kind.design(x, omega), y, rcond=None)[0], atol=1e-8)


def test_rows_without_targets():
    with pytest.raises(ValueError, match=r"rows need targets y .*got none"):
        LeastSquares(Rows(np.ones((3, 1))), CosineSine(), 0.1)(np.ones((1, 1)))


# Every λ at once


@every_size
@every_path
@weighted_or_not
@every_kind
def test_eigensystem_solves_at_every_regularization(kind, weighted, path, n_rows, n_frequencies, anywhere):
    x, y, weight = problem(n_rows)
    weight = weight if weighted else np.ones(n_rows)
    omega = kind.frequencies(n_frequencies, 2)
    rows = rows_of(anywhere, x, y, weight if weighted else None)
    eigensystem = LeastSquares(rows, kind.features, 0.0, Solver(path)).eigensystem(anywhere.asarray(omega))
    design, total = kind.design(x, omega), np.sum(weight)
    assert eigensystem.weight == pytest.approx(total)
    for regularization in (1e-2, 0.3, 10.0):
        unknowns = ridge(design, y, weight, regularization)
        amplitudes = eigensystem.amplitudes(regularization)
        assert_allclose(anywhere.host(amplitudes), kind.amplitudes(unknowns), rtol=0, atol=1e-8)
        squares = weight @ np.sum(np.abs(design @ unknowns - y) ** 2, axis=1)
        assert eigensystem.residual(regularization) == pytest.approx(squares, rel=1e-8)
        gram = design.conj().T @ (design * weight[:, None])
        hat = design @ np.linalg.solve(gram + regularization * total * np.eye(len(gram)), design.conj().T * weight)
        assert eigensystem.degrees_of_freedom(regularization) == pytest.approx(np.trace(hat).real, rel=1e-8)


@every_path
@every_kind
def test_eigensystem_of_equal_frequencies_is_finite(kind, path, anywhere):
    x, y, _ = problem(20)
    omega = anywhere.asarray(np.zeros((6, 2 + kind.extra)))
    minimize = LeastSquares(rows_of(anywhere, x, y), kind.features, 0.1, Solver(path))
    eigensystem = minimize.eigensystem(omega)
    for regularization in (0.0, 0.1):
        assert np.all(np.isfinite(anywhere.host(eigensystem.amplitudes(regularization))))
        assert np.isfinite(eigensystem.residual(regularization))
        assert np.isfinite(eigensystem.degrees_of_freedom(regularization))
    assert_allclose(
        anywhere.host(eigensystem.amplitudes(0.1)), anywhere.host(minimize(omega).amplitudes), rtol=0, atol=1e-10
    )
    residual = (
        np.sum((y - y.mean(axis=0)) ** 2) if np.any(kind.design(x, np.zeros((6, 2 + kind.extra)))) else np.sum(y * y)
    )
    assert eigensystem.residual(1e-14) == pytest.approx(residual, rel=1e-6)


def test_solutions_pickle():
    x, y, _ = problem(20)
    solution = LeastSquares(Rows(x, y), Activation(np.tanh), 0.1)(FEATURES["sigmoid"].frequencies(3, 2))
    again = pickle.loads(pickle.dumps(solution))
    assert_allclose(again.amplitudes, solution.amplitudes, rtol=0)
    assert (again.loss, again.info) == (solution.loss, solution.info)


# Precision, batches, memory, gradient


@pytest.mark.parametrize("name", ["complex", "cos-sin", "sigmoid"])
def test_single_precision_is_near_and_says_so(name, anywhere):
    kind = FEATURES[name]
    x, y, weight = problem(200)
    omega = anywhere.asarray(kind.frequencies(5, 2))
    rows = rows_of(anywhere, x, y, weight)
    single, double = (LeastSquares(rows, kind.features, 0.1, Solver("direct", p)) for p in ("single", "double"))
    solution = single(omega)
    assert solution.info == ("direct", False, "single", False, True)
    assert anywhere.owns(solution.amplitudes)
    exact = anywhere.host(double(omega).amplitudes)
    difference = np.abs(anywhere.host(solution.amplitudes) - exact)
    assert 0 < difference.max() < 1e-4
    assert float(solution.loss) == pytest.approx(float(double(omega).loss), abs=1e-5)


@pytest.mark.parametrize("spread", [1.0, 1e4], ids=["short", "long"])
def test_single_precision_of_short_and_long_phases(spread):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 1))
    omega = spread * rng.standard_normal((6, 1))
    single, double = (
        LeastSquares(Rows(x, np.sin(x)), ComplexExponentials(), 0.1, Solver("direct", p))(omega).amplitudes
        for p in ("single", "double")
    )
    assert_allclose(single, double, atol=1e-5)


def test_what_single_precision_cannot_be_trusted_with_is_repeated():
    x, y, _ = problem(200)
    omega = 1e-3 * np.random.default_rng(0).standard_normal((12, 2))
    ours, exact = (
        LeastSquares(Rows(x, y), ComplexExponentials(), 1e-9, Solver("direct", p)) for p in ("single", "double")
    )
    solution = ours(omega)
    assert solution.info.precision == "double"
    assert solution.info.raised
    assert_allclose(solution.amplitudes, exact(omega).amplitudes)


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
@pytest.mark.parametrize("name", ["complex", "cos-sin", "sigmoid"])
def test_low_precision_on_torch(name, precision):
    torch = pytest.importorskip("torch")
    kind = FEATURES[name]
    x, y, weight = problem(400)
    omega = torch.asarray(kind.frequencies(5, 2))
    rows = Rows(torch.asarray(x), torch.asarray(y), torch.asarray(weight))
    low, double = (LeastSquares(rows, kind.features, 0.1, Solver("direct", p)) for p in (precision, "double"))
    solution = low(omega)
    assert solution.info == ("direct", False, precision, False, True)
    assert solution.amplitudes.dtype == double(omega).amplitudes.dtype
    difference = np.abs(solution.amplitudes.numpy() - double(omega).amplitudes.numpy()).max()
    assert 0 < difference < 0.02 * np.abs(double(omega).amplitudes.numpy()).max()


def test_low_precision_climbs_as_far_as_it_must():
    torch = pytest.importorskip("torch")
    x, y, _ = problem(200)
    omega = torch.asarray(1e-3 * np.random.default_rng(0).standard_normal((12, 2)))
    rows = Rows(torch.asarray(x), torch.asarray(y))
    solution = LeastSquares(rows, ComplexExponentials(), 0.1, Solver("direct", "bf16"))(omega)
    assert solution.info[2:4] == ("bf16", False)
    small = LeastSquares(rows, ComplexExponentials(), 2e-3, Solver("direct", "bf16"))
    assert small(omega).info[2:4] == ("tf32", False)  # bf16 has no chance there, and is not tried
    smaller = LeastSquares(rows, ComplexExponentials(), 1e-9, Solver("direct", "bf16"))
    assert smaller(omega).info[2:4] == ("double", True)


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
def test_tensor_core_precisions_need_torch(precision):
    x, y, _ = problem(20)
    with pytest.raises(ValueError, match=rf"solver.precision='{precision}' needs torch tensors or device='cuda', got"):
        LeastSquares(Rows(x, y), ComplexExponentials(), 0.1, Solver("direct", precision))


@every_path
@pytest.mark.parametrize("name", ["complex", "cos-sin", "sigmoid"])
def test_ahead_is_the_same_solution(name, path, anywhere):
    kind = FEATURES[name]
    x, y, weight = problem(9 if path == "dual" else 60)
    omega = anywhere.asarray(kind.frequencies(12 if path == "dual" else 4, 2))
    minimize = LeastSquares(rows_of(anywhere, x, y, weight), kind.features, 0.1, Solver(path))
    checked, ahead = minimize(omega), minimize.ahead(omega)
    assert_allclose(anywhere.host(ahead.amplitudes), anywhere.host(checked.amplitudes), rtol=0, atol=1e-12)
    assert float(ahead.loss) == pytest.approx(float(checked.loss), abs=1e-12)
    assert ahead.info[:4] == checked.info[:4]
    assert bool(ahead.info.trusted)


def test_ahead_says_what_cannot_be_trusted(anywhere):
    x, y, _ = problem(20)
    minimize = LeastSquares(rows_of(anywhere, x, y, None), ComplexExponentials(), 0.0, Solver("direct"))
    assert not bool(minimize.ahead(anywhere.asarray(np.zeros((3, 2)))).info.trusted)


@pytest.mark.parametrize("precision", ["double", "single"])
@every_path
@pytest.mark.parametrize("name", ["complex", "cos-sin", "sigmoid"])
def test_stacked_problems_are_solved_side_by_side(name, path, precision, anywhere):
    """Three data sets of one size, each with its own frequencies, in several blocks and in one."""
    kind, n = FEATURES[name], 8 if path == "dual" else 70
    sets = [problem(n, seed=seed, n_outputs=2)[:2] for seed in range(3)]
    omegas = np.stack([(1 + 0.3 * i) * kind.frequencies(10 if path == "dual" else 4, 2) for i in range(3)])
    rows = Rows(*(anywhere.asarray(np.stack(part)) for part in zip(*sets, strict=True)))
    solution = LeastSquares(rows, kind.features, 0.1, Solver(path, precision)).ahead(anywhere.asarray(omegas))
    assert anywhere.host(solution.info.trusted).all()
    for i, (x, y) in enumerate(sets):
        alone = LeastSquares(Rows(x, y), kind.features, 0.1, Solver(path, precision))(omegas[i])
        tolerance = 1e-10 if precision == "double" else 1e-4
        assert_allclose(anywhere.host(solution.amplitudes)[i], alone.amplitudes, atol=tolerance)
        assert anywhere.host(solution.loss)[i] == pytest.approx(alone.loss, abs=tolerance)


@every_path
@weighted_or_not
@pytest.mark.parametrize("n_outputs", [1, 3])
@every_differentiable_kind
def test_the_gradient_is_that_of_the_projected_loss(kind, n_outputs, weighted, path):
    x, y, weight = problem(60 if path == "direct" else 9, n_outputs=n_outputs)
    omega = kind.frequencies(4 if path == "direct" else 12, 2)
    minimize = LeastSquares(Rows(x, y, weight if weighted else None), kind.features, 0.1, Solver(path))
    gradient = minimize.gradient(omega, minimize(omega).amplitudes)
    assert minimize(omega).info.path == path
    assert_allclose(gradient, slopes(lambda near: minimize(near).loss, omega), rtol=0, atol=1e-7)
    assert np.abs(gradient).max() > 1e-3


@every_differentiable_kind
def test_the_gradient_is_the_same_in_every_library(kind, anywhere):
    x, y, weight = problem(60)
    omega = kind.frequencies(4, 2)
    here, there = (LeastSquares(rows_of(one, x, y, weight), kind.features, 0.1) for one in (Plain, anywhere))
    expected = here.gradient(omega, here(omega).amplitudes)
    found = there.gradient(anywhere.asarray(omega), there(anywhere.asarray(omega)).amplitudes)
    assert_allclose(anywhere.host(found), expected, rtol=0, atol=1e-10)


@weighted_or_not
@every_differentiable_kind
def test_the_gradient_on_sparse_rows(kind, weighted):
    x, y, weight = problem(50, n_inputs=3)
    x[np.abs(x) < 0.5] = 0
    center, scale = np.array([0.3, -1.0, 0.0]), np.array([2.0, 0.5, 1.0])
    weight = weight if weighted else None
    sparse = Rows(scipy.sparse.csr_array(x), y, weight, center, scale)
    minimize = LeastSquares(sparse, kind.features, 0.1, Solver("direct"))
    dense = LeastSquares(Rows((x - center) / scale, y, weight), kind.features, 0.1, Solver("direct"))
    omega = kind.frequencies(4, 3)
    amplitudes = minimize(omega).amplitudes
    gradient = minimize.gradient(omega, amplitudes)
    assert_allclose(gradient, dense.gradient(omega, amplitudes), rtol=0, atol=1e-10)
    assert_allclose(gradient, slopes(lambda near: minimize(near).loss, omega), rtol=0, atol=1e-7)


@every_differentiable_kind
def test_blocks_do_not_change_the_gradient(kind):
    x, y, weight = problem(40)
    omega = kind.frequencies(5, 2)
    minimize = LeastSquares(Rows(x, y, weight), kind.features, 0.1, Solver("direct"))
    amplitudes = minimize(omega).amplitudes
    at_once = minimize.gradient(omega, amplitudes)
    low = replace(minimize, rows=replace(minimize.rows, block_bytes=8 * 2 * 5 * kind.features.n_columns * 3))
    assert len(list(low.rows.blocks(2 * 5 * kind.features.n_columns))) == 14
    assert_allclose(low.gradient(omega, amplitudes), at_once, rtol=0, atol=1e-13)


def test_the_gradient_of_large_problems_is_that_of_their_parts():
    """Products of many rows are taken by another BLAS than those of few."""
    x, y, _ = problem(3000, n_inputs=9)
    kind = FEATURES["cos-sin"]
    omega, beta = 0.3 * kind.frequencies(20, 9), np.random.default_rng(0).standard_normal((20, 2)) + 1j
    minimize = LeastSquares(Rows(x, y), kind.features, 0.1)
    halves = [replace(minimize, rows=Rows(x[part], y[part])) for part in np.split(np.arange(3000), 100)]
    parts = [half.gradient(omega, beta) for half in halves]
    assert_allclose(minimize.gradient(omega, beta), np.mean(parts, axis=0), rtol=0, atol=1e-11)


def test_features_without_a_gradient_cannot_be_descended_on():
    x, y, _ = problem(20)
    kind = FEATURES["user's own"]
    minimize = LeastSquares(Rows(x, y), kind.features, 0.1)
    with pytest.raises(TypeError, match="descent needs features with a gradient, got 'cosines'"):
        minimize.gradient(kind.frequencies(3, 2), np.ones((3, 2)))


@every_path
@weighted_or_not
@every_kind
def test_along_a_path_of_regularizations(kind, weighted, path, anywhere):
    x, y, weight = problem(30 if path == "direct" else 9)
    omega = kind.frequencies(4 if path == "direct" else 12, 2)
    rows = rows_of(anywhere, x, y, weight if weighted else None)
    weight = weight if weighted else np.ones(len(x))
    asked = [10.0, 0.3, 1e-2]
    found = list(LeastSquares(rows, kind.features, 99.0, Solver(path)).along(anywhere.asarray(omega), asked))
    assert [regularization for regularization, _ in found] == asked
    for regularization, amplitudes in found:
        unknowns = ridge(kind.design(x, omega), y, weight, regularization)
        assert_allclose(anywhere.host(amplitudes), kind.amplitudes(unknowns), rtol=0, atol=1e-8)


@every_path
def test_along_a_path_what_cannot_be_trusted_is_left_out(path, anywhere):
    kind = FEATURES["cos-sin"]
    x, y, _ = problem(20)
    omega = anywhere.asarray(np.tile(kind.frequencies(3, 2), (2, 1)))  # every frequency twice
    minimize = LeastSquares(rows_of(anywhere, x, y), kind.features, 0.1, Solver(path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [regularization for regularization, _ in minimize.along(omega, [1.0, 1e-3, 1e-17, 0.0])]
    assert found == [1.0, 1e-3]


def test_many_inputs_are_no_harder_to_choose_a_path_for():
    x = np.random.default_rng(0).standard_normal((30, 1500))
    minimize = LeastSquares(Rows(x, x[:, :1]), CosineSine(), 0.1)
    assert minimize(x[:4]).info.path == "direct"


def test_huge_targets_in_single_precision_do_not_overflow():
    """Squares of 1e25 are beyond single precision."""
    x = np.random.default_rng(0).standard_normal((50, 2))
    frequencies = np.random.default_rng(1).standard_normal((3, 2))
    y = 1e25 * np.cos(x[:, :1])
    problem = LeastSquares(Rows(x, y), CosineSine(), 1e-3, Solver("direct", precision="single"))
    solution, exact = problem(frequencies), replace(problem, solver=Solver("direct"))(frequencies)
    assert solution.loss == pytest.approx(exact.loss, rel=1e-4)
    assert solution.info.precision == "single"
