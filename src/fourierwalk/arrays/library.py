"""Array libraries and devices: which one an array belongs to, and how to move values there."""

from __future__ import annotations

from functools import cache
from typing import Any

import array_api_compat as compat
import numpy as np
import scipy.linalg
import scipy.sparse

Array = Any
"""An array of any library that follows the array API standard (NumPy, torch, CuPy, …)."""


def namespace(*arrays: Array) -> Any:
    """The array API namespace that the arrays share."""
    return compat.array_namespace(*arrays)


def is_foreign(values: object) -> bool:
    """Whether the values belong to an array library other than NumPy; scikit-learn's checks would move them."""
    return compat.is_array_api_obj(values) and not compat.is_numpy_array(values) and not scipy.sparse.issparse(values)


def like(values: Any, reference: Array) -> Array:
    """The values as an array of the reference's library, on its device.

    A copy to a GPU is made from page-locked memory, so that the host does not wait for it.
    """
    if isinstance(values, np.ndarray) and compat.is_torch_array(reference) and reference.device.type == "cuda":
        import torch

        return torch.tensor(values).pin_memory().to(reference.device, non_blocking=True)
    return namespace(reference).asarray(values, device=compat.device(reference))


def to_host(values: Array) -> np.ndarray:
    """The values as a NumPy array."""
    if compat.is_torch_array(values):
        return values.detach().cpu().numpy()
    if compat.is_cupy_array(values):
        return values.get()
    return np.from_dlpack(values) if is_foreign(values) else np.asarray(values)


def is_remote(values: Any) -> bool:
    """Whether the values are on a GPU, so that reading one would wait for it."""
    return compat.is_cupy_array(values) or (compat.is_torch_array(values) and values.device.type == "cuda")


def scalar(value: Array) -> Any:
    """The value as a float; unchanged if it is on a GPU, or if it is an array of several numbers."""
    return value if is_remote(value) or np.ndim(value) else float(value)


def float64(values: Array) -> Array:
    """The values in double precision; no copy if they already are."""
    xp = namespace(values)
    return xp.astype(values, xp.float64, copy=False)


def all_true(flags: Any) -> bool:
    """Whether a flag, or each of several, is true. This waits for the device."""
    return bool(namespace(flags).all(flags)) if np.ndim(flags) else bool(flags)


@cache
def side_stream(device: Any, purpose: str) -> Any:
    """A CUDA stream beside the main one: one for each device and purpose."""
    import torch

    return torch.cuda.Stream(device)
