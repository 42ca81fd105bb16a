"""The choice among the paths, and that it is made once."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from fourierwalk.data.features import ComplexExponentials, CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.solving import paths
from fourierwalk.solving.budget import Budget
from fourierwalk.solving.fourier_space import FourierSpace
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.paths import Paths
from fourierwalk.solving.solver import Solver

pytest.importorskip("finufft")


def cheapest(n_rows, n_frequencies, d, features, make=np.zeros):
    """The name of the path that rows of this size are solved by, through a Fourier space if they have one."""
    rows = Rows(make((n_rows, d)), make((n_rows, 1)))
    space = FourierSpace(rows, np.inf) if d <= 3 else None
    return Paths(rows, features, Solver(), Budget(), space).at(make((n_frequencies, d))).name


def test_the_cheapest_path_by_size():
    assert cheapest(10**6, 512, 1, ComplexExponentials()) == "spectral"
    assert cheapest(10**6, 512, 5, ComplexExponentials()) == "direct"
    assert cheapest(100, 512, 5, CosineSine()) == "dual"
    assert cheapest(500, 16, 1, ComplexExponentials()) == "direct"


def test_a_gpu_makes_up_for_more_rows(remote):
    def make(shape):
        return remote.zeros(shape, dtype=remote.float64)

    assert cheapest(10**7, 512, 1, ComplexExponentials(), make) == "spectral"
    assert cheapest(10**7, 2048, 2, CosineSine(), make) == "spectral"
    assert cheapest(50_000, 64, 1, CosineSine(), make) == "direct"
    assert cheapest(100, 512, 5, CosineSine(), make) == "dual"


@pytest.mark.parametrize("path", ["auto", "direct", "dual", "spectral"])
def test_the_path_is_decided_once_for_all_questions_about_some_frequencies(path, monkeypatch):
    """Solve, gradient, looks along λ and the eigensystem: one choice, and frequencies that are measured once."""
    rng, counts = np.random.default_rng(0), SimpleNamespace(chosen=0, measured=0)
    chosen, measured = Paths.at, FourierSpace.measured
    monkeypatch.setattr(Paths, "at", lambda self, *asked: count(counts, "chosen") or chosen(self, *asked))
    monkeypatch.setattr(
        FourierSpace, "measured", lambda self, omega: count(counts, "measured") or measured(self, omega)
    )
    x = rng.standard_normal((300, 2))
    minimize = LeastSquares(Rows(x, np.sin(x[:, :1])), CosineSine(), 0.1, Solver(path))
    omega = rng.standard_normal((6, 2))
    minimize.gradient(omega, minimize(omega).amplitudes)
    list(minimize.along(omega, [0.1, 1.0]))
    minimize.eigensystem(omega)
    assert counts.chosen == 1
    assert counts.measured == (path in ("auto", "spectral"))
    minimize(omega + 0)
    assert counts.chosen == 2


def count(counts, name):
    setattr(counts, name, getattr(counts, name) + 1)


def test_every_path_has_the_same_methods():
    wanted = {name for name in vars(paths.Path) if not name.startswith("_")}
    for kind in (paths.Direct, paths.Dual, paths.Spectral):
        assert wanted <= set(dir(kind))


def test_a_gradient_counts_once_one_was_asked_for():
    """In Fourier space a gradient costs several solves: descent takes another path there than a walk."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (12_800, 2))
    omega = rng.uniform(-30, 30, (128, 2))
    minimize = LeastSquares(Rows(x, np.sin(x[:, :1])), CosineSine(), 0.1)
    walk, descent = (minimize.paths.at(omega, with_gradient).name for with_gradient in (False, True))
    assert (walk, descent) == ("spectral", "direct")
    solution = minimize(omega)
    assert solution.info.path == "spectral"
    minimize.gradient(omega, solution.amplitudes)
    assert minimize(omega + 0).info.path == "direct"


def test_a_slow_fourier_space_is_announced_once_before_it_is_paid_for():
    rng = np.random.default_rng(0)
    x, omega = rng.standard_normal((400, 3)), 4 * rng.standard_normal((16, 3))
    minimize = LeastSquares(Rows(x, np.sin(x[:, :1])), CosineSine(), 0.1, Solver("spectral"))
    sentence = r"takes some (0.1|1) s for each solve, .* the direct path takes some 0\.0001 s: solver='auto' takes"
    with pytest.warns(UserWarning, match=sentence):
        minimize.path(omega)
    assert minimize.paths.space.grid is None
    minimize.path(omega + 0)  # not again


@pytest.mark.parametrize("n_rows", [400, 2000])
def test_a_fourier_space_that_is_quick_or_chosen_is_not_announced(n_rows):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, 3))
    for solver, columns in ((Solver("spectral"), 1), (Solver(), 3)):
        with warnings.catch_warnings(record=True) as announced:
            warnings.simplefilter("always")
            LeastSquares(Rows(x[:, :columns], x[:, :1]), CosineSine(), 0.1, solver).path(4 * x[:16, :columns])
        assert announced == []


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("shape", [(3, 4), (3,)])
def test_frequencies_of_another_shape_get_a_sentence(d, shape):
    minimize = LeastSquares(Rows(np.ones((9, d)), np.ones((9, 1))), CosineSine(), 0.1)
    for solve in (minimize, minimize.ahead):
        with pytest.raises(ValueError, match=rf"^frequencies must have the shape \(K, {d}\) for rows of {d} columns"):
            solve(np.ones(shape))
