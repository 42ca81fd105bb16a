"""Fits on rows that are made block by block, at toy sizes."""

import json

import numpy as np
import pytest

from fourierwalk import cli

pytest.importorskip("torch")

from fourierwalk.benchmarks.billion import FRIEDMAN, PLANE_WAVE, Made
from fourierwalk.benchmarks.setting import Setting


def test_blocks_are_the_same_in_every_pass():
    blocks = Made(PLANE_WAVE, 250, 100, Setting("cpu", 1, None))
    first, again = ([np.concatenate([x, y[:, None]], axis=1) for x, y in blocks] for _ in range(2))
    assert [len(block) for block in first] == [100, 100, 50]
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert not np.array_equal(first[0], first[1])
    assert len(blocks.passes) == 2
    assert blocks.generation_seconds() > 0
    assert len(blocks.passes) == 2


@pytest.mark.parametrize("target", [PLANE_WAVE, FRIEDMAN])
def test_targets_are_the_truth_with_noise(target):
    blocks = Made(target, 20_000, 20_000, Setting("cpu", 1, None))
    x, y = blocks.block(3, 20_000)
    again, truth = blocks.block(3, 20_000, with_noise=False)
    assert x.shape == (20_000, target.n_inputs)
    assert bool((x == again).all())
    assert float((y - truth).std()) == pytest.approx(target.noise, rel=0.03)
    if target is FRIEDMAN:
        a, b, c, d, e = np.asarray(x, dtype=np.float64).T[:5]
        assert np.allclose(truth, 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e)


def test_fits_are_measured_by_phase(tmp_path):
    asked = ["bench", "--only", "billion-2d", "billion-9d", "--shrink", "4000", "--out", str(tmp_path)]
    assert cli.main(asked) == 0
    parts = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["parts"]
    plane, nine = ({f["what"]: f["value"] for f in parts[name]["figures"]} for name in ("billion-2d", "billion-9d"))
    assert plane["error against the truth, root mean square"] < 3e-3  # 0.1 √(128 / 250,000) is 2e-3
    assert (
        plane["error against the truth, root mean square"]
        < plane["error against the truth of the default fit, root mean square"]
    )
    assert nine["error against the truth, root mean square"] < 0.1 * nine["standard deviation of the truth"]
    passes = sum(seconds for what, seconds in nine.items() if what.startswith("seconds of") and "fit" not in what)
    whole = nine["seconds of the fit, generation counted"] + nine["seconds of making all rows once"]
    assert passes == pytest.approx(whole)
