"""Wide rows in coordinates of their span."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fourierwalk.data.rows import Rows
from fourierwalk.data.span import Span


def wide(kind: str, n: int = 6, d: int = 40) -> tuple[Rows, np.ndarray]:
    """Rows of more columns than rows, and the same scaled and dense."""
    rng = np.random.default_rng(0)
    x = rng.poisson(0.3, (n, d)).astype(np.float64)
    if kind == "dense":
        return Rows(x, np.ones((n, 1))), x
    center, scale = rng.normal(size=d), rng.uniform(0.5, 2.0, d)
    return Rows(scipy.sparse.csr_array(x), np.ones((n, 1)), None, center, scale), (x - center) / scale


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_coordinates_keep_scalar_products(kind):
    rows, x = wide(kind)
    z = Span.of(rows).coordinates(rows)
    assert z.shape[1] <= 6
    np.testing.assert_allclose(z @ z.T, x @ x.T, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_lifted_vectors_have_the_same_products_with_the_rows(kind):
    rows, x = wide(kind)
    span = Span.of(rows)
    z = span.coordinates(rows)
    vectors = np.random.default_rng(1).normal(size=(3, z.shape[1]))
    lifted = span.lift(vectors)
    assert lifted.shape == (3, x.shape[1])
    np.testing.assert_allclose(x @ lifted.T, z @ vectors.T, atol=1e-9)
    np.testing.assert_allclose(lifted @ lifted.T, vectors @ vectors.T, atol=1e-9)


def test_components_beyond_the_coordinates_stay_as_they_are():
    rows, x = wide("dense")
    span = Span.of(rows)
    vectors = np.random.default_rng(1).normal(size=(3, span.combinations.shape[1] + 1))
    lifted = span.lift(vectors)
    assert lifted.shape == (3, x.shape[1] + 1)
    np.testing.assert_array_equal(lifted[:, -1], vectors[:, -1])


def test_rows_in_coordinates_keep_targets_and_weights():
    rows, _ = wide("sparse")
    weighted = Rows(rows.x, rows.y, np.arange(1.0, 7.0), rows.center, rows.scale)
    found = Span.of(weighted).rows(weighted)
    assert found.center is None
    np.testing.assert_array_equal(found.y, weighted.y)
    np.testing.assert_array_equal(found.weight, weighted.weight)


def test_rows_that_repeat_span_less():
    rows, _ = wide("dense")
    twice = rows.take(np.array([0, 1, 0, 1]))
    assert Span.of(twice).combinations.shape[1] == 2
