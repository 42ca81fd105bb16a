from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
from tables import problem

from fourierwalk.data.features import CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.minibatch import Minibatch
from fourierwalk.solving.solver import Solver


def test_a_batch_is_a_random_part_of_the_rows():
    x, _, _ = problem(400)
    y = np.sin(x[:, :1])
    omega = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    whole = LeastSquares(Rows(x, y), CosineSine(), 0.1, Solver(batch_size=300))
    exact = whole(omega).amplitudes
    batches = [Minibatch(whole, np.random.default_rng(seed))(omega).amplitudes for seed in range(3)]
    assert len({complex(batch[0, 0]) for batch in batches}) == 3
    for batch in batches:
        assert 0 < np.max(np.abs(batch - exact)) < 0.5 * np.max(np.abs(exact))
    mean = np.mean([Minibatch(whole, np.random.default_rng(seed))(omega).amplitudes for seed in range(200)], axis=0)
    assert_allclose(mean, exact, atol=0.05 * np.max(np.abs(exact)))
    all_rows = replace(whole, solver=Solver(batch_size=1000))
    assert_allclose(Minibatch(all_rows, np.random.default_rng(0))(omega).amplitudes, exact)
