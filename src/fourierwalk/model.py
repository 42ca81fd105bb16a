"""FourierModel: frequencies, amplitudes and scaling together; a function of raw inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fourierwalk import spectral
from fourierwalk._arrays import Array, complex_of, free_bytes, like, namespace, to_host
from fourierwalk.features import Features
from fourierwalk.products import matmul
from fourierwalk.scaling import Affine, Scaling

LEAST_WORK = 1e7
"""Products of points and frequencies below which a non-uniform FFT is not worth its overhead."""


@dataclass(frozen=True)
class FourierModel:
    """x ↦ offset + Re Σ βₖ s(ωₖ, x̃), with x̃ the scaled x and everything else in the targets' own units.

    Parameters
    ----------
    frequencies : array of shape (K, d)
        ωₖ, in scaled units.
    amplitudes : array of shape (K, q)
        βₖ, in the targets' units.
    offset : array of shape (q,)
        The constant.
    features : Features
        The kind of s.
    scaling : Scaling
        How inputs were scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> x = np.linspace(-3, 3, 300)[:, None]
    >>> model = AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0])).model_
    >>> bool(np.max(np.abs(model(x)[:, 0] - np.sin(2 * x[:, 0]))) < 0.1)
    True
    """

    frequencies: Array
    amplitudes: Array
    offset: Array
    features: Features
    scaling: Scaling

    def __call__(self, x: Any) -> Array:
        """The model's values (real parts), (n, q)."""
        if self._transform_pays(x):
            points = self.scaling.rows(x).x
            return spectral.evaluate(points, self.frequencies, self.amplitudes, 1e-12).real + self.offset
        coefficients = self.features.coefficients(self.amplitudes)
        return (
            self._concat(x, lambda block: matmul(self.features.columns(block, self.frequencies), coefficients))
            + self.offset
        )

    def on_host(self) -> FourierModel:
        """The same model in NumPy arrays."""
        return self._moved(to_host)

    def on_device_of(self, reference: Array) -> FourierModel:
        """The same model in the reference's library, on its device."""
        return self._moved(lambda values: like(to_host(values), reference))

    def _moved(self, move: Callable[[Array], Array]) -> FourierModel:
        inputs, targets = (
            Affine(move(each.center), move(each.scale)) for each in (self.scaling.inputs, self.scaling.targets)
        )
        scaling = replace(self.scaling, inputs=inputs, targets=targets)
        return FourierModel(move(self.frequencies), move(self.amplitudes), move(self.offset), self.features, scaling)

    def complex_values(self, x: Any) -> Array:
        """The complex values Σ βₖ exp(iωₖ·x) + offset, whose modulus the paper measures, (n, q)."""
        xp = namespace(self.amplitudes)
        if not xp.isdtype(self.amplitudes.dtype, "complex floating"):
            return xp.astype(self(x), xp.complex128)
        real, turned = self.amplitudes, -1j * self.amplitudes  # Im z = Re(−i z)
        parts = []
        for amplitudes in (real, turned):
            coefficients = self.features.coefficients(amplitudes)
            parts.append(
                self._concat(x, lambda block, c=coefficients: self.features.columns(block, self.frequencies) @ c)
            )
        return complex_of(parts[0], parts[1]) + xp.astype(self.offset, xp.complex128)

    def columns(self, x: Any) -> Array:
        """The real columns at x, (n, n_columns · K)."""
        return self._concat(x, lambda block: self.features.columns(block, self.frequencies))

    def spectrum(self) -> tuple[Array, Array]:
        """Frequencies in the inputs' own units, (K, d), and amplitudes whose phases go with them, (K, q)."""
        scale, center = self.scaling.inputs.scale, self.scaling.inputs.center
        xp = namespace(self.frequencies)
        if not xp.isdtype(self.amplitudes.dtype, "complex floating"):
            raise ValueError(f"spectrum needs Fourier features ('complex' or 'cos-sin'), got {self.features.name!r}.")
        omega = self.frequencies / scale[None, :]
        shift = omega @ center
        turn = complex_of(xp.cos(shift), -xp.sin(shift))
        return omega, self.amplitudes * turn[:, None]

    def _transform_pays(self, x: Any) -> bool:
        """Whether a non-uniform FFT is there, applies, is worth its overhead, and fits."""
        work = float(x.shape[0]) * float(self.frequencies.shape[0])
        if work < LEAST_WORK or not spectral.is_installed():
            return False
        rows = self.scaling.rows(x)
        return (
            spectral.applies(rows, self.features)
            and spectral.evaluation_bytes(rows, self.frequencies) < 0.25 * free_bytes()
        )

    def _concat(self, x: Any, evaluate: Any) -> Array:
        rows = self.scaling.rows(x)
        width = self.features.n_columns * self.frequencies.shape[0]
        parts: list[Array] = [evaluate(block) for block in rows.blocks(width)]
        return namespace(self.frequencies).concat(parts, axis=0)
