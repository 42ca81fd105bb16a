"""The rates of the machine."""

import math

import pytest

from fourierwalk.planning import Machine
from fourierwalk.planning import machine as module


def test_rates_are_positive_and_finite():
    rates = Machine.measured(500, 4, 16)
    numbers = [rates.entry, rates.product, rates.factorisation, rates.overhead, rates.memory, rates.disk, rates.free]
    assert all(math.isfinite(number) and number > 0 for number in numbers)
    assert rates.name.startswith("measured on this machine")


@pytest.mark.parametrize(
    ("sizes", "shape"), [((10**9, 4, 16), (262144, 32)), ((10**9, 784, 16), (5349, 32)), ((10, 3, 16), (64, 32))]
)
def test_rates_are_measured_on_a_block_as_a_step_has_it(sizes, shape):
    _, _, columns = module._block(*sizes)
    assert columns.shape == shape


def test_a_disk_that_cannot_be_written_has_the_usual_rate(monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.tempfile, "TemporaryFile", full)
    assert module._reading() == Machine.disk


def test_a_gpu_has_stored_rates():
    assert "H200" in Machine.gpu().name
    assert Machine.gpu().product < 1e-12
