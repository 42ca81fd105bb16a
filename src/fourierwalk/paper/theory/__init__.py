"""The theory of Sections 2 to 4, checked by number on small problems. Each takes seconds, at every scale the same."""

from __future__ import annotations

from fourierwalk.paper.theory import density, estimator, examples, limit, penalty, radius, work
from fourierwalk.paper.theory.check import Check

CHECKS: dict[str, Check] = {
    "variance-formula": estimator.VARIANCE,
    "error-bound": estimator.BOUND,
    "noisy-bound": estimator.NOISY_BOUND,
    "example-1": examples.INFINITE,
    "example-1-walk": examples.WALK,
    "example-2": examples.SMALL,
    "work": work.ESTIMATE,
    "optimal-density": density.OPTIMUM,
    "weak-limit": limit.WEAK,
    "sampled-density": density.SAMPLED,
    "exponent": work.EXPONENT,
    "penalty": penalty.PENALTY,
    "vanishing-ridge": limit.VANISHING,
    "largest-radius": radius.RADII,
}
"""By the name of their cell, in the order of the paper."""
