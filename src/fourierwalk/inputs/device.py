"""Where inputs are: their array library and device, and how they get to the device that a user asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from fourierwalk.arrays.library import Array, is_foreign, namespace
from fourierwalk.arrays.memory import accelerator_free_bytes
from fourierwalk.data.streaming import Streamed
from fourierwalk.tables.table import Table
from fourierwalk.training.data import Data


def moved(data: Data, device: str | None) -> Data:
    """The data on the user's device; None leaves them where they are."""
    if device is None:
        return data
    x, x_val = (None if part is None else inputs_on(part, device) for part in (data.x, data.x_val))
    y, weight, y_val = (None if part is None else on_device(part, device) for part in (data.y, data.weight, data.y_val))
    return data._replace(x=x, y=y, weight=weight, x_val=x_val, y_val=y_val)


STREAMED_SHARE = 0.5
"""Inputs that need more than this share of a GPU's free memory stay on the host, and are copied block by block."""


def inputs_on(values: Any, device: str | None) -> Any:
    """Inputs on a device; large ones stay on the host and are streamed to it."""
    return Streamed(values, device) if is_large(values, device) else on_device(values, device)


def is_large(values: Any, device: str | None) -> bool:
    """Whether inputs, a scaled copy and a train-validation split of them need more than `STREAMED_SHARE` of a GPU."""
    if not isinstance(values, np.ndarray) or not isinstance(device, str) or not device.startswith("cuda"):
        return False
    reference = on_device(np.zeros(1), device)
    return 3 * 8 * values.size > STREAMED_SHARE * accelerator_free_bytes(reference)


def on_device(values: Any, device: str | None) -> Any:
    """NumPy arrays as torch tensors on a GPU; unchanged for "cpu"."""
    if not isinstance(device, str) or not (device == "cpu" or device.startswith("cuda")):
        raise ValueError(f"device must be None, 'cpu' or 'cuda', got {device!r}.")
    if is_foreign(values):
        raise ValueError(
            f"device must be None for arrays of {where(values)}: computation follows them, got {device!r}."
        )
    if device == "cpu":
        return values
    if scipy.sparse.issparse(values):
        raise ValueError(f"device={device!r} needs dense X, got a sparse matrix.")
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"device={device!r} needs torch: pip install 'fourierwalk[torch]'.") from error
    if not torch.cuda.is_available():
        raise RuntimeError(f"device={device!r} needs a GPU that torch can use, found none.")
    return torch.as_tensor(values, device=device)


def where(values: Array) -> str:
    """The library and the device of an array, for messages."""
    library = namespace(values).__name__.removeprefix("array_api_compat.")
    return f"{library} on {getattr(values, 'device', 'cpu')}"


def anchor(X: Any) -> Array:
    """An array of X's library on X's device, as a reference for new arrays; sparse X and tables count as NumPy."""
    return np.empty(0) if scipy.sparse.issparse(X) or isinstance(X, Table) else X
