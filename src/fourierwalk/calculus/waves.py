"""Models that are sums of waves of the raw inputs: what closed forms need."""

from __future__ import annotations

from typing import Any

from fourierwalk.arrays.library import Array, namespace


def has_waves(model: Any) -> bool:
    """Whether the model has Fourier features, of either kind."""
    return bool(namespace(model.amplitudes).isdtype(model.amplitudes.dtype, "complex floating"))


def require_waves(model: Any, what: str) -> None:
    """Raise a `ValueError` if the model has no Fourier features."""
    if not has_waves(model):
        raise ValueError(f"{what} needs Fourier features ('complex' or 'cos-sin'), got {model.features.name!r}.")


def require_affine(model: Any, what: str) -> None:
    """Raise a `ValueError` if the model clips its inputs."""
    if not model.scaling.is_affine:
        raise ValueError(
            f"{what} needs inputs that are scaled without a clip, got the scaling {model.scaling.kind!r}, which clips "
            f"them: fit with standardize=True."
        )


def outputs(values: Array) -> Array:
    """The values without their last axis if there is one output only."""
    return values[..., 0] if values.shape[-1] == 1 else values
