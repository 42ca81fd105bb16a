import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fourierwalk.arrays import cosines, products


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def cos_sin(phases, precision="double"):
    """Of phases that are already there."""
    return cosines.cos_sin(lambda part: phases[part, :], phases.shape, precision)


def test_cos_sin(anywhere):
    phases = 50 * drawn(40, 7)
    columns = cos_sin(anywhere.asarray(phases))
    assert_allclose(anywhere.host(columns), np.hstack([np.cos(phases), np.sin(phases)]), rtol=0, atol=1e-13)


@given(st.floats(-1e6, 1e6))
def test_the_half_angle_is_exact_everywhere(phase):
    cosine, sine = cos_sin(np.array([[phase]]))[0]
    assert abs(cosine - np.cos(phase)) < 1e-15
    assert abs(sine - np.sin(phase)) < 1e-15


@pytest.mark.parametrize("turns", [0, 1, -1, 7, 1001])
def test_the_half_angle_survives_its_pole(turns):
    columns = cos_sin(np.array([[np.pi * turns, np.nextafter(np.pi * turns, 9e9)]]))
    assert_allclose(columns[0, :2], np.cos(np.pi * turns), atol=1e-15)
    assert_allclose(columns[0, 2:], 0, atol=2e-12)


def test_threads_and_slices_do_not_change_columns(monkeypatch):
    phases = np.random.default_rng(0).standard_normal((3000, 100)) * 50
    expected = np.hstack((np.cos(phases), np.sin(phases)))
    for n_threads in (1, 3):
        monkeypatch.setattr(cosines, "blas_threads", lambda n=n_threads: n)
        assert_allclose(cos_sin(phases), expected, atol=1e-13)


def test_interleaved_columns_are_complex_exponentials():
    turns = drawn(5000, 7)
    columns = cosines.cos_sin(lambda part: turns[part], turns.shape, "single", interleaved=True)
    assert columns.dtype == np.complex64
    assert_allclose(columns, np.exp(2j * np.pi * turns), atol=1e-6)


def test_single_columns_of_turns_in_double(anywhere):
    turns = drawn(50, 7) * 1e5
    columns = cos_sin(anywhere.asarray(turns), "single")
    assert anywhere.dtype(columns) == "float32"
    phases = 2 * np.pi * (turns - np.rint(turns))
    assert_allclose(anywhere.host(columns), np.hstack((np.cos(phases), np.sin(phases))), atol=1e-6)


@pytest.mark.parametrize(("precision", "kind"), [("double", "float64"), ("single", "float32"), ("bf16", "bfloat16")])
@pytest.mark.parametrize("stack", [(), (2,)])
def test_columns_of_torch_lie_as_tensor_cores_want_them(precision, kind, stack):
    """Each column's numbers side by side, from a multiple of eight on."""
    torch = pytest.importorskip("torch")
    phases = torch.asarray(drawn(*stack, 13, 5))
    columns = cosines.cos_sin(lambda part: phases[..., part, :], (13, 5), precision)
    assert columns.dtype == getattr(torch, kind)
    assert columns.shape == (*stack, 13, 10)
    assert columns.stride()[-2:] == (1, 16)
    turn = 2 * np.pi if precision == "single" else 1.0
    expected = torch.cat((torch.cos(turn * phases), torch.sin(turn * phases)), -1)
    assert_allclose(columns.double().numpy(), expected.numpy(), rtol=0, atol=max(1e-6, products.UNITS[precision]))
