"""The Fourier space of some rows: a grid that is made when first asked for, and made anew when it is outgrown."""

from __future__ import annotations

import math
from functools import cached_property

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays import nufft
from fourierwalk.arrays.library import Array, is_remote, namespace, to_host
from fourierwalk.arrays.nufft import WIDTH
from fourierwalk.data.features import ComplexExponentials, CosineSine, Features
from fourierwalk.data.rows import Rows
from fourierwalk.solving.grid import Box, Grid
from fourierwalk.solving.pairs import Pairs

HEADROOM = 1.5
"""A new grid serves frequencies this much larger than those that asked for it."""

LEAST_BANDWIDTH = 1e-3
"""A grid serves at least this: frequencies of zero have one too."""

MOST_BANDWIDTH = 1e15
"""Beyond, grid points cannot be counted."""

MOST_DIMENSIONS = 3
"""The most columns of NumPy rows that have a Fourier space."""

MOST_DIMENSIONS_OF_TENSORS = 2
"""The most columns of torch rows that have one."""

SPREADING_SECONDS = 4e-8
"""Roughly what spreading takes on the host, for each row and each grid point under its window."""

STEPS_OF_A_GRID = 50
"""The steps that the spreading of a grid is shared among in estimates of what a step costs."""


class FourierSpace:
    """Sums Σₙ cₙ exp(iω·xₙ) over some rows at any frequencies.

    A grid serves frequencies up to a bandwidth. To measure that of frequencies waits for their device; everything else
    is asked with a bandwidth, and waits for nothing once there is a grid.

    Parameters
    ----------
    rows : Rows
        Dense rows: of NumPy and at most three columns, or of torch and at most two. The grid lies where they do.
    max_bytes : float
        What a grid may take.
    """

    def __init__(self, rows: Rows, max_bytes: float) -> None:
        self.rows, self.max_bytes = rows, max_bytes
        self.grid: Grid | None = None
        self.is_announced = False  # whether the user knows what it costs
        self._bandwidth: np.ndarray | None = None
        self._pairs: Pairs | None = None

    def measured(self, frequencies: Array) -> np.ndarray:
        """The bandwidth that all pairs of these frequencies need."""
        self._bandwidth = np.maximum(2 * np.max(np.abs(to_host(frequencies)), axis=0), LEAST_BANDWIDTH)
        return self._bandwidth

    def expected(self, frequencies: Array) -> np.ndarray:
        """The bandwidth measured last, in place of that of these frequencies: they are not read."""
        return self.measured(frequencies) if self._bandwidth is None else self._bandwidth

    def needed_bytes(self, bandwidth: np.ndarray) -> float:
        """What a grid takes."""
        if not np.all(bandwidth < MOST_BANDWIDTH):
            return math.inf
        d, q = len(bandwidth), self.n_targets
        return nufft.prepared_bytes(1 + q + d + q * d, self._box.shape(HEADROOM * bandwidth), self.rows.x)

    def transform_seconds(self, bandwidth: np.ndarray, n_arrays: int) -> float:
        """Roughly what transforms of so many of a grid's columns cost, beside their points."""
        if self.grid is not None:  # it is used as it is
            bandwidth = np.maximum(bandwidth, self.grid.bandwidth / HEADROOM)
        spreading = SPREADING_SECONDS * len(self.rows) * WIDTH ** len(bandwidth) / STEPS_OF_A_GRID
        is_new = compat.is_torch_array(self.rows.x) and self.grid is None  # a GPU would do many steps in that time
        seconds = n_arrays * nufft.fft_seconds(self._box.shape(HEADROOM * bandwidth), self.rows.x)
        return seconds + is_new * spreading

    def grid_for(self, bandwidth: np.ndarray) -> Grid:
        """The grid that is there, or a new one where it is outgrown."""
        if self.grid is None or np.any(bandwidth > self.grid.bandwidth):
            known = np.zeros_like(bandwidth) if self.grid is None else self.grid.bandwidth
            self.grid = Grid.of(self.rows, self._box, np.where(bandwidth > known, HEADROOM * bandwidth, known))
        return self.grid

    def pairs(self, frequencies: Array) -> Pairs:
        """The pairs of so many frequencies; those asked for last are kept."""
        if self._pairs is None or self._pairs.n != frequencies.shape[0]:
            self._pairs = Pairs.of(frequencies)
        return self._pairs

    @property
    def n_targets(self) -> int:
        """The outputs that the grid has columns of."""
        return 0 if self.rows.y is None else int(self.rows.y.shape[1])

    @cached_property
    def _box(self) -> Box:
        return Box.of(self.rows)


def applies(rows: Rows, features: Features) -> bool:
    """Whether the rows and features are of a kind that has a Fourier space."""
    x, kind = rows.x, isinstance(features, ComplexExponentials | CosineSine)
    able = isinstance(x, np.ndarray) or (compat.is_torch_array(x) and x.dtype == namespace(x).float64)
    return kind and able and x.ndim == 2 and int(x.shape[1]) <= most_dimensions(rows)


def is_offered(rows: Rows) -> bool:
    """Whether a Fourier space may be chosen unasked: where finufft is there, or where a GPU makes up for it."""
    return is_remote(rows.x) if compat.is_torch_array(rows.x) else nufft.is_installed()


def most_dimensions(rows: Rows) -> int:
    """The most columns of rows that have a Fourier space."""
    return MOST_DIMENSIONS_OF_TENSORS if compat.is_torch_array(rows.x) else MOST_DIMENSIONS
