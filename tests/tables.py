"""The rows of the tests: every kind of features beside its definition in plain NumPy. A new kind is one more row."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from fourierwalk._arrays import namespace
from fourierwalk.features import Activation, ComplexExponentials, CosineSine, sigmoid


class OnlyCosines:
    """A user's own features, from scratch: Σ aₖ cos(ωₖ·x), for even functions."""

    name: ClassVar[str] = "cosines"
    n_columns: ClassVar[int] = 1
    n_unknowns: ClassVar[int] = 1

    def dimension(self, n_features):
        return n_features

    def columns(self, block, frequencies):
        phases = block.project(frequencies)
        return namespace(phases).cos(phases)

    def system(self, gram, moment):
        return gram, moment

    def matrix(self, columns):
        return columns

    def amplitudes(self, unknowns):
        return unknowns

    def coefficients(self, amplitudes):
        return amplitudes


class Plain:
    """NumPy, for tests that need one library only."""

    asarray = staticmethod(np.asarray)


def tanh(phases):
    return namespace(phases).tanh(phases)


def sine(phases):
    return namespace(phases).sin(phases)


def cosine(phases):
    return namespace(phases).cos(phases)


class Kind(NamedTuple):
    """Features, the matrix S of their definition, and how its unknowns are read as amplitudes."""

    features: Any
    design: Callable[[np.ndarray, np.ndarray], np.ndarray]
    amplitudes: Callable[[np.ndarray], np.ndarray] = lambda unknowns: unknowns
    extra: int = 0  # components of a frequency beyond those of x

    def frequencies(self, n_frequencies, n_inputs, seed=0):
        return 2 * np.random.default_rng(seed).standard_normal((n_frequencies, n_inputs + self.extra))


FEATURES = {
    "complex": Kind(ComplexExponentials(), lambda x, omega: np.exp(1j * (x @ omega.T))),
    "cos-sin": Kind(
        CosineSine(),
        lambda x, omega: np.hstack([np.cos(x @ omega.T), np.sin(x @ omega.T)]),
        lambda unknowns: np.split(unknowns, 2)[0] - 1j * np.split(unknowns, 2)[1],
    ),
    "sigmoid": Kind(sigmoid(), lambda x, omega: 1 / (1 + np.exp(-(x @ omega[:, :-1].T + omega[:, -1]))), extra=1),
    "no bias": Kind(Activation(tanh, bias=False), lambda x, omega: np.tanh(x @ omega.T)),
    "user's own": Kind(OnlyCosines(), lambda x, omega: np.cos(x @ omega.T)),
}

every_kind = pytest.mark.parametrize("kind", FEATURES.values(), ids=FEATURES)

DIFFERENTIABLE = {name: kind for name, kind in FEATURES.items() if hasattr(kind.features, "gradient")} | {
    "no derivative": Kind(Activation(tanh), lambda x, omega: np.tanh(x @ omega[:, :-1].T + omega[:, -1]), extra=1),
    "derivative": Kind(Activation(sine, bias=False, derivative=cosine), lambda x, omega: np.sin(x @ omega.T)),
}

every_differentiable_kind = pytest.mark.parametrize("kind", DIFFERENTIABLE.values(), ids=DIFFERENTIABLE)


def problem(n_rows=40, n_inputs=2, n_outputs=2, seed=0):
    """Inputs, targets and weights without any structure."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n_rows, n_inputs)), rng.standard_normal((n_rows, n_outputs))
    return x, y, rng.integers(1, 4, n_rows).astype(float)


def ridge(design, y, weight, regularization):
    """The minimiser of Σ(w/W)|Sβ − y|² + λ|β|² as one plain problem, [√(w/W) S; √λ I] β = [√(w/W) y; 0]."""
    root = np.sqrt(weight / np.sum(weight))[:, None]
    penalty = np.sqrt(regularization) * np.eye(design.shape[1])
    rows = np.vstack([root * design, penalty])
    right = np.vstack([root * y, np.zeros((design.shape[1], y.shape[1]))])
    return np.linalg.lstsq(rows, right, rcond=None)[0]


def slopes(function, omega, step=1e-5):
    """∂/∂ω of a number, component by component, by central differences."""
    found = np.zeros_like(omega)
    for index in np.ndindex(omega.shape):
        move = np.zeros_like(omega)
        move[index] = step
        found[index] = (function(omega + move) - function(omega - move)) / (2 * step)
    return found


def objective(design, unknowns, y, weight, regularization):
    """Σ(w/W)|Sβ − y|² + λ|β|²."""
    squares = np.sum(np.abs(design @ unknowns - y) ** 2, axis=1)
    return np.sum(weight * squares) / np.sum(weight) + regularization * np.sum(np.abs(unknowns) ** 2)


def drained(generator):
    """What a generator yields, and what it returns."""
    yielded = []
    while True:
        try:
            yielded.append(next(generator))
        except StopIteration as end:
            return yielded, end.value
