"""Errors against noise-free targets, and what is noted of frequencies."""

import numpy as np
import pytest

from fourierwalk.data.features import named
from fourierwalk.paper.cases import CASES, Cell
from fourierwalk.paper.data import Realisation
from fourierwalk.paper.errors import Outcome, describe, errors


def test_errors_are_told_with_and_without_noise():
    rng = np.random.default_rng(0)
    noise, amplitudes = rng.standard_normal((50, 1)), np.array([[0.5 + 0.25j]])
    data = Realisation(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((50, 1)), 1 + noise, None, np.ones((50, 1)))
    found = errors(named("complex"), np.zeros((1, 1)), amplitudes, data)
    assert found["rms_modulus_clean"] == pytest.approx(abs(0.5 + 0.25j - 1))
    assert found["rms_real_clean"] == pytest.approx(0.5)
    assert found["rms_real"] == pytest.approx(np.sqrt(np.mean((0.5 - 1 - noise) ** 2)))
    assert "rms_real_clean" not in errors(named("complex"), np.zeros((1, 1)), amplitudes, data._replace(truth=None))


def test_quartiles_of_norms_in_many_dimensions():
    omega = np.outer(np.arange(5.0), [1, 0, 0, 0, 0, 0, 0])
    cell = Cell(CASES["sweep"], CASES["sweep"].experiments[-1], 5, 0)
    notes = describe(cell, Outcome(named("complex"), omega, np.ones((5, 1)) + 0j, 1.0, {}))
    assert notes["norm_quartiles"] == [1.0, 2.0, 3.0]
