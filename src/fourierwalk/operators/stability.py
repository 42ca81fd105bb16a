"""Whether conditions determine the function, and how much their residuals say about its error.

Among smooth functions v of root mean square one, the least weighted residual κ of the conditions at v bounds the error
of a solution: a function that satisfies the conditions up to a residual r is within r/κ of the solution. If κ is zero,
some v can be added to any solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fourierwalk.data.rows import Block
from fourierwalk.operators.condition import Condition
from fourierwalk.operators.domain import Domain
from fourierwalk.operators.operator import Operator, d, identity
from fourierwalk.operators.posed import Posed
from fourierwalk.operators.products import NEAR_END, ProductResidual

MOST_POINTS = 400
"""The most points of a condition at which smooth functions are compared."""

WAVES_PER_PAIR = 24
"""The waves that smooth functions are made of, for each pair of inputs."""

MOST_WAVES = 480
"""The most of these waves."""

SPREAD = 2.0
"""The standard deviation of their frequencies, for inputs scaled to [−1, 1]."""

LEAST_SINGULAR_VALUE = 1e-5
"""Combinations of waves whose values are below this share of the largest are left out: they are all but zero."""

UNDETERMINED = 5e-4
"""κ below which conditions count as not enough: of twenty problems it is above 2e-3, without one condition mostly below
2e-4."""

LEAST_AT_END = 5e-3
"""The least share of points at an end of an input that was not met by chance."""

DETERMINED = 1e-2
"""κ from which on a further condition is named as the missing one."""


@dataclass(frozen=True)
class Stability:
    """The conditions' residuals of smooth functions of root mean square one.

    Parameters
    ----------
    grams : array of shape (n_conditions, m, m)
        For each condition, the mean products of its operator of m functions, in units of its size squared.
    """

    grams: np.ndarray

    @classmethod
    def of(cls, posed: Posed, sizes: np.ndarray) -> Stability:
        """The residuals at some points of each condition."""
        features, some = posed.features, posed.take([_some(len(one.points)) for one in posed.conditions])
        frequencies = _smooth(features.n_inputs)
        values = np.concatenate([features.waves(Block(block), frequencies) for block in some.blocks])
        _, size, basis = np.linalg.svd(values / np.sqrt(len(values)), full_matrices=False)
        keep = size > LEAST_SINGULAR_VALUE * size[0]
        functions = np.kron(np.eye(features.n_outputs), (basis[keep] / size[keep, None]).T)
        operated = [features.columns(Block(block), frequencies) @ functions for block in some.blocks]
        grams = [part.T @ part / len(part) / size**2 for part, size in zip(operated, sizes.tolist(), strict=True)]
        return cls(np.stack(grams))

    @property
    def least(self) -> float:
        """κ: the least root mean square of all conditions' residuals of a function of size one."""
        return float(np.sqrt(max(np.linalg.eigvalsh(np.mean(self.grams, axis=0))[0], 0.0)))


def require_determined(posed: Posed, spread: float) -> None:
    """Raise a `ValueError` if some function can be added to any solution; it names the kind that is missing."""
    missing = None
    if _least(posed.conditions, spread) >= UNDETERMINED:
        missing = _open_input(posed)
    else:
        enough = (
            text for text, added in _candidates(posed) if _least((*posed.conditions, *added), spread) > DETERMINED
        )
        missing = next(enough, "values on the boundary, or initial values")
    if missing is not None:
        raise ValueError(
            f"conditions must determine the solution, got {len(posed.conditions)} that leave it open: what is missing "
            f"are {missing}."
        )


def _open_input(posed: Posed) -> str | None:
    """What is missing if an equation has derivatives of an input, and nothing is known at either end of it.

    In many inputs neither waves of each pair nor products of polynomials always show this. It is asked only where all
    that is known beside the equation is known at an end of some input.
    """
    d, most = posed.features.n_inputs, max(one.operator.order for one in posed.conditions)
    scaled = [block[:, :d] for block in posed.blocks]
    others = [x for x, one in zip(scaled, posed.conditions, strict=True) if one.operator.order < most]
    if not most or not others:
        return None
    at_end = np.abs(np.concatenate(others)) > 1 - NEAR_END
    if not np.all(np.any(at_end, axis=1)):
        return None
    equations = [one.operator for one in posed.conditions if one.operator.order == most]
    inputs = {j for one in equations for term in one.terms for j in term.derivative.inputs}
    for j in sorted(inputs, reverse=True):
        if np.mean(at_end[:, j]) < LEAST_AT_END:
            return f"values where input {j} starts or ends (initial or boundary values)"
    return None


def _least(conditions: tuple[Condition, ...], spread: float) -> float:
    """κ among sums of waves of two inputs; with more inputs also among products of functions of one input each."""
    posed = Posed.of(conditions)
    sizes = posed.sizes(spread)
    waves = Stability.of(posed, sizes).least
    if posed.features.n_inputs <= 2:
        return waves
    products = ProductResidual.of(posed.blocks, sizes.tolist(), posed.features.derivatives)
    return waves if products is None else min(waves, products.least())


def _candidates(posed: Posed) -> Iterator[tuple[str, list[Condition]]]:
    """Kinds of conditions that may be missing, and such conditions: the weakest first."""
    points = np.concatenate([one.points for one in posed.conditions])
    box = Domain(posed.scaling.center - posed.scaling.scale, posed.scaling.center + posed.scaling.scale)
    terms = [term.derivative.inputs for one in posed.conditions for term in one.operator.terms]
    order = [max(inputs.count(j) for inputs in terms) for j in range(points.shape[1])]
    values = _of_all(identity(), posed.features.n_outputs)
    if all(terms):
        yield "values of the function, at one point at least", [Condition(one, points[:1]) for one in values]
    active = [j for j, most in enumerate(order) if most]
    if not active:
        yield "an equation, or values, inside", [Condition(one, box.inside(MOST_POINTS)) for one in values]
        return
    for j in reversed(active):  # time is the last input in most problems
        face = box.face(j, "lower", MOST_POINTS)
        yield f"values where input {j} starts (initial values)", [Condition(one, face) for one in values]
        if order[j] > 1:
            slopes = _of_all(d(j), posed.features.n_outputs)
            text = f"derivatives d({j}) where input {j} starts (initial velocities)"
            yield text, [Condition(one, face) for one in slopes]
    for j in (j for j in active if order[j] > 1):
        ends = box.boundary(MOST_POINTS, [j])
        yield f"values at both ends of input {j} (boundary values)", [Condition(one, ends) for one in values]
    around = box.boundary(MOST_POINTS, active)
    yield "values on the whole boundary (boundary values)", [Condition(one, around) for one in values]


def _of_all(operator: Operator, n_outputs: int) -> list[Operator]:
    return [operator.of(output) for output in range(n_outputs)]


def _smooth(n_inputs: int) -> np.ndarray:
    """Frequencies of smooth functions: the constant, and waves of each pair of inputs."""
    rng, pairs = np.random.default_rng(0), list(combinations(range(n_inputs), 2)) or [(0, 0)]
    n = max(4, min(WAVES_PER_PAIR, MOST_WAVES // len(pairs))) if len(pairs) > 1 else 4 * WAVES_PER_PAIR
    frequencies = np.zeros((1 + n * len(pairs), n_inputs))
    for i, pair in enumerate(pairs):
        frequencies[1 + i * n : 1 + (i + 1) * n, list(dict.fromkeys(pair))] = SPREAD * rng.standard_normal(
            (n, len(set(pair)))
        )
    return frequencies


def _some(n: int) -> np.ndarray:
    """Indices of some of n points, evenly spaced: points may be sorted by face."""
    return np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(np.int64)
