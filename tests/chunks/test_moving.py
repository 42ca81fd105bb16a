from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.chunks.moving import mapped


@dataclass(frozen=True)
class Inner:
    values: Any
    name: str


class Outer(NamedTuple):
    inner: Inner
    number: float
    flag: bool
    places: np.ndarray


def test_only_arrays_of_real_numbers_move():
    outer = Outer(Inner(np.ones(2), "x"), 3.0, True, np.arange(2))
    moved = mapped(outer, lambda values: 2 * values)
    assert moved.inner.values.tolist() == [2, 2]
    assert (moved.inner.name, moved.number, moved.flag) == ("x", 3.0, True)
    assert moved.places is outer.places


def test_numbers_move_if_asked_for():
    moved = mapped(Outer(Inner(np.ones(2), "x"), 3.0, True, np.arange(2)), lambda values: 2 * values, numbers=True)
    assert moved.number == 6.0
    assert moved.flag is True
