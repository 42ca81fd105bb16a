"""Chunks from the user's own blocks: any object that can be iterated again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fourierwalk.chunks.chunk import Chunk, InProcess


class Blocks(InProcess):
    """Chunks from blocks ``(X, y)`` or ``(X, y, weight)``, which are iterated once for every pass over the rows.

    Parameters
    ----------
    blocks : iterable or callable
        An object that can be iterated again and again, or a function that returns a new iterator each time. X is an
        array, or a frame whose columns may be categories, words and dates.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> class Waves:
    ...     def __iter__(self):
    ...         for seed in range(4):
    ...             x = np.random.default_rng(seed).uniform(-1, 1, (500, 1))
    ...             yield x, np.sin(9 * x[:, 0])
    >>> model = AdaptiveFourierRegressor(8, random_state=0).fit(Waves())
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(4.5)) < 0.01)
    True
    """

    def __init__(self, blocks: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
        if isinstance(blocks, Iterator):
            raise ValueError(
                f"X must be blocks that can be read again and again, got a {type(blocks).__name__}, which can be read "
                "only once: give a list, an object with __iter__, or a function that returns a new iterator."
            )
        self.blocks = blocks
        self._n_blocks: int | None = None  # as the first pass has counted them

    def __iter__(self) -> Iterator[Chunk]:
        blocks = self.blocks() if callable(self.blocks) else self.blocks
        n_blocks, at_first = 0, self._n_blocks
        for index, block in enumerate(blocks):
            if not isinstance(block, tuple | list) or len(block) not in (2, 3):
                raise ValueError(f"a block must be (X, y) or (X, y, weight), got {_described(block)} as block {index}.")
            n_blocks += 1
            if at_first is not None and n_blocks > at_first:
                raise ValueError(f"X must give the same blocks whenever it is read, got more than {at_first} now.")
            yield Chunk.of(index, *block)
        if at_first not in (None, n_blocks):
            raise ValueError(
                f"X must give the same blocks whenever it is read, got {at_first} blocks at first and {n_blocks} now; "
                "an iterator can be read only once: give a list, an object with __iter__, or a function that returns "
                "a new iterator."
            )
        self._n_blocks = n_blocks


def _described(block: Any) -> str:
    return f"{len(block)} values" if isinstance(block, tuple | list) else f"a {type(block).__name__}"
