"""Numbers with standard errors, errors over K, and how two such curves compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SURE = 2.0
"""A difference counts if it is more than this many standard errors."""


class Measured(NamedTuple):
    """A number and its standard error, which is NaN for a single realisation."""

    value: float
    error: float = math.nan

    def text(self, digits: int = 3) -> str:
        """The rounded number, with its standard error after "±".

        Examples
        --------
        >>> Measured(-0.5123, 0.021).text(2), Measured(0.25).text()
        ('−0.51 ± 0.02', '0.250')
        """
        scatter = "" if math.isnan(self.error) else f" ± {self.error:.{digits}f}"
        return f"{self.value:.{digits}f}{scatter}".replace("-", "−")

    def minus(self, other: Measured) -> Measured:
        """The difference of two independent numbers."""
        return Measured(self.value - other.value, math.hypot(self.error, other.error))

    @property
    def sign(self) -> int:
        """−1 or 1 if the number is more than two standard errors from zero, else 0. It is 0 if no error is known."""
        return 0 if not abs(self.value) > SURE * self.error else int(math.copysign(1, self.value))


def measured(values: Sequence[float] | np.ndarray) -> Measured:
    """The mean of independent realisations, and its standard error.

    Examples
    --------
    >>> measured([1.0, 3.0])
    Measured(value=2.0, error=1.0)
    """
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Measured(float(np.mean(values)), error)


class Curve(NamedTuple):
    """Mean and standard deviation of a measure over realisations, by width."""

    widths: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    n_seeds: np.ndarray

    def at(self, width: int) -> float:
        """The mean at a width; NaN if there is none."""
        return self.measured(width).value

    def measured(self, width: int) -> Measured:
        """Mean and standard error at a width; NaN if there is none."""
        at = np.flatnonzero(self.widths == width)
        if not at.size:
            return Measured(math.nan)
        n = int(self.n_seeds[at[0]])
        return Measured(float(self.mean[at[0]]), float(self.deviation[at[0]]) / math.sqrt(n) if n > 1 else math.nan)

    def between(self, smallest: int, largest: int = 2**30) -> Curve:
        """The part in a range of widths."""
        chosen = (self.widths >= smallest) & (self.widths <= largest)
        return Curve(*(part[chosen] for part in self))

    @property
    def largest(self) -> int:
        """The largest width; 0 if there is none."""
        return int(self.widths.max(initial=0))


def common(*curves: Curve) -> list[int]:
    """The widths that all curves have."""
    return [int(width) for width in curves[0].widths if all(width in each.widths for each in curves)]


def exponent(curve: Curve, smallest: int = 32, largest: int = 2**30) -> Measured:
    """The exponent of K, fitted to the means in a range of widths; NaN for fewer than three widths.

    Means are weighted by their standard errors if all have one. If they scatter about the line by more than that, the
    standard error of the exponent comes from the scatter, which is larger.
    """
    part = curve.between(smallest, largest)
    if part.widths.size < 3:
        return Measured(math.nan)
    x, y = np.log(part.widths), np.log(part.mean)
    relative = part.deviation / np.sqrt(part.n_seeds) / part.mean
    known = bool(np.all(part.n_seeds > 1) and np.median(relative) > 0)
    floor = (
        0.1 * float(np.median(relative)) if known else 1.0
    )  # so that realisations that agree by chance do not outweigh all others
    weight = 1 / np.maximum(relative, floor) ** 2 if known else np.ones_like(x)
    center = x - np.average(x, weights=weight)
    value = float(np.sum(weight * center * y) / np.sum(weight * center**2))
    residual = y - np.average(y, weights=weight) - value * center
    scatter = float(np.sum(weight * residual**2)) / (x.size - 2)
    return Measured(value, math.sqrt((max(1.0, scatter) if known else scatter) / float(np.sum(weight * center**2))))


def local_exponents(curve: Curve) -> dict[tuple[int, int], Measured]:
    """The exponent of K between neighbouring widths."""
    exponents = {}
    for first, second in zip(curve.widths[:-1].tolist(), curve.widths[1:].tolist(), strict=True):
        before, after = curve.measured(first), curve.measured(second)
        span = math.log(second / first)
        error = math.hypot(before.error / before.value, after.error / after.value)
        exponents[first, second] = Measured(math.log(after.value / before.value) / span, error / span)
    return exponents


def compared(curve: Curve, other: Curve) -> dict[int, Measured]:
    """The first curve's mean minus the second's, by common width."""
    return {width: curve.measured(width).minus(other.measured(width)) for width in common(curve, other)}


def widths_in_words(chosen: Sequence[int], among: Sequence[int]) -> str:
    """Widths as text, with runs of neighbours shortened.

    Examples
    --------
    >>> widths_in_words([2, 4, 8, 64], [2, 4, 8, 16, 32, 64]), widths_in_words([], [2])
    ('K = 2 to 8 and 64', 'no K')
    """
    runs: list[list[int]] = []
    for width in among:
        if width in chosen:
            if runs and among.index(width) == among.index(runs[-1][-1]) + 1:
                runs[-1].append(width)
            else:
                runs.append([width])
    words = [f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs]
    return f"K = {' and '.join(words)}" if words else "no K"
