"""What tests of searches share: a panel of few rows, a policy of quick searches, and what a search has yielded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from tables import FEATURES, Plain, drained

from fourierwalk.data.rows import Rows
from fourierwalk.sampling.sampler import Info
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training.ensemble import Ensemble
from fourierwalk.training.history import Decision
from fourierwalk.training.policy import Policy
from fourierwalk.training.selection import Selection
from fourierwalk.training.split import WALK_REGULARIZATION, Split
from fourierwalk.training.starts import Shape, Start

KIND = FEATURES["cos-sin"]

# A search of seconds' fractions whose numbers are all written down here.
QUICK = Policy(
    least_width=4,
    most_frequencies=64,
    widening=0.02,
    growth=2,
    rounded=1e300,
    operations=1e18,
    rows_per_input=1000,
    gain=1e-3,
    usual=1,
    inputs_together=2,
    wander=0.5,
    steps=10,
    last_steps=10,
    patience=4,
    look_every=5,
    members=3,
    most_members=8,
    sure=2.0,
)


def start(n_frequencies=None, d=2, **settings):
    return Start(n_frequencies, d, d, **settings)


def rows(n_rows=300, noise=0.5, d=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, d))
    y = np.sin(3 * x[:, :1]) + 0.5 * x[:, -1:] + noise * rng.standard_normal((n_rows, 1))
    return x, y - y.mean()


@dataclass
class Panel:
    """Folds of every so manieth row."""

    x: Any
    y: Any
    backend: Any = Plain
    n_together: int = 1
    n_folds: int = 10
    holds_out: bool = True
    features: Any = KIND.features
    regularization: float | None = None
    settles: bool = False

    @property
    def n_rows(self):
        return len(self.x)

    @property
    def n_inputs(self):
        return self.x.shape[1]

    @property
    def n_columns(self):
        return self.x.shape[1]

    def mask(self, member):
        return np.arange(len(self.x)) % self.n_folds == member % self.n_folds

    def split(self, member):
        shape = Shape(np.diag(np.arange(1.0, self.x.shape[1] + 1)), 0.7)
        mask = self.mask(member) if self.holds_out else np.zeros(len(self.x), dtype=bool)
        seen, held_out = (
            Rows(self.backend.asarray(self.x[part]), self.backend.asarray(self.y[part])) for part in (~mask, mask)
        )
        problem = LeastSquares(seen, self.features, WALK_REGULARIZATION, Solver("direct"))
        selection = Selection(problem, held_out, self.regularization) if self.holds_out else None
        return Split(problem, selection, shape)

    def unsplit(self):
        if not self.settles:
            return None
        whole = Rows(self.backend.asarray(self.x), self.backend.asarray(self.y))
        return Split(LeastSquares(whole, self.features, WALK_REGULARIZATION, Solver("direct")), None)


def panel(n_rows=300, noise=0.5, **settings):
    return Panel(*rows(n_rows, noise), **settings)


def searched(search, where, begin, seed=3):
    """What a search yields, without and with the snapshots, and what it returns."""
    yielded, found = drained(search.search(where, begin, np.random.default_rng(seed)))
    snapshots = [each for each in yielded if isinstance(each, Ensemble)]
    return [each for each in yielded if not isinstance(each, Ensemble)], snapshots, found


def words(events):
    return [event.text for event in events if isinstance(event, Decision)]


def widths(found):
    return [int(member.frequencies.shape[0]) for member in found.members]


def steps_of(events):
    return sum(isinstance(event, Info) for event in events)
