"""Objects made of arrays, moved to where the rows are and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.library import namespace


def mapped(value: Any, move: Callable[[Any], Any], numbers: bool = False) -> Any:
    """The same object with each array of real or complex numbers moved, also inside dataclasses and tuples.

    Other arrays, and all else, stay. With `numbers` plain numbers are moved too.

    Examples
    --------
    >>> mapped((np.ones(2), "words", 3), lambda values: 2 * values)
    (array([2., 2.]), 'words', 3)
    """
    if isinstance(value, int | float | np.generic):
        return move(value) if numbers and not isinstance(value, bool | np.bool_) else value
    if compat.is_array_api_obj(value):
        kinds = ("real floating", "complex floating")
        return move(value) if value.dtype != object and _is_kind(value, kinds) else value
    if is_dataclass(value) and not isinstance(value, type):
        own = {one.name: mapped(getattr(value, one.name), move, numbers) for one in fields(value) if one.init}
        return replace(value, **own)
    if isinstance(value, tuple):
        parts = [mapped(one, move, numbers) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _is_kind(values: Any, kinds: tuple[str, ...]) -> bool:
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "fc"
    return bool(namespace(values).isdtype(values.dtype, kinds))
