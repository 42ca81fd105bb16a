import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import problem

from fourierwalk import rows as rows_module
from fourierwalk.rows import Block, Rows


def local(backend, n_rows=23):
    x, y, weight = problem(n_rows)
    return Rows(*(backend.asarray(part) for part in (x, y, weight)))


def test_total_weight(xp):
    rows = local(xp)
    assert rows.total_weight == float(np.sum(problem(23)[2]))
    assert Rows(rows.x, rows.y).total_weight == len(rows) == 23


@given(n_rows=st.integers(1, 40), height=st.integers(1, 50))
def test_blocks_hold_every_row_once_and_in_order(n_rows, height):
    x, y, weight = problem(n_rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "BLOCK_BYTES", 8 * 5 * height)
        blocks = list(Rows(x, y, weight).blocks(width=5))
    assert max(len(block.x) for block in blocks) == min(height, n_rows)
    assert len(blocks) == -(-n_rows // height)
    for part, whole in zip(("x", "y", "weight"), (x, y, weight), strict=True):
        assert_array_equal(np.concatenate([getattr(block, part) for block in blocks]), whole)


def test_a_budget_below_one_row_still_gives_rows(monkeypatch):
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 1)
    assert [len(block.x) for block in Rows(np.ones((3, 2))).blocks(width=100)] == [1, 1, 1]


def test_a_gpu_has_blocks_of_its_own_size(monkeypatch):
    monkeypatch.setattr(rows_module, "accelerator_bytes", lambda values: 16 * 8 * 5 * 7)
    assert [len(block.x) for block in Rows(np.ones((20, 2))).blocks(width=5)] == [7, 7, 6]


def test_sum_adds_the_terms_of_all_blocks(anywhere, monkeypatch):
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * 2 * 4)
    rows, calls = local(anywhere), []

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


def test_sparse_blocks_keep_their_scaling(monkeypatch):
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * 2 * 5)
    x, y, _ = problem(12)
    rows = Rows(scipy.sparse.csr_array(x), y, center=np.array([1.0, 2.0]), scale=np.array([3.0, 4.0]))
    phases = np.concatenate([block.project(np.eye(2)) for block in rows.blocks(width=2)])
    assert_allclose(phases, (x - [1.0, 2.0]) / [3.0, 4.0], atol=1e-14)


def test_a_few_blocks_are_one(monkeypatch):
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * 2 * 5)
    monkeypatch.setattr(rows_module, "WHOLE", 3)
    assert [block.x.shape[0] for block in Rows(np.ones((15, 2))).blocks(2)] == [15]
    assert [block.x.shape[0] for block in Rows(np.ones((16, 2))).blocks(2)] == [5, 5, 5, 1]
