import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fourierwalk.arrays import draws
from fourierwalk.arrays.draws import DeviceDraws, Several, mark, placed, restore


def streams():
    yield "numpy", lambda: np.random.default_rng(0)
    yield "several", lambda: Several([np.random.default_rng(seed) for seed in (0, 1)])


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def on_cpu(torch, seed=0):
    return DeviceDraws(np.random.default_rng(seed), torch.device("cpu"))


@pytest.mark.parametrize("make", [make for _, make in streams()], ids=[name for name, _ in streams()])
def test_a_stream_goes_back_to_a_mark(make):
    rng = make()
    rng.random((2, 3))
    at = mark(rng)
    first = rng.standard_normal((2, 3)), rng.random((2,))
    rng.random((2, 4))
    restore(rng, at)
    assert_array_equal(rng.standard_normal((2, 3)), first[0])
    assert_array_equal(rng.random((2,)), first[1])


def test_a_device_stream_goes_back_to_a_mark(torch):
    rng = on_cpu(torch)
    at = mark(rng)
    first = rng.standard_normal((2, 3))
    rng.random()
    restore(rng, at)
    assert_array_equal(rng.standard_normal((2, 3)).numpy(), first.numpy())


def test_a_seed_fixes_a_device_stream(torch):
    same, again, other = (on_cpu(torch, seed).standard_normal((50,)).numpy() for seed in (0, 0, 1))
    assert_array_equal(same, again)
    assert not np.allclose(same, other)


def test_device_numbers_have_their_moments(torch):
    rng = on_cpu(torch)
    normal, uniform = rng.standard_normal((20_000,)), rng.random((20_000,))
    assert normal.dtype == uniform.dtype == torch.float64
    assert abs(float(normal.mean())) < 0.03
    assert float(normal.var()) == pytest.approx(1, abs=0.04)
    assert float(uniform.mean()) == pytest.approx(0.5, abs=0.01)
    assert 0 <= float(uniform.min()) < float(uniform.max()) < 1
    assert rng.random().shape == ()


def test_several_streams_draw_what_each_would_alone():
    several = Several([np.random.default_rng(seed) for seed in (3, 4)])
    normal, uniform = several.standard_normal((2, 5, 1)), several.random((2, 5))
    for i, seed in enumerate((3, 4)):
        rng = np.random.default_rng(seed)
        assert_array_equal(normal[i], rng.standard_normal((5, 1)))
        assert_array_equal(uniform[i], rng.random(5))


def test_numbers_are_drawn_on_the_host_unless_a_device_would_wait(torch, monkeypatch):
    rng, here, there = np.random.default_rng(0), np.zeros(1), torch.zeros(1)
    for place in draws.PLACES:
        assert placed(rng, place, here, 10**6) is rng
    assert placed(rng, "auto", there, 10**6) is rng
    monkeypatch.setattr(draws, "is_remote", lambda values: True)
    assert placed(rng, "host", there, 10**6) is rng
    assert placed(rng, "auto", there, draws.DEVICE_DRAWS_FROM - 1) is rng
    assert isinstance(placed(rng, "auto", there, draws.DEVICE_DRAWS_FROM), DeviceDraws)
    assert isinstance(placed(rng, "device", there, 1), DeviceDraws)
    assert placed(rng, "auto", there, draws.DEVICE_DRAWS_FROM).spawn(1)[0].random() < 1
