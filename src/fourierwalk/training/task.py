"""One fit to be done: its settings and its data, and the scaled rows with their splits that they become."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.data import scaling as scalings
from fourierwalk.data.columns import Columns
from fourierwalk.data.features import Features
from fourierwalk.data.hashes import row_hash
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.solving.budget import check_least_bytes
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.data import Data
from fourierwalk.training.folds import Folds, folds
from fourierwalk.training.followed import Followed, Resume
from fourierwalk.training.history import Decision, Event
from fourierwalk.training.panel import RowsPanel
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.selection import Selection
from fourierwalk.training.settings import Settings
from fourierwalk.training.split import WALK_REGULARIZATION, Split
from fourierwalk.training.starts import Shape, Start


@dataclass(frozen=True)
class Task:
    """One fit to be done, and how its data become scaled rows with their train-validation splits.

    Parameters
    ----------
    settings : Settings
        The settings of the fit.
    given : Data
        Its data.
    search : object
        The search that the settings ask for.
    start : Start
        What the user has fixed about the first frequencies.
    features : Features
        The kind of columns.
    solver : Solver
        How amplitudes are solved for.
    seed : int
        The seed of the train-validation split.
    resume : Resume, optional
        The end of an earlier fit, to continue from.
    deadline : float
        The time of ``time.monotonic()`` after which kernels explore no further.
    """

    settings: Settings
    given: Data
    search: Any
    start: Start
    features: Features
    solver: Solver
    seed: int
    resume: Resume | None
    deadline: float = math.inf

    @property
    def policy(self) -> Any:
        """The policy of an `Automatic`; other searches have none."""
        return getattr(self.search, "policy", None)

    @property
    def data(self) -> Data:
        """The data; for an `Automatic`, equal rows are one row with their weights together."""
        return self.given if self.policy is None else self._hashed[0]

    @cached_property
    def _hashed(self) -> tuple[Data, np.ndarray]:
        """The data, and the hashes of their rows."""
        hashes = row_hash(self.given.identities, self.seed)
        return (self.given, hashes) if self.policy is None else self.given.distinct(hashes)

    @cached_property
    def bounds(self) -> Array | None:
        """The range of the targets with a margin, (2, q), for `clamp`; None: predictions are not clipped."""
        clamp, data = self.settings.clamp, self.data
        clamps = isinstance(self.search, Automatic) if clamp == "auto" else bool(clamp)
        if not clamps or not self.settings.scale_targets:
            return None
        xp, reached = namespace(data.y), None if data.whole is None else data.whole.bounds
        low, high = (xp.min(data.y, axis=0), xp.max(data.y, axis=0)) if reached is None else (reached[0], reached[1])
        margin = (self.policy or DEFAULT).margin * (high - low)
        return xp.stack((low - margin, high + margin))

    def prepared(self) -> tuple[Scaling, RowsPanel, list[Event]]:
        """The scaling, the scaled rows with their splits, and the first decisions.

        For ``sampler="auto"`` kernels are fitted first: they choose among scalings, and find the distribution of the
        first frequencies.
        """
        if self.data.whole is not None and self.solver.batch_size is not None:
            raise ValueError(f"solver.batch_size must be None for rows in blocks, got {self.solver.batch_size}.")
        start, policy, data = self.start, self.policy, self.data
        for name, values in {"X": data.x, "y": data.y, "X_val": data.x_val, "y_val": data.y_val}.items():
            if values is not None:
                scalings.check_magnitude(name, values)
        if policy is not None:
            n = int(start.n_frequencies or 0)
            width = self.features.n_columns * n // policy.most_members
            check_least_bytes(n, width, int(data.y.shape[0]), self.solver, data.y)
        split_by, n_together = self._folds()
        holds_out = split_by is not None or self.data.x_val is not None
        draws = policy is not None and holds_out and start.frequencies is None
        explores, are_classes = draws and start.spread is None, not self.settings.scale_targets
        tried: list[tuple[Scaling, RowsPanel, float]] = []
        for standardize in self._kinds(explores):
            if tried and time.monotonic() >= self.deadline:
                break
            scaling = self._scaling(standardize)
            panel = self._panel(scaling, split_by, n_together)
            panel = panel.narrowed() if draws else panel
            tried.append((scaling, *(panel.explored(policy, are_classes, self.deadline) if explores else (panel, 0.0))))
        scaling, panel, error = tried[0]
        if len(tried) > 1 and tried[1][2] < (1 - policy.other_scaling) * error:
            scaling, panel, _ = tried[1]
        if panel.center is not None:
            scaling, panel = self._recentred(scaling, panel)
        if start.spread is not None:
            panel = replace(panel, shapes=(Shape.isotropic(panel.n_inputs, start.spread),))
        return scaling, panel, [Decision(text) for text in self._in_words(scaling, panel)]

    def _folds(self) -> tuple[Folds | None, int]:
        """The folds (None: no row is held out), and the number of members that choose the width together."""
        data, policy, stopping = self.data, self.policy, self.settings.early_stopping
        if data.x_val is not None:
            if stopping != "auto" and not stopping:
                raise ValueError("X_val and y_val need early_stopping 'auto' or True, got False.")
            if policy is None:
                return None, 1
            distinct, unit = np.unique(self._hashed[1], return_inverse=True)
            return Folds(unit.reshape(-1), (), int(distinct.size)), 1  # no folds, only a random order of the rows
        holds_out = policy is not None if stopping == "auto" else stopping
        if not holds_out or (data.whole is not None and policy is None):  # all rows are in chunks: see `_panel`
            return None, 1
        labels = None if self.settings.scale_targets else np.argmax(to_host(data.y), axis=1)
        fraction = self.settings.validation_fraction
        few = 0 if policy is None else max(policy.few_rows, int(data.x.shape[1]))  # few rows for so many inputs, too
        split_by = folds(self._hashed[1], fraction, self.seed, labels, data.groups, few, policy or DEFAULT)
        return split_by, len(split_by) if split_by is not None and split_by.n_rows < few else 1

    def _kinds(self, explores: bool) -> tuple[Any, ...]:
        """The values of `standardize` to try; several only if kernels are fitted to compare them."""
        x, is_fixed = self.data.x, self.data.is_fixed
        if self.settings.standardize != "auto":
            return (self.settings.standardize,)
        if self.resume is not None:  # the scaling of the earlier fit fixes the units of its frequencies
            return (True if self.resume.scaling == "columns" else self.resume.scaling,)
        if not explores:
            return ("auto",)
        if scipy.sparse.issparse(x):
            return ("auto", "common")
        tail = 0.0 if scalings.share_units(x, is_fixed) else scalings.longest_tail(x, is_fixed)
        return ("auto", "robust") if tail > self.policy.heavy_tail else ("auto",)

    def _scaling(self, standardize: Any) -> Scaling:
        """The scaling of the rows, or of all rows that they are a sample of."""
        x, y, weight = self.data[:3]
        how: Any = {"scale_targets": self.settings.scale_targets, "is_fixed": self.data.is_fixed}
        scaling = Scaling.fit(x, y, weight, standardize=standardize, **how)
        return scaling if self.data.whole is None else self.data.whole.scaled(scaling)

    def _panel(
        self, scaling: Scaling, split_by: Folds | None, n_together: int, center: np.ndarray | None = None
    ) -> RowsPanel:
        """The scaled rows, and how a train-validation split of them becomes a problem and its looks."""
        data, chosen = self.data, self.start.regularization
        exact = replace(self.solver, precision="double", batch_size=None)
        shares = None if self.settings.scale_targets else scaling.targets.center
        tie = getattr(self.settings.sampler, "policy", DEFAULT).tie

        def make(seen: Rows, held_out: Rows | None) -> Split:
            regularization = WALK_REGULARIZATION if chosen is None else chosen
            problem = LeastSquares(seen, self.features, regularization, self.solver)
            if held_out is None:
                return Split(problem, None)
            mean = None if center is None else like(-center, seen.y)
            return Split(problem, Selection(replace(problem, solver=exact), held_out, chosen, shares, tie, mean))

        def without(held_out: np.ndarray) -> Rows:
            return scaling.rows(like(data.means.inputs(held_out), data.y), data.y, data.weight)

        validation = None if data.x_val is None else scaling.rows(_as_kept(data.x_val, data.x), data.y_val)
        rows, whole, stopping = scaling.rows(data.x, data.y, data.weight), data.whole, self.settings.early_stopping
        if whole is not None and isinstance(self.search, Followed):  # its steps sum over all rows in chunks
            held_out = None
            if validation is None and stopping != "auto" and stopping:
                held_out = whole.held_out(self.settings.validation_fraction, self.seed)
                validation = whole.validation(scaling, held_out)
            rows = whole.rows(scaling, held_out)
        depends = None if data.means is None else without
        return RowsPanel(rows, validation, split_by, make, n_together, without=depends)

    def _recentred(self, scaling: Scaling, panel: RowsPanel) -> tuple[Scaling, RowsPanel]:
        """The same with targets measured from the constant beside the kernels, not from their mean.

        Amplitudes are shrunk, so a model tends to the center of the targets where rows are few.
        """
        scaling = scaling.recentred(like(panel.center, panel.rows.y))
        fresh = self._panel(scaling, panel.split_by, panel.n_together, panel.center)
        fresh = fresh if panel.span is None else fresh.within(panel.span)
        return scaling, replace(fresh, shapes=panel.shapes, center=panel.center)

    def _in_words(self, scaling: Scaling, panel: RowsPanel) -> Iterator[str]:
        """The decisions: which rows are used for what, how inputs are scaled, and which of them are kept."""
        whole: Any = self.data.whole
        if whole is not None:
            text = f"{whole.n_rows} rows in {len(whole.survey.sizes)} blocks"
            if panel.rows.in_chunks:
                yield f"{text}: every step sums over all of them"
            elif whole.is_in_sample:
                yield f"{text}: all of them were taken into memory"
            else:
                n = self.data.x.shape[0]
                yield f"{text}: frequencies are chosen on a random sample of {n}, amplitudes on all of them"
        yield f"inputs scaled: {scaling.kind}"
        if self.data.x_val is not None:
            yield "states chosen on X_val, y_val"
        elif panel.split_by is None:
            n = 0 if panel.validation is None else len(panel.validation)
            yield f"{n} rows held out to choose by" if n else "no rows held out"
        elif panel.n_together > 1:
            yield f"{panel.n_together} folds: each part of the rows is held out once to choose by"
        else:
            yield f"{int(panel.split_by.mask(0).sum())} rows held out to choose by"
        if panel.center is not None:
            yield "targets measured from a constant that was fitted with the kernels, not from their mean"
        if isinstance(panel.span, Columns):
            yield f"{panel.n_inputs} of {panel.span.n_inputs} inputs kept: the others do not help"


def _as_kept(x: Any, like_these: Any) -> Any:
    """Inputs x as a sparse matrix if `like_these` is one, else as a dense array."""
    if scipy.sparse.issparse(like_these) == scipy.sparse.issparse(x):
        return x
    return x.toarray() if scipy.sparse.issparse(x) else scipy.sparse.csr_array(x)
