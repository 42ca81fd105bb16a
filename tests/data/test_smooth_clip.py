import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fourierwalk.data.affine import Affine
from fourierwalk.data.smooth_clip import SmoothClip


def some_clip(backend):
    parts = np.array([1.0, -2.0]), np.array([0.5, 3.0]), np.array([True, False])
    return SmoothClip(*(backend.asarray(part) for part in parts))


@pytest.mark.parametrize("clips", [True, False])
def test_the_derivative_is_that_of_the_scaled_values(clips, xp):
    x, step = 3 * np.random.default_rng(0).standard_normal((20, 2)), 1e-6
    inputs = some_clip(xp)
    inputs = inputs if clips else Affine(inputs.center, inputs.scale)
    differences = xp.host(inputs.apply(xp.asarray(x + step)) - inputs.apply(xp.asarray(x - step))) / (2 * step)
    derivative = xp.host(inputs.derivative(xp.asarray(x)))
    assert derivative.shape == x.shape
    assert_allclose(derivative, differences, rtol=1e-6, atol=1e-9)
    assert inputs.is_affine is not clips


@given(st.floats(-60, 60))
def test_a_clip_can_be_inverted(value):
    x = np.full((1, 2), value)
    clip = some_clip(np)
    assert_allclose(clip.invert(clip.apply(x)), x, rtol=1e-9, atol=1e-9)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_a_clip_keeps_the_order_and_the_bound(one, other):
    clip = SmoothClip(np.zeros(1), np.ones(1), np.array([True]))
    lower, upper = (clip.apply(np.array([[value]])).item() for value in sorted((one, other)))
    assert -3 <= lower <= upper <= 3
    assert np.isfinite(clip.invert(np.array([[upper]]))).all()
    assert 0 <= clip.derivative(np.array([[one]])).item() <= 1
