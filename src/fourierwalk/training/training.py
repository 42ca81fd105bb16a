"""One fit from checked settings and checked data: scale, split, search, and assemble the model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fourierwalk.arrays.draws import placed
from fourierwalk.arrays.library import Array, namespace
from fourierwalk.arrays.threads import one_pool
from fourierwalk.chunks.rows import ChunkedRows
from fourierwalk.chunks.whole import Whole
from fourierwalk.data import features as feature_kinds
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.training.assembly import Assembly, Fit, watch
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.data import Data
from fourierwalk.training.followed import Followed, Resume
from fourierwalk.training.history import Event
from fourierwalk.training.panel import RowsPanel
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.preparing import Preparing
from fourierwalk.training.progress import Progress
from fourierwalk.training.replay import Journal
from fourierwalk.training.settings import Settings


@dataclass(frozen=True)
class Training(Settings):
    """The settings of a fit, under the names of the estimators' parameters; `run` fits data with them."""

    def run(
        self,
        data: Data,
        rng: np.random.Generator,
        resume: Resume | None = None,
        watchers: Sequence[Callable[[Event], bool]] = (),
        journal: Journal | None = None,
    ) -> Fit:
        """Fit the data.

        Parameters
        ----------
        data : Data
            Checked data.
        rng : Generator
            The source of all random numbers.
        resume : Resume, optional
            The end of an earlier fit, to continue from.
        watchers : sequence of callables
            Each is called with every event. One that returns True ends the fit.
        journal : Journal, optional
            What a checkpoint is written from. None: there is no checkpoint.
        """
        with one_pool():
            return self._run(data, rng, resume, (Progress(int(self.verbose)).see, *watchers), journal)

    def _run(
        self, data: Data, rng: np.random.Generator, resume: Resume | None, watchers: Sequence[Any], journal: Any
    ) -> Fit:
        deadline = math.inf if self.max_seconds is None else time.monotonic() + float(self.max_seconds)
        seed = int(rng.spawn(1)[0].integers(2**63)) if resume is None else resume.split_seed
        features, solver, search = feature_kinds.named(self.features), self.solver_of_fit(), self.resolve(data, resume)
        start = self.start(features, data, resume)
        scaling, panel, decisions = Preparing(self, data, search, start, features, solver, seed, resume).prepared()
        n_biases = start.dimension - start.n_inputs
        start = start._replace(n_inputs=panel.n_inputs, dimension=panel.n_inputs + n_biases)
        n_values = int(start.n_frequencies or 0) * start.dimension
        draws = placed(rng, solver.draws, panel.rows.y, n_values) if isinstance(search, Followed) else rng
        watched = watch(search.search(panel, start, draws), decisions, deadline, watchers, journal)
        is_raw = panel.span is None and not panel.rows.in_chunks
        assembly = Assembly(
            scaling,
            panel,
            panel.rows if is_raw else scaling.rows(data.x, data.y, data.weight),
            features,
            solver,
            search,
            seed,
            start.regularization,
            self._bounds(data, search),
            not self.scale_targets,
            data.is_fixed,
            None if data.whole is None else _all_rows(data.whole, scaling, panel),
        )
        fit = assembly.fit(watched)
        knows_groups = data.groups is None or panel.split_by is not None  # leave-one-out would leave their rows in
        return fit if knows_groups else fit._replace(error_bars=None)

    def _bounds(self, data: Data, search: Any) -> Array | None:
        """The range of the targets with a margin, (2, q), for `clamp`; None: predictions are not clipped."""
        clamps = isinstance(search, Automatic) if self.clamp == "auto" else bool(self.clamp)
        if not clamps or not self.scale_targets:
            return None
        xp, reached = namespace(data.y), None if data.whole is None else data.whole.bounds
        low, high = (xp.min(data.y, axis=0), xp.max(data.y, axis=0)) if reached is None else (reached[0], reached[1])
        margin = getattr(search, "policy", DEFAULT).margin * (high - low)
        return xp.stack((low - margin, high + margin))


def _all_rows(whole: Whole, scaling: Scaling, panel: RowsPanel) -> Rows | None:
    """The rows of the final amplitudes, in chunks; None: the panel holds all rows in memory."""
    if isinstance(panel.rows, ChunkedRows) and panel.rows.preparation.held_out is None:
        return panel.rows
    return None if whole.is_in_sample and not panel.rows.in_chunks else whole.rows(scaling)
