"""The normal equations in Fourier space against sums over rows, and the transforms against their definitions."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tables import slopes

from fourierwalk.data.features import ComplexExponentials, CosineSine, sigmoid
from fourierwalk.data.rows import Rows
from fourierwalk.solving.fourier_space import FourierSpace
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver

pytest.importorskip("finufft")
pytestmark = pytest.mark.filterwarnings("ignore:solver='spectral' takes some")

both_kinds = pytest.mark.parametrize("features", [ComplexExponentials(), CosineSine()], ids=lambda f: f.name)
every_dimension = pytest.mark.parametrize(("d", "spread"), [(1, 200.0), (2, 8.0), (3, 2.0)])


def problem(d, n_rows=300, q=2, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, d)) + shift
    y = np.stack([np.sin(2 * x[:, 0] + c) for c in range(q)], axis=1)
    return rng, x, y


def pair(rows, features, regularization=0.1):
    return tuple(LeastSquares(rows, features, regularization, Solver(path)) for path in ("spectral", "direct"))


@both_kinds
@every_dimension
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_equations_and_amplitudes_are_those_of_the_direct_path(features, d, spread, weighted):
    rng, x, y = problem(d)
    weight = rng.integers(1, 4, 300).astype(float) if weighted else None
    omega = spread * rng.standard_normal((7, d))
    ours, direct = pair(Rows(x, y, weight), features)
    n = ours.rows.total_weight
    found, expected = ours.system(omega), direct.system(omega)
    assert_allclose(found.matrix, expected.matrix, atol=1e-11 * n)
    assert_allclose(found.right_hand_side, expected.right_hand_side, atol=1e-11 * n)
    assert found.target_energy == pytest.approx(float(expected.target_energy))
    solution = ours(omega)
    assert solution.info.path == "spectral"
    assert_allclose(solution.amplitudes, direct(omega).amplitudes, atol=1e-8)
    assert_allclose(ours.eigensystem(omega).amplitudes(0.01), direct.eigensystem(omega).amplitudes(0.01), atol=1e-8)


@both_kinds
@given(seed=st.integers(0, 1000), scale=st.floats(0.01, 300), shift=st.floats(-50, 50))
def test_any_scale_and_shift_of_the_data(features, seed, scale, shift):
    rng, x, y = problem(1, 100, 1, seed, shift)
    omega = scale * rng.standard_normal((5, 1))
    ours, direct = pair(Rows(x, y), features)
    assert_allclose(ours.system(omega).matrix, direct.system(omega).matrix, atol=1e-9)


@both_kinds
def test_weights_equal_repetition(features):
    rng, x, y = problem(1)
    weight = rng.integers(1, 4, 300)
    omega = 20 * rng.standard_normal((6, 1))
    ours = LeastSquares(Rows(x, y, weight.astype(float)), features, 0.1, Solver("spectral"))
    again = LeastSquares(Rows(x.repeat(weight, 0), y.repeat(weight, 0)), features, 0.1, Solver("spectral"))
    assert_allclose(ours(omega).amplitudes, again(omega).amplitudes, atol=1e-9)


@both_kinds
@every_dimension
def test_the_gradient_is_the_direct_ones(features, d, spread):
    rng, x, y = problem(d)
    omega = spread * rng.standard_normal((5, d))
    ours, direct = pair(Rows(x, y), features)
    amplitudes = direct(omega).amplitudes
    assert_allclose(ours.gradient(omega, amplitudes), direct.gradient(omega, amplitudes), atol=1e-10)


@both_kinds
@every_dimension
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_the_gradient_is_that_of_the_projected_loss(features, d, spread, weighted):
    rng, x, y = problem(d, 60)
    weight = rng.integers(1, 4, 60).astype(float) if weighted else None
    omega = 0.1 * spread * rng.standard_normal((3, d))
    minimize = LeastSquares(Rows(x, y, weight), features, 0.1, Solver("spectral"))
    minimize(2 * omega)  # one grid for all
    gradient = minimize.gradient(omega, minimize(omega).amplitudes)
    assert_allclose(gradient, slopes(lambda near: minimize(near).loss, omega, 1e-4), rtol=0, atol=1e-6)
    assert np.abs(gradient).max() > 1e-3


def test_along_a_path_of_regularizations_in_fourier_space():
    rng, x, y = problem(1)
    omega = rng.standard_normal((5, 1))
    ours, direct = (list(one.along(omega, [1.0, 0.01])) for one in pair(Rows(x, y), CosineSine()))
    for (regularization, found), (same, expected) in zip(ours, direct, strict=True):
        assert regularization == same
        assert_allclose(found, expected, rtol=0, atol=1e-8)


FAR = {"large": 1e8, "too large to count": 1e200, "infinite": np.inf, "not a number": np.nan}


@pytest.mark.parametrize("frequency", FAR.values(), ids=FAR)
def test_a_grid_that_does_not_fit_is_refused_in_a_sentence(frequency):
    _, x, y = problem(2)
    minimize = LeastSquares(Rows(x, y), CosineSine(), 0.1, Solver("spectral", max_memory=4e6))
    omega = np.array([[1.0, 1.0], [frequency, 0.0]])
    sentence = (
        r"needs [\d.e+inf]+ [MG]B for a grid .*allows 1 MB: smaller frequencies, another solver, or a larger max_m"
    )
    for ask in (
        minimize,
        minimize.system,
        minimize.eigensystem,
        lambda omega: minimize.gradient(omega, np.ones((2, 2))),
    ):
        with pytest.raises(MemoryError, match=sentence):
            ask(omega)
    assert minimize.paths.space.grid is None


def test_a_quarter_of_the_memory_is_the_grids():
    rng, x, y = problem(1)
    omega = rng.standard_normal((5, 1))
    space = FourierSpace(Rows(x, y), 0.0)
    needed = space.needed_bytes(space.measured(omega))
    fits = LeastSquares(Rows(x, y), CosineSine(), 0.1, Solver("spectral", max_memory=4 * needed))
    assert fits(omega).info.path == "spectral"
    assert fits.paths.space.grid.coefficients.nbytes <= needed
    tight = LeastSquares(Rows(x, y), CosineSine(), 0.1, Solver("spectral", max_memory=4 * needed - 4))
    with pytest.raises(MemoryError):
        tight(omega)


def test_auto_goes_where_no_grid_can():
    _, x, y = problem(1, 50_000, 1)
    minimize = LeastSquares(Rows(x, y), CosineSine(), 0.1)
    omega = np.random.default_rng(0).standard_normal((64, 1))
    assert minimize(omega).info.path == "spectral"
    omega[3] = 1e30
    assert minimize(omega).info.path == "direct"


def test_a_grid_that_does_not_fit_is_not_built():
    rng, x, y = problem(2, 3000, 1)
    omega = 8 * rng.standard_normal((5, 2))
    rows = Rows(x, y)
    needed = LeastSquares(rows, CosineSine(), 0.1, Solver("spectral")).path(omega).bytes()
    assert 1e5 < needed < 1e9
    minimize = LeastSquares(rows, CosineSine(), 0.1, Solver("auto", max_memory=4 * needed - 4))
    assert minimize(omega).info.path == "direct"
    assert minimize.paths.space.grid is None


def test_auto_takes_the_cheaper_path():
    rng, x, y = problem(1, 50_000, 1)
    omega = 300 * rng.standard_normal((64, 1))
    minimize = LeastSquares(Rows(x, y), CosineSine(), 0.1)
    assert minimize(omega).info.path == "spectral"
    assert replace(minimize, rows=Rows(x[:500], y[:500]))(omega).info.path == "direct"


def test_missing_finufft_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "finufft", None)
    _, x, y = problem(1)
    with pytest.raises(ImportError, match=r"pip install 'fourierwalk\[nufft\]'"):
        LeastSquares(Rows(x, y), CosineSine(), 0.1, Solver("spectral"))


def test_rows_without_a_fourier_space_are_refused():
    _, x, y = problem(3)
    wide = np.hstack((x, x))
    with pytest.raises(ValueError, match="at most 3 columns and Fourier features"):
        LeastSquares(Rows(wide, y), CosineSine(), 0.1, Solver("spectral"))
    with pytest.raises(ValueError, match="at most 3 columns and Fourier features"):
        LeastSquares(Rows(x, y), sigmoid(), 0.1, Solver("spectral"))
    assert LeastSquares(Rows(wide, y), CosineSine(), 0.1).paths.space is None


# Tensors: on the CPU in place of a GPU, through the same code.

few_dimensions = pytest.mark.parametrize(("d", "spread"), [(1, 200.0), (2, 8.0)])


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def tensor_rows(torch, x, y, weight=None):
    return Rows(*(None if part is None else torch.asarray(part) for part in (x, y, weight)))


def is_like(found, reference):
    return type(found) is type(reference) and found.device == reference.device


@both_kinds
@few_dimensions
@pytest.mark.parametrize("shift", [0.0, 30.0], ids=["about zero", "far from zero"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_tensors_have_the_equations_and_amplitudes_of_the_direct_path(torch, features, d, spread, weighted, shift):
    rng, x, y = problem(d, shift=shift)
    weight = rng.integers(1, 4, 300).astype(float) if weighted else None
    omega = torch.asarray(spread * rng.standard_normal((7, d)))
    ours, direct = pair(tensor_rows(torch, x, y, weight), features)
    n = ours.rows.total_weight
    found, expected = ours.system(omega), direct.system(omega)
    for part, same in zip(found[:2], expected[:2], strict=True):
        assert is_like(part, omega)
        assert part.dtype == same.dtype
        assert_allclose(part.resolve_conj(), same, atol=1e-11 * n)
    assert float(found.target_energy) == pytest.approx(float(expected.target_energy))
    solution = ours(omega)
    assert solution.info.path == "spectral"
    assert is_like(solution.amplitudes, omega)
    assert_allclose(solution.amplitudes, direct(omega).amplitudes, atol=1e-8)
    assert float(solution.loss) == pytest.approx(float(direct(omega).loss), abs=1e-9)
    assert_allclose(ours.eigensystem(omega).amplitudes(0.01), direct.eigensystem(omega).amplitudes(0.01), atol=1e-8)


@both_kinds
@few_dimensions
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_tensors_have_the_direct_gradient(torch, features, d, spread, weighted):
    rng, x, y = problem(d)
    weight = rng.integers(1, 4, 300).astype(float) if weighted else None
    omega = torch.asarray(spread * rng.standard_normal((5, d)))
    ours, direct = pair(tensor_rows(torch, x, y, weight), features)
    amplitudes = direct(omega).amplitudes
    found = ours.gradient(omega, amplitudes)
    assert is_like(found, omega)
    assert found.dtype == torch.float64
    assert_allclose(found, direct.gradient(omega, amplitudes), atol=1e-10)


@pytest.mark.parametrize("frequency", FAR.values(), ids=FAR)
def test_a_grid_of_tensors_that_does_not_fit_is_refused(torch, frequency):
    _, x, y = problem(2)
    minimize = LeastSquares(tensor_rows(torch, x, y), CosineSine(), 0.1, Solver("spectral", max_memory=4e6))
    with pytest.raises(MemoryError, match="smaller frequencies, another solver, or a larger max_memory"):
        minimize(torch.asarray([[1.0, 1.0], [frequency, 0.0]], dtype=torch.float64))


def test_tensors_need_no_finufft(torch, monkeypatch):
    monkeypatch.setitem(sys.modules, "finufft", None)
    rng, x, y = problem(1)
    ours, direct = pair(tensor_rows(torch, x, y), CosineSine())
    omega = torch.asarray(rng.standard_normal((5, 1)))
    assert ours(omega).info.path == "spectral"
    assert_allclose(ours(omega).amplitudes, direct(omega).amplitudes, atol=1e-8)


def test_tensors_without_a_fourier_space_are_refused(torch):
    _, x, y = problem(3)
    rows = tensor_rows(torch, x, y)
    single = Rows(rows.x[:, :2].to(torch.float32), rows.y)
    stacked = Rows(rows.x[None, :, :2], rows.y[None])
    for each in (rows, single, stacked):
        with pytest.raises(ValueError, match=r"in double precision.* of at most 2 columns and Fourier features"):
            LeastSquares(each, CosineSine(), 0.1, Solver("spectral"))


def test_auto_leaves_tensors_on_the_cpu_to_the_other_paths(torch, request):
    rng, x, y = problem(1, 200_000, 1)
    rows, omega = tensor_rows(torch, x, y), torch.asarray(rng.standard_normal((320, 1)))
    assert LeastSquares(rows, CosineSine(), 0.1).paths.space is None
    request.getfixturevalue("remote")
    minimize = LeastSquares(rows, CosineSine(), 0.1)
    assert minimize(omega).info.path == minimize.ahead(omega).info.path == "spectral"
    assert replace(minimize, rows=rows.take(np.arange(700)))(omega).info.path != "spectral"


@both_kinds
@few_dimensions
def test_ahead_trusts_what_the_grid_serves(torch, features, d, spread):
    rng, x, y = problem(d)
    omega = torch.asarray(0.1 * spread * rng.standard_normal((5, d)))
    minimize, direct = pair(tensor_rows(torch, x, y), features)
    first = minimize.ahead(omega)  # without a grid, one is made
    assert bool(first.info.trusted)
    grid = minimize.paths.space.grid
    near, far = 1.4 * omega, omega.clone()
    far[3, d - 1] = 1.01 * float(grid.bandwidth[d - 1]) / 2
    solution = minimize.ahead(near)
    assert is_like(solution.info.trusted, omega)
    assert bool(solution.info.trusted)
    assert_allclose(solution.amplitudes, direct(near).amplitudes, atol=1e-8)
    for frequency in (float(far[3, d - 1]), -float(far[3, d - 1]), 1e9, np.inf, np.nan):
        far[3, d - 1] = frequency
        assert not bool(minimize.ahead(far).info.trusted)
    assert minimize.paths.space.grid is grid
    far[3, d - 1] = float(grid.bandwidth[d - 1])
    assert_allclose(minimize(far).amplitudes, direct(far).amplitudes, atol=1e-8)
    assert minimize.paths.space.grid is not grid
    assert bool(minimize.ahead(far).info.trusted)
