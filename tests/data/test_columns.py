import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.data.columns import Columns
from fourierwalk.data.rows import Rows

KEPT = np.array([1, 4])


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_rows_keep_some_inputs_and_all_the_rest(xp):
    x, y, weight = drawn(6, 5), drawn(6, 2, seed=1), np.arange(1.0, 7.0)
    rows = Columns(KEPT, 5).rows(Rows(xp.asarray(x), xp.asarray(y), xp.asarray(weight)))
    assert_array_equal(xp.host(rows.x), x[:, KEPT])
    assert_array_equal(xp.host(rows.y), y)
    assert_array_equal(xp.host(rows.weight), weight)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_lifted_frequencies_have_the_same_products_with_the_rows(form):
    x, vectors = drawn(6, 5), drawn(3, 2, seed=1)
    rows = Rows(x)
    if form == "sparse":
        rows = Rows(scipy.sparse.csr_array(x), center=drawn(5, seed=2), scale=np.linspace(1, 2, 5))
    some = Columns(KEPT, 5)
    products = some.rows(rows).whole().project(vectors)
    assert_allclose(rows.whole().project(some.lift(vectors)), products, atol=1e-12)


def test_components_beyond_the_inputs_stay_as_they_are(xp):
    lifted = Columns(KEPT, 5).lift(xp.asarray([[1.0, 2.0, 7.0]]))
    assert_array_equal(xp.host(lifted), [[0.0, 1.0, 0.0, 0.0, 2.0, 7.0]])
