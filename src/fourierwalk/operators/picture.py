"""A picture of a solution: its values over one or two inputs, and the residuals of the search."""

from __future__ import annotations

from typing import Any

import numpy as np

from fourierwalk.arrays.library import like, to_host
from fourierwalk.operators.search import Trial
from fourierwalk.reporting.colors import COLORS
from fourierwalk.reporting.plots import new_figure

N_POINTS = 101
"""Points along each input."""


def picture(solver: Any, inputs: tuple[int, int], output: int) -> Any:
    """A figure of two panels: the solution, and the residual at unseen points of each trial."""
    figure, (left, right) = new_figure(2)
    scaling = solver.model_.scaling.inputs
    center, scale = to_host(scaling.center), to_host(scaling.scale)
    if center.size == 1:
        x, values = slice_of(solver.model_, center, scale, (0,), output)
        left.plot(x[0], values, color=COLORS[0])
        left.set(xlabel="input 0", ylabel="solution")
    else:
        axes, values = slice_of(solver.model_, center, scale, inputs, output)
        drawn = left.pcolormesh(*axes, values.T, shading="gouraud", rasterized=True)
        figure.colorbar(drawn, ax=left)
        left.set(xlabel=f"input {inputs[0]}", ylabel=f"input {inputs[1]}")
    residuals = [one.residual if isinstance(one, Trial) else np.sqrt(one.error) for one in solver.history_]
    right.semilogy(np.arange(1, len(residuals) + 1), residuals, ".", color=COLORS[1])
    right.semilogy(np.arange(1, len(residuals) + 1), np.minimum.accumulate(residuals), color=COLORS[0])
    right.set(xlabel="trial", ylabel="relative residual at unseen points")
    return figure


def slice_of(
    model: Any, center: np.ndarray, scale: np.ndarray, inputs: tuple[int, ...], output: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """The ends of some inputs as grids, and the values of an output there, with all other inputs in the middle."""
    axes = [np.linspace(center[j] - scale[j], center[j] + scale[j], N_POINTS) for j in inputs]
    points = np.tile(center, (N_POINTS ** len(axes), 1))
    for j, grid in zip(inputs, np.meshgrid(*axes, indexing="ij"), strict=True):
        points[:, j] = grid.reshape(-1)
    values = to_host(model(like(points, model.frequencies)))[:, output]
    return axes, values.reshape((N_POINTS,) * len(axes))
