import numpy as np
import pytest
from numpy.testing import assert_allclose

from fourierwalk.data.rows import Rows
from fourierwalk.data.waves import CosineSine, RoundedCosineSine
from fourierwalk.solving.least_squares import LeastSquares


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_inputs", [2, 30], ids=["by moments", "by pulls"])
def test_rounded_pairs_are_those_of_double_precision(n_inputs, weighted):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((200, n_inputs)), rng.standard_normal((200, 3))
    rows = Rows(x, y, rng.random(200) if weighted else None)
    frequencies, rounded = rng.standard_normal((20, n_inputs)), RoundedCosineSine()
    for block in (rows.whole(), next(rows.blocks(40))):  # nothing kept, and columns kept
        assert rounded.columns(block, frequencies).dtype == np.float32
        assert_allclose(rounded.columns(block, frequencies), CosineSine().columns(block, frequencies), atol=1e-5)
        amplitudes = rng.standard_normal((20, 3)) + 1j * rng.standard_normal((20, 3))
        gradients = [kind.gradient(block, frequencies, amplitudes) for kind in (rounded, CosineSine())]
        assert gradients[0].dtype == np.float64
        assert_allclose(*gradients, rtol=0, atol=1e-5 * np.max(np.abs(gradients[1])))
    problems = [LeastSquares(rows, kind, 1e-3) for kind in (rounded, CosineSine())]
    solutions = [problem(frequencies) for problem in problems]
    assert solutions[0].amplitudes.dtype == np.complex128
    columns = CosineSine().columns(rows.whole(), frequencies)
    fits = [columns @ CosineSine().coefficients(solution.amplitudes) for solution in solutions]
    assert_allclose(*fits, atol=1e-4)
    assert solutions[0].loss == pytest.approx(solutions[1].loss, rel=1e-5)
