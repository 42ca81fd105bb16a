"""One fit from checked settings and checked data: scale, split, search, and assemble the model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fourierwalk.arrays.draws import placed
from fourierwalk.arrays.threads import one_pool
from fourierwalk.data import features as feature_kinds
from fourierwalk.training.assembly import Assembly, Fit
from fourierwalk.training.data import Data
from fourierwalk.training.followed import Followed, Resume
from fourierwalk.training.history import Decision, Event
from fourierwalk.training.progress import Progress
from fourierwalk.training.replay import Journal
from fourierwalk.training.settings import Settings
from fourierwalk.training.task import Task
from fourierwalk.training.watching import watch


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
        progress = Progress(int(self.verbose))
        watchers = (progress.see, *watchers)
        with one_pool():
            deadline = math.inf if self.max_seconds is None else time.monotonic() + float(self.max_seconds)
            seed = int(rng.spawn(1)[0].integers(2**63)) if resume is None else resume.split_seed
            features, solver = feature_kinds.named(self.features), self.solver_of_fit()
            search, start = self.resolve(data, resume), self.start(features, data, resume)
            ends = deadline if journal is None else math.inf  # a fit that goes on explores as the first one did
            task = Task(self, data, search, start, features, solver, seed, resume, ends)
            if task.policy is not None:
                progress.see(Decision("preparing the rows"))
            scaling, panel, decisions = task.prepared()
            n_biases = start.dimension - start.n_inputs
            start = start._replace(n_inputs=panel.n_inputs, dimension=panel.n_inputs + n_biases)
            n_values = int(start.n_frequencies or 0) * start.dimension
            draws = placed(rng, solver.draws, panel.rows.y, n_values) if isinstance(search, Followed) else rng
            watched = watch(search.search(panel, start, draws), decisions, deadline, watchers, journal)
            return Assembly(task, scaling, panel).fit(watched)
