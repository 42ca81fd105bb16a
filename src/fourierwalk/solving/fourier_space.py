"""The Fourier space of some rows: a grid that is made at the first use, and again for larger frequencies."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

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
"""A new grid is made for frequencies this many times as large as the present ones."""

HEADROOM_OF_CHUNKS = 3.0
"""For rows in chunks it is one plus this number divided by the dimension: a new grid is a pass over all rows."""

LEAST_BANDWIDTH = 1e-3
"""The least bandwidth of a grid, for frequencies that are all zero."""

MOST_BANDWIDTH = 1e15
"""The largest bandwidth: beyond it the number of grid points overflows."""

MOST_DIMENSIONS = 3
"""The most columns of NumPy rows for which there is a Fourier space."""

MOST_DIMENSIONS_OF_TENSORS = 2
"""The most columns of torch rows for which there is a Fourier space."""

SPREADING_SECONDS = 4e-8
"""The rough time of spreading on the host, for each row and each grid point under its window."""

STEPS_OF_A_GRID = 50
"""Estimates of a step's cost divide the cost of spreading a grid among this many steps."""


class FourierSpace:
    """Sums Σₙ cₙ exp(iω·xₙ) over some rows at any frequencies.

    A grid is accurate for frequencies up to its bandwidth. Only `measured` reads frequencies, and so waits for their
    device. All other methods take a bandwidth; once there is a grid, they do not wait.

    Parameters
    ----------
    rows : Rows
        Dense rows: of NumPy and at most three columns, or of torch and at most two. The grid lies where they do.
    max_bytes : float
        The most memory that a grid may take.
    """

    def __init__(self, rows: Rows, max_bytes: float) -> None:
        self.rows, self.max_bytes = rows, max_bytes
        self.headroom = 1 + HEADROOM_OF_CHUNKS / int(rows.x.shape[-1]) if rows.in_chunks else HEADROOM
        self.grid: Grid | None = None
        self.is_announced = False  # whether the user was warned that it is slow
        self._bandwidth: np.ndarray | None = None
        self._pairs: Pairs | None = None

    def measured(self, frequencies: Array) -> np.ndarray:
        """The bandwidth that sums and differences of all pairs of these frequencies need."""
        self._bandwidth = np.maximum(2 * np.max(np.abs(to_host(frequencies)), axis=0), LEAST_BANDWIDTH)
        return self._bandwidth

    def expected(self, frequencies: Array) -> np.ndarray:
        """The bandwidth measured last. These frequencies are read only if there is none."""
        return self.measured(frequencies) if self._bandwidth is None else self._bandwidth

    def needed_bytes(self, bandwidth: np.ndarray) -> float:
        """The bytes of a grid of this bandwidth."""
        if not np.all(bandwidth < MOST_BANDWIDTH):
            return math.inf
        d, q = len(bandwidth), self.n_targets
        return nufft.prepared_bytes(1 + q + d + q * d, self._box.shape(self.headroom * bandwidth), self.rows.x)

    def transform_seconds(self, bandwidth: np.ndarray, n_arrays: int) -> float:
        """The rough time of transforms of `n_arrays` columns of a grid, without the time of their points."""
        if self.grid is not None:  # the grid may be larger than necessary
            bandwidth = np.maximum(bandwidth, self.grid.bandwidth / self.headroom)
        spreading = self.spreading_seconds() / STEPS_OF_A_GRID
        is_new = compat.is_torch_array(self.rows.x) and self.grid is None  # counts only against a fast GPU
        seconds = n_arrays * nufft.fft_seconds(self._box.shape(self.headroom * bandwidth), self.rows.x)
        return seconds + is_new * spreading

    def spreading_seconds(self) -> float:
        """The rough time of making a grid."""
        return SPREADING_SECONDS * len(self.rows) * WIDTH ** int(self.rows.x.shape[1])

    def grid_for(self, bandwidth: np.ndarray) -> Grid:
        """The present grid, or a new one if the bandwidth is larger than the grid's."""
        if self.grid is None or np.any(bandwidth > self.grid.bandwidth):
            known = np.zeros_like(bandwidth) if self.grid is None else self.grid.bandwidth
            self.grid = Grid.of(self.rows, self._box, np.where(bandwidth > known, self.headroom * bandwidth, known))
        return self.grid

    def pairs(self, frequencies: Array) -> Pairs:
        """The index pairs of as many frequencies; the last ones are kept for the next call."""
        if self._pairs is None or self._pairs.n != frequencies.shape[0]:
            self._pairs = Pairs.of(frequencies)
        return self._pairs

    def mark(self) -> dict[str, Any]:
        """The bandwidths of the grid and of the last frequencies, for `restore`: last bits of sums depend on them."""
        return {"grid": None if self.grid is None else self.grid.bandwidth, "last": self._bandwidth}

    def restore(self, mark: dict[str, Any]) -> None:
        """Make the grid again that there was at the `mark`."""
        self._bandwidth = mark["last"]
        self.grid = None if mark["grid"] is None else Grid.of(self.rows, self._box, mark["grid"])

    @property
    def n_targets(self) -> int:
        """The number of outputs."""
        return 0 if self.rows.y is None else int(self.rows.y.shape[1])

    @cached_property
    def _box(self) -> Box:
        return Box.of(self.rows)


def applies(rows: Rows, features: Features) -> bool:
    """Whether there is a Fourier space for these rows and features."""
    x, kind = rows.x, isinstance(features, ComplexExponentials | CosineSine)
    able = isinstance(x, np.ndarray) or (compat.is_torch_array(x) and x.dtype == namespace(x).float64)
    return kind and able and x.ndim == 2 and int(x.shape[1]) <= most_dimensions(rows)


def is_offered(rows: Rows) -> bool:
    """Whether ``solver="auto"`` may choose a Fourier space: it needs finufft, or rows on a GPU."""
    return is_remote(rows.x) if compat.is_torch_array(rows.x) else nufft.is_installed()


def most_dimensions(rows: Rows) -> int:
    """The most columns for which rows of this library have a Fourier space."""
    return MOST_DIMENSIONS_OF_TENSORS if compat.is_torch_array(rows.x) else MOST_DIMENSIONS
