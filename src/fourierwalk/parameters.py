"""Checks of parameters. The error is one sentence: the parameter, what was expected, and what came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def option(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise a `ValueError` unless the value is one of a few strings or Booleans."""
    plain = bool(value) if isinstance(value, np.bool_) else value  # a grid search over an array gives np.bool_
    if not any(type(plain) is type(one) and plain == one for one in allowed):
        raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")


def count(name: str, value: Any, at_least: int, words: Sequence[str] = (), optional: bool = False) -> None:
    """Raise a `ValueError` unless the value is a large enough whole number, a listed string, or an optional None."""
    if (optional and value is None) or (isinstance(value, str) and value in words):
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < at_least:
        others = "".join(f" or {word!r}" for word in words)
        raise ValueError(f"{name} must be a whole number of at least {at_least}{others}, got {value!r}.")


def number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    words: Sequence[str] = (),
    optional: bool = False,
) -> None:
    """Raise a `ValueError` unless the value is a finite number in a range, a listed string, or an optional None."""
    if (optional and value is None) or (isinstance(value, str) and value in words):
        return
    real = isinstance(value, Real) and not isinstance(value, bool)
    if real and math.isfinite(value) and above < value < below and value >= at_least:
        return
    bounds = {f"above {above:g}": above, f"of at least {at_least:g}": at_least, f"below {below:g}": below}
    ranges = " and ".join(text for text, bound in bounds.items() if math.isfinite(bound))
    others = [repr(word) for word in words] + (["None"] if optional else [])
    raise ValueError(f"{name} must be {' or '.join([f'a finite number {ranges}', *others])}, got {value!r}.")
