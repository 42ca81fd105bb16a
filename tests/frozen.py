"""Fits that a change of the code's shape must leave alone, bit for bit: freeze them before, compare them after.

``python tests/frozen.py freeze FILE`` and, after the change, ``python tests/frozen.py compare FILE``, on one machine
with ``OMP_NUM_THREADS=1``. Fits of all samplers, features, paths and back ends, and single solves by every path; those
of torch where it is installed.
"""

import hashlib
import importlib.util
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_friedman1

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, Solver
from fourierwalk.data.features import named
from fourierwalk.data.rows import Rows
from fourierwalk.solving.least_squares import LeastSquares

PAPER = {"sampler": "metropolis", "features": "complex", "regularization": 0.1, "n_steps": 60, "n_frequencies": 16}
FIXED = {"sampler": "fixed", "initial": 1.0, "n_frequencies": 32}
DESCENT = {"sampler": "descent", "n_frequencies": 16, "n_steps": 20}
HALF = {"sampler": "resampling", "n_frequencies": 16, "n_steps": 20}

REGRESSIONS = {
    "auto": {},
    "auto, K = 32": {"n_frequencies": 32},
    "auto, complex": {"n_frequencies": 32, "features": "complex"},
    "auto, sigmoid": {"n_frequencies": 32, "features": "sigmoid"},
    "auto, robust": {"n_frequencies": 32, "standardize": "robust"},
    "auto, dual": {"n_frequencies": 32, "solver": "dual"},
    "auto, single": {"n_frequencies": 32, "solver": Solver(precision="single")},
    "auto, blocks": {"n_frequencies": 32, "solver": Solver(batch_size=37)},
    "Algorithm 1": PAPER,
    "Algorithm 1, paper's exponent": {**PAPER, "step_size": "paper", "exponent": "paper"},
    "Algorithm 2": {**PAPER, "adapt_after": 20},
    "Algorithm 1, sigmoid": {**PAPER, "features": "sigmoid"},
    "Algorithm 1, dual": {**PAPER, "solver": "dual"},
    "fixed": FIXED,
    "fixed, dual": {**FIXED, "solver": "dual"},
    "fixed, crowded": {**FIXED, "n_frequencies": 400},
    "resampling": HALF,
    "resampling, λ": {**HALF, "regularization": 1e-3},
    "descent": DESCENT,
    "descent, complex": {**DESCENT, "features": "complex"},
    "descent, sigmoid": {**DESCENT, "features": "sigmoid"},
    "descent, dual": {**DESCENT, "solver": "dual"},
    "warm start": {**HALF, "warm_start": True},
    "Algorithm 1, batches": {**PAPER, "solver": Solver(batch_size=100)},
}
PLANE = {
    "spectral": {**HALF, "solver": "spectral"},
    "plane, auto": {"n_frequencies": 32},
    "plane, Algorithm 1": PAPER,
    "spectral, Algorithm 1": {**PAPER, "solver": "spectral"},
    "spectral, descent": {**DESCENT, "solver": "spectral"},
    "spectral, complex descent": {**DESCENT, "features": "complex", "solver": "spectral"},
    "spectral, fixed": {**FIXED, "solver": "spectral"},
}
LINE = {"line, auto": {"n_frequencies": 64}, "line, Algorithm 1": {**PAPER, "n_frequencies": 64}}
FOREIGN = {"auto, K = 32": {"n_frequencies": 32}, "Algorithm 1": PAPER, "descent": DESCENT, "resampling": HALF}


def fits():
    """The name and the fitted estimator of each."""
    x, y = make_friedman1(500, 7, noise=0.5, random_state=3)
    for name, settings in REGRESSIONS.items():
        yield name, AdaptiveFourierRegressor(random_state=0, **settings).fit(x, y), x
    weights = np.random.default_rng(0).integers(1, 4, size=500)
    yield "weights, two outputs", AdaptiveFourierRegressor(random_state=0, **HALF).fit(x, np.c_[y, y**2], weights), x
    plane = np.random.default_rng(1).normal(size=(3000, 2))
    height = np.sin(3 * plane[:, 0]) * np.cos(plane[:, 1])
    for name, settings in PLANE.items():
        yield name, AdaptiveFourierRegressor(random_state=0, **settings).fit(plane, height), plane
    line = np.random.default_rng(2).normal(size=(30_000, 1))
    for name, settings in LINE.items():
        yield name, AdaptiveFourierRegressor(random_state=0, **settings).fit(line, np.sin(9 * line[:, 0])), line
    space = np.random.default_rng(3).normal(size=(400, 3))
    for name in ("cos-sin", "complex"):
        settings = {**PAPER, "n_steps": 5, "n_frequencies": 6, "features": name, "solver": "spectral"}
        yield f"space, {name}", AdaptiveFourierRegressor(random_state=0, **settings).fit(space, space[:, 0] ** 2), space
    for name, (x, y) in {
        "diabetes": load_diabetes(return_X_y=True),
        "cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(n_class=4, return_X_y=True),
    }.items():
        kind = AdaptiveFourierRegressor if name == "diabetes" else AdaptiveFourierClassifier
        yield name, kind(random_state=0, n_frequencies=32).fit(x, y), x
    words = scipy.sparse.random(200, 900, density=0.02, random_state=0, format="csr")
    labels = np.asarray(words.sum(axis=1)).ravel() > 9
    yield "sparse", AdaptiveFourierClassifier(random_state=0, n_frequencies=16).fit(words, labels), words
    yield "features", AdaptiveFourierFeatures(random_state=0, n_frequencies=16).fit(x, y), x
    if importlib.util.find_spec("torch") is not None:
        import torch

        x, y = (torch.asarray(each) for each in make_friedman1(500, 7, noise=0.5, random_state=3))
        for name, settings in FOREIGN.items():
            yield f"torch, {name}", AdaptiveFourierRegressor(random_state=0, **settings).fit(x, y), x


def digest(estimator, x):
    """A hash of frequencies, amplitudes and predictions."""
    answer = estimator.transform(x) if hasattr(estimator, "transform") else estimator.predict(x)
    return hashed(estimator.frequencies_, estimator.model_.amplitudes, answer)


def hashed(*arrays):
    total = hashlib.sha256()
    for values in arrays:
        total.update(np.ascontiguousarray(np.asarray(values)).tobytes())
    return total.hexdigest()


def solves():
    """The name and the hash of all that a problem answers at some frequencies, by every path and in every library."""
    rng = np.random.default_rng(0)
    libraries = {"numpy": np.asarray}
    if importlib.util.find_spec("torch") is not None:
        import torch

        libraries["torch"] = torch.asarray
    for library, make in libraries.items():
        for n_rows, n_frequencies in ((300, 12), (9, 12)):
            x, omega = rng.standard_normal((n_rows, 2)), rng.standard_normal((n_frequencies, 3))
            y, weight = np.c_[np.sin(x[:, 0]), x[:, 1] ** 2], rng.integers(1, 4, n_rows).astype(float)
            for kind in ("cos-sin", "complex", "sigmoid"):
                features = named(kind)
                frequencies = make(np.ascontiguousarray(omega[:, : features.dimension(2)]))
                for weights in (None, make(weight)):
                    rows = Rows(make(x), make(y), weights)
                    for solver in solvers(kind, library):
                        name = f"{library}, {n_rows} rows, {kind}, {'weighted, ' * (weights is not None)}{solver}"
                        yield name, hashed(*answers(LeastSquares(rows, features, 0.03, solver), frequencies))


def solvers(kind, library):
    """The paths that features have in a library, and its precisions."""
    paths = ("auto", "direct", "dual") if kind == "sigmoid" else ("auto", "direct", "dual", "spectral")
    precisions = ("single",) if library == "numpy" else ("single", "tf32", "bf16")
    return [*map(Solver, paths), *(Solver("direct", precision) for precision in precisions)]


def answers(problem, frequencies):
    """Amplitudes and losses with care and ahead, along a path of λ, the gradient, the eigensystem."""
    for solution in (problem(frequencies), problem.ahead(frequencies + 0), problem.ahead(1.1 * frequencies)):
        yield from (resolved(solution.amplitudes), solution.loss)
    for _, amplitudes in problem.along(frequencies, (1.0, 1e-3)):
        yield resolved(amplitudes)
    yield problem.gradient(frequencies, problem(frequencies).amplitudes)
    eigensystem = problem.eigensystem(frequencies)
    yield from (resolved(eigensystem.amplitudes(1e-3)), eigensystem.residual(0.1), eigensystem.degrees_of_freedom(0.1))


def resolved(values):
    """Torch may leave a conjugate to be taken later."""
    return values.resolve_conj() if hasattr(values, "resolve_conj") else values


def main(action, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        digests = {name: digest(estimator, x) for name, estimator, x in fits()} | dict(solves())
    if action == "freeze":
        Path(path).write_text(json.dumps(digests, indent=1), encoding="utf-8")
        return 0
    before = json.loads(Path(path).read_text(encoding="utf-8"))
    changed = [name for name, value in before.items() if digests.get(name) != value]
    print(f"{len(before)} fits and solves, changed: {', '.join(changed) or 'none'}")
    return len(changed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
