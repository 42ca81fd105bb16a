"""Temperature scaling of a classifier: the s of softmax(s · values) with the least log loss."""

from __future__ import annotations

from fourierwalk.arrays.library import Array, namespace

LEAST_SCALE, MOST_SCALE = 0.05, 200.0
CERTAIN_SCALE = 10.0
"""The largest s in a look: with it, exact one-hot values have next to no loss.

A larger s would undo the shrinkage of a λ that is far too large, and such a λ would be chosen."""

NEWTON_STEPS = 8


def best_temperature(
    values: Array, targets: Array, weight: Array | None, most: float = MOST_SCALE
) -> tuple[Array, Array]:
    """The s of softmax(s·values) with the least log loss on one-hot targets, by Newton's method, and that loss.

    `values` is one array (n_rows, q), or several at once, (…, n_rows, q).
    """
    xp = namespace(values)
    values = xp.where(xp.isfinite(values), values, xp.zeros_like(values))
    weight = xp.ones_like(targets[:, 0]) if weight is None else weight
    weight = weight / xp.sum(weight)
    values = values - xp.max(values, axis=-1, keepdims=True)
    at_target = xp.sum(values * targets, axis=-1)
    scale = xp.ones_like(at_target[..., 0])
    for _ in range(NEWTON_STEPS):  # the log loss is convex in s
        powers = xp.exp(scale[..., None, None] * values)
        shares = powers / xp.sum(powers, axis=-1, keepdims=True)
        mean = xp.sum(shares * values, axis=-1)
        slope = xp.sum(weight * (mean - at_target), axis=-1)
        curvature = xp.sum(weight * (xp.sum(shares * values**2, axis=-1) - mean**2), axis=-1)
        step = -slope / xp.clip(curvature, 1e-12, None)
        scale = xp.clip(scale + xp.clip(step, -0.5 * scale, 2.0 * scale), LEAST_SCALE, most)
    return scale, xp.sum(weight * log_losses(values, targets, scale), axis=-1)


def log_losses(values: Array, targets: Array, scale: Array) -> Array:
    """The log loss −Σ tᵢ log softmax(s·values)ᵢ of each row, (…, n_rows)."""
    xp = namespace(values)
    values = xp.where(xp.isfinite(values), values, xp.zeros_like(values))
    values = scale[..., None, None] * (values - xp.max(values, axis=-1, keepdims=True))
    return xp.log(xp.sum(xp.exp(values), axis=-1)) * xp.sum(targets, axis=-1) - xp.sum(values * targets, axis=-1)


def entropies(targets: Array) -> Array:
    """The log loss −Σ tᵢ log tᵢ of each row if its targets were predicted exactly: zero for one-hot targets."""
    xp = namespace(targets)
    positive = xp.clip(targets, 1e-300, None)
    return -xp.sum(targets * xp.log(positive), axis=-1)
