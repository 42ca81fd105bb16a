"""AdaptiveFourierSolver: conditions in, a FourierModel out."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fourierwalk.arrays.library import Array, is_foreign, like, namespace, to_host
from fourierwalk.arrays.threads import one_pool
from fourierwalk.data.affine import Affine
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.waves import CosineSine
from fourierwalk.inputs import on_device, where
from fourierwalk.model import FourierModel
from fourierwalk.operators.condition import Condition
from fourierwalk.operators.observed import ConditionsPanel, is_observed
from fourierwalk.operators.posed import Posed
from fourierwalk.operators.search import PATH, Judge, JudgedTrial, ResidualSearch, Trial
from fourierwalk.operators.stability import Stability, require_determined
from fourierwalk.parameters import count, number
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.orthogonal import Orthogonal
from fourierwalk.training.ensemble import averaged, for_average
from fourierwalk.training.selection import Look, values_at

WIDTHS = (64, 256, 512)
"""The numbers of frequencies that are tried."""

FIRST_SPREAD = math.pi
"""The spread of the frequencies by which conditions are first weighed: half a wave across the scaled inputs."""


class Solved(NamedTuple):
    """A solution: frequencies, amplitudes of all points, and those of the seen points that were judged."""

    frequencies: Array
    amplitudes: Array
    judged: Array  # amplitudes (K, q) of the seen points
    unseen: Posed
    sizes: np.ndarray


class AdaptiveFourierSolver(BaseEstimator):
    """Finds a function from conditions: linear differential equations, boundary values, observed derivatives.

    The frequencies of its waves are drawn, descend on the residual of the conditions, and are chosen at points that the
    amplitudes have not seen. Nothing else is asked for: no mesh, no bandwidth, no weights between conditions.

    Parameters
    ----------
    n_frequencies : int or "auto"
        The number of frequencies, at most. "auto": up to 512; for a function that is observed inside, as the regressors
        choose it.
    n_steps : int
        The steps of descent at each width. 0: frequencies stay where they are drawn.
    tolerance : float
        The search ends at this relative residual.
    validation_fraction : float
        The share of the points of each condition that amplitudes do not see.
    max_seconds : float, optional
        No new trial trials after this time. It does not apply to functions that are observed inside.
    device : {None, "cpu", "cuda"}
        Where to compute. None: in the library and on the device of the first condition's points, where ``model_`` is
        then too. "cuda": on a GPU; ``model_``, and what `predict` takes and returns, are NumPy's.
    random_state : int, optional
        The seed of the frequencies and of the unseen points.

    Attributes
    ----------
    model_ : FourierModel
        The solution, in the units of the points.
    residuals_ : dict
        For each condition, the root mean square of its residual at unseen points, in the units of its values.
    error_estimate_ : float
        An upper estimate of the root mean square error of the solution: the residual at unseen points, times how much
        the conditions may amplify it. It assumes that the error is smooth.
    history_ : list of Trial or Look
        Every trial, with its residual at unseen points.
    n_frequencies_ : int
        The number of frequencies of the solution.

    See Also
    --------
    fourierwalk.operators.Condition : What is known about the function.
    AdaptiveFourierRegressor : Fits values alone.

    Examples
    --------
    −u″ = sin x on [0, π] with u = 0 at both ends:

    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierSolver
    >>> from fourierwalk.operators import Condition, Domain, d, identity
    >>> line = Domain([0], [np.pi])
    >>> conditions = [
    ...     Condition(-d(0, 0), line.inside(200), lambda x: np.sin(x[:, 0])),
    ...     Condition(identity(), line.boundary(2)),
    ... ]
    >>> solver = AdaptiveFourierSolver(random_state=0).fit(conditions)
    >>> x = np.linspace(0, np.pi, 50)[:, None]
    >>> bool(np.max(np.abs(solver.predict(x) - np.sin(x[:, 0]))) < 1e-6)
    True
    """

    def __init__(
        self,
        n_frequencies: int | str = "auto",
        *,
        n_steps: int = 100,
        tolerance: float = 1e-8,
        validation_fraction: float = 0.2,
        max_seconds: float | None = None,
        device: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.n_steps = n_steps
        self.tolerance = tolerance
        self.validation_fraction = validation_fraction
        self.max_seconds = max_seconds
        self.device = device
        self.random_state = random_state

    def fit(self, conditions: Sequence[Condition]) -> AdaptiveFourierSolver:
        """Find the function that satisfies some conditions.

        Parameters
        ----------
        conditions : sequence of Condition
            What is known about the function.
        """
        self._check(conditions)
        with one_pool():
            return self._fit(conditions)

    def _fit(self, conditions: Sequence[Condition]) -> AdaptiveFourierSolver:
        posed, rng = Posed.of(conditions), np.random.default_rng(self.random_state)
        reference = self._reference(conditions)
        require_determined(posed, FIRST_SPREAD)
        self.history_: list[Trial | Look] = []
        solved = (self._trained if is_observed(posed) else self._searched)(posed, reference, rng)
        model = model_of(posed, solved.frequencies, solved.amplitudes)
        self.model_ = model if self.device is None else model.on_host()
        self.n_frequencies_ = int(solved.frequencies.shape[0])
        self._report(posed, solved)
        return self

    def predict(self, x: Any) -> Array:
        """The values of the solution at x, (n,); with several outputs (n, q)."""
        check_is_fitted(self, "model_")
        x = x if is_foreign(x) else np.asarray(x, dtype=np.float64)
        values = self.model_(_beside(self.model_, x)) if self.device is None else self._there(x)
        return values[:, 0] if values.shape[1] == 1 else values

    def _there(self, x: Any) -> np.ndarray:
        """The values of the solution at x, (n, q), computed on `self.device`."""
        points = on_device(x, self.device)
        return to_host(self.model_.on_device_of(points)(points))

    def plot(self, inputs: tuple[int, int] = (0, 1), output: int = 0) -> Any:
        """A figure of the solution over one or two inputs, the others in the middle, beside the search's residuals."""
        from fourierwalk.operators.picture import picture

        check_is_fitted(self, "model_")
        return picture(self, inputs, output)

    def _check(self, conditions: Sequence[Condition]) -> None:
        count("n_frequencies", self.n_frequencies, 1, ("auto",))
        count("n_steps", self.n_steps, 0)
        number("tolerance", self.tolerance, at_least=0)
        number("validation_fraction", self.validation_fraction, above=0, below=1)
        number("max_seconds", self.max_seconds, above=0, optional=True)
        if not isinstance(conditions, Sequence) or not conditions:
            raise ValueError(f"fit(conditions) needs a list of one or more conditions, got {conditions!r}.")
        for one in conditions:
            if not isinstance(one, Condition):
                raise TypeError(f"fit(conditions) needs objects of the class Condition, got {type(one).__name__}.")
        widths = sorted({one.points.shape[1] for one in conditions})
        if len(widths) > 1:
            raise ValueError(f"conditions must have points of the same number of inputs, got {widths}.")

    def _reference(self, conditions: Sequence[Condition]) -> Array:
        if self.device is not None:
            return on_device(np.zeros(1), self.device)
        anchor = conditions[0].anchor
        return namespace(anchor).astype(anchor, namespace(anchor).float64)

    def _searched(self, posed: Posed, reference: Array, rng: np.random.Generator) -> Solved:
        """The solution by a search on the residual."""
        search, deadline = self._search(), math.inf
        if self.max_seconds is not None:
            deadline = time.monotonic() + float(self.max_seconds)
        search = replace(search, deadline=deadline)
        seen, unseen = self._split(posed, rng)
        sizes = posed.sizes(FIRST_SPREAD)
        judge = _judge(seen, unseen, sizes, reference)
        trials = yield_all(search.first(judge, rng), self.history_)
        sizes = _weighed(posed, seen, unseen, trials[0], sizes, reference)
        judge = _judge(seen, unseen, sizes, reference)
        trials = [
            judge.look(one.trial.kind, one.trial.spread, one.frequencies, one.trial.regularization) for one in trials
        ]
        best = yield_all(search.run(judge, trials, rng), self.history_)
        everything = Orthogonal(posed.rows(sizes, reference), posed.features, best.trial.regularization)
        return Solved(best.frequencies, everything(best.frequencies).amplitudes, best.amplitudes, unseen, sizes)

    def _trained(self, posed: Posed, reference: Array, rng: np.random.Generator) -> Solved:
        """The solution by the training of the regressors, for a function that is observed inside."""
        panel = ConditionsPanel(posed, reference)
        n = None if isinstance(self.n_frequencies, str) else int(self.n_frequencies)
        found = yield_all(panel.run(n, rng), self.history_)
        whole = LeastSquares(posed.rows(panel.sizes, reference), posed.features, PATH[-1])
        members = []
        for member in for_average(found.final):
            regularized = replace(whole, regularization=min(member.look.regularization, 1.0))
            members.append(member._replace(amplitudes=regularized(member.frequencies).amplitudes))
        frequencies, amplitudes = averaged(members)
        first = found.members[0]
        unseen = posed.take(panel.parts(0).unseen)
        alone = like(np.zeros((int(frequencies.shape[0]), posed.features.n_outputs)), reference) + 0j
        alone = namespace(alone).concat((first.amplitudes, alone[int(first.frequencies.shape[0]) :, :]))
        return Solved(frequencies, amplitudes, alone, unseen, panel.sizes)

    def _search(self) -> ResidualSearch:
        widths: tuple[int, ...] = WIDTHS
        if not isinstance(self.n_frequencies, str):
            most = int(self.n_frequencies)
            widths = (*(width for width in WIDTHS if 2 * width <= most), most)
        return ResidualSearch(widths, float(self.tolerance), int(self.n_steps))

    def _split(self, posed: Posed, rng: np.random.Generator) -> tuple[Posed, Posed]:
        """The conditions at seen and at unseen points; a condition at fewer than ten points is seen everywhere."""
        seen, unseen = [], []
        for one in posed.conditions:
            order = rng.permutation(len(one.points))
            n = max(1, int(self.validation_fraction * order.size))
            seen.append(order[n:] if order.size >= FEW_POINTS else order)
            unseen.append(order[:n])
        return posed.take(seen), posed.take(unseen)

    def _report(self, posed: Posed, solved: Solved) -> None:
        """Set the attributes that say how good the solution is."""
        unseen, features = solved.unseen, solved.unseen.features
        rows = unseen.rows(solved.sizes, solved.frequencies)
        values = values_at(rows, features, solved.frequencies, features.coefficients(solved.judged))
        parts = unseen.parts(to_host(values - rows.y)[:, 0])
        squares = [float(np.mean(part**2)) for part in parts]
        labels = _labels(unseen.conditions)
        self.residuals_ = dict(zip(labels, np.sqrt(squares).tolist(), strict=True))
        mean = float(np.mean(np.array(squares) / solved.sizes**2))
        least = Stability.of(posed, solved.sizes).least
        self.error_estimate_ = math.sqrt(mean) / least if least > 0 else math.inf


def _beside(model: FourierModel, x: Array) -> Array:
    """The points; an error if they are not where the model is."""
    if where(x) != where(model.frequencies):
        raise ValueError(f"x must be like the points of fit, {where(model.frequencies)}, got {where(x)}.")
    return x


FEW_POINTS = 10
"""A condition at fewer points than this is seen everywhere."""


def yield_all(generator: Any, history: list[Any]) -> Any:
    """What a generator returns; its trials and looks are kept in the history."""
    while True:
        try:
            event = next(generator)
        except StopIteration as end:
            return end.value
        if isinstance(event, Trial | Look):
            history.append(event)


def _judge(seen: Posed, unseen: Posed, sizes: np.ndarray, reference: Array) -> Judge:
    return Judge(seen.rows(sizes, reference), unseen.rows(sizes, reference), seen.features)


def _weighed(
    posed: Posed, seen: Posed, unseen: Posed, best: JudgedTrial, sizes: np.ndarray, reference: Array
) -> np.ndarray:
    """The sizes of the conditions, by first or by found frequencies, that bound the error more closely."""
    tried = []
    for each in (sizes, posed.sizes(best.trial.spread)):
        judge = _judge(seen, unseen, each, reference)
        again = judge.look(best.trial.kind, best.trial.spread, best.frequencies, best.trial.regularization)
        residual = again.trial.residual * math.sqrt(judge.energy)
        tried.append((residual / max(Stability.of(posed, each).least, 1e-300), each))
    return min(tried, key=lambda one: one[0])[1]


def _labels(conditions: Sequence[Condition]) -> list[str]:
    """The conditions' names; equal ones are numbered."""
    names = [one.label for one in conditions]
    return [name if names.count(name) == 1 else f"{name} ({names[:i].count(name) + 1})" for i, name in enumerate(names)]


def model_of(posed: Posed, frequencies: Array, amplitudes: Array) -> FourierModel:
    """The model with these frequencies of scaled inputs and amplitudes (K, q), in the units of the points."""
    q = int(amplitudes.shape[1])
    inputs = posed.scaling.moved(lambda values: like(values, frequencies))
    targets = Affine(*(like(values, frequencies) for values in (np.zeros(q), np.ones(q))))
    return FourierModel(frequencies, amplitudes, targets.center, CosineSine(), Scaling(inputs, targets, "columns"))
