import numpy as np
import pytest

from fourierwalk.chunks import Sliced
from fourierwalk.chunks.rows import ChunkedRows, Preparation, Withholding
from fourierwalk.chunks.targets import NumberTargets
from fourierwalk.data import Rows, Scaling

RNG = np.random.default_rng(0)
X, Y, W = RNG.standard_normal((100, 3)), RNG.standard_normal((100, 2)), RNG.uniform(1, 2, 100)
SCALING = Scaling.fit(X, Y, W)


def chunked(held_out=None, **options):
    preparation = Preparation(SCALING, NumberTargets(), 2.0, held_out)
    return ChunkedRows(X[:0], Y[:0], chunks=Sliced(X, Y, W, rows=30), preparation=preparation, **options)


def test_sums_and_totals_are_those_of_rows_in_memory():
    rows, local = chunked(), SCALING.rows(X, Y, 2 * W)
    assert len(rows) == 100
    assert np.isclose(rows.total_weight, local.total_weight, rtol=1e-14)
    assert np.isclose(rows.target_energy, local.target_energy, rtol=1e-13)

    def term(block):
        return block.weight @ block.x

    assert np.allclose(rows.sum(term, 1), local.sum(term, 1), rtol=1e-12, atol=1e-12)


def test_blocks_stay_within_the_budget():
    rows, heights = chunked(block_bytes=8 * 7 * 19), []
    rows.sum(lambda block: heights.append(len(block.x)) or 0, width=10)
    assert max(heights) == 7
    assert sum(heights) == 100


def test_rows_held_out_are_in_no_sum():
    held_out = Withholding(0.3, seed=1)
    rows = chunked(held_out)
    kept = ~held_out.mask(next(iter(Sliced(X, Y))))
    assert 0 < len(rows) == kept.sum() < 100
    assert np.allclose(rows.sum(lambda block: block.x.sum(axis=0), 1), SCALING.rows(X[kept]).x.sum(axis=0))


@pytest.mark.parametrize("ask", [lambda rows: rows.whole(), lambda rows: rows.take([1]), lambda rows: rows.blocks(1)])
def test_nobody_holds_the_rows(ask):
    with pytest.raises(ValueError, match="rows in blocks can be summed, but not taken"):
        ask(chunked())


def test_no_row_left_is_said():
    with pytest.raises(ValueError, match="X must have at least one row to learn from"):
        chunked(Withholding(1.0, seed=0)).sum(lambda block: 1, 1)


def test_rows_in_memory_are_not_in_chunks():
    assert ChunkedRows.in_chunks
    assert not Rows.in_chunks
