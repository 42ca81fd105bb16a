import numpy as np
import scipy.linalg

from fourierwalk.benchmarks import cpu as bench


def test_the_reference_is_the_minimiser():
    x, y, omega = bench.problem(2, 100, 5)
    s = np.exp(1j * x @ omega.T)
    expected = scipy.linalg.solve(s.conj().T @ s + 0.1 * 100 * np.eye(5), s.conj().T @ y)
    np.testing.assert_allclose(bench.reference_step(x, y, omega), expected)
