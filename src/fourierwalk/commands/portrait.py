"""The page about a fitted model: its errors, its inputs, held-out rows, and a film of a walk on its data."""

from __future__ import annotations

import importlib.util
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.comparison.held_out import HeldOutParts
from fourierwalk.data.features import CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.reading.problem import Problem
from fourierwalk.reporting import plots
from fourierwalk.reporting.film import Film, Frame, moments, shoot
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.sampler import State
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.uncertainty.displays import CoverageDisplay, ReliabilityDisplay

FILM_ROWS, FILM_FREQUENCIES, FILM_STEPS, FILM_REGULARIZATION = 2000, 64, 100, 1e-3
MOST_POINTS = 400
MOST_CLASSES = 12
"""With more classes the page has no table of predicted labels."""


class Portrait(NamedTuple):
    """What the page needs."""

    problem: Problem
    split: HeldOutParts
    model: Any
    about: dict[str, Any]

    def write(self, path: Path) -> Path:
        """The page, atomically."""
        page = Page(f"A model of {self.problem.target}")
        for sentence in self.problem.said:
            page.text(sentence)
        self._errors(page)
        self._inputs(page)
        if self.split.test.size:
            self._held_out(page)
        page.heading("A walk on these data, step by step")
        page.text(
            f"Descent on the projected loss with {FILM_FREQUENCIES} frequencies, on at most {FILM_ROWS:,} rows, from a "
            "random start. The model itself is several such descents, chosen by rows that they have not seen."
        )
        page.fragment(film(self.problem, self.split, self.model).html())
        page.heading("How it was fitted")
        for line in self.model.history_.decisions:
            page.text(line, "note")
        origin = self.about["provenance"]
        page.text(f"Commit {origin['commit']}: {describe(origin)}", "note")
        return page.write(path)

    def _errors(self, page: Page) -> None:
        page.heading("Errors on rows held out")
        measure, errors = self.about["measure"], self.about["held_out_errors"]
        rows = [[name, f"{error:.4g}"] for name, error in errors.items()]
        caption = f"{self.split.test.size:,} rows held out, {self.split.train.size:,} to learn from."
        page.table(caption, ["model", measure], rows) if rows else page.text("No rows were held out.")

    def _inputs(self, page: Page) -> None:
        page.heading("Inputs")
        shares = self.model.feature_importances_
        found = sorted(zip(self.model.encoder_.columns_, shares, strict=True), key=lambda pair: -pair[1])
        rows = [[column.name, column.kind, f"{100 * share:.1f}"] for column, share in found[:50]]
        page.table("How much each input matters.", ["input", "kind", "relevance (%)"], rows)

    def _held_out(self, page: Page) -> None:
        truth = self.problem.y[self.split.test]
        predicted = self.model.predict(self.problem.inputs[self.split.test])
        if self.problem.task == "classification":
            if self.model.classes_.size <= MOST_CLASSES:
                page.heading("Right and wrong labels")
                page.table("Rows held out, by label.", *_confusion(truth, predicted, self.model.classes_))
        elif importlib.util.find_spec("matplotlib") is not None:
            page.heading("Predictions")
            page.figure(
                _scatter(truth[:MOST_POINTS], predicted[:MOST_POINTS], self.problem.target),
                "Predictions over targets, rows held out. A perfect model would lie on the line.",
            )
        if importlib.util.find_spec("matplotlib") is not None and not self.about["fitted_to_all_rows"]:
            self._calibration(page, self.problem.inputs[self.split.test], truth)

    def _calibration(self, page: Page, x: Any, truth: np.ndarray) -> None:
        """How far probabilities, or error bars, can be believed. The model must not have seen the rows."""
        if self.problem.task == "classification":
            drawn = ReliabilityDisplay.from_estimator(self.model, x, truth)
            page.heading("Probabilities")
            page.figure(
                drawn.figure_,
                "How often the most likely class is right, over its probability, rows held out. On the line, "
                f"probabilities can be taken at their word. Expected calibration error: {drawn.reliability.error:.3f}.",
            )
        elif self.model.error_bars_ is not None:
            axes = [plots.new_figure()[1][0] for _ in range(3)]
            CoverageDisplay.from_estimator(self.model, x, truth, ax=axes)
            page.heading("Error bars")
            page.figure(
                [axis.figure for axis in axes],
                "Prediction intervals, rows held out: the share of targets inside, which should lie on the line; the "
                "mean width; and the place of each target in its distribution, which should be level.",
            )


def film(problem: Problem, split: HeldOutParts, model: Any) -> Film:
    """Descent on the training rows. Its error is on the held-out rows, or on the training rows if there are none."""
    rng = np.random.default_rng(0)
    seen = rng.permutation(split.train)[:FILM_ROWS]
    shown = (split.test if split.test.size else seen)[:MOST_POINTS]
    (x, y), (points, target) = (_scaled(problem, model, rows) for rows in (seen, shown))
    minimize = LeastSquares(Rows(x, y), CosineSine(), FILM_REGULARIZATION)
    spread = np.sqrt(np.mean(np.asarray(model.frequencies_) ** 2, axis=0))
    sampler = Descent()
    start = sampler.init(minimize, np.maximum(spread, 1e-3) * rng.standard_normal((FILM_FREQUENCIES, x.shape[1])))
    walk = chain([(start, None)], sampler.sample(minimize, start, rng, FILM_STEPS))

    def look(state: State) -> Frame:
        values = np.real(np.exp(1j * (points @ state.frequencies.T)) @ state.amplitudes[:, 0])
        error = float(np.sqrt(np.mean((values - target[:, 0]) ** 2)))
        return Frame(state.step, state.frequencies, state.amplitudes, values, error)

    frames = list(shoot(walk, moments(FILM_STEPS, 60), look))
    names = model.encoder_.get_feature_names_out().tolist()
    title = f"{problem.target}, {FILM_FREQUENCIES} frequencies"
    return Film(title, frames, target[:, 0], None, "rms error, scaled", "seed 0", names)


def _scaled(problem: Problem, model: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scaled inputs and targets. With classes, the target is whether a row has the most common one."""
    x = model.model_.scaling.inputs.apply(model.encoder_.encode(problem.inputs[rows]))
    y = problem.y
    if problem.task == "classification":
        classes, codes = np.unique(y, return_inverse=True)
        y = (codes == np.argmax(np.bincount(codes, minlength=classes.size))).astype(np.float64)
    spread = np.std(y)
    return x, ((y[rows] - np.mean(y)) / (spread if spread > 0 else 1.0))[:, None]


def _confusion(truth: np.ndarray, predicted: np.ndarray, classes: np.ndarray) -> tuple[list[str], list[list[Any]]]:
    """A row for each label, with how often each label was predicted."""
    counts = [[int(np.sum((truth == label) & (predicted == other))) for other in classes] for label in classes]
    rows: list[list[Any]] = [[str(label), *row] for label, row in zip(classes, counts, strict=True)]
    return ["label", *(f"predicted {label}" for label in classes)], rows


def _scatter(truth: np.ndarray, predicted: np.ndarray, target: str) -> Any:
    figure, (axis,) = plots.new_figure()
    low, high = float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max()))
    axis.plot([low, high], [low, high], color=plots.QUIET, lw=1)
    axis.plot(truth, predicted, ls="", marker="o", ms=3, alpha=0.6, color=plots.COLORS[0])
    axis.set_xlabel(target)
    axis.set_ylabel(f"predicted {target}")
    return figure
