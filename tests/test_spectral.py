"""The normal equations in Fourier space against sums over rows, and the transforms against their definitions."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tables import slopes

from fourierwalk import spectral
from fourierwalk.features import ComplexExponentials, CosineSine, sigmoid
from fourierwalk.least_squares import LeastSquares
from fourierwalk.rows import Rows
from fourierwalk.solver import Solver
from fourierwalk.spectral import Spectral

pytest.importorskip("finufft")

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
    assert minimize.spectral._grids == []


def test_a_quarter_of_the_memory_is_the_grids():
    rng, x, y = problem(1)
    omega = rng.standard_normal((5, 1))
    needed = Spectral(Rows(x, y), 0.0).needed_bytes(omega)
    fits = LeastSquares(Rows(x, y), CosineSine(), 0.1, Solver("spectral", max_memory=4 * needed))
    assert fits(omega).info.path == "spectral"
    assert fits.spectral._grids[0].coefficients.nbytes <= needed
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


def test_the_grid_is_kept_and_grows_when_outgrown():
    rng, x, y = problem(1)
    space = Spectral(Rows(x, y), 1e9)
    small = rng.standard_normal((5, 1))
    space.equations(small, CosineSine())
    first = space._grids[0]
    space.equations(1.2 * small, CosineSine())
    assert space._grids[0] is first
    space.equations(10 * small, CosineSine())
    assert space._grids[0] is not first
    assert space._grids[0].bandwidth[0] >= 20 * np.max(np.abs(small))
    assert len(space._grids) == 1


def test_a_grid_that_does_not_fit_is_not_built():
    rng, x, y = problem(2, 3000, 1)
    omega = 8 * rng.standard_normal((5, 2))
    rows = Rows(x, y)
    assert Spectral(rows, 1e9).serves(omega)
    assert not Spectral(rows, 1e5).serves(omega)
    minimize = LeastSquares(rows, CosineSine(), 0.1, Solver("auto"), Spectral(rows, 1e5))
    assert minimize(omega).info.path == "direct"


def test_auto_takes_the_cheaper_path():
    rng, x, y = problem(1, 50_000, 1)
    omega = 300 * rng.standard_normal((64, 1))
    minimize = LeastSquares(Rows(x, y), CosineSine(), 0.1)
    assert minimize(omega).info.path == "spectral"
    assert replace(minimize, rows=Rows(x[:500], y[:500]), spectral=None)(omega).info.path == "direct"


@every_dimension
def test_evaluation_is_the_sum(d, spread):
    rng, x, _ = problem(d, 200)
    omega = spread * rng.standard_normal((9, d))
    beta = rng.standard_normal((9, 3)) + 1j * rng.standard_normal((9, 3))
    assert_allclose(spectral.evaluate(x, omega, beta, 1e-12), np.exp(1j * x @ omega.T) @ beta, atol=1e-9)


def test_the_window_has_the_transform_that_it_says():
    t = np.linspace(-spectral.WIDTH / 2, spectral.WIDTH / 2, 200_001)
    for theta in (0.0, 0.7, np.pi / 2):
        integral = np.trapezoid(spectral.window(t) * np.cos(theta * t), t)
        assert spectral.window_transform(np.array(theta)) == pytest.approx(integral, rel=1e-7)


def test_spreading_keeps_the_total():
    rng = np.random.default_rng(0)
    positions, weight = rng.uniform(-20, 20, (50, 1)), rng.random(50)
    grid = spectral.spread(positions, [weight, 2 * weight], (80,))
    assert grid.shape == (2, 80)
    assert_allclose(grid[0], weight @ spectral.window(np.arange(-40, 40) - positions[:, 0, None]), atol=1e-9)
    assert_allclose(grid[1], 2 * grid[0])


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
    assert LeastSquares(Rows(wide, y), CosineSine(), 0.1).spectral is None
