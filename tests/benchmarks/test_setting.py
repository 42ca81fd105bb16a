"""Where a benchmark runs."""

import pytest

from fourierwalk.benchmarks.setting import Setting

pytest.importorskip("torch")


def test_the_device_is_described():
    assert set(Setting("cpu", 64, None).described()) >= {"name", "torch"}
