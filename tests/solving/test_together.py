import numpy as np

from fourierwalk.data import CosineSine, Rows
from fourierwalk.solving import LeastSquares, Solver
from fourierwalk.solving.together import systems

RNG = np.random.default_rng(0)


def test_one_pass_gives_the_equations_of_each():
    rows = Rows(RNG.standard_normal((50, 4)), RNG.standard_normal((50, 1)))
    problem = LeastSquares(rows, CosineSine(), 0.1, Solver("direct"))
    several = [RNG.standard_normal((k, 4)) for k in (3, 5)]
    for system, frequencies in zip(systems(problem, several), several, strict=True):
        expected = problem.system(frequencies)
        assert np.array_equal(system.matrix, expected.matrix)
        assert np.array_equal(system.right_hand_side, expected.right_hand_side)


def test_on_the_spectral_path_one_grid_serves_all():
    rows = Rows(RNG.standard_normal((500, 1)), RNG.standard_normal((500, 1)))
    problem = LeastSquares(rows, CosineSine(), 0.1, Solver("spectral"))
    several = [size * RNG.standard_normal((3, 1)) for size in (1.0, 5.0)]
    found = systems(problem, several)
    exact = LeastSquares(rows, CosineSine(), 0.1, Solver("direct"))
    for system, frequencies in zip(found, several, strict=True):
        assert np.allclose(system.matrix, exact.system(frequencies).matrix, atol=1e-8 * 500)


def test_nothing_asked_is_nothing_done():
    assert systems(LeastSquares(Rows(np.ones((1, 1)), np.ones((1, 1))), CosineSine(), 0.1), []) == []
