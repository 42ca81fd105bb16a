"""What tests share: fits, and every kind of features beside its definition in NumPy. A new kind is one more row."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from fourierwalk.arrays.library import namespace
from fourierwalk.data.features import Activation, ComplexExponentials, CosineSine, sigmoid
from fourierwalk.data.hashes import row_hash
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.data import Data
from fourierwalk.training.folds import folds
from fourierwalk.training.policy import Policy
from fourierwalk.training.replay import Request
from fourierwalk.training.training import Training


class OnlyCosines:
    """A user's own features, from scratch: Σ aₖ cos(ωₖ·x), for even functions."""

    name: ClassVar[str] = "cosines"
    n_columns: ClassVar[int] = 1
    n_unknowns: ClassVar[int] = 1
    gradient = slopes = single_columns = None

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

DIFFERENTIABLE = {name: kind for name, kind in FEATURES.items() if kind.features.gradient is not None} | {
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
    """What a generator yields without its requests to a journal, and what it returns."""
    yielded = []
    while True:
        try:
            event = next(generator)
        except StopIteration as end:
            return yielded, end.value
        if not isinstance(event, Request):
            yielded.append(event)


# Fits

SETTINGS = {
    "n_frequencies": 6,
    "sampler": "metropolis",
    "n_steps": 12,
    "step_size": 0.8,
    "exponent": 4.0,
    "refit_every": 3,
    "adapt_after": None,
    "max_norm": None,
    "initial": None,
    "regularization": 0.1,
    "features": "cos-sin",
    "standardize": True,
    "early_stopping": "auto",
    "validation_fraction": 0.2,
    "patience": 100,
    "solver": "auto",
    "clamp": "auto",
    "max_seconds": None,
    "verbose": 0,
}


QUICK = replace(
    Policy(),
    least_width=4,
    most_frequencies=48,
    widening=0.02,
    growth=2,
    rounded=1e300,
    operations=1e18,
    rows_per_input=1000,
    gain=1e-3,
    usual=1,
    steps=5,
    last_steps=5,
    patience=4,
    look_every=5,
    few_rows=1000,
    members=3,
    most_members=8,
    sample=200,
    iterations=2,
    sure=2.0,
)


def settings(**changes):
    return Training(**{**SETTINGS, **changes})


def automatic(policy=QUICK, **changes):
    """Settings of a quick automatic search that chooses everything itself."""
    free = {"n_steps": None, "patience": None, "regularization": "auto", "step_size": None, "exponent": None}
    return settings(**{"sampler": Automatic(policy), "n_frequencies": "auto", **free, **changes})


def data(backend=Plain, n_rows=150, weighted=False):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, 2)) * [1.0, 5.0] + [0.0, 10.0]
    y = 4 * np.sin(3 * x[:, :1]) + 0.2 * x[:, 1:] + 50 + 0.1 * rng.standard_normal((n_rows, 1))
    weight = rng.integers(1, 4, n_rows).astype(float) if weighted else None
    return Data(backend.asarray(x), backend.asarray(y), None if weight is None else backend.asarray(weight))


def labelled(n_rows=150):
    x, y = data(n_rows=n_rows)[:2]
    return Data(x, np.eye(3)[np.digitize(y[:, 0], np.quantile(y, [0.3, 0.6]))])


def run(backend=Plain, seed=0, **changes):
    return settings(**changes).run(data(backend), np.random.default_rng(seed))


def scaled(values, weight=None):
    mean = np.average(values, axis=0, weights=weight)
    return (values - mean) / np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight))


def folds_of(x, seed, labels=None, few=0):
    """The folds of a fit from this seed."""
    seed = int(np.random.default_rng(seed).spawn(1)[0].integers(2**63))
    return folds(row_hash(x, seed), 0.2, seed, labels, None, few)
