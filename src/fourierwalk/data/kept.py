"""A cache of one entry: the value computed last for some frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class _Entry(NamedTuple):
    frequencies: Any
    others: tuple[Any, ...]
    how: str
    mark: Any
    value: Any


class Kept:
    """A cache of the value computed last for some frequencies. Copies and pickles of the cache are empty."""

    def __init__(self) -> None:
        self._entry: _Entry | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def forget(self) -> None:
        """Empty the cache."""
        self._entry = None

    def of(self, frequencies: Any, others: tuple[Any, ...], how: str, make: Callable[[], Any]) -> Any:
        """The cached value if it was made from these same objects, unchanged since; else the value of `make()`.

        `others` are further objects that the value depends on, and `how` names the way in which it is made. The old
        value is dropped before `make` is called, so that both are never in memory together.
        """
        entry, mark = self._entry, _mark(frequencies)
        if (
            entry is not None
            and entry.frequencies is frequencies
            and all(new is old for new, old in zip(others, entry.others, strict=True))
            and entry.how == how
            and np.array_equal(mark, entry.mark)
        ):
            return entry.value
        entry = self._entry = None
        value = make()
        self._entry = _Entry(frequencies, others, how, mark, value)
        return value


def _mark(array: Any) -> Any:
    """A mark that shows whether an array was changed in place: a copy for NumPy, the version of a torch tensor."""
    return array.copy() if isinstance(array, np.ndarray) else getattr(array, "_version", None)
