"""Sums of waves at many rows: the values of a Fourier model.

A prediction must not depend on the rows that come with it. So NumPy's rows are taken in slices of one height, and the
last slice is filled up with zeros: BLAS then always multiplies matrices of the same shape. The height is a multiple of
eight, so that the place of a row in its slice does not matter either. The slices stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fourierwalk.arrays.library import Array, namespace
from fourierwalk.arrays.threads import blas_threads, in_threads, one_pool
from fourierwalk.data.affine import Affine
from fourierwalk.data.smooth_clip import SmoothClip

PHASES_PER_SLICE = 2**13
"""The number of phases in a slice. Larger slices are a tenth faster, but one row costs as much as a slice."""

ROWS_PER_KERNEL = 8
"""A slice has a multiple of so many rows. The kernels of OpenBLAS leave none over then, and round all rows alike."""

CACHED_FREQUENCIES = 2**17
"""The most entries (K times d) of frequencies that stay in the cache from slice to slice.

With more entries a slice is a large product of matrices, and the last one is not filled up."""

PHASES_PER_PRODUCT = 2**21
"""The number of phases in such a large product."""

ENTRIES_PER_SCALING = 2**15
"""The number of inputs that are scaled at once."""

WORTH_THREADS = 2**21
"""The least number of phases for which several threads are worth their start."""


@dataclass(frozen=True)
class WaveSum:
    """offset + Re Σₖ βₖ exp(iωₖ·x̃) for dense rows x of NumPy, (n, q).

    Parameters
    ----------
    halves : array of shape (d + 1, K)
        ωₖ/2 and, in the last row, a constant that is added to each half phase.
    coefficients : array of shape (K,) or (2K, q)
        What the functions of the half phases are multiplied by: for one output 2/(1 + t²) with t = tan(φ/2), which is
        1 + cos φ; for several outputs also 2t/(1 + t²), which is sin φ.
    constant : array of shape (q,)
        Added to the sum.
    scaling : Affine or SmoothClip
        The scaling of the inputs.
    starts : tuple of int
        For one output, where the frequencies of several sums begin; each sum is then an output. One: there is one sum.
    phases_per_slice : int
        The number of phases in a slice.

    Notes
    -----
    NumPy's tangent takes a sixth of the time of its cosine. One output needs no sine: with β = r exp(iθ) the sum is
    Σ rₖ cos(ωₖ·x̃ + θₖ).

    Examples
    --------
    >>> import numpy as np
    >>> waves = WaveSum.of(np.array([[2.0]]), np.array([[1 - 1j]]), np.zeros(1), Affine(np.zeros(1), np.ones(1)))
    >>> x = np.linspace(-1, 1, 5)[:, None]
    >>> bool(np.allclose(waves(x), np.cos(2 * x) + np.sin(2 * x)))
    True
    """

    halves: np.ndarray
    coefficients: np.ndarray
    constant: np.ndarray
    scaling: Affine | SmoothClip
    starts: tuple[int, ...] = (0,)
    phases_per_slice: int = PHASES_PER_SLICE

    @classmethod
    def of(cls, frequencies: Array, amplitudes: Array, offset: Array, scaling: Affine | SmoothClip) -> WaveSum:
        """The sum for frequencies (K, d), complex amplitudes (K, q) and an offset (q,)."""
        one_output = amplitudes.shape[1] == 1
        turns = np.angle(amplitudes[:, 0]) if one_output else np.zeros(amplitudes.shape[0])
        halves = 0.5 * np.vstack((frequencies.T, turns[None, :]))
        if one_output:
            lengths = np.abs(amplitudes[:, 0])
            return cls(halves, 2 * lengths, offset - np.sum(lengths), scaling)
        coefficients = 2 * np.vstack((amplitudes.real, -amplitudes.imag))
        return cls(halves, coefficients, offset - np.sum(amplitudes.real, axis=0), scaling)

    def split(self, sizes: Sequence[int], phases_per_slice: int) -> WaveSum:
        """A sum of one output as several sums of so many frequencies each, (n, M), with the offset in each."""
        starts = tuple(int(start) for start in np.cumsum((0, *sizes[:-1])))
        lengths = 0.5 * self.coefficients
        offset = self.constant + np.sum(lengths)
        return replace(
            self,
            constant=offset - np.add.reduceat(lengths, starts),
            starts=starts,
            phases_per_slice=phases_per_slice,
        )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values at raw rows x, (n, q)."""
        n_inputs, height = self.halves.shape[0] - 1, self._height
        if x.ndim != 2 or x.shape[1] != n_inputs:
            raise ValueError(f"x must have the shape (n, {n_inputs}), got {x.shape}.")
        n_rows = int(x.shape[0])
        values = np.empty((n_rows, self.constant.size))

        def fill(slices: range) -> None:
            self._fill(x, values, range(slices.start * height, min(slices.stop * height, n_rows)))

        n_slices = -(-n_rows // height)
        if n_rows * self.halves.shape[1] < WORTH_THREADS or (n_threads := blas_threads()) == 1:
            fill(range(n_slices))
        else:
            with one_pool():
                in_threads(fill, [n_slices * i // n_threads for i in range(n_threads + 1)], True)
        values += self.constant
        return values

    @property
    def _height(self) -> int:
        """The number of rows in a slice."""
        n_phases = PHASES_PER_PRODUCT if self._is_large else self.phases_per_slice
        n_rows = n_phases // max(1, self.halves.shape[1])
        return max(1, n_rows // ROWS_PER_KERNEL) * ROWS_PER_KERNEL

    @property
    def _is_large(self) -> bool:
        return self.halves.size > CACHED_FREQUENCIES

    def _fill(self, x: np.ndarray, values: np.ndarray, rows: range) -> None:
        """Write the sums of some rows to `values`, slice by slice."""
        n_inputs, n_frequencies = self.halves.shape[0] - 1, self.halves.shape[1]
        height = min(self._height, max(2, len(rows))) if self._is_large else self._height
        n_together = height * max(1, min(ENTRIES_PER_SCALING // max(1, n_inputs), len(rows)) // height)
        scaled = np.zeros((n_together, n_inputs + 1))
        scaled[:, n_inputs] = 1.0
        several = self.coefficients.ndim == 2
        columns = np.empty((height, (1 + several) * n_frequencies))
        sums = np.empty((height, self.constant.size))
        for start in range(rows.start, rows.stop, n_together):
            stop = min(start + n_together, rows.stop)
            scaled[: stop - start, :n_inputs] = self.scaling.apply(x[start:stop])
            for first in range(start, stop, height):
                n = min(height, stop - first)
                part = scaled[first - start : first - start + height]
                (self._several if several else self._one)(part, columns, sums)
                values[first : first + n] = sums[:n]

    def _one(self, rows: np.ndarray, columns: np.ndarray, sums: np.ndarray) -> None:
        np.matmul(rows, self.halves, out=columns)
        np.tan(columns, out=columns)
        np.multiply(columns, columns, out=columns)
        columns += 1.0
        np.divide(self.coefficients, columns, out=columns)
        if len(self.starts) > 1:
            np.add.reduceat(columns, self.starts, axis=1, out=sums)
        else:
            np.add.reduce(columns, axis=1, out=sums[:, 0])

    def _several(self, rows: np.ndarray, columns: np.ndarray, sums: np.ndarray) -> None:
        n = self.halves.shape[1]
        cosines, sines = columns[:, :n], columns[:, n:]
        np.matmul(rows, self.halves, out=sines)
        np.tan(sines, out=sines)
        np.multiply(sines, sines, out=cosines)
        cosines += 1.0
        np.divide(1.0, cosines, out=cosines)
        sines *= cosines
        np.matmul(columns, self.coefficients, out=sums)


def one_output(phases: Array, amplitudes: Array) -> Array:
    """Re Σₖ βₖ exp(iφₖ) for phases (n, K) and amplitudes (K, 1) of any array library, (n, 1): one cosine, no sine."""
    xp = namespace(phases)
    turns = xp.atan2(xp.imag(amplitudes), xp.real(amplitudes))[None, :, 0]
    return xp.cos(phases + turns) @ xp.abs(amplitudes)
