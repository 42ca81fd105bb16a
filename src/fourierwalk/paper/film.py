"""The walk of a cell as a film. It is run again with the cell's own data, settings and seed."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fourierwalk.data import features
from fourierwalk.data.rows import Rows
from fourierwalk.paper.cases import Case, Cell
from fourierwalk.paper.data import TARGETS, split
from fourierwalk.paper.run import metropolis
from fourierwalk.reporting.film import Film, Frame, moments, shoot
from fourierwalk.sampling.sampler import State
from fourierwalk.solving.least_squares import LeastSquares

ERROR = "rms of |Sβ − y|"
N_POINTS, N_NEAR, REACH = 301, 40, 3.0
"""Number of points of |x| ≤ 3 at which the fit is shown. More points lie on each side of the step."""


def film(cell: Cell, about: str = "") -> Film:
    """A film of a walk in one variable with complex features. Each frame shows what the walk would return there.

    Parameters
    ----------
    cell : Cell
        A walk of Case 1.
    about : str
        Where the stored cell comes from. Shown when a reader points at the error curve.
    """
    data, experiment = split(cell.case, cell.seed), cell.experiment
    sampler = metropolis(experiment)
    minimize = LeastSquares(Rows(data.x, data.y), features.named(experiment.features), experiment.regularization)
    start = sampler.init(minimize, np.zeros((cell.width, cell.case.d)))
    rng = np.random.default_rng([cell.seed, cell.width, 2])  # the same numbers as in `run.walk`
    walk = chain([(start, None)], sampler.sample(minimize, start, rng, experiment.n_steps))
    points, target = shown_points(cell.case, cell.seed)

    def look(state: State) -> Frame:
        ended, _ = sampler.refit(state, minimize)  # the algorithm's last line
        residual = values(ended, data.x_test) - data.y_test[:, 0]
        error = float(np.sqrt(np.mean(np.abs(residual) ** 2)))
        return Frame(ended.step, ended.frequencies, ended.amplitudes, values(ended, points).real, error)

    with threadpool_limits(1):
        frames = list(shoot(walk, moments(experiment.n_steps), look))
    title = f"{experiment.label}, K = {cell.width}, seed {cell.seed}: step by step"
    return Film(title, frames, target, points[:, 0], f"{ERROR} on test data", about)


def values(state: State, x: np.ndarray) -> np.ndarray:
    """Σ βₖ exp(iωₖ·x), (n,)."""
    return np.asarray(np.exp(1j * (x @ state.frequencies.T)) @ state.amplitudes[:, 0])


def shown_points(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The points of the fit, closer together near 0, and the target there, both normalised like the data."""
    scaling: Any = split(case, seed).scaling
    near = np.geomspace(1e-4, 0.1, N_NEAR)
    x = np.unique(np.concatenate([-near, np.linspace(-REACH, REACH, N_POINTS), near]))[:, None]
    return scaling.inputs.apply(x), scaling.targets.apply(TARGETS[case.target](x)[:, None])[:, 0]
