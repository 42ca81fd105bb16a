"""Rows: the data of a fit. The method only needs sums over them, which are computed block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from array_api_compat import is_torch_array

from fourierwalk.arrays.complexes import transposed
from fourierwalk.arrays.library import Array, float64, like, namespace, scalar
from fourierwalk.arrays.memory import accelerator_bytes
from fourierwalk.arrays.products import Parts, matmul, outer_gram, phases
from fourierwalk.data.kept import Kept
from fourierwalk.data.streaming import anchor_of, is_streamed

BLOCK_BYTES = 64 * 2**20
"""The most bytes of a block's columns on a CPU. On a GPU it is a sixteenth of the memory."""

MERGED_BLOCKS = 3
"""Rows that would make up to this many blocks are taken as one: adding large matrices costs more than it saves."""

SHORT_PHASE = 32.0
"""Phases up to this, in radians, may be computed in single precision; their error is below 2e-6."""

NARROW_COLUMNS = 8
"""Rows of up to this many columns are projected in small parts, because BLAS uses one thread for such products."""


@dataclass(frozen=True)
class Block:
    """A block of rows."""

    x: Any  # inputs: dense and scaled, or sparse and not scaled
    y: Array | None = None  # targets
    weight: Array | None = None  # None: all one
    center: Array | None = None  # the scaling of sparse inputs
    scale: Array | None = None  # likewise
    halves: Parts | None = None  # x in two 16-bit parts, for products in bf16
    thirds: Parts | None = None  # y in three 16-bit parts, likewise
    kept: Kept | None = None  # a cache of the columns, if this block is all rows

    def part(self, part: slice) -> Block:
        """Some of the rows."""
        y = None if self.y is None else self.y[..., part, :]
        weight = None if self.weight is None else self.weight[part]
        x = self.x[part] if scipy.sparse.issparse(self.x) else self.x[..., part, :]
        halves, thirds = (None if parts is None else parts.part(part) for parts in (self.halves, self.thirds))
        return replace(self, x=x, y=y, weight=weight, halves=halves, thirds=thirds, kept=None)

    def single(self) -> Block:
        """The same NumPy rows in single precision."""
        x, y, weight = (None if array is None else array.astype(np.float32) for array in (self.x, self.y, self.weight))
        return replace(self, x=x, y=y, weight=weight)

    def columns(self, features: Any, frequencies: Array, make: Callable[[], Array]) -> Array:
        """The columns of the features, from the cache if possible: in descent a solve and its gradient share them."""
        return make() if self.kept is None else self.kept.of(frequencies, (features,), "", make)

    def project(self, vectors: Array, precision: str = "double") -> Array:
        """The scalar products of each row with each vector, (n, K). Sparse rows are centred and scaled here."""
        if self.center is None or self.scale is None:
            return phases(self.x, vectors, precision, self.halves)
        scaled = vectors / self.scale[None, :]
        return self.x @ scaled.T - (scaled @ self.center)[None, :]

    def gather(self, pulls: Array) -> Array:
        """The adjoint of `project`: Σₙ pullₙₖ xₙ, (K, d)."""
        if self.center is None or self.scale is None:
            return matmul(pulls.T, namespace(pulls).astype(self.x, pulls.dtype, copy=False))
        total = namespace(pulls).sum(pulls, axis=0)
        return ((self.x.T @ pulls).T - total[:, None] * self.center[None, :]) / self.scale[None, :]

    def gram(self, other: Block) -> Array:
        """The scalar products of these rows with others, (n, m), in double precision. Sparse rows stay sparse."""
        if self.center is None or self.scale is None:
            return outer_gram(float64(self.x)) if other is self else matmul(float64(self.x), float64(other.x).T)
        scale, center = 1 / self.scale[None, :], self.center / self.scale
        rows, others = (block.x.astype(np.float64).multiply(scale).tocsr() for block in (self, other))
        shift = (rows @ center)[:, None] + (others @ center)[None, :]
        return (rows @ others.T).toarray() - shift + center @ center

    def moments(self, columns: Array, values: Array) -> Array:
        """Σₙ columnₙⱼ valueₙₒ xₙ of dense rows, (n_columns, q, d)."""
        xp, shape = namespace(columns), (int(columns.shape[1]), int(values.shape[1]), int(self.x.shape[1]))
        products = values[:, :, None] * xp.astype(self.x, values.dtype, copy=False)[:, None, :]
        return xp.reshape(matmul(columns.T, xp.reshape(products, (-1, shape[1] * shape[2]))), shape)

    def projector(self, vectors: Array, precision: str = "double") -> Callable[[slice], Array]:
        """A function from a slice of rows to their phases, as `project` gives them.

        Rows of many columns are projected at once, in one large product; rows of few columns when they are needed. For
        "single" and "tf32" phases are in turns of 2π, not in radians, except short phases of NumPy rows: these are in
        radians and in single precision.
        """
        is_narrow = self.center is None and int(self.x.shape[-1]) <= NARROW_COLUMNS and not is_torch_array(self.x)
        if precision != "double" and is_narrow and self._is_short(vectors):
            x, turned = np.asarray(self.x, dtype=np.float32), np.ascontiguousarray(vectors.T, dtype=np.float32)
            return lambda part: x[part] @ turned
        vectors = vectors / (2 * math.pi) if precision in ("single", "tf32") else vectors
        if not is_narrow:
            products = self.project(vectors, precision)
            return lambda part: products[..., part, :]
        x, turned = float64(self.x), namespace(vectors).asarray(transposed(vectors), copy=True)
        return lambda part: x[..., part, :] @ turned

    def _is_short(self, vectors: Array) -> bool:
        """Whether all phases are small enough for single precision."""
        if not isinstance(self.x, np.ndarray) or self.x.ndim > 2:
            return False
        longest = [np.max(np.einsum("ij,ij->i", part, part), initial=0.0) for part in (self.x, vectors)]
        return math.sqrt(float(longest[0]) * float(longest[1])) <= SHORT_PHASE


@dataclass(frozen=True)
class Rows:
    """Rows on one device, summed block by block.

    Parameters
    ----------
    x : array, sparse matrix or Streamed, of shape (n, d)
        Scaled inputs. Sparse inputs are not scaled, so that they stay sparse; `center` and `scale` are applied to them
        later. Several data sets of one size can be stacked along leading axes; they are then solved together.
    y : array of shape (n, q), optional
        Scaled targets.
    weight : array of shape (n,), optional
        Weights. None: all one.
    center, scale : array of shape (d,), optional
        The scaling of sparse inputs.
    block_bytes : int, optional
        The most bytes of a block's columns. None: 64 MiB, on a GPU a sixteenth of its memory.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data import Rows
    >>> rows = Rows(np.arange(6.0).reshape(3, 2), np.ones((3, 1)))
    >>> rows.sum(lambda block: block.x.sum(axis=0), width=2)
    array([6., 9.])
    """

    x: Any
    y: Array | None = None
    weight: Array | None = None
    center: Array | None = None
    scale: Array | None = None
    block_bytes: int | None = None
    in_chunks: ClassVar[bool] = False  # whether nobody holds all rows: they can only be summed
    gpu_part: ClassVar[int] = 16  # a block may take one part in so many of a GPU's memory
    n_sums: ClassVar[int] = 2  # the most sums that a pass holds at the same time
    reach: ClassVar[Any] = None  # the lowest and the highest inputs, if they are known

    def __post_init__(self) -> None:
        """Raise a `ValueError` for shapes that do not fit, rather than a LAPACK error later."""
        shape, n_rows = tuple(self.x.shape), tuple(self.x.shape)[-2:-1]
        if len(shape) < 2:
            raise ValueError(f"Rows(x) must have the shape (n, d), got {shape}: x[:, None] is one input.")
        if self.y is not None and (self.y.ndim != len(shape) or tuple(self.y.shape)[:-1] != shape[:-1]):
            wanted = ", ".join(map(str, shape[:-1]))
            raise ValueError(
                f"Rows(x, y) must have targets of shape ({wanted}, q) for inputs of shape {shape}, got "
                f"{tuple(self.y.shape)}: y[:, None] is one output."
            )
        if self.weight is not None and tuple(self.weight.shape) != n_rows:
            raise ValueError(f"Rows(x, y, weight) must have weights of shape {n_rows}, got {tuple(self.weight.shape)}.")

    def __len__(self) -> int:
        return int(self.x.shape[-2])

    @cached_property
    def target_energy(self) -> Any:
        """Σw|y|²."""
        xp = namespace(self.y)
        squares = xp.sum(self.y * self.y, axis=-1)  # type: ignore[operator]
        return scalar(xp.sum(squares if self.weight is None else squares * self.weight, axis=-1))

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights; without weights the number of rows."""
        return float(len(self)) if self.weight is None else float(namespace(self.weight).sum(self.weight))

    @property
    def anchor(self) -> Any:
        """An array in the library and on the device of the sums over the rows."""
        return anchor_of(self.x)

    @property
    def is_streamed(self) -> bool:
        """Whether the inputs stay on the host, and only blocks of them come to the device."""
        return is_streamed(self.x)

    def block_height(self, width: int) -> int:
        """The number of rows in a block with `width` columns of doubles."""
        budget, stacked = self._budget(), math.prod(self.x.shape[:-2])
        if self.is_streamed:  # add four arrays of inputs: raw, centred, scaled, and those of the next block
            height = max(1, budget // (8 * (width + 4 * self.x.shape[1])))
            return min(len(self), height - height % 8 if height > 8 else height)  # a multiple of 8, for `cos_sin`
        height = max(1, budget // (8 * max(1, width * stacked)))
        merged = MERGED_BLOCKS if self.block_bytes is None else 1
        return len(self) if len(self) <= merged * height else height

    def _budget(self) -> int:
        if self.block_bytes is not None:
            return self.block_bytes
        on_gpu = accelerator_bytes(self.anchor)
        return BLOCK_BYTES if on_gpu is None else on_gpu // self.gpu_part

    def blocks(self, width: int, beside: int = 0) -> Iterator[Block]:
        """Yield the rows in blocks whose `width` columns of doubles, and `beside` more columns, stay within the budget.

        The last columns are cached if the rows are NumPy arrays and make one block even with twice the width. (On a
        GPU nothing is cached: its solves are below double precision, so a gradient could not use their columns.)
        """
        height, whole = self.block_height(width + beside), self.whole()
        parts = [slice(start, min(start + height, len(self))) for start in range(0, len(self), height)]
        keeps = isinstance(self.x, np.ndarray) and len(parts) == 1 and len(self) <= self.block_height(2 * width)
        for i, part in enumerate(parts):
            block = whole.part(part)
            if keeps:
                block = replace(block, kept=self.kept)
            if self.is_streamed and i + 1 < len(parts):
                self.x.prefetch(parts[i + 1])  # while the device works on this one
            yield block
            if self.is_streamed:
                self.x.used()

    def sum(self, term: Callable[[Block], Any], width: int, beside: int = 0) -> Any:
        """The sum of ``term(block)`` over all blocks; terms are any objects with ``+``."""
        blocks = self.blocks(width, beside)
        total = term(next(blocks))
        for block in blocks:
            total = total + term(block)
        return total

    def whole(self) -> Block:
        """All rows as one block, for computations that are not sums over rows (the dual form)."""
        return Block(self.x, self.y, self.weight, self.center, self.scale, self._halves, self._thirds)

    @cached_property
    def kept(self) -> Kept:
        """The cache of the last columns, used if the rows are one block on a CPU."""
        return Kept()

    @cached_property
    def _halves(self) -> Parts | None:
        return Parts.of_inputs(self.x)

    @cached_property
    def _thirds(self) -> Parts | None:
        return Parts.of_targets(self.y)

    def pick(self, mask: Any) -> Rows:
        """The rows for which a mask (a NumPy array) is true."""
        return self.take(mask.nonzero()[0])

    def take(self, chosen: Any) -> Rows:
        """The rows with some indices (a NumPy array)."""
        if self.is_streamed:
            x, indices = self.x.take(chosen), like(chosen, self.anchor)
        elif scipy.sparse.issparse(self.x):
            x, indices = self.x[chosen], chosen
        else:
            indices = like(chosen, self.x)
            x = namespace(self.x).take(self.x, indices, axis=0)
        take = [None if part is None else namespace(part).take(part, indices, axis=0) for part in (self.y, self.weight)]
        return replace(self, x=x, y=take[0], weight=take[1])
