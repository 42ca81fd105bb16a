"""Sums in a tree that is fixed by the order of the terms: the same terms give the same bits, wherever they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def joined(one: Any, other: Any) -> Any:
    """The sum of two shares. None is the share of a chunk without rows."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def tree(shares: Iterable[Any], join: Callable[[Any, Any], Any] = joined) -> Any:
    """The sum of some shares, added in pairs, then in pairs of pairs, and so on.

    Shares are taken one by one. At most log₂ n sums wait for their partner, so a long stream needs little memory. What
    is left at the end is added from the last to the first.

    Examples
    --------
    >>> tree("abcdefg", "({}{})".format)
    '(((ab)(cd))((ef)g))'
    """
    waiting: list[tuple[int, Any]] = []
    for total in shares:
        height = 0
        while waiting and waiting[-1][0] == height:
            total, height = join(waiting.pop()[1], total), height + 1
        waiting.append((height, total))
    total = waiting.pop()[1] if waiting else None
    while waiting:
        total = join(waiting.pop()[1], total)
    return total
