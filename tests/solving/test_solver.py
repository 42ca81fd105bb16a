"""What each way of solving costs, and what a solve may take."""

import pytest

from fourierwalk.data.features import ComplexExponentials, CosineSine
from fourierwalk.solving import solver
from fourierwalk.solving.solver import Solver, costs, needed_bytes


def test_the_cheapest_path_by_size():
    def cheapest(n_rows, n_frequencies, d, features):
        found = costs(n_rows, n_frequencies, d, features)
        return min(found, key=found.get)

    assert cheapest(10**6, 512, 1, ComplexExponentials()) == "spectral"
    assert cheapest(10**6, 512, 5, ComplexExponentials()) == "direct"
    assert cheapest(100, 512, 5, CosineSine()) == "dual"
    assert cheapest(500, 16, 1, ComplexExponentials()) == "direct"


def test_a_gpu_makes_up_for_more_rows():
    def cheapest(n_rows, n_frequencies, d, features):
        found = costs(n_rows, n_frequencies, d, features, remote=True)
        return min(found, key=found.get)

    assert cheapest(10**7, 512, 1, ComplexExponentials()) == "spectral"
    assert cheapest(10**7, 2048, 2, CosineSine()) == "spectral"
    assert cheapest(50_000, 64, 1, CosineSine()) == "direct"
    assert cheapest(100, 512, 5, CosineSine()) == "dual"
    here, there = costs(10**6, 512, 2, CosineSine()), costs(10**6, 512, 2, CosineSine(), remote=True)
    assert here.keys() == there.keys()
    assert all(there[path] < here[path] for path in here)


def test_only_few_inputs_have_a_fourier_space():
    assert set(costs(10, 4, 1500, CosineSine())) == {"direct", "dual"}
    assert set(costs(10, 4, 3, CosineSine())) == {"direct", "dual", "spectral"}


def test_memory_is_half_of_what_is_free_or_what_is_said(monkeypatch):
    monkeypatch.setattr(solver, "free_bytes", lambda: 8e9)
    assert Solver().memory == 4e9
    assert Solver(max_memory=5).memory == 5.0


def test_the_estimate_grows_with_block_and_matrices():
    assert needed_bytes(100, 10, 50) == pytest.approx(8 * (50 * 10 * 2 + 5 * 100) + 2e6)
    assert needed_bytes(20, 10, 50) < needed_bytes(100, 10, 50) < needed_bytes(100, 20, 50)
