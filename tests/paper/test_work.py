"""Counted work against a count by hand."""

from fourierwalk.paper.cases import CASE_3
from fourierwalk.paper.work import evaluations, operations, solves

WALK, _, GRADIENT = CASE_3.experiments


def test_solves_of_a_walk():
    assert [solves(WALK, step) for step in (0, 99, 100, 10_000)] == [1, 100, 102, 10_101]


def test_operations_of_one_solve_and_of_one_sample():
    n, k, d = CASE_3.n_rows, 16, 2
    assert evaluations(CASE_3, WALK, k, 0) == n * k
    assert operations(CASE_3, WALK, k, 0) == n * k * (2 * d + 40) + 4 * n * k**2 + 8 * n * k + 4 * k**3 / 3
    assert operations(CASE_3, GRADIENT, k, 3) == 3 * k * (4 * d + 64)
