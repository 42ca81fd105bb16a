import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.arrays import threads
from fourierwalk.data import wave_sum
from fourierwalk.data.affine import Affine
from fourierwalk.data.smooth_clip import SmoothClip
from fourierwalk.data.wave_sum import WaveSum, one_output

CENTER, SCALE = 3.0, 2.0


def drawn(n_inputs, n_frequencies, n_outputs, n_rows=77, robust=False):
    rng = np.random.default_rng(0)
    frequencies = 2 * rng.standard_normal((n_frequencies, n_inputs))
    amplitudes = rng.standard_normal((n_frequencies, n_outputs)) + 1j * rng.standard_normal((n_frequencies, n_outputs))
    center, scale = np.full(n_inputs, CENTER), np.full(n_inputs, SCALE)
    scaling = SmoothClip(center, scale, np.arange(n_inputs) % 2 == 0) if robust else Affine(center, scale)
    offset = rng.standard_normal(n_outputs)
    x = CENTER + SCALE * rng.standard_normal((n_rows, n_inputs))
    return WaveSum.of(frequencies, amplitudes, offset, scaling), x, (frequencies, amplitudes, offset)


def definition(x, scaling, frequencies, amplitudes, offset):
    return offset + (np.exp(1j * scaling.apply(x) @ frequencies.T) @ amplitudes).real


shapes = pytest.mark.parametrize("shape", [(1, 1, 1), (10, 256, 1), (3, 40, 2), (10, 256, 5), (2, 10_000, 1)])


@shapes
@pytest.mark.parametrize("robust", [False, True])
def test_values_are_the_definition(shape, robust):
    waves, x, parts = drawn(*shape, robust=robust)
    size = np.sum(np.abs(parts[1]))
    assert_allclose(waves(x), definition(x, waves.scaling, *parts), atol=2e-15 * size, rtol=0)


def test_values_at_whole_half_turns():
    """There the tangent is near its poles."""
    waves = WaveSum.of(np.array([[np.pi]]), np.array([[1 - 1j]]), np.zeros(1), Affine(np.zeros(1), np.ones(1)))
    x = np.arange(-5, 6)[:, None] / 2
    assert_allclose(waves(x), np.cos(np.pi * x) + np.sin(np.pi * x), atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_other_kinds_of_numbers_become_doubles(dtype):
    waves, x, _ = drawn(3, 20, 1)
    x = x.astype(dtype)
    assert waves(x).dtype == np.float64
    assert_array_equal(waves(x), waves(x.astype(np.float64)))


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([(1, 5, 1), (10, 256, 1), (10, 256, 3), (4, 33, 2), (30, 700, 1)]),
    st.lists(st.integers(1, 90), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_the_batch_changes_no_bit(shape, heights, seed):
    """A row alone, among a few and among many, wherever it stands: the same bits."""
    waves, x, _ = drawn(*shape, n_rows=sum(heights))
    at_once = waves(x)
    parts = np.split(x, np.cumsum(heights)[:-1])
    assert_array_equal(np.concatenate([waves(part) for part in parts]), at_once)
    order = np.random.default_rng(seed).permutation(len(x))
    assert_array_equal(waves(x[order]), at_once[order])


@pytest.mark.parametrize("n_outputs", [1, 2, 4])
@pytest.mark.parametrize("n_frequencies", [6, 9, 257, 300, 700, 1111])
def test_every_place_in_a_slice_rounds_alike(n_frequencies, n_outputs):
    """BLAS treats the rows that its kernel leaves over in another way."""
    waves, x, _ = drawn(30, n_frequencies, n_outputs, n_rows=1)
    values = waves(np.repeat(x, waves._height, axis=0))
    assert_array_equal(values, np.broadcast_to(values[:1], values.shape))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_threads_change_no_bit(n_outputs, monkeypatch):
    waves, x, _ = drawn(4, 64, n_outputs, n_rows=wave_sum.WORTH_THREADS // 32)
    alone = waves(x)
    monkeypatch.setattr(wave_sum, "blas_threads", lambda: 3)
    used = []
    in_threads = threads.in_threads
    monkeypatch.setattr(wave_sum, "in_threads", lambda *given: (used.append(len(given[1])), in_threads(*given)))
    assert_array_equal(waves(x), alone)
    assert used == [4]


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n_rows", [1, 7, 77])
def test_large_frequencies_are_multiplied_in_large_slices(n_outputs, n_rows):
    waves, x, parts = drawn(4, wave_sum.CACHED_FREQUENCIES // 3, n_outputs, n_rows)
    assert waves._height == 48
    assert_allclose(waves(x), definition(x, waves.scaling, *parts), atol=2e-15 * np.sum(np.abs(parts[1])), rtol=0)


@pytest.mark.parametrize("x", [np.zeros(4), np.zeros((2, 3)), np.zeros((1, 1))])
def test_other_shapes_are_refused(x):
    with pytest.raises(ValueError, match=r"x must have the shape \(n, 4\), got \("):
        drawn(4, 5, 1)[0](x)


def test_no_rows_have_no_values():
    assert drawn(4, 5, 2)[0](np.zeros((0, 4))).shape == (0, 2)


def test_one_output_of_any_library(anywhere):
    rng = np.random.default_rng(1)
    phases, amplitudes = 5 * rng.standard_normal((9, 4)), rng.standard_normal((4, 1)) + 1j * rng.standard_normal((4, 1))
    values = one_output(anywhere.asarray(phases), anywhere.asarray(amplitudes))
    assert_allclose(anywhere.host(values), (np.exp(1j * phases) @ amplitudes).real, atol=1e-13)


@pytest.mark.parametrize("sizes", [(40,), (7, 1, 32)])
def test_a_sum_that_is_split(sizes):
    waves, x, (frequencies, amplitudes, offset) = drawn(3, 40, 1)
    several = waves.split(sizes, 100)
    ends = np.cumsum(sizes)
    for sums, start, stop in zip(several(x).T, ends - sizes, ends, strict=True):
        want = definition(x, waves.scaling, frequencies[start:stop], amplitudes[start:stop], offset)
        assert_allclose(sums, want[:, 0], rtol=0, atol=1e-13)
    assert_array_equal(several(x[5:9]), several(x)[5:9])
