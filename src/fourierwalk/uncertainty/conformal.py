"""Prediction intervals by cross-validation+ from residuals of rows that the frequencies have not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fourierwalk.files.fields import Fields

N_HALVINGS = 32
"""Halvings of the bracket of a quantile: its relative width is then below 1e-9."""


@dataclass(frozen=True)
class Conformal:
    """Scores of rows that a member has not seen: the distance of y from f(x), divided by the standard deviation at x.

    The interval at x is that of cross-validation+ [1]_: from the α-quantile of all f₋ᵢ(x) − Rᵢ s(x) to the
    (1 − α)-quantile of all f₋ᵢ(x) + Rᵢ s(x). Here f₋ᵢ is the member that has not seen row i, Rᵢ the row's score, and s
    the standard deviation.

    Parameters
    ----------
    scores : array of shape (n, q)
        The scores.
    weight : array of shape (n,)
        The weights of the rows. A row of weight 2 counts like two equal rows.
    member : array of int, of shape (n,)
        The member that has not seen the row. If the model has fewer members than there were folds, some rows have
        none: another member stands for it.
    times : float
        How many scores a row has on average: more than one if several members have not seen the same rows.

    References
    ----------
    .. [1] Barber, Candès, Ramdas, Tibshirani: *Predictive inference with the jackknife+* (2021).

    Examples
    --------
    >>> import numpy as np
    >>> scores = Conformal(np.arange(1.0, 20.0)[:, None], np.ones(19), np.zeros(19, dtype=int))
    >>> scores.interval(np.array([[[100.0]]]), np.array([[2.0]]), [0.9]).ravel().round(6)
    array([ 64., 136.])
    """

    scores: np.ndarray
    weight: np.ndarray
    member: np.ndarray
    times: float = 1.0

    def interval(self, values: np.ndarray, std: np.ndarray, levels: Any) -> np.ndarray:
        """The intervals, (n, q, 2, n_levels), from the members' values (n, M, q) and standard deviations (n, q).

        With too few scores for a level the interval is infinite.
        """
        n, _, n_outputs = values.shape
        out = np.empty((n, n_outputs, 2, len(levels)))
        for output in range(n_outputs):
            scale = np.maximum(std[:, output], np.finfo(np.float64).tiny)
            center = np.mean(values[:, :, output], axis=1)
            offsets = (values[:, :, output] - center[:, None]) / scale[:, None]
            parts = self._parts(output)
            for i, level in enumerate(levels):
                above, below = (_quantile(parts, sign * offsets, self._rank(level)) for sign in (1.0, -1.0))
                out[:, output, 0, i], out[:, output, 1, i] = center - scale * below, center + scale * above
        return out

    def _rank(self, level: float) -> float:
        """The weight of the scores that an interval must hold: a share of the rows and the new one."""
        total = float(np.sum(self.weight)) / self.times
        return level * (total + 1.0) * self.times

    def _parts(self, output: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each member its scores in ascending order, and the weight of all up to each; zero comes first."""
        parts = []
        for member in range(int(np.max(self.member)) + 1):
            own = self.member == member
            order = np.argsort(self.scores[own, output], kind="stable")
            weight = np.concatenate(([0.0], np.cumsum(self.weight[own][order])))
            parts.append((self.scores[own, output][order], weight))
        return parts

    def to_tables(self) -> dict[str, Any]:
        """The contents of a file."""
        return {"scores": self.scores, "weight": self.weight, "member": self.member, "times": self.times}

    @classmethod
    def from_tables(cls, fields: Fields, n_members: int, n_outputs: int) -> Conformal:
        """The inverse of `to_tables`; the fields are checked."""
        scores = fields.array("scores", None, n_outputs)
        member = fields.array("member", scores.shape[0], kinds="i")
        if not member.size or not 0 <= member.min() <= member.max() < n_members:
            raise ValueError(f"{fields.name}.member must be whole numbers from 0 to {n_members - 1}.")
        return cls(scores, fields.array("weight", scores.shape[0]), member, fields.number("times", at_least=1))


def _quantile(parts: list[tuple[np.ndarray, np.ndarray]], offsets: np.ndarray, rank: float) -> np.ndarray:
    """The least t, for each row of `offsets` (n, M), such that scores of weight `rank` have offset + score ≤ t."""
    if rank > math.fsum(weight[-1] for _, weight in parts) * (1 + 1e-12):
        return np.full(offsets.shape[0], np.inf)
    used = [i for i, (scores, _) in enumerate(parts) if scores.size]
    if len(used) == 1:
        scores, weight = parts[used[0]]
        return offsets[:, used[0]] + scores[np.searchsorted(weight[1:], rank * (1 - 1e-12))]
    low = np.min([offsets[:, i] + parts[i][0][0] for i in used], axis=0)
    high = np.max([offsets[:, i] + parts[i][0][-1] for i in used], axis=0)
    high = high + 1e-12 * np.abs(high)
    low = low - 1e-12 * np.abs(low) - 1e-300
    for _ in range(N_HALVINGS):
        middle = 0.5 * (low + high)
        held = sum(parts[i][1][np.searchsorted(parts[i][0], middle - offsets[:, i], side="right")] for i in used)
        enough = held >= rank * (1 - 1e-12)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
