"""What a solve may take, and what is refused before it is allocated."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from tables import problem

from fourierwalk.data.features import ComplexExponentials, CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.solving.budget import Budget, check_least_bytes, needed_bytes
from fourierwalk.solving.latest import Latest
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver


def test_the_estimate_grows_with_block_and_matrices():
    assert needed_bytes(100, 10, 50) == pytest.approx(8 * (50 * 10 * 2 + 5 * 100) + 2e6)
    assert needed_bytes(20, 10, 50) < needed_bytes(100, 10, 50) < needed_bytes(100, 20, 50)


def test_the_estimate_bounds_what_is_taken():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20_000, 3))
    minimize = LeastSquares(Rows(x, np.sin(x[:, :1])), CosineSine(), 0.1, Solver("direct"))
    omega = rng.standard_normal((150, 3))
    minimize(omega)
    tracemalloc.start()
    minimize(omega + 0)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    announced = needed_bytes(20_000, 300, minimize.rows.block_height(300))
    assert 0.2 * announced < most < announced


def test_what_does_not_fit_is_refused_before_it_is_allocated():
    x, y, _ = problem(100)
    minimize = LeastSquares(Rows(x, y), CosineSine(), 0.1, Solver("direct", max_memory=5e6))
    with pytest.raises(MemoryError, match=r"^500 frequencies need 43\.6 MB .* allows 5 MB: at most 136 would fit\.$"):
        minimize(np.ones((500, 2)))
    low = replace(minimize, rows=Rows(x[:1], y[:1]))
    low(np.ones((136, 2)))
    with pytest.raises(MemoryError):
        low(np.ones((137, 2)))


def test_what_does_not_fit_on_a_gpu_is_refused_too(remote, monkeypatch):
    x, y, _ = problem(100)
    monkeypatch.setattr("fourierwalk.solving.budget.accelerator_free_bytes", lambda values: 5e6)
    minimize = LeastSquares(Rows(remote.asarray(x), remote.asarray(y)), CosineSine(), 0.1, Solver("direct"))
    minimize(remote.ones((500, 2), dtype=remote.float64))  # of what always fits nobody is asked
    asked = replace(minimize, latest=Latest(Budget(always_fits=0.0)))
    with pytest.raises(MemoryError, match=r"need 43\.6 MB .* the GPU has free 5 MB: at most 136 would fit\.$"):
        asked(remote.ones((500, 2), dtype=remote.float64))


def test_a_gpu_is_not_asked_again_about_what_has_fitted(remote, monkeypatch):
    questions = []
    monkeypatch.setattr("fourierwalk.solving.budget.accelerator_free_bytes", lambda values: questions.append(1) or 1e12)
    x, y, _ = problem(100)
    rows = Rows(remote.asarray(x), remote.asarray(y))
    minimize = LeastSquares(rows, CosineSine(), 0.1, Solver("direct"), Latest(Budget(always_fits=0.0)))
    for n_frequencies in (20, 20, 10, 30):
        minimize(remote.ones((n_frequencies, 2), dtype=remote.float64))
    assert len(questions) == 2


def test_dual_equations_that_do_not_fit_are_refused():
    x, y, _ = problem(100)
    minimize = LeastSquares(Rows(x, y), CosineSine(), 0.1, Solver("dual", max_memory=3e6))
    minimize(np.ones((100, 2)))
    with pytest.raises(MemoryError, match=r"^100 rows and 5000 frequencies need 26\.2 MB .* allows 3 MB: fewer"):
        minimize(np.ones((5000, 2)))


@pytest.mark.parametrize("features", [CosineSine(), ComplexExponentials()], ids=lambda features: features.name)
def test_the_estimate_of_the_dual_path_bounds_what_is_taken(features):
    rng = np.random.default_rng(0)
    x, omega = rng.standard_normal((600, 3)), rng.standard_normal((3000, 3))
    minimize = LeastSquares(Rows(x, np.sin(x[:, :1])), features, 0.1, Solver("dual"))
    tracemalloc.start()
    minimize(omega)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    announced = minimize.path(omega).bytes()
    assert 0.2 * announced < most < announced


def test_what_no_path_could_solve_is_refused_at_once():
    """The smaller one of the normal and the dual equations counts."""
    solver = Solver(max_memory=1e9)
    check_least_bytes(160_000, 20_000, 1000, solver, np.zeros(1))  # 480 MB of dual equations
    check_least_bytes(40_000, 5_000, 10**9, solver, np.zeros(1))  # 1 GB of normal equations
    message = "n_frequencies=1000000 needs at least 1.2 GB, and max_memory allows 1 GB: fewer, or a larger max_memory."
    with pytest.raises(MemoryError, match=message):
        check_least_bytes(10**6, 50_000, 1000, solver, np.zeros(1))
