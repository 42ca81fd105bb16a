"""The GPU's benchmarks on torch's CPU device, at toy sizes: every figure is there; their values mean nothing."""

import numpy as np
import pytest

from fourierwalk.benchmarks import gpu
from fourierwalk.benchmarks.setting import Setting

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def setting():
    return Setting("cpu", 64, None)


@pytest.mark.parametrize("name", gpu.BENCHES)
def test_every_figure_is_measured(name, setting):
    figures = list(gpu.BENCHES[name](setting))
    assert figures
    assert np.all(np.isfinite([figure.value for figure in figures]))
    if name == "repeatability":
        assert [figure.value for figure in figures] == [0.0, 0.0]
    if name in ("peaks", "dual"):
        assert all(figure.value > 0 for figure in figures)
