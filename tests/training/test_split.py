"""A train-validation split: fewer rows to learn from, and frequencies of another member to draw from."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from searches import QUICK, panel

from fourierwalk.training.selection import Candidate, Look


def test_a_sample_is_of_the_first_rows():
    """So many for each of ten inputs, where there are fewer."""
    split = panel().split(0)
    some = split.sample(replace(QUICK, rows_per_input=5))
    assert len(some.problem.rows) == 50
    assert_array_equal(some.problem.rows.x, split.problem.rows.x[:50])
    assert_array_equal(some.selection.minimize.rows.y, split.problem.rows.y[:50])
    assert some.selection.held_out is split.selection.held_out
    assert some.selection.minimize.solver == split.selection.minimize.solver
    assert some.shape is split.shape
    assert split.sample(replace(QUICK, rows_per_input=27)) is split
    assert split.sample(replace(QUICK, rows_per_input=10**8)) is split
    unsplit = panel(holds_out=False).split(0)
    assert unsplit.sample(replace(QUICK, rows_per_input=1)) is unsplit


def test_later_members_draw_from_the_first_ones_frequencies():
    """Their covariance is that of the first member's frequencies, weighted by the squared amplitudes."""
    omega, beta = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 1.0]])
    split = panel().split(0)
    shape = split.shaped_by(Candidate(Look(0, 1.0, 0.1), omega, beta)).shape
    covariance = 0.8 * np.outer(omega[0], omega[0]) + 0.2 * np.outer(omega[1], omega[1])
    assert_allclose(shape.root.T @ shape.root, covariance)
    assert shape.width == split.shape.width
    without = split._replace(shape=None)
    assert without.shaped_by(Candidate(Look(0, 1.0, 0.1), omega, beta)) is without
