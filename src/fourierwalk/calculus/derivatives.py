"""Derivatives of a model in the units of the user's inputs.

The derivative of a sum of waves is a sum of the same waves with other amplitudes: ∂/∂xⱼ multiplies βₖ by iωₖⱼ. So one
evaluation of a model with more outputs gives all derivatives. Bounds of the model are ignored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.calculus.waves import has_waves, outputs, require_waves
from fourierwalk.data.rows import Block


def gradient(model: Any, x: Any) -> Array:
    """∂f/∂xⱼ at each row, (n, d); with several outputs (n, d, q)."""
    return outputs(_scaled_gradient(model, x) * model.scaling.inputs.derivative(x)[:, :, None])


def hessian(model: Any, x: Any) -> Array:
    """∂²f/∂xⱼ∂xₗ at each row, (n, d, d); with several outputs (n, d, d, q)."""
    require_waves(model, "hessian")
    xp, inputs, (n, d) = namespace(model.frequencies), model.scaling.inputs, x.shape
    first, second = np.triu_indices(d)
    below = np.zeros((d, d), dtype=np.int64)
    below[first, second] = below[second, first] = np.arange(first.size)
    chosen = [like(part, model.frequencies) for part in (first, second, below.reshape(-1))]
    omega, other = (xp.take(model.frequencies, part, axis=1) for part in chosen[:2])
    pairs = xp.take(_turned(model, -(omega * other), x), chosen[2], axis=1)
    slopes = inputs.derivative(x)
    values = xp.reshape(pairs, (n, d, d, -1)) * (slopes[:, :, None] * slopes[:, None, :])[..., None]
    if not model.scaling.is_affine:
        bend = _scaled_gradient(model, x) * inputs.curvature(x)[:, :, None]
        values = values + like(np.eye(d), bend)[None, :, :, None] * bend[:, :, None, :]
    return outputs(values)


def laplacian(model: Any, x: Any) -> Array:
    """Σⱼ ∂²f/∂xⱼ² at each row, (n,); with several outputs (n, q)."""
    require_waves(model, "laplacian")
    xp, inputs, squares = namespace(model.frequencies), model.scaling.inputs, model.frequencies**2
    if model.scaling.is_affine:
        factor = -xp.sum(squares / inputs.scale[None, :] ** 2, axis=1)[:, None]
        return outputs(_turned(model, factor, x)[:, 0, :])
    bent = _turned(model, -squares, x) * inputs.derivative(x)[:, :, None] ** 2
    bent = bent + _scaled_gradient(model, x) * inputs.curvature(x)[:, :, None]
    return outputs(xp.sum(bent, axis=1))


def _scaled_gradient(model: Any, x: Any) -> Array:
    """The gradient in units of the scaled inputs, (n, d, q)."""
    if has_waves(model):
        return _turned(model, 1j * namespace(model.amplitudes).astype(model.frequencies, model.amplitudes.dtype), x)
    of_block = model.features.slopes
    if of_block is None:
        raise ValueError(f"gradient needs features with slopes, got {model.features.name!r}, which have none.")
    vectors = model.frequencies[:, : int(x.shape[1])]  # without the bias, which is the last component
    xp, n_outputs = namespace(vectors), int(model.amplitudes.shape[1])

    def each(block: Block) -> Array:
        slopes = (of_block(block, model.frequencies, model.amplitudes[:, output]) for output in range(n_outputs))
        return xp.stack([matmul(slope, vectors) for slope in slopes], axis=2)

    blocks = model.scaling.rows(x).blocks(2 * model.features.n_columns * int(vectors.shape[0]))
    return xp.concat([each(block) for block in blocks], axis=0)


def _turned(model: Any, factors: Array, x: Any) -> Array:
    """The values at x of the model's waves with amplitudes factorₖⱼ βₖ, for each of m factors, (n, m, q)."""
    xp, beta = namespace(model.amplitudes), model.amplitudes
    n_outputs, n_factors = int(beta.shape[1]), int(factors.shape[1])
    products = xp.astype(factors, beta.dtype)[:, :, None] * beta[:, None, :]
    amplitudes = xp.reshape(products, (-1, n_factors * n_outputs))
    waves = replace(model, amplitudes=amplitudes, offset=xp.zeros_like(xp.real(amplitudes[0, :])), bounds=None)
    return xp.reshape(waves(x), (-1, n_factors, n_outputs))
