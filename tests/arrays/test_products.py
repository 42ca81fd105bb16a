import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.arrays import cosines, products


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("n_columns", [5, 130, 300])  # below and above the size from which SciPy's BLAS is used
@pytest.mark.parametrize("n_vectors", [1, 3])
def test_products(anywhere, n_columns, n_vectors):
    columns, values = drawn(300, n_columns), drawn(300, n_vectors, seed=1)
    gram, moment = products.products(anywhere.asarray(columns), anywhere.asarray(values))
    assert_allclose(anywhere.host(gram), columns.T @ columns, atol=1e-11)
    assert_allclose(anywhere.host(moment), columns.T @ values, atol=1e-11)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("n_vectors", [1, 3])
def test_matmul(order, kind, n_vectors):
    turned = 1j * drawn(200, 300, seed=2) if np.dtype(kind).kind == "c" else 0
    matrix = np.asarray(drawn(200, 300) + turned, dtype=kind, order=order)
    vectors = drawn(300, n_vectors, seed=1).astype(kind)
    found = products.matmul(matrix, vectors)
    assert found.dtype == np.dtype(kind)
    assert_allclose(found, matrix @ vectors, atol=1e-11 if np.finfo(kind).eps < 1e-10 else 1e-3)


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "every second row": lambda matrix: np.repeat(matrix, 2, axis=0)[::2],
    "every second column": lambda matrix: np.repeat(matrix, 2, axis=1)[:, ::2],
    "left part": lambda matrix: np.hstack((matrix, matrix + 1))[:, : matrix.shape[1]],
    "right part of F": lambda matrix: np.asfortranarray(np.vstack((matrix + 1, matrix)))[matrix.shape[0] :],
    "backwards": lambda matrix: matrix[::-1, ::-1].copy()[::-1, ::-1],
    "read only": lambda matrix: np.broadcast_to(matrix[None], (1, *matrix.shape))[0],
}


@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("left", LAYOUTS)
def test_matmul_of_any_layout(left, right):
    for kind in (np.float32, np.float64, np.complex64, np.complex128):
        turned = 1j if np.dtype(kind).kind == "c" else 0
        matrix = (drawn(130, 260) + turned * drawn(130, 260, seed=2)).astype(kind)
        assert matrix.size >= cosines.PHASES_PER_SLICE
        for n_vectors in (1, 3):
            vectors = (drawn(260, n_vectors, seed=1) + turned * drawn(260, n_vectors, seed=3)).astype(kind)
            a, b = LAYOUTS[left](matrix), LAYOUTS[right](vectors)
            before = a.copy(), b.copy()
            found = products.matmul(a, b)
            assert found.dtype == np.dtype(kind)
            assert found.shape == (130, n_vectors)
            assert_allclose(found, np.einsum("ij,jk->ik", matrix, vectors), atol=1000 * np.finfo(kind).eps)
            assert_array_equal(a, before[0])
            assert_array_equal(b, before[1])


@pytest.mark.parametrize("kinds", [("f4", "f8"), ("f8", "f4"), ("f8", "c16"), ("c16", "f8"), ("f4", "c16")])
@pytest.mark.parametrize("n_vectors", [1, 3])
def test_matmul_of_two_kinds(kinds, n_vectors):
    a, b = drawn(130, 260).astype(kinds[0]), drawn(260, n_vectors, seed=1).astype(kinds[1])
    found = products.matmul(a, b)
    assert found.dtype == np.result_type(a, b)
    assert_allclose(found, a.astype("c16") @ b.astype("c16"), atol=1e-11)


@pytest.mark.parametrize("shape", [(3, 4), (130, 260)], ids=["small", "large"])
def test_matmul_stays_in_its_library(shape, anywhere):
    a, b = drawn(*shape), drawn(shape[1], 2, seed=1)
    found = products.matmul(anywhere.asarray(a), anywhere.asarray(b))
    assert_allclose(anywhere.host(found), a @ b, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("n_columns", [130, 1100])  # one thread and several complete the matrix
def test_products_of_any_layout(layout, kind, n_columns):
    turned = 1j if np.dtype(kind).kind == "c" else 0
    columns = (drawn(260, n_columns) + turned * drawn(260, n_columns, seed=2)).astype(kind)
    values = (drawn(260, 2, seed=1) + turned * drawn(260, 2, seed=3)).astype(kind)
    gram, moment = products.products(LAYOUTS[layout](columns), LAYOUTS[layout](values))
    assert gram.dtype == moment.dtype == np.dtype(kind)
    assert_array_equal(gram, gram.conj().T)
    tolerance = 4000 * np.finfo(kind).eps
    assert_allclose(gram, columns.conj().T @ columns, atol=tolerance)
    assert_allclose(moment, columns.conj().T @ values, atol=tolerance)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.cuda
@pytest.mark.parametrize("n_columns", [500, 4000])
@pytest.mark.parametrize("precision", ["double", "single", "tf32", "bf16"])
def test_products_on_a_gpu(torch, precision, n_columns):
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    columns = torch.cos(torch.asarray(drawn(3000, n_columns), device="cuda"))
    columns = columns if precision == "double" else columns.float()
    gram, moment = products.products(columns, columns[:, :2], precision)
    exact = columns.double().T @ columns.double()
    most = 3000 * products.UNITS[precision] * 4
    assert gram.is_cuda
    assert moment.dtype == gram.dtype == columns.dtype
    assert float((gram - exact).abs().max()) < max(most, 1e-2 if precision != "double" else 1e-9)
    if n_columns >= 2 * products.LEAST_PANEL_WIDTH:  # far from the diagonal one triangle is the other's copy
        assert_array_equal(gram[:1000, -1000:].cpu(), gram[-1000:, :1000].mT.cpu())
    if precision in ("tf32", "bf16"):  # the tensor cores were used
        assert float((gram - exact).abs().max()) > 1e-3


@pytest.mark.parametrize("n_columns", [7, 300, 1025, 2300])
@pytest.mark.parametrize("stacked", [(), (2,)], ids=["one", "two"])
def test_tiles_of_one_triangle_are_the_whole_product(torch, n_columns, stacked, monkeypatch):
    """Widths below, at and above those of one tile, and of a last tile that is narrower."""
    multiplied, exact = [], products.product
    monkeypatch.setattr(
        products, "product", lambda a, b, mode: multiplied.append(a.shape[-2] * b.shape[-1]) or exact(a, b, mode)
    )
    columns = drawn(*stacked, 20, n_columns)
    gram, moment = products.products(torch.asarray(columns), torch.asarray(columns[..., :2]))
    assert_allclose(gram.numpy(), np.swapaxes(columns, -1, -2) @ columns, atol=1e-12)
    assert_allclose(moment.numpy(), np.swapaxes(columns, -1, -2) @ columns[..., :2], atol=1e-12)
    if n_columns >= 2 * products.LEAST_PANEL_WIDTH:
        assert sum(multiplied) < 0.8 * n_columns**2


@pytest.mark.parametrize("precision", ["bf16", "tf32", "single"])
@pytest.mark.parametrize("n_columns", [40, 1100])
def test_low_precision_rounds_columns_and_nothing_else(torch, precision, n_columns):
    columns = np.cos(drawn(300, n_columns)).astype(np.float32)
    before = torch.backends.cuda.matmul.fp32_precision
    gram, _ = products.products(torch.asarray(columns), torch.asarray(columns[:, :1]), precision)
    assert torch.backends.cuda.matmul.fp32_precision == before
    assert gram.dtype == torch.float32
    assert_array_equal(gram.numpy(), gram.numpy().T)
    rounded = torch.asarray(columns).to(torch.bfloat16).double().numpy() if precision == "bf16" else columns
    assert_allclose(gram.numpy(), rounded.T.astype(float) @ rounded, atol=1e-3 if precision != "tf32" else 0.3)
    if precision == "bf16":
        assert np.max(np.abs(gram.numpy() - columns.T.astype(float) @ columns)) > 1e-2


def test_targets_in_parts_can_be_kept(torch, monkeypatch):
    monkeypatch.setattr(products, "is_remote", lambda values: True)
    columns, values = torch.asarray(np.cos(drawn(300, 40))).bfloat16(), torch.asarray(drawn(300, 3, seed=1))
    parts = products.Parts.of_targets(values)
    for part in (slice(0, 300), slice(100, 207)):
        _, moment = products.products(columns[part], values[part], "bf16", parts.part(part))
        assert_array_equal(moment, products.products(columns[part], values[part], "bf16")[1])
        assert_allclose(moment, columns[part].double().T @ values[part], atol=2e-4)


def test_a_rounded_gram_matrix_is_still_that_of_a_problem(torch):
    columns = torch.asarray(np.cos(drawn(300, 40)).astype(np.float32))
    gram, _ = products.products(columns, columns[:, :1], "bf16")
    assert np.linalg.eigvalsh(gram.numpy().astype(float))[0] > 0


@pytest.mark.parametrize("precision", ["double", "single", "tf32", "bf16"])
def test_phases(torch, precision, monkeypatch):
    monkeypatch.setattr(products, "is_remote", lambda values: True)
    x, vectors = drawn(50, 200), drawn(30, 200, seed=1)
    found = products.phases(torch.asarray(x), torch.asarray(vectors), precision).double().numpy()
    error = np.max(np.abs(found - x @ vectors.T))
    if precision == "bf16":  # two halves, not one: a single bf16 product is off by 100 times as much
        assert 1e-7 < error < 3e-3
    else:
        assert error < 1e-12


def test_phases_in_halves_are_for_a_device_alone(torch):
    x, vectors = drawn(50, 200), drawn(30, 200, seed=1)
    found = products.phases(torch.asarray(x), torch.asarray(vectors), "bf16")
    assert_allclose(found.numpy(), x @ vectors.T, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.complex128])
def test_outer_gram(anywhere, kind):
    matrix = (drawn(30, 50) + (1j * drawn(30, 50, seed=1) if kind is np.complex128 else 0)).astype(kind)
    found = anywhere.host(products.outer_gram(anywhere.asarray(matrix)))
    assert_allclose(found, matrix @ matrix.conj().T, atol=1e-12)
