"""Scaling of inputs and targets (Algorithm 3), and its inverse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from fourierwalk.arrays.library import Array, float64, like, namespace, to_host
from fourierwalk.arrays.memory import free_bytes
from fourierwalk.data.rows import BLOCK_BYTES, Block, Rows
from fourierwalk.data.streaming import Streamed
from fourierwalk.files.fields import Fields

KINDS = ("auto", "robust", True, False)

CLIP = 3.0
"""The bound of a clipped column. Values up to about one are nearly unchanged."""

NORMAL_RANGE = 1.349
"""The interquartile range of a normal distribution, in standard deviations."""

LEAST_RANGE = 1e-12
"""An interquartile range of up to this share of the standard deviation counts as zero (rounding)."""

MOST_MAGNITUDE = 1e150
"""The largest absolute value allowed: sums of squares of larger values may overflow in double precision."""


@dataclass(frozen=True)
class Affine:
    """``(values − center) / scale``, one center and one scale per column."""

    center: Array
    scale: Array
    is_affine: ClassVar[bool] = True

    def apply(self, values: Array) -> Array:
        """Raw units to scaled ones."""
        return (float64(values) - self.center[None, :]) / self.scale[None, :]

    def invert(self, values: Array) -> Array:
        """Scaled units to raw ones."""
        return values * self.scale[None, :] + self.center[None, :]

    def derivative(self, values: Array) -> Array:
        """∂ scaled / ∂ raw of each entry, (n, d)."""
        return namespace(self.scale).broadcast_to(1.0 / self.scale[None, :], values.shape)

    def curvature(self, values: Array) -> Array:
        """∂² scaled / ∂ raw² of each entry, (n, d): zeros."""
        return namespace(self.scale).broadcast_to(0.0 * self.scale[None, :], values.shape)

    def moved(self, move: Callable[[Array], Array]) -> Affine:
        """The same with each array moved."""
        return Affine(move(self.center), move(self.scale))

    def to_tables(self) -> dict[str, Any]:
        """What a file keeps: `center` and `scale`, (d,)."""
        return {"center": to_host(self.center), "scale": to_host(self.scale)}

    @classmethod
    def from_tables(cls, fields: Fields, n_columns: int) -> Affine:
        """What `to_tables` gave, checked."""
        center, scale = fields.array("center", n_columns), fields.array("scale", n_columns)
        if not np.all(scale > 0):
            raise ValueError(f"{fields.name}.scale must be above 0, got {np.min(scale):g}.")
        return cls(center, scale)


@dataclass(frozen=True)
class SmoothClip:
    """``z / √(1 + (z/limit)²)`` with ``z = (values − center) / scale``: nearly z for small z, never above the limit.

    Parameters
    ----------
    center, scale : array of shape (d,)
        Subtracted from each column, and then divided by.
    clipped : array of bool, of shape (d,)
        The columns that are clipped; the others are z.
    limit : float
        The bound.

    Examples
    --------
    >>> import numpy as np
    >>> clip = SmoothClip(np.zeros(2), np.ones(2), np.array([True, False]))
    >>> clip.apply(np.array([[4.0, 4.0], [1e6, 1e6]])).round(2)
    array([[2.4e+00, 4.0e+00],
           [3.0e+00, 1.0e+06]])
    """

    center: Array
    scale: Array
    clipped: Array
    limit: float = CLIP
    is_affine: ClassVar[bool] = False

    def apply(self, values: Array) -> Array:
        """Raw units to scaled ones."""
        xp, z = namespace(self.scale), self._affine.apply(values)
        share = self._share(z)
        return xp.where(self.clipped[None, :], self.limit * (share / xp.sqrt(1.0 + share * share)), z)

    def invert(self, values: Array) -> Array:
        """Scaled units to raw ones. Values at the limit, to which far values are rounded, give a finite far value."""
        xp = namespace(self.scale)
        share = xp.clip(values / self.limit, -1.0 + _NEAR_LIMIT, 1.0 - _NEAR_LIMIT)
        z = xp.where(self.clipped[None, :], self.limit * (share / xp.sqrt(1.0 - share * share)), values)
        return self._affine.invert(z)

    def derivative(self, values: Array) -> Array:
        """∂ scaled / ∂ raw of each entry, (n, d)."""
        xp, share = namespace(self.scale), self._share(self._affine.apply(values))
        slope = (1.0 + share * share) ** -1.5
        return xp.where(self.clipped[None, :], slope, xp.ones_like(slope)) / self.scale[None, :]

    def curvature(self, values: Array) -> Array:
        """∂² scaled / ∂ raw² of each entry, (n, d)."""
        xp, share = namespace(self.scale), self._share(self._affine.apply(values))
        bend = -3.0 * share * (1.0 + share * share) ** -2.5 / self.limit
        return xp.where(self.clipped[None, :], bend, xp.zeros_like(bend)) / self.scale[None, :] ** 2

    def moved(self, move: Callable[[Array], Array]) -> SmoothClip:
        """The same with each array moved."""
        return replace(self, center=move(self.center), scale=move(self.scale), clipped=move(self.clipped))

    def to_tables(self) -> dict[str, Any]:
        """What a file keeps: `center`, `scale` and `clipped`, (d,), and `limit`."""
        return {**self._affine.to_tables(), "clipped": to_host(self.clipped), "limit": self.limit}

    @classmethod
    def from_tables(cls, fields: Fields, n_columns: int) -> SmoothClip:
        """What `to_tables` gave, checked."""
        affine, clipped = Affine.from_tables(fields, n_columns), fields.array("clipped", n_columns, kinds="b")
        return cls(affine.center, affine.scale, clipped, fields.number("limit", above=0))

    @property
    def _affine(self) -> Affine:
        return Affine(self.center, self.scale)

    def _share(self, z: Array) -> Array:
        """z divided by the limit, bounded so that its square cannot overflow; the clip is exact there to all digits."""
        return namespace(z).clip(z / self.limit, -_FAR, _FAR)


_FAR, _NEAR_LIMIT = 1e9, 1e-15


@dataclass(frozen=True)
class Scaling:
    """The scaling of inputs and targets.

    Parameters
    ----------
    inputs : Affine or SmoothClip
        The scaling of the inputs.
    targets : Affine
        The scaling of the targets.
    kind : {"columns", "common", "robust", "none"}
        How the scaling was made: each column by its own spread, all by a common one, by quartiles, or not at all.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[10.0], [30.0]])
    >>> scaling = Scaling.fit(x, y)
    >>> scaling.inputs.apply(x)
    array([[-1.,  0.],
           [ 1.,  0.]])
    >>> scaling.targets.invert(np.array([[0.0]]))
    array([[20.]])
    """

    inputs: Affine | SmoothClip
    targets: Affine
    kind: str  # "columns", "common", "robust" or "none"

    @property
    def is_affine(self) -> bool:
        """Whether scaled inputs are an affine function of raw ones, that is, nothing is clipped."""
        return self.inputs.is_affine

    @classmethod
    def fit(
        cls,
        x: Any,
        y: Array,
        weight: Array | None = None,
        *,
        standardize: bool | str = True,
        scale_targets: bool = True,
        ddof: int = 0,
        is_fixed: np.ndarray | None = None,
    ) -> Scaling:
        """The scaling of some rows. Algorithm 3 as printed has ``ddof=1``.

        Parameters
        ----------
        x, y : array of shape (n, d) and (n, q)
            Raw inputs (dense or sparse) and targets.
        weight : array of shape (n,), optional
            Weights of the rows.
        standardize : {True, False, "auto", "common", "robust"}
            True: each column is divided by its own standard deviation. False: nothing is changed. "common": all columns
            are divided by one scale. "auto": "common" if the columns seem to share a unit, as pixels do (see
            `share_units`), else True. "robust": each column is scaled by its median and interquartile range, then
            clipped smoothly at ±3 (see `SmoothClip`); columns of at most two values are scaled by mean and standard
            deviation, and not clipped. "robust" needs a dense x.
        scale_targets : bool
            Whether targets are divided by their standard deviation; they are centred in any case. False for one-hot
            targets.
        ddof : int
            Subtracted from the total weight in the variance.
        is_fixed : array of bool, of shape (d,), optional
            Columns that are only centred, such as the 0 and 1 of a level of a category.

        Raises
        ------
        ValueError
            If squares of values would overflow, or if x is sparse and `standardize` is "robust".
        """
        _check_magnitude("X", x)
        _check_magnitude("y", y)
        if standardize == "robust":
            _check_dense(x)
        if not standardize:
            nothing = [Affine(like(np.zeros(n), y), like(np.ones(n), y)) for n in (x.shape[1], y.shape[1])]
            return cls(nothing[0], nothing[1], "none")
        y_mean, y_spread, _ = _mean_and_spread(Rows(y, weight=weight), ddof)
        if not scale_targets:
            y_spread = like(np.ones(y.shape[1]), y)
        mean, spread, constant = _mean_and_spread(Rows(x, weight=weight), ddof)
        fixed = np.zeros(x.shape[1], dtype=bool) if is_fixed is None else is_fixed
        if is_fixed is not None:
            xp = namespace(spread)
            spread = xp.where(like(fixed, spread), xp.ones_like(spread), spread)
        if standardize == "robust":
            robust = _robust(x, weight, to_host(mean), to_host(spread), to_host(constant) | fixed)
            return cls(robust.moved(lambda values: like(values, y)), Affine(y_mean, y_spread), "robust")
        kind = "common" if standardize == "common" or (standardize == "auto" and share_units(x, fixed)) else "columns"
        if kind == "common":
            spread = like(np.where(fixed, 1.0, _common(to_host(spread)[~fixed])), y)
        return cls(Affine(like(mean, y), like(spread, y)), Affine(y_mean, y_spread), kind)

    def to_tables(self) -> dict[str, Any]:
        """What a file keeps: `kind`, `inputs` and `targets`."""
        return {"kind": self.kind, "inputs": self.inputs.to_tables(), "targets": self.targets.to_tables()}

    @classmethod
    def from_tables(cls, fields: Fields, n_inputs: int, n_outputs: int) -> Scaling:
        """What `to_tables` gave, checked."""
        inputs = fields.fields("inputs")
        kind = SmoothClip if inputs.has("clipped") else Affine
        return cls(
            kind.from_tables(inputs, n_inputs),
            Affine.from_tables(fields.fields("targets"), n_outputs),
            fields.option("kind", ("columns", "common", "robust", "none")),
        )

    def rows(self, x: Any, y: Array | None = None, weight: Array | None = None) -> Rows:
        """Scaled rows. Sparse inputs stay sparse: they are centred and scaled when phases are computed."""
        targets = None if y is None else self.targets.apply(y)
        if scipy.sparse.issparse(x):
            if not self.is_affine:
                _check_dense(x)
            return Rows(x, targets, weight, self.inputs.center, self.inputs.scale)
        if isinstance(x, Streamed):
            return Rows(x.scaled(self.inputs.apply), targets, weight)
        return Rows(float64(x) if self.kind == "none" else self.inputs.apply(x), targets, weight)


def share_units(x: Any, is_fixed: np.ndarray | None = None) -> bool:
    """Whether columns look like pixels or counts.

    At least 8 columns vary, 90 % of them have the same minimum, and two thirds reach half of the common range. A column
    with little spread, such as a pixel at the rim, must then not be scaled to unit variance. Columns that are not
    scaled (`is_fixed`) do not count.
    """
    lowest, highest = _extremes(x)
    varies = highest > lowest if is_fixed is None else (highest > lowest) & ~is_fixed
    if np.sum(varies) < 8:
        return False
    lowest, highest = lowest[varies], highest[varies]
    floor, reach = np.min(lowest), np.max(highest) - np.min(lowest)
    return bool(np.mean(lowest == floor) >= 0.9 and np.mean(highest - floor >= 0.5 * reach) >= 2 / 3)


def longest_tail(x: Any, is_fixed: np.ndarray | None = None) -> float:
    """The largest distance of a value from the mean of its column, in standard deviations of the column.

    Columns that are not scaled (`is_fixed`) do not count.
    """
    mean, spread, _ = (to_host(part) for part in _mean_and_spread(Rows(x), 0))
    lowest, highest = _extremes(x)
    tails = np.maximum(highest - mean, mean - lowest) / spread
    return float(np.max(tails if is_fixed is None else tails[~is_fixed], initial=0.0))


def _extremes(x: Any) -> tuple[np.ndarray, np.ndarray]:
    if scipy.sparse.issparse(x):
        return min_max_axis(x, axis=0)
    x = x.host if isinstance(x, Streamed) else x
    xp = namespace(x)
    return to_host(xp.min(x, axis=0)), to_host(xp.max(x, axis=0))


def _common(spread: np.ndarray) -> float:
    return float(np.sqrt(np.mean(spread**2)))


def _check_dense(x: Any) -> None:
    if scipy.sparse.issparse(x):
        raise ValueError(
            f"standardize='robust' needs a dense X, because a clip makes zeros into other values, got a sparse "
            f"{type(x).__name__}."
        )


def _check_magnitude(name: str, values: Any) -> None:
    """Raise a `ValueError` if squares of the values would overflow."""
    if scipy.sparse.issparse(values):
        values = values.tocsr().data
    elif isinstance(values, Streamed):
        values = values.host
    xp = namespace(values)
    if 0 in values.shape or not xp.isdtype(values.dtype, "real floating"):
        return
    largest = max(float(xp.max(values)), -float(xp.min(values)))
    if largest > MOST_MAGNITUDE:
        raise ValueError(
            f"{name} must have values of a magnitude below {MOST_MAGNITUDE:g}, because their squares are summed, "
            f"got {largest:g}."
        )


def _robust(x: Any, weight: Array | None, mean: np.ndarray, spread: np.ndarray, constant: np.ndarray) -> SmoothClip:
    """A clip by medians and interquartile ranges; columns whose range is zero keep mean and standard deviation."""
    host_weight = None if weight is None else np.asarray(to_host(weight), dtype=np.float64)
    center, scale, clipped = mean.copy(), spread.copy(), ~constant
    start = 0
    for columns in _column_blocks(x):
        for j, column in enumerate(columns, start):
            first, median, third, several = _quartiles(column, host_weight)
            clipped[j] &= several
            if clipped[j] and third - first > LEAST_RANGE * spread[j]:
                center[j], scale[j] = median, (third - first) / NORMAL_RANGE
        start += len(columns)
    return SmoothClip(center, scale, clipped)


def _column_blocks(x: Any) -> Iterator[np.ndarray]:
    """Yield copies of some columns at a time, as NumPy arrays (n_columns, n) of bounded size.

    Inputs on a disk are read in few passes.
    """
    source, chosen = (x.host, x.chosen) if isinstance(x, Streamed) else (x, None)
    budget = max(BLOCK_BYTES, free_bytes() / 8) if isinstance(x, Streamed) else BLOCK_BYTES
    width = max(1, int(budget // (8 * x.shape[0])))
    for start in range(0, x.shape[1], width):
        part = to_host(source[:, start : min(start + width, x.shape[1])])
        yield np.array((part if chosen is None else part[chosen]).T, dtype=np.float64, order="C")


def _quartiles(values: np.ndarray, weight: np.ndarray | None) -> tuple[float, float, float, bool]:
    """The three quartiles of a column (the inverted distribution function), and whether it has over two values.

    Whole-number weights are exactly repeated rows, and the order of the rows does not matter: equal values are ordered
    by their weights before these are summed.
    """
    if weight is None:
        values = np.sort(values)
        places = [-(-len(values) * quarter // 4) - 1 for quarter in (1, 2, 3)]
    else:
        counts = weight > 0
        values, weight = values[counts], weight[counts]
        order = np.lexsort((weight, values))
        values, reached = values[order], np.cumsum(weight[order])
        # A rounded sum must not miss its share: equal weights of any size then give the quartiles of no weights.
        places = [int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12))) for share in (0.25, 0.5, 0.75)]
    first, median, third = (float(values[place]) for place in places)
    return first, median, third, bool(np.any((values > values[0]) & (values < values[-1])))


def _mean_and_spread(rows: Rows, ddof: int) -> tuple[Array, Array, Array]:
    """Weighted means and standard deviations, and which columns are constant; a constant column's deviation is one."""
    total, n, d = rows.total_weight, len(rows), int(rows.x.shape[1])
    if scipy.sparse.issparse(rows.x):
        matrix = rows.x.astype(np.float64)
        mean, variance = mean_variance_axis(matrix, axis=0, weights=rows.weight)
        variance = variance * total / (total - ddof)
    else:
        mean = rows.sum(lambda block: _weights(block) @ float64(block.x), d) / total
        deviations = rows.sum(lambda block: _weights(block) @ (float64(block.x) - mean[None, :]) ** 2, d)
        variance = deviations / (total - ddof)
    xp, eps = namespace(mean), float(np.finfo(np.float64).eps)
    constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    return mean, xp.where(constant, xp.ones_like(variance), xp.sqrt(variance)), constant


def _weights(block: Block) -> Array:
    xp = namespace(block.x)
    return like(np.ones(block.x.shape[0]), block.x) if block.weight is None else xp.astype(block.weight, xp.float64)
