"""Scaling of inputs and targets (Algorithm 3), and its inverse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.sparsefuncs import min_max_axis

from fourierwalk.arrays.library import Array, float64, like, namespace, to_host
from fourierwalk.data.affine import Affine
from fourierwalk.data.quartiles import clip_by_quartiles
from fourierwalk.data.rows import Rows
from fourierwalk.data.smooth_clip import SmoothClip
from fourierwalk.data.spread import common_spread, mean_and_spread
from fourierwalk.data.streaming import held_values, is_streamed
from fourierwalk.files.fields import Fields

KINDS = ("auto", "robust", True, False)

MOST_MAGNITUDE = 1e150
"""The largest absolute value allowed: sums of squares of larger values may overflow in double precision."""

LEAST_MAGNITUDE = 1e-150
"""The least for the largest absolute value, unless all are zero: squares of smaller values are zero."""


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
        check_magnitude("X", x)
        check_magnitude("y", y)
        if standardize == "robust":
            _check_dense(x)
        if not standardize:
            nothing = [Affine(like(np.zeros(n), y), like(np.ones(n), y)) for n in (x.shape[1], y.shape[1])]
            return cls(nothing[0], nothing[1], "none")
        y_mean, y_spread, _ = mean_and_spread(Rows(y, weight=weight), ddof)
        if not scale_targets:
            y_spread = like(np.ones(y.shape[1]), y)
        mean, spread, constant = mean_and_spread(Rows(x, weight=weight), ddof)
        fixed = np.zeros(x.shape[1], dtype=bool) if is_fixed is None else is_fixed
        if is_fixed is not None:
            xp = namespace(spread)
            spread = xp.where(like(fixed, spread), xp.ones_like(spread), spread)
        if standardize == "robust":
            clip = clip_by_quartiles(x, weight, to_host(mean), to_host(spread), to_host(constant) | fixed)
            return cls(clip.moved(lambda values: like(values, y)), Affine(y_mean, y_spread), "robust")
        kind = "common" if standardize == "common" or (standardize == "auto" and share_units(x, fixed)) else "columns"
        if kind == "common":
            spread = like(np.where(fixed, 1.0, common_spread(to_host(spread)[~fixed])), y)
        return cls(Affine(like(mean, y), like(spread, y)), Affine(y_mean, y_spread), kind)

    def recentred(self, center: Array) -> Scaling:
        """The same with targets measured from another center, (q,), given in scaled units."""
        targets = self.targets
        return replace(self, targets=Affine(targets.center + center * targets.scale, targets.scale))

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
        if is_streamed(x):
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
    mean, spread, _ = (to_host(part) for part in mean_and_spread(Rows(x), 0))
    lowest, highest = _extremes(x)
    tails = np.maximum(highest - mean, mean - lowest) / spread
    return float(np.max(tails if is_fixed is None else tails[~is_fixed], initial=0.0))


def _extremes(x: Any) -> tuple[np.ndarray, np.ndarray]:
    if scipy.sparse.issparse(x):
        return min_max_axis(x, axis=0)
    x = held_values(x)
    xp = namespace(x)
    return to_host(xp.min(x, axis=0)), to_host(xp.max(x, axis=0))


def _check_dense(x: Any) -> None:
    if scipy.sparse.issparse(x):
        raise ValueError(
            f"standardize='robust' needs a dense X, because a clip makes zeros into other values, got a sparse "
            f"{type(x).__name__}."
        )


def check_magnitude(name: str, values: Any) -> None:
    """Raise a `ValueError` if squares of the values would overflow, or if all would be zero."""
    if scipy.sparse.issparse(values):
        values = values.tocsr().data
    values = held_values(values)
    xp = namespace(values)
    if 0 in values.shape or not xp.isdtype(values.dtype, "real floating"):
        return
    largest = max(float(xp.max(values)), -float(xp.min(values)))
    if largest > MOST_MAGNITUDE:
        raise ValueError(
            f"{name} must have values of a magnitude below {MOST_MAGNITUDE:g}, because their squares are summed, "
            f"got {largest:g}."
        )
    if 0 < largest < LEAST_MAGNITUDE:
        raise ValueError(
            f"{name} must have values of a magnitude above {LEAST_MAGNITUDE:g}, because their squares are summed, "
            f"got {largest:g}: multiply them by a constant."
        )
