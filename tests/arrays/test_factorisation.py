import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.arrays import factorisation


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def hermitian(n, seed=0):
    factor = drawn(n, n, seed=seed) + 1j * drawn(n, n, seed=seed + 1)
    return factor @ factor.conj().T + np.eye(n)


def equations(torch, n, is_complex, stack):
    """A matrix, and values, of torch."""
    root = drawn(*stack, n, n) + 1j * is_complex * drawn(*stack, n, n, seed=1)
    matrix = torch.asarray(root @ np.swapaxes(root.conj(), -1, -2))
    matrix = matrix if is_complex else matrix.real
    return matrix, torch.asarray(drawn(*stack, n, 2, seed=2)).to(matrix.dtype)


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_cholesky_solves(anywhere, kind):
    matrix = hermitian(5) if kind == "complex" else hermitian(5).real
    right = drawn(5, 2) + (1j * drawn(5, 2, seed=3) if kind == "complex" else 0)
    factor = factorisation.cholesky(anywhere.asarray(matrix.copy()))
    lower = np.tril(anywhere.host(factor))
    assert_allclose(lower @ lower.conj().T, matrix, atol=1e-12)
    solved = factorisation.cholesky_solve(factor, anywhere.asarray(right))
    assert_allclose(anywhere.host(solved), np.linalg.solve(matrix, right), atol=1e-12)


@pytest.mark.parametrize(
    "matrix",
    [
        np.ones((4, 4)),  # singular
        -np.eye(3),  # indefinite
        np.diag([1.0, 1e-17]),  # singular to working precision
        np.full((2, 2), np.nan),
    ],
    ids=["singular", "negative", "nearly singular", "NaN"],
)
def test_cholesky_refuses_what_is_not_safe(anywhere, matrix):
    assert factorisation.cholesky(anywhere.asarray(matrix.copy())) is None


def test_cholesky_takes_what_is_small_but_regular(xp):
    assert factorisation.cholesky(xp.asarray(1e-200 * np.eye(3))) is not None


@pytest.mark.parametrize("n", [1, 2, 70])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_eigh(kind, n, anywhere):
    matrix = hermitian(n) if kind == "complex" else hermitian(n).real
    given = anywhere.asarray(matrix.copy())
    values, basis = (anywhere.host(part) for part in factorisation.eigh(given))
    assert_array_equal(values, np.sort(values))
    assert values.dtype == np.float64
    assert_allclose(basis.conj().T @ basis, np.eye(n), atol=1e-12)
    assert_allclose((basis * values) @ basis.conj().T, matrix, atol=1e-11 * values[-1])
    assert_array_equal(anywhere.host(given), matrix)


def test_a_ridge_is_added_to_a_copy(anywhere):
    matrix = anywhere.asarray(hermitian(4))
    assert_allclose(anywhere.host(factorisation.shifted(matrix, 0.5)), hermitian(4) + 0.5 * np.eye(4))
    assert_array_equal(anywhere.host(matrix), hermitian(4))


@pytest.mark.parametrize("n", [13, factorisation.CORNER_UNKNOWNS, factorisation.CORNER_UNKNOWNS + 13])
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("stack", [(), (3,)])
def test_solving_by_blocks(n, is_complex, stack):
    """What a GPU does with large factors: one block, or several of which the last is smaller."""
    torch = pytest.importorskip("torch")
    matrix, values = equations(torch, n, is_complex, stack)
    matrix = matrix + n * torch.eye(n)
    solved = factorisation._substituted(torch.linalg.cholesky(matrix), values)
    assert_allclose((matrix @ solved).numpy(), values.numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("blocks_from", [None, 8])
@pytest.mark.parametrize("n", [3, 13, factorisation.CORNER_UNKNOWNS + 13])
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("stack", [(), (3,)])
def test_solving_by_a_border(n, is_complex, stack, blocks_from):
    """What a GPU does: the same solution and the same verdict as by two substitutions."""
    torch = pytest.importorskip("torch")
    matrix, values = equations(torch, n, is_complex, stack)
    expected, is_safe = factorisation.solved(matrix, 0.3, values)
    found, flag = factorisation._by_border(matrix, 0.3, values, blocks_from=blocks_from)
    assert_allclose(found.numpy(), expected.numpy(), rtol=0, atol=1e-10)
    assert flag.shape == is_safe.shape == stack
    assert flag.all()
    assert is_safe.all()
    zero, flag = factorisation._by_border(matrix, 0.3, 0 * values, blocks_from=blocks_from)
    assert flag.all()
    assert not zero.any()
    for bad in (matrix - 1e3 * torch.eye(n), torch.nan * matrix, 1e20 * torch.ones_like(matrix)):
        assert not factorisation._by_border(bad, 0.3, values, blocks_from=blocks_from)[1].any()


def test_solving_with_and_without_a_ridge(anywhere):
    matrix, right = hermitian(5), drawn(5, 2) + 0j
    for ridge in (0.0, 0.7):
        found, is_safe = factorisation.solved(anywhere.asarray(matrix), ridge, anywhere.asarray(right))
        assert bool(is_safe)
        assert_allclose(anywhere.host(found), np.linalg.solve(matrix + ridge * np.eye(5), right), atol=1e-12)
