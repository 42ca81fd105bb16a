"""What was made last is kept: whoever asks for the same again need not wait."""

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
    """The last thing that was made of some frequencies. Copies, and what is pickled, begin with nothing."""

    def __init__(self) -> None:
        self._entry: _Entry | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def forget(self) -> None:
        """Give the memory back."""
        self._entry = None

    def of(self, frequencies: Any, others: tuple[Any, ...], how: str, make: Callable[[], Any]) -> Any:
        """What belongs to these very arrays, unchanged since; what belongs to others is dropped before it is made."""
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
    """What changes where an array is changed in place: a copy of NumPy's, the version of a torch tensor."""
    return array.copy() if isinstance(array, np.ndarray) else getattr(array, "_version", None)
