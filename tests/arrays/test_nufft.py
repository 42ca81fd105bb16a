"""The transforms against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fourierwalk.arrays import nufft

pytest.importorskip("finufft")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def is_like(values, reference):
    return type(values) is type(reference) and values.device == reference.device


@pytest.mark.parametrize(("d", "spread"), [(1, 200.0), (2, 8.0), (3, 2.0)])
def test_evaluation_is_the_sum(d, spread):
    rng = np.random.default_rng(0)
    x, omega = rng.standard_normal((200, d)), spread * rng.standard_normal((9, d))
    beta = rng.standard_normal((9, 3)) + 1j * rng.standard_normal((9, 3))
    assert_allclose(nufft.evaluate(x, omega, beta, 1e-12), np.exp(1j * x @ omega.T) @ beta, atol=1e-9)


def test_tensors_are_not_evaluated_by_finufft(torch):
    x, omega = np.ones((5, 1)), np.ones((3, 1))
    assert nufft.evaluation_bytes(torch.asarray(x), omega) == np.inf
    assert 0 < nufft.evaluation_bytes(x, omega) < 1e6


def test_the_window_has_the_transform_that_it_says():
    t = np.linspace(-nufft.WIDTH / 2, nufft.WIDTH / 2, 200_001)
    for theta in (0.0, 0.7, np.pi / 2):
        integral = np.trapezoid(nufft.window(t) * np.cos(theta * t), t)
        assert nufft.window_transform(np.array(theta)) == pytest.approx(integral, rel=1e-7)


@pytest.mark.parametrize("n_points", [0, 1, 50])
@pytest.mark.parametrize("shape", [(10,), (64,), (500,), (15,), (12, 30), (64, 50)], ids=str)
def test_the_transform_of_tensors_is_its_definition(torch, shape, n_points):
    """As near as finufft comes; θ leaves [−π, π), the windows reach over the ends, and the points come in blocks."""
    rng = np.random.default_rng(0)
    b = rng.standard_normal((2, *shape))
    theta = rng.uniform(-7, 7, (len(shape), n_points))
    theta[:, :1] = np.pi
    expected = np.array([nufft.transform(theta, nufft.prepared(b, b))]).reshape(2, -1)
    for point in range(n_points):
        waves = [np.exp(1j * angle * (np.arange(n) - n // 2)) for angle, n in zip(theta[:, point], shape, strict=True)]
        product = waves[0] if len(shape) == 1 else np.outer(*waves)
        assert_allclose(expected[:, point], (b * product).sum(axis=tuple(range(1, b.ndim))), atol=1e-12 * b[0].size)
    points = torch.asarray(theta)
    values = nufft.transform(points, nufft.prepared(b, points), at_once=40)
    assert is_like(values, points)
    assert values.shape == (2, n_points)
    assert_allclose(values, expected, rtol=0, atol=1e-13 * np.abs(b).sum())


def test_points_that_are_no_numbers_read_no_foreign_memory(torch):
    theta = torch.asarray([[np.inf, np.nan, -1e300, 1e19, 0.5]], dtype=torch.float64)
    b = np.ones((1, 20))
    values = nufft.transform(theta, nufft.prepared(b, theta))
    assert values.shape == (1, 5)
    assert_allclose(values[0, 4], np.exp(0.5j * np.arange(-10, 10)).sum(), atol=1e-12)


def test_the_window_of_tensors_is_the_same(torch):
    t = np.linspace(-nufft.WIDTH / 2 - 0.5, nufft.WIDTH / 2 + 0.5, 1001)
    assert_allclose(nufft.window(torch.asarray(t)), nufft.window(t), rtol=1e-14)
    assert_allclose(nufft.window_transform(torch.asarray(t / 5)), nufft.window_transform(t / 5), rtol=1e-14)
