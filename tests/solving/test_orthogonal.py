import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables import FEATURES, Plain, every_kind, problem, ridge, slopes

from fourierwalk.data.rows import Rows
from fourierwalk.solving.orthogonal import Orthogonal

REGULARIZATION = 1e-3


def posed(kind, backend, regularization=REGULARIZATION, n_rows=40, block_bytes=None):
    rows = Rows(*(backend.asarray(part) for part in problem(n_rows)), block_bytes=block_bytes)
    return Orthogonal(rows, kind.features, regularization)


@every_kind
@pytest.mark.parametrize("n_rows", [40, 3])
def test_it_is_the_ridge_solution(kind, n_rows, xp):
    omega = kind.frequencies(4, 2)
    x, y, weight = problem(n_rows)
    found = posed(kind, xp, n_rows=n_rows)(xp.asarray(omega))
    expected = ridge(kind.design(x, omega), y, weight, REGULARIZATION)
    assert_allclose(xp.host(found.amplitudes), kind.amplitudes(expected), atol=1e-9)
    residual = np.abs(kind.design(x, omega) @ expected - y) ** 2
    loss = np.sum(weight[:, None] * residual) / np.sum(weight) + REGULARIZATION * np.sum(np.abs(expected) ** 2)
    assert_allclose(found.loss, loss, rtol=1e-9)


@every_kind
def test_blocks_change_nothing(kind, xp):
    omega = xp.asarray(kind.frequencies(4, 2))
    at_once = xp.host(posed(kind, xp)(omega).amplitudes)
    in_blocks = posed(kind, xp, block_bytes=8 * 16 * 5)
    assert_allclose(xp.host(in_blocks(omega).amplitudes), at_once, atol=1e-10)


def test_gradient():
    kind = FEATURES["cos-sin"]
    omega = kind.frequencies(4, 2)
    minimize = posed(kind, Plain)
    found = minimize.gradient(omega, minimize(omega).amplitudes)
    assert_allclose(found, slopes(lambda at: minimize(at).loss, omega), atol=1e-7)


def test_it_is_exact_where_normal_equations_are_not():
    """Nearly equal frequencies: the columns are dependent to 1e-12, and the targets lie in their span."""
    x = np.linspace(-1, 1, 200)[:, None]
    omega = np.linspace(1.0, 1.5, 12)[:, None]
    minimize = Orthogonal(Rows(x, np.sin(1.23 * x)), FEATURES["cos-sin"].features, 1e-26)
    assert minimize(omega).loss < 1e-20
