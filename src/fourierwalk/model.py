"""FourierModel: a fitted function of raw inputs, made of frequencies, amplitudes and scaling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.arrays import nufft
from fourierwalk.arrays.complexes import complex_of
from fourierwalk.arrays.library import Array, float64, is_foreign, like, namespace, to_host
from fourierwalk.arrays.memory import free_bytes
from fourierwalk.arrays.products import matmul
from fourierwalk.calculus import derivatives, integrals
from fourierwalk.calculus.distributions import Gaussian, Uniform
from fourierwalk.data.features import KINDS, ComplexExponentials, CosineSine, Features, name_of, named
from fourierwalk.data.rows import Block, Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.wave_sum import WaveSum, one_output
from fourierwalk.exporting.description import Description
from fourierwalk.exporting.exportable import Exportable
from fourierwalk.files import container
from fourierwalk.files.fields import Fields
from fourierwalk.solving.fourier_space import applies

LEAST_WORK = 1e7
"""The least number of points times frequencies for which a non-uniform FFT is worth its overhead."""

MOST_ENTRIES = 8_000_000
"""The most entries (rows times inputs) of a matrix of gradients; more rows are taken in parts."""


@dataclass(frozen=True)
class FourierModel(Exportable):
    """A fitted model: a function of raw inputs x, with values in the targets' units.

    Parameters
    ----------
    frequencies : array of shape (K, d)
        ωₖ, in units of the scaled inputs.
    amplitudes : array of shape (K, q)
        βₖ, in the targets' units.
    offset : array of shape (q,)
        The constant term.
    features : Features
        The functions s(ω, x̃) that the model is a sum of.
    scaling : Scaling
        The scaling of the inputs.
    bounds : array of shape (2, q), optional
        The lowest and the highest value of each output; a call clips its values to them. `complex_values`, `columns`
        and `spectrum` ignore the bounds.
    importances : array of shape (d,), optional
        The importance of each input: shares that are not negative and sum to one.

    See Also
    --------
    AdaptiveFourierRegressor : Fits such a model; its attribute `model_` is one.

    Notes
    -----
    f(x) = offset + Re Σₖ βₖ s(ωₖ, x̃), where x̃ are the scaled inputs and s(ω, x) = exp(iω·x) for both Fourier kinds of
    features.

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
    bounds: Any = None
    importances: Any = None

    def __call__(self, x: Any) -> Array:
        """The values of the model (its real part), (n, q), clipped to the bounds if there are any."""
        return self.bounded(self._unbounded(x))

    def bounded(self, values: Array) -> Array:
        """Values (…, q) clipped to the bounds if there are any."""
        if self.bounds is None:
            return values
        xp = namespace(values)
        return xp.minimum(xp.maximum(values, self.bounds[0, :]), self.bounds[1, :])

    def _unbounded(self, x: Any) -> Array:
        if self._transform_pays(x):
            points = self.scaling.rows(x).x
            return nufft.evaluate(points, self.frequencies, self.amplitudes, 1e-12).real + self.offset
        if self._waves is not None and isinstance(x, np.ndarray):
            return self._waves(x)
        return self._by_blocks(x, self._of_block) + self.offset

    @cached_property
    def _waves(self) -> WaveSum | None:
        """The sum of waves for dense rows of NumPy; None for other features and other array libraries."""
        if not self._has_waves or is_foreign(self.frequencies):
            return None
        return WaveSum.of(self.frequencies, self.amplitudes, self.offset, self.scaling.inputs)

    @property
    def _has_waves(self) -> bool:
        return isinstance(self.features, ComplexExponentials | CosineSine)

    def _of_block(self, block: Block) -> Array:
        """The values at a block of scaled rows, without the offset."""
        if self._has_waves and is_foreign(self.frequencies) and self.amplitudes.shape[1] == 1:
            return one_output(block.project(self.frequencies), self.amplitudes)
        coefficients = self.features.coefficients(self.amplitudes)
        return matmul(self.features.columns(block, self.frequencies), coefficients)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what is derived from them is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def on_host(self) -> FourierModel:
        """The same model with NumPy arrays."""
        return self._moved(to_host)

    def on_device_of(self, reference: Array) -> FourierModel:
        """The same model in the reference's library, on its device."""
        return self._moved(lambda values: like(to_host(values), reference))

    def _moved(self, move: Callable[[Array], Array]) -> FourierModel:
        inputs, targets = self.scaling.inputs.moved(move), self.scaling.targets.moved(move)
        bounds, importances = (None if array is None else move(array) for array in (self.bounds, self.importances))
        return replace(
            self,
            frequencies=move(self.frequencies),
            amplitudes=move(self.amplitudes),
            offset=move(self.offset),
            scaling=replace(self.scaling, inputs=inputs, targets=targets),
            bounds=bounds,
            importances=importances,
        )

    def to_tables(self) -> dict[str, Any]:
        """The contents of a file, as JSON values and NumPy arrays; docs/files.md has their names and shapes."""
        bounds, importances = (None if array is None else to_host(array) for array in (self.bounds, self.importances))
        return {
            "features": name_of(self.features),
            "frequencies": to_host(self.frequencies),
            "amplitudes": to_host(self.amplitudes),
            "offset": to_host(self.offset),
            "scaling": self.scaling.to_tables(),
            "bounds": bounds,
            "importances": importances,
        }

    @classmethod
    def from_tables(cls, fields: Fields) -> FourierModel:
        """The inverse of `to_tables`; the fields are checked."""
        features = named(fields.option("features", sorted(KINDS)))
        frequencies = fields.array("frequencies", None, None)
        amplitudes = fields.array("amplitudes", frequencies.shape[0], None, kinds="fc")
        n_outputs = amplitudes.shape[1]
        n_inputs = frequencies.shape[1] - features.dimension(0)
        return cls(
            frequencies,
            amplitudes,
            fields.array("offset", n_outputs),
            features,
            Scaling.from_tables(fields.fields("scaling"), n_inputs, n_outputs),
            fields.array("bounds", 2, n_outputs) if fields.has("bounds") else None,
            fields.array("importances", n_inputs) if fields.has("importances") else None,
        )

    def save(self, path: Path | str) -> Path:
        """Write the model as one file of JSON and arrays, which `fourierwalk.load` reads."""
        return container.write(path, type(self).__name__, self.to_tables())

    def description(self) -> Description:
        """What the model computes, as plain arrays, for exports."""
        return Description.of(self)

    def complex_values(self, x: Any) -> Array:
        """The complex values offset + Σ βₖ exp(iωₖ·x̃), (n, q). The paper measures errors by their modulus."""
        xp = namespace(self.amplitudes)
        if not xp.isdtype(self.amplitudes.dtype, "complex floating"):
            return xp.astype(self._unbounded(x), xp.complex128)
        real, turned = self.amplitudes, -1j * self.amplitudes  # Im z = Re(−i z)
        parts = []
        for amplitudes in (real, turned):
            coefficients = self.features.coefficients(amplitudes)
            parts.append(
                self._by_blocks(x, lambda block, c=coefficients: self.features.columns(block, self.frequencies) @ c)
            )
        return complex_of(parts[0], parts[1]) + xp.astype(self.offset, xp.complex128)

    def columns(self, x: Any) -> Array:
        """The real columns of the features at x, (n, n_columns · K)."""
        return self._by_blocks(x, lambda block: self.features.columns(block, self.frequencies))

    def spectrum(self) -> tuple[Array, Array]:
        """Frequencies in the inputs' own units, (K, d), and the amplitudes that belong to them, (K, q).

        The amplitudes differ from `amplitudes` in their phases, because the scaling also shifts the inputs. A model
        with ``standardize="robust"`` clips its inputs, so it is not a sum of waves of x: it has no spectrum.
        """
        scale, center = self.scaling.inputs.scale, self.scaling.inputs.center
        xp = namespace(self.frequencies)
        if not xp.isdtype(self.amplitudes.dtype, "complex floating"):
            raise ValueError(f"spectrum needs Fourier features ('complex' or 'cos-sin'), got {self.features.name!r}.")
        if not self.scaling.is_affine:
            raise ValueError(
                f"spectrum needs inputs that are scaled without a clip, got the scaling {self.scaling.kind!r}, which "
                f"clips them: fit with standardize=True for a spectrum."
            )
        omega = self.frequencies / scale[None, :]
        shift = omega @ center
        turn = complex_of(xp.cos(shift), -xp.sin(shift))
        return omega, self.amplitudes * turn[:, None]

    def gradient(self, x: Any) -> Array:
        """The derivatives ∂f/∂xⱼ at x, (n, d), in the units of x; with several outputs (n, d, q).

        They are exact. Like all derivatives and integrals, they ignore the bounds.

        Examples
        --------
        >>> import numpy as np
        >>> from fourierwalk import AdaptiveFourierRegressor
        >>> x = np.linspace(-3, 3, 300)[:, None]
        >>> model = AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0])).model_
        >>> bool(np.max(np.abs(model.gradient(x[100:200]) - 2 * np.cos(2 * x[100:200]))) < 0.1)
        True
        """
        return derivatives.gradient(self, x)

    def hessian(self, x: Any) -> Array:
        """The second derivatives ∂²f/∂xⱼ∂xₗ at x, (n, d, d); with several outputs (n, d, d, q)."""
        return derivatives.hessian(self, x)

    def laplacian(self, x: Any) -> Array:
        """The sum of the second derivatives ∂²f/∂xⱼ² at x, (n,); with several outputs (n, q)."""
        return derivatives.laplacian(self, x)

    def integral(self, lower: Any, upper: Any) -> Array:
        """The integral over a box with these bounds, (d,) each; with several outputs an array (q,)."""
        return integrals.integral(self, lower, upper)

    def moments(self, inputs: Uniform | Gaussian) -> integrals.Moments:
        """Mean and variance of the output for independent random inputs, in closed form."""
        return integrals.moments(self, inputs)

    def sobol(self, inputs: Uniform | Gaussian) -> integrals.Sobol:
        """First-order and total Sobol indices for independent random inputs, (d,); with several outputs (d, q).

        Examples
        --------
        >>> import numpy as np
        >>> from fourierwalk import AdaptiveFourierRegressor
        >>> from fourierwalk.calculus import Uniform
        >>> x = np.random.default_rng(0).uniform(-1, 1, (400, 2))
        >>> model = AdaptiveFourierRegressor(32, random_state=0).fit(x, 2 * x[:, 0] + x[:, 1]).model_
        >>> model.sobol(Uniform(-1, 1)).first.round(1)
        array([0.8, 0.2])
        """
        return integrals.sobol(self, inputs)

    def relevance(self) -> Array:
        """The importance of each input, (d,): shares that sum to one."""
        if self.importances is None:
            raise ValueError("relevance needs a model with importances, got one without: fit again to have them.")
        return self.importances

    def _transform_pays(self, x: Any) -> bool:
        """Whether a non-uniform FFT is installed, applies to the model, is worth its overhead, and fits in memory."""
        work = float(x.shape[0]) * float(self.frequencies.shape[0])
        if work < LEAST_WORK or not nufft.is_installed():
            return False
        if not applies(Rows(x), self.features):
            return False
        return nufft.evaluation_bytes(self.scaling.rows(x).x, self.frequencies) < 0.25 * free_bytes()

    def _by_blocks(self, x: Any, evaluate: Any) -> Array:
        """The results of `evaluate` for all blocks of rows, one below the other."""
        rows = self.scaling.rows(x)
        width = self.features.n_columns * self.frequencies.shape[0]
        parts: list[Array] = [evaluate(block) for block in rows.blocks(width)]
        return namespace(self.frequencies).concat(parts, axis=0)


def mean_squared_gradients(rows: Rows, features: Any, frequencies: Array, amplitudes: Array) -> Array:
    """The weighted mean over the rows of Σₒ (∂fₒ/∂x̃ⱼ)² for each input j, (d,), in scaled units.

    Parameters
    ----------
    rows : Rows
        Scaled rows; the targets are not used.
    features : Features
        Features with `slopes`: the Fourier kinds and `Activation`.
    frequencies : array of shape (K, d), or (K, d + 1) with a bias
        The frequencies, in scaled units.
    amplitudes : array of shape (K, q)
        The amplitudes of all outputs o.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data.features import CosineSine
    >>> rows = Rows(np.linspace(-np.pi, np.pi, 1001)[:-1, None] * [1, 0])
    >>> mean_squared_gradients(rows, CosineSine(), np.array([[2.0, 0.0]]), np.array([[1 + 0j]])).round(6)
    array([2., 0.])
    """
    n_inputs, n_outputs = int(rows.x.shape[1]), int(amplitudes.shape[1])
    vectors = frequencies[:, :n_inputs]  # without the bias, which is the last component

    def term(block: Block) -> Array:
        total = namespace(frequencies).zeros_like(vectors[0, :])
        for output in range(n_outputs):
            slopes = features.slopes(block, frequencies, amplitudes[:, output])
            total = total + _summed_squares(slopes, vectors, block.weight)
        return total

    return rows.sum(term, (features.n_columns + 1) * int(frequencies.shape[0])) / rows.total_weight


def _summed_squares(slopes: Array, vectors: Array, weight: Array | None, most_entries: int = MOST_ENTRIES) -> Array:
    """Σₙ wₙ (slopes @ vectors)ₙ², (d,), computed for some rows at a time."""
    n_rows, height = int(slopes.shape[0]), max(1, most_entries // int(vectors.shape[1]))
    xp, total = namespace(vectors), namespace(vectors).zeros_like(vectors[0, :])
    for start in range(0, n_rows, height):
        part = slice(start, min(start + height, n_rows))
        squares = matmul(slopes[part, :], vectors) ** 2
        total = total + (xp.sum(squares, axis=0) if weight is None else float64(weight[part]) @ squares)
    return total
