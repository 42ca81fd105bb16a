"""The settings of a solve."""

from fourierwalk.solving import solver
from fourierwalk.solving.solver import Solver


def test_memory_is_half_of_what_is_free_or_what_is_said(monkeypatch):
    monkeypatch.setattr(solver, "free_bytes", lambda: 8e9)
    assert Solver().memory == 4e9
    assert Solver(max_memory=5).memory == 5.0
