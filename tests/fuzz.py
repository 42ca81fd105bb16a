"""Random settings and data sets, each from one integer, and what came of fitting them.

Half of the settings are "automatic": ``sampler="auto"`` with all at its default, but for the number of frequencies of
some. The other half draws every parameter, far outside of what makes sense.
"""

import re
import time
import traceback
import warnings
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import scipy.stats
import tables

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.data import features, scaling
from fourierwalk.solving.fourier_space import MOST_DIMENSIONS
from fourierwalk.solving.solver import PATHS, PRECISIONS, Solver
from fourierwalk.training.settings import SAMPLERS

ESTIMATORS: dict[str, Any] = {"regressor": AdaptiveFourierRegressor, "classifier": AdaptiveFourierClassifier}
FEATURES = [*features.KINDS, *(tables.FEATURES[name].features for name in ("no bias", "user's own"))]

# How a standard normal number becomes an input.
INPUTS = {
    "normal": lambda z: z,
    "uniform": scipy.stats.norm.cdf,
    "log-normal": lambda z: np.exp(2 * z),
    "t3": lambda z: scipy.stats.t.ppf(scipy.stats.norm.cdf(z), 3),
    "t2": lambda z: scipy.stats.t.ppf(scipy.stats.norm.cdf(z), 2),
    "cauchy": lambda z: scipy.stats.cauchy.ppf(scipy.stats.norm.cdf(z)),
}
SPOILS = ("constant", "duplicate", "collinear", "binary", "offset", "scales", "repeated rows", "outliers")

# What a target is: of the signal, of normal noise, and of a source of more.
TARGETS = {
    "smooth": lambda signal, noise, rng: signal + noise,
    "step": lambda signal, noise, rng: np.where(signal > 0.3, 1.0, -1.0) + noise,
    "noise": lambda signal, noise, rng: rng.standard_normal(signal.shape),
    "constant": lambda signal, noise, rng: np.full(signal.shape, 3.1),
    "integers": lambda signal, noise, rng: np.rint(3 * (signal + noise)),
    "huge": lambda signal, noise, rng: 1e12 * (signal + noise),
    "tiny": lambda signal, noise, rng: 1e-12 * (signal + noise),
    "offset": lambda signal, noise, rng: 1e8 + signal + noise,
    "t3": lambda signal, noise, rng: signal + rng.standard_t(3, signal.shape),
    "t2": lambda signal, noise, rng: signal + rng.standard_t(2, signal.shape),
    "cauchy": lambda signal, noise, rng: signal + rng.standard_cauchy(signal.shape),
    "outliers": lambda signal, noise, rng: outliers(signal + noise, rng),
}
LABELS = ("smooth", "noise", "uneven", "rare", "contradiction")
MEASURES = ("mean square", "median absolute", "error rate")
WEIGHTS = ("none", "whole", "real", "uneven")
HEAVY = {"t2", "cauchy", "outliers"}  # of no variance, or of one in name only

FEWEST_ROWS = 5
MOST_ROWS = 1500
MOST_FREQUENCIES = 400
MANY_ROWS = 200  # from here on a mean squared error is compared
N_TEST = 10_000  # chance alone then moves the error rate of a coin by 1.4 %
TOLERANCE = 1.05
ARGUMENTS = {
    name
    for call in (AdaptiveFourierRegressor, AdaptiveFourierRegressor.fit, Solver)
    for name in signature(call).parameters
}
CONSTANT = "Nothing was found that predicts the targets better than their mean"  # of "auto", where there is only noise
NAMED = re.compile(rf"\b({'|'.join(ARGUMENTS - {'self'})})\b")


@dataclass(frozen=True)
class Setting:
    """An estimator, its parameters and a recipe of data."""

    seed: int
    kind: str  # of ESTIMATORS
    automatic: bool
    parameters: dict[str, Any]
    n_rows: int
    n_inputs: int
    n_outputs: int  # or classes
    inputs: str
    spoils: tuple[str, ...]
    target: str
    noise: float
    weights: str
    sparse: bool
    dtype: str
    validated: bool  # whether X_val and y_val are given

    @property
    def finite_variance(self):
        """Whether a mean squared error on fresh rows means anything."""
        return not HEAVY & {self.inputs, self.target, *self.spoils} and self.weights != "uneven"

    @property
    def measure(self):
        if self.kind == "classifier":
            return "error rate"
        return "mean square" if self.n_rows >= MANY_ROWS and self.finite_variance else "median absolute"

    @property
    def guaranteed(self):
        """Whether it must not be worse than predicting the mean."""
        return self.automatic and self.n_rows >= MANY_ROWS and self.finite_variance

    def __str__(self):
        given = ", ".join(f"{name}={shown(value)}" for name, value in self.parameters.items())
        x = ", ".join([f"{self.n_rows} × {self.n_inputs} {self.inputs}", *self.spoils, self.dtype])
        y = f"{self.n_outputs} {self.target}, noise {self.noise}, weights {self.weights}"
        return f"{self.kind}({given}); X {x}{', sparse' * self.sparse}; y {y}{'; X_val' * self.validated}"


@dataclass(frozen=True)
class Outcome:
    """What came of a setting."""

    seed: int
    setting: str
    status: str  # "fine", "clear: …" (an exception in one sentence that names an argument) or "broken: …"
    automatic: bool
    guaranteed: bool
    measure: str
    ratio: float | None  # the held-out error over that of predicting the mean, or the commonest class
    seconds: float

    @property
    def worse(self):
        """By more than chance may do."""
        return self.ratio is not None and self.ratio > TOLERANCE


def draw(seed, most_rows=MOST_ROWS, most_frequencies=MOST_FREQUENCIES):
    """The setting of a seed; the even ones are automatic."""
    rng = np.random.default_rng([seed, 0])
    automatic = seed % 2 == 0
    kind = pick(rng, ["regressor", "regressor", "classifier"])
    many = automatic and rng.random() < 0.75
    n_rows = whole(rng, MANY_ROWS if many else FEWEST_ROWS, most_rows)
    n_inputs = whole(rng, 1, 20)
    n_frequencies = pick(
        rng, [whole(rng, 1, min(4 * n_rows, most_frequencies))] * 4 + [min(4 * n_rows, most_frequencies)]
    )
    if automatic and rng.random() < 0.5:
        n_frequencies = "auto"
    n_outputs = whole(rng, 2, 6) if kind == "classifier" else pick(rng, [1, 1, 1, 2, 3])
    spoils = rng.permutation(SPOILS)[: pick(rng, [0, 0, 1, 1, 2, 4])]
    validated = not automatic and rng.random() < 0.15
    parameters = {"n_frequencies": n_frequencies, "random_state": seed}
    if not automatic:
        parameters |= drawn_parameters(rng, n_frequencies, n_inputs, validated)
    return Setting(
        seed,
        kind,
        automatic,
        parameters,
        n_rows,
        n_inputs,
        n_outputs,
        inputs=pick(rng, ["normal", "normal", *INPUTS]),
        spoils=tuple(name for name in SPOILS if name in spoils),
        target=pick(rng, LABELS if kind == "classifier" else [*TARGETS]),
        noise=pick(rng, [0.0, 0.1, 1.0]),
        weights=pick(rng, ["none", "none", "none", *WEIGHTS]),
        sparse=rng.random() < 0.15,
        dtype=pick(rng, ["float64", "float64", "float32"]),
        validated=validated,
    )


def drawn_parameters(rng, n_frequencies, n_inputs, validated):
    """Every parameter, its extremes included; one setting in twenty or so asks for what cannot be had."""
    kind = pick(rng, FEATURES)
    start = scale(rng, -3, 3) * rng.standard_normal((n_frequencies, features.named(kind).dimension(n_inputs)))
    anything = rng.random() < 0.05
    spectral = anything or (n_inputs <= MOST_DIMENSIONS and kind in ("cos-sin", "complex"))
    others = [path for path in PATHS if path != "spectral"]
    solver = Solver(
        pick(rng, [*others, *["spectral"] * spectral]),
        pick(rng, PRECISIONS),
        batch_size=pick(rng, [None, whole(rng, 1, 200)]),
        max_memory=pick(rng, [1e9, 1e9, 1e9, scale(rng, 5, 9)]),  # a grid over an outlier may take all there is
    )
    sampler = pick(rng, SAMPLERS)
    exponents = [None, "paper", *[scale(rng, -1, 4)] * 4]  # "auto" has no test
    return {
        "sampler": sampler,
        "n_steps": pick(rng, [0, *[whole(rng, 1, 200)] * 9]),
        "step_size": pick(rng, [None, "paper", *[scale(rng, -3, 3)] * 4]),
        "exponent": pick(rng, exponents if anything or sampler != "auto" else [None]),
        "refit_every": pick(rng, [1, 10, 10, 100]),
        "adapt_after": pick(rng, [None, None, 0, 5]),
        "max_norm": pick(rng, [None, None, scale(rng, -3, 3)]),
        "initial": pick(rng, [None, None, 0, scale(rng, -3, 3), start]),
        "regularization": pick(rng, ["auto", 0, *[scale(rng, -12, 1)] * 6]),
        "features": kind,
        "standardize": pick(rng, scaling.KINDS),
        "early_stopping": pick(rng, ["auto", True, *[False] * (anything or not validated)]),
        "validation_fraction": pick(rng, [0.1, 0.1, 0.01, 0.5, 0.99]),
        "patience": pick(rng, [None, 1, 10]),
        "clamp": pick(rng, ["auto", True, False]),
        "solver": pick(rng, [*others, solver, solver, solver]),
    }


class Source:
    """Rows of one distribution, without end."""

    def __init__(self, setting):
        self.setting = setting
        self.rng = rng = np.random.default_rng([setting.seed, 1])
        d = setting.n_inputs
        self.directions = rng.standard_normal((d, setting.n_outputs)) / np.sqrt(d)
        self.chosen = rng.random(d) < 0.4
        self.chosen[rng.integers(d)] = True
        self.other = rng.integers(d, size=d)
        self.mixture = rng.standard_normal(d)
        self.scales = 10 ** rng.uniform(-12, 12, d)
        self.pool = rng.standard_normal((max(2, setting.n_rows // 4), d))
        edges = np.arange(1, setting.n_outputs) / setting.n_outputs
        self.edges = np.quantile(self.signal(self.latent(4000))[:, 0], edges)
        self.shares = rng.dirichlet(np.ones(setting.n_outputs))
        codes = np.arange(setting.n_outputs)
        self.names = codes if setting.seed % 3 else np.array([f"class {code}" for code in codes])

    def rows(self, n):
        """Inputs and targets."""
        z = self.latent(n)
        x = self.spoilt(INPUTS[self.setting.inputs](z))
        if self.setting.sparse:
            x = scipy.sparse.csr_array(np.where(self.rng.random(x.shape) < 0.3, x, 0.0).astype(self.setting.dtype))
        else:
            x = x.astype(self.setting.dtype)
        noise = self.setting.noise * self.rng.standard_normal((n, self.setting.n_outputs))
        if self.setting.kind == "classifier":
            return x, self.names[self.codes(self.signal(z)[:, 0] + noise[:, 0])]
        y = TARGETS[self.setting.target](self.signal(z), noise, self.rng)
        return x, y[:, 0] if self.setting.n_outputs == 1 else y

    def latent(self, n):
        """What inputs and targets are made of: standard normal numbers."""
        if "repeated rows" in self.setting.spoils:
            return self.pool[self.rng.integers(self.pool.shape[0], size=n)]
        return self.rng.standard_normal((n, self.setting.n_inputs))

    def signal(self, z):
        return np.sin(2 * z @ self.directions) + 0.5 * z[:, :1]

    def spoilt(self, x):
        x, spoils = x.copy(), self.setting.spoils
        if "binary" in spoils:
            x[:, self.chosen] = x[:, self.chosen] > np.median(x)
        if "duplicate" in spoils:
            x[:, self.chosen] = x[:, self.other[self.chosen]]
        if "collinear" in spoils:
            x[:, -1] = x[:, :-1] @ self.mixture[:-1]
        if "constant" in spoils:
            x[:, self.chosen] = self.mixture[self.chosen]
        if "scales" in spoils:
            x *= self.scales
        if "offset" in spoils:
            x[:, self.chosen] += 1e8
        return outliers(x, self.rng) if "outliers" in spoils else x

    def codes(self, values):
        """Classes from 0; a rare one has one row or two of as many as are trained on."""
        n, n_classes, target = values.size, self.setting.n_outputs, self.setting.target
        if target in ("noise", "uneven"):
            return self.rng.choice(n_classes, size=n, p=self.shares if target == "uneven" else None)
        found = np.digitize(values, self.edges)
        if target != "rare":
            return found
        rare = self.rng.random(n) < 1.5 / self.setting.n_rows
        return np.where(rare, n_classes - 1, found % (n_classes - 1))


def outliers(values, rng):
    """One entry of a hundred, and one of the first two rows at least, is ±10⁶."""
    found = rng.random(values.shape) < 0.01
    found[rng.integers(2), rng.integers(values.shape[1])] = True
    return np.where(found, np.where(rng.random(values.shape) < 0.5, 1e6, -1e6), values)


def training_rows(setting, source):
    """Inputs, targets and weights; labels are of two classes at least."""
    x, y = source.rows(setting.n_rows)
    if setting.kind == "classifier":
        y[:2] = source.names[-1], source.names[0]
        if setting.target == "contradiction" and not setting.sparse:
            x[1] = x[0]
    n, rng = setting.n_rows, source.rng
    drawn = {
        "none": None,
        "whole": np.maximum(rng.integers(4, size=n), np.arange(n) < 2),
        "real": rng.uniform(0.5, 2.0, n),
        "uneven": 10 ** rng.uniform(-6, 6, n),
    }
    return x, y, drawn[setting.weights]


def outcome(setting):
    """Fit, predict, compare."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            status, ratio = fitted(setting)
        except Exception as error:
            status, ratio = described(error), None
    unclear = [one.message for one in caught if not (clear(str(one.message)) or CONSTANT in str(one.message))]
    if unclear and not status.startswith("broken"):
        status = f"broken: warning: {unclear[0]}"
    seconds = round(time.perf_counter() - start, 2)
    return Outcome(
        setting.seed, str(setting), status, setting.automatic, setting.guaranteed, setting.measure, ratio, seconds
    )


def fitted(setting):
    """What is wrong with the predictions, if anything, and their error over that of the mean."""
    source = Source(setting)
    x, y, weight = training_rows(setting, source)
    fresh, truth = source.rows(N_TEST if setting.automatic else 500)
    extra = dict(zip(("X_val", "y_val"), source.rows(20), strict=True)) if setting.validated else {}
    model = ESTIMATORS[setting.kind](**setting.parameters).fit(x, y, weight, **extra)
    for rows, targets in ((x, y), (fresh, truth)):
        trouble = wrong(model, rows, targets)
        if trouble:
            return f"broken: {trouble}", None
    return "fine", compared(setting, y, weight, truth, model.predict(fresh))


def wrong(model, x, y):
    """What no prediction may be, in words; nothing where all is well."""
    predicted = model.predict(x)
    if predicted.shape != y.shape:
        return f"predictions of shape {predicted.shape} for targets of shape {y.shape}"
    if not hasattr(model, "predict_proba"):
        return "" if np.all(np.isfinite(predicted)) else "a prediction is not finite"
    if not np.all(np.isin(predicted, model.classes_)):
        return "a prediction is no class"
    probabilities = model.predict_proba(x)
    if not (np.all(np.isfinite(model.decision_function(x))) and np.all(np.isfinite(probabilities))):
        return "a decision or probability is not finite"
    if not (np.all(probabilities >= 0) and np.allclose(np.sum(probabilities, axis=1), 1.0, rtol=0, atol=1e-5)):
        return "probabilities are negative or do not sum to one"
    return ""


def compared(setting, y, weight, truth, predicted):
    """The error on fresh rows over that of predicting the mean, or of the commonest class."""
    if setting.kind == "classifier":
        classes, codes = np.unique(y, return_inverse=True)
        commonest = classes[np.argmax(np.bincount(codes, weights=weight))]
        return float((1 + np.sum(predicted != truth)) / (1 + np.sum(commonest != truth)))
    mean = np.average(y, axis=0, weights=weight)
    error, base = (typical(setting.measure, values - truth) for values in (predicted.astype(np.float64), mean))
    rounding = 16 * np.finfo(predicted.dtype).eps * np.abs(mean) + 1e-100
    rounding = rounding**2 if setting.measure == "mean square" else rounding
    return float(np.mean((error + rounding) / (base + rounding)))


def typical(measure, errors):
    """The size of errors, by output."""
    return np.mean(errors**2, axis=0) if measure == "mean square" else np.median(np.abs(errors), axis=0)


def described(error):
    """The status of an exception."""
    if isinstance(error, ValueError | TypeError | MemoryError) and clear(str(error)):
        return f"clear: {error}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "fourierwalk" in Path(one.filename).parts]
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"broken: {type(error).__name__}: {error}{place}"


def clear(message):
    """Whether a message is a sentence that names an argument."""
    return message.endswith(".") and "\n" not in message and NAMED.search(message) is not None


def shown(value):
    """A parameter's value in few characters."""
    return getattr(value, "name", None) or (f"array{value.shape}" if np.ndim(value) else repr(value))


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


def whole(rng, least, most):
    """A whole number, each order of magnitude as likely."""
    return int(np.rint(np.exp(rng.uniform(np.log(least), np.log(max(least, most))))))


def scale(rng, least, most):
    """A number between powers of ten."""
    return float(10 ** rng.uniform(least, most))
