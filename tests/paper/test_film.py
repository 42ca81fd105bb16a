"""The film shows the walk that `run` takes, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from fourierwalk.paper import run
from fourierwalk.paper.cases import CASES, Cell
from fourierwalk.paper.data import TARGETS, split
from fourierwalk.paper.film import film, shown_points
from fourierwalk.reporting.film import moments

CASE = replace(CASES["case1"], n_rows=300, n_test=200)


@pytest.mark.parametrize("number", [0, 1], ids=["Algorithm 1", "Algorithm 2"])
def test_the_last_frame_is_what_run_returns(number):
    experiment = replace(CASE.experiments[number], n_steps=60)
    cell = Cell(CASE, experiment, 16, 3)
    shown, fitted = film(cell), run.walk(cell, split(CASE, 3))
    assert [frame.step for frame in shown.frames] == moments(60)
    np.testing.assert_allclose(shown.frames[-1].frequencies, fitted.frequencies, rtol=1e-10)
    np.testing.assert_allclose(shown.frames[-1].amplitudes, fitted.amplitudes, rtol=1e-8)
    result = run.run(cell, run.Place())
    assert shown.frames[-1].error == pytest.approx(result["rms_modulus"], rel=1e-9)


def test_the_first_frame_is_the_start():
    frame = film(Cell(CASE, replace(CASE.experiments[0], n_steps=5), 8, 0)).frames[0]
    assert frame.step == 0
    assert not frame.frequencies.any()
    np.testing.assert_allclose(frame.fit, frame.fit[0])


def test_points_are_the_target_as_the_data_are_normalised():
    x, target = shown_points(CASE, 0)
    scaling = split(CASE, 0).scaling
    raw = scaling.inputs.invert(x)
    np.testing.assert_allclose(scaling.targets.invert(target[:, None])[:, 0], TARGETS["step"](raw), atol=1e-12)
    assert np.all(np.diff(x[:, 0]) > 0)
