import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import problem

from fourierwalk.data import rows as rows_module
from fourierwalk.data.rows import Block, Rows


def local(backend, n_rows=23, block_bytes=None):
    x, y, weight = problem(n_rows)
    return Rows(*(backend.asarray(part) for part in (x, y, weight)), block_bytes=block_bytes)


def test_total_weight(xp):
    rows = local(xp)
    assert rows.total_weight == float(np.sum(problem(23)[2]))
    assert Rows(rows.x, rows.y).total_weight == len(rows) == 23


@given(n_rows=st.integers(1, 40), height=st.integers(1, 50))
def test_blocks_hold_every_row_once_and_in_order(n_rows, height):
    x, y, weight = problem(n_rows)
    blocks = list(Rows(x, y, weight, block_bytes=8 * 5 * height).blocks(width=5))
    assert max(len(block.x) for block in blocks) == min(height, n_rows)
    assert len(blocks) == -(-n_rows // height)
    for part, whole in zip(("x", "y", "weight"), (x, y, weight), strict=True):
        assert_array_equal(np.concatenate([getattr(block, part) for block in blocks]), whole)


def test_a_budget_below_one_row_still_gives_rows():
    assert [len(block.x) for block in Rows(np.ones((3, 2)), block_bytes=1).blocks(width=100)] == [1, 1, 1]


def test_a_gpu_has_blocks_of_its_own_size(monkeypatch):
    monkeypatch.setattr(rows_module, "accelerator_bytes", lambda values: 16 * 8 * 5 * 7)
    assert [len(block.x) for block in Rows(np.ones((30, 2))).blocks(width=5)] == [7, 7, 7, 7, 2]


def test_sum_adds_the_terms_of_all_blocks(anywhere):
    rows, calls = local(anywhere, block_bytes=8 * 2 * 4), []

    def term(block):
        calls.append(int(block.x.shape[0]))
        return block.x.T @ (block.y * block.weight[:, None])

    x, y, weight = problem(23)
    assert_allclose(anywhere.host(rows.sum(term, width=2)), x.T @ (y * weight[:, None]), atol=1e-13)
    assert calls == [4, 4, 4, 4, 4, 3]


def test_whole_is_one_block(xp):
    block = local(xp).whole()
    assert_array_equal(xp.host(block.x), problem(23)[0])


def test_project_is_the_scalar_product(anywhere):
    x, vectors = problem(23)[0], np.random.default_rng(5).standard_normal((4, 2))
    assert_allclose(
        anywhere.host(Block(anywhere.asarray(x)).project(anywhere.asarray(vectors))), x @ vectors.T, atol=1e-14
    )


def test_project_computes_in_double_precision(xp):
    x = problem(23)[0].astype(np.float32)
    phases = Block(xp.asarray(x)).project(xp.asarray(np.full((1, 2), 1 / 3)))
    assert_allclose(xp.host(phases), x.astype(np.float64) @ np.full((2, 1), 1 / 3), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_are_centred_in_the_phase(dtype):
    x = scipy.sparse.random_array((30, 6), density=0.3, rng=np.random.default_rng(0), dtype=np.float64).astype(dtype)
    vectors, center, scale = (np.random.default_rng(i).uniform(0.5, 2, shape) for i, shape in enumerate([(4, 6), 6, 6]))
    block = Block(x.tocsr(), center=center, scale=scale)
    assert_allclose(block.project(vectors), ((x.toarray() - center) / scale) @ vectors.T, atol=1e-13)


def scattered(pulls, x):
    """Σₙ pullₙₖ xₙ, by loops."""
    total = np.zeros((pulls.shape[1], x.shape[1]))
    for n, k in np.ndindex(pulls.shape):
        total[k] += pulls[n, k] * x[n]
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gather_is_the_adjoint_of_project(dtype, anywhere):
    x, pulls = problem(23)[0].astype(dtype), np.random.default_rng(5).standard_normal((23, 4))
    found = Block(anywhere.asarray(x)).gather(anywhere.asarray(pulls))
    assert anywhere.dtype(found) == "float64"
    assert_allclose(anywhere.host(found), scattered(pulls, x.astype(np.float64)), rtol=0, atol=1e-13)


@given(
    n_rows=st.integers(1, 30), n=st.integers(1, 5), d=st.integers(1, 6), seed=st.integers(0, 99), dense=st.booleans()
)
def test_products_with_projections_are_products_with_what_is_gathered(n_rows, n, d, seed, dense):
    """⟨project(v), p⟩ = ⟨v, gather(p)⟩."""
    rng = np.random.default_rng(seed)
    x, vectors, pulls = (rng.standard_normal(shape) for shape in [(n_rows, d), (n, d), (n_rows, n)])
    sparse = Block(scipy.sparse.csr_array(x * (x > 0)), center=rng.uniform(0, 1, d), scale=rng.uniform(1, 2, d))
    block = Block(x) if dense else sparse
    expected = np.sum(block.project(vectors) * pulls)
    assert np.sum(vectors * block.gather(pulls)) == pytest.approx(expected, abs=1e-11)


def test_sparse_rows_are_gathered_centred():
    x, pulls = problem(23)[0], np.random.default_rng(5).standard_normal((23, 4))
    center, scale = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    found = Block(scipy.sparse.csr_array(x), center=center, scale=scale).gather(pulls)
    assert type(found) is np.ndarray
    assert_allclose(found, scattered(pulls, (x - center) / scale), rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gram_is_the_rows_scalar_products(dtype, anywhere):
    x = problem(23, 5)[0].astype(dtype)
    block = Block(anywhere.asarray(x))
    found = block.gram(block)
    assert anywhere.dtype(found) == "float64"
    assert_allclose(anywhere.host(found), np.einsum("id,jd->ij", *[x.astype(np.float64)] * 2), rtol=0, atol=1e-13)


@given(n_rows=st.integers(1, 30), d=st.integers(1, 12), seed=st.integers(0, 99), single=st.booleans())
def test_gram_of_sparse_rows_is_that_of_their_scaled_values(n_rows, d, seed, single):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, d)) * (rng.uniform(size=(n_rows, d)) < 0.3)
    x = x.astype(np.float32) if single else x
    center, scale = rng.uniform(-1, 1, d), rng.uniform(0.2, 2, d)
    scaled = (x - center) / scale
    for kind in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
        block = Block(kind(x), center=center, scale=scale)
        found = block.gram(block)
        assert type(found) is np.ndarray
        assert found.dtype == np.float64
        assert_array_equal(found, found.T)
        assert_allclose(found, scaled @ scaled.T, rtol=0, atol=1e-12 * (1 + np.max(scaled**2) * d))


def test_gram_makes_no_dense_rows():
    """They would take 800 MB."""
    x = scipy.sparse.random_array((100, 10**6), density=1e-5, rng=np.random.default_rng(0), format="csr")
    block = Block(x, center=np.full(10**6, 1e-3), scale=np.ones(10**6))
    tracemalloc.start()
    found = block.gram(block)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e8
    sums = x.sum(axis=1) * 1e-3
    assert_allclose(found, (x @ x.T).toarray() - sums[:, None] - sums[None, :] + 1.0, atol=1e-9)


@pytest.mark.parametrize("n_inputs", [2, rows_module.NARROW_COLUMNS, rows_module.NARROW_COLUMNS + 1])
def test_a_projector_projects_some_rows_at_a_time(n_inputs, anywhere):
    x, vectors = problem(23, n_inputs)[0], np.random.default_rng(5).standard_normal((4, n_inputs))
    project = Block(anywhere.asarray(x)).projector(anywhere.asarray(vectors))
    for part in (slice(0, 23), slice(0, 1), slice(7, 20)):
        assert_allclose(anywhere.host(project(part)), x[part] @ vectors.T, rtol=0, atol=1e-13)


@pytest.mark.parametrize("n_inputs", [2, 12])
def test_a_projector_of_sparse_rows(n_inputs):
    x, vectors = problem(23, n_inputs)[0], np.random.default_rng(5).standard_normal((4, n_inputs))
    center, scale = np.full(n_inputs, 0.5), np.full(n_inputs, 2.0)
    project = Block(scipy.sparse.csr_array(x), center=center, scale=scale).projector(vectors)
    assert_allclose(project(slice(7, 20)), ((x - 0.5) / 2 @ vectors.T)[7:20], rtol=0, atol=1e-13)


@pytest.mark.parametrize("weighted", [True, False])
def test_a_part_is_some_of_the_rows(weighted, anywhere):
    x, y, weight = problem(23)
    rows = local(anywhere)
    part = Block(rows.x, rows.y, rows.weight if weighted else None).part(slice(4, 9))
    assert_array_equal(anywhere.host(part.x), x[4:9])
    assert_array_equal(anywhere.host(part.y), y[4:9])
    if weighted:
        assert_array_equal(anywhere.host(part.weight), weight[4:9])
    else:
        assert part.weight is None


def test_a_part_without_targets_has_none():
    part = Block(np.ones((5, 2))).part(slice(1, 3))
    assert part.x.shape == (2, 2)
    assert part.y is None


@pytest.mark.parametrize("weighted", [True, False])
def test_pick(xp, weighted):
    x, y, weight = problem(23)
    mask = np.arange(23) % 3 == 0
    rows = local(xp) if weighted else Rows(xp.asarray(x), xp.asarray(y))
    picked = rows.pick(mask)
    assert_array_equal(xp.host(picked.x), x[mask])
    assert_array_equal(xp.host(picked.y), y[mask])
    if weighted:
        assert_array_equal(xp.host(picked.weight), weight[mask])
    else:
        assert picked.weight is None


def test_pick_keeps_sparse_rows_sparse_with_their_scaling():
    x, y, weight = problem(23)
    mask = np.arange(23) % 2 == 1
    rows = Rows(scipy.sparse.csr_array(x), y, weight, center=np.array([1.0, 2.0]), scale=np.array([3.0, 4.0]))
    picked = rows.pick(mask)
    assert scipy.sparse.issparse(picked.x)
    assert_array_equal(picked.x.toarray(), x[mask])
    assert_array_equal(picked.y, y[mask])
    assert_array_equal(picked.weight, weight[mask])
    assert_array_equal(picked.center, [1.0, 2.0])
    assert_array_equal(picked.scale, [3.0, 4.0])


def test_sparse_blocks_keep_their_scaling():
    x, y, _ = problem(12)
    center, scale = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    blocks = list(Rows(scipy.sparse.csr_array(x), y, None, center, scale, block_bytes=8 * 2 * 5).blocks(width=2))
    assert len(blocks) == 3
    phases = np.concatenate([block.project(np.eye(2)) for block in blocks])
    assert_allclose(phases, (x - [1.0, 2.0]) / [3.0, 4.0], atol=1e-14)


def test_a_few_blocks_are_one():
    width = 2**18  # of which 64 MiB hold 32 rows; columns are not made here
    assert [block.x.shape[0] for block in Rows(np.ones((96, 2))).blocks(width)] == [96]
    assert [block.x.shape[0] for block in Rows(np.ones((97, 2))).blocks(width)] == [32, 32, 32, 1]


@pytest.mark.parametrize(("reach", "kind"), [(0.9, np.float32), (1.1, np.float64)], ids=["short", "long"])
def test_short_phases_are_single_radians_and_long_ones_turns(reach, kind):
    x = np.array([[1.0, -2.0], [0.5, 1.0]])
    vectors = np.array([[reach * rows_module.SHORT_PHASE / 5, -2 * reach * rows_module.SHORT_PHASE / 5]])
    found = Block(x).projector(vectors, "single")(slice(0, 2))
    assert found.dtype == kind
    unit = 1.0 if kind == np.float32 else 2 * np.pi
    assert_allclose(found * unit, x @ vectors.T, rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "y", "weight", "sentence"),
    [
        ((5,), None, None, r"Rows\(x\) must have the shape \(n, d\), got \(5,\): x\[:, None\] is one input"),
        (
            (5, 2),
            (5,),
            None,
            r"targets of shape \(5, q\) for inputs of shape \(5, 2\), got \(5,\): y\[:, None\]",
        ),
        ((5, 2), (4, 1), None, r"targets of shape \(5, q\) for inputs of shape \(5, 2\), got \(4, 1\)"),
        ((3, 5, 2), (5, 1), None, r"targets of shape \(3, 5, q\) for inputs of shape \(3, 5, 2\), got \(5, 1\)"),
        ((5, 2), (5, 1), (5, 1), r"weights of shape \(5,\), got \(5, 1\)"),
        ((5, 2), (5, 1), (4,), r"weights of shape \(5,\), got \(4,\)"),
    ],
    ids=["one input", "one output", "fewer targets", "stacked", "column of weights", "fewer weights"],
)
def test_shapes_that_do_not_belong_together_get_a_sentence(x, y, weight, sentence, xp):
    parts = [None if shape is None else xp.asarray(np.ones(shape)) for shape in (x, y, weight)]
    with pytest.raises(ValueError, match=sentence):
        Rows(*parts)
