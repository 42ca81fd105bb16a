"""The fields of a tree that was read from a file. Each is checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fourierwalk.parameters import count, number, option


class Fields:
    """Named values, some of them arrays. The error for a wrong one names it.

    Examples
    --------
    >>> Fields({"values": np.zeros((2, 3))}, "model").array("values", 2, None).shape
    (2, 3)
    >>> Fields({"values": np.zeros((2, 3))}, "model").array("values", 4, None)
    Traceback (most recent call last):
        ...
    ValueError: model.values must be an array of finite numbers of shape (4, any), got one of shape (2, 3).
    """

    def __init__(self, values: Any, name: str) -> None:
        if not isinstance(values, Mapping):
            raise ValueError(f"{name} must be named values, got {type(values).__name__}.")
        self.values, self.name = values, name

    def has(self, name: str) -> bool:
        """Whether the value is there and not null."""
        return self.values.get(name) is not None

    def get(self, name: str) -> Any:
        """A value as it is."""
        if name not in self.values:
            raise ValueError(f"{self.name}.{name} must be there, got only {sorted(self.values)}.")
        return self.values[name]

    def fields(self, name: str) -> Fields:
        """The fields inside a field."""
        return Fields(self.get(name), f"{self.name}.{name}")

    def array(self, name: str, *shape: int | None, kinds: str = "f", finite: bool = True) -> np.ndarray:
        """An array of finite numbers of this shape. None stands for any length."""
        value = self.get(name)
        fits = isinstance(value, np.ndarray) and value.ndim == len(shape) and value.dtype.kind in kinds
        fits = fits and all(want in (None, got) for want, got in zip(shape, value.shape, strict=True))
        if not fits or (finite and not np.all(np.isfinite(value))):
            wanted = f"({', '.join('any' if n is None else str(n) for n in shape)})"
            got = f"one of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
            raise ValueError(f"{self.name}.{name} must be an array of finite numbers of shape {wanted}, got {got}.")
        return value

    def number(self, name: str, **bounds: Any) -> float:
        """A finite number."""
        number(f"{self.name}.{name}", self.get(name), **bounds)
        return float(self.values[name])

    def count(self, name: str, at_least: int = 0) -> int:
        """A whole number."""
        count(f"{self.name}.{name}", self.get(name), at_least)
        return int(self.values[name])

    def option(self, name: str, allowed: Sequence[Any]) -> Any:
        """A value that must be one of a few words or truth values."""
        option(f"{self.name}.{name}", self.get(name), allowed)
        return self.values[name]

    def words(self, name: str) -> list[str]:
        """A list of words."""
        value = self.get(name)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ValueError(f"{self.name}.{name} must be a list of words, got {type(value).__name__}.")
        return value
