"""The search for frequencies on the residual of conditions, judged at points that the amplitudes have not seen."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.arrays.products import matmul
from fourierwalk.data.rows import Rows
from fourierwalk.operators.features import OperatedWaves
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import ScaledWalk, ShapedWalk
from fourierwalk.solving.orthogonal import Orthogonal
from fourierwalk.training.starts import KINDS, Drawing, Shape

PATH = tuple(10.0**power for power in (-26, -22, -18, -14, -11, -8, -6, -4, -2))
"""The grid of λ: conditions without noise need none but for rounding."""

SPREADS = tuple(2.0**power for power in range(-1, 7))
"""The standard deviations of frequencies that are tried, for inputs scaled to [−1, 1]."""

NEAR = (2.0**-0.5, 1.0, 2.0**0.5)
"""The factors of the best spread that wider models try."""

INPUTS_TOGETHER = 2
"""The most inputs of a sparse frequency."""


class Trial(NamedTuple):
    """Frequencies that were tried: how they were made, and the residual that they leave at unseen points."""

    kind: str
    spread: float
    n_frequencies: int
    residual: float  # root mean square at unseen points, relative to the values of the conditions
    regularization: float


class JudgedTrial(NamedTuple):
    """A trial with its frequencies and amplitudes."""

    trial: Trial
    frequencies: Array
    amplitudes: Array


@dataclass(frozen=True)
class Judge:
    """Solves on some rows, and measures the residual on others.

    Parameters
    ----------
    seen, unseen : Rows
        Rows of conditions.
    features : OperatedWaves
        The waves under the conditions' operators.
    """

    seen: Rows
    unseen: Rows
    features: OperatedWaves

    def look(self, kind: str, spread: float, frequencies: Array, near: float = PATH[0]) -> JudgedTrial:
        """The best amplitudes at these frequencies, by a search over λ that starts near one."""
        triangle = Orthogonal(self.seen, self.features, 0.0).triangle(frequencies)
        weight, place, tried = self.seen.total_weight, PATH.index(near), {}
        columns = [self.features.columns(block, frequencies) for block in self.unseen.blocks(self._width(frequencies))]
        fresh = [place, max(place - 1, 0), min(place + 1, len(PATH) - 1)]
        while fresh:
            for i in fresh:
                unknowns, _ = triangle.solved(PATH[i] * weight, 1)
                tried[i] = (self._residual(columns, unknowns), self.features.amplitudes(unknowns))
            best = min(tried, key=lambda i: tried[i][0])
            fresh = [i for i in (best - 1, best + 1) if 0 <= i < len(PATH) and i not in tried]
        residual, amplitudes = tried[best]
        trial = Trial(kind, spread, int(frequencies.shape[0]), residual, PATH[best])
        return JudgedTrial(trial, frequencies, amplitudes)

    @property
    def energy(self) -> float:
        """The weighted mean square of the values."""
        return float(self.seen.target_energy) / self.seen.total_weight

    def _width(self, frequencies: Array) -> int:
        return 2 * self.features.n_columns * int(frequencies.shape[0])

    def _residual(self, columns: Sequence[Array], unknowns: Array) -> float:
        xp, weight = namespace(unknowns), self.unseen.weight
        values = xp.concat([matmul(part, unknowns) for part in columns])
        square = xp.sum(weight * (values - self.unseen.y)[:, 0] ** 2) / self.unseen.total_weight
        found = math.sqrt(float(square) / (self.energy or 1.0))
        return found if math.isfinite(found) else math.inf

    def fewer(self, n: int, rng: np.random.Generator) -> Judge:
        """The same with at most n seen rows."""
        if n >= len(self.seen):
            return self
        chosen = rng.permutation(len(self.seen))[:n]
        return Judge(self.seen.take(chosen), self.unseen, self.features)


@dataclass(frozen=True)
class ResidualSearch:
    """Widths, spreads and kinds of first frequencies are compared at unseen points; then descent refines them.

    Parameters
    ----------
    widths : tuple of int
        The numbers of frequencies to try, ascending.
    tolerance : float
        The search ends at this relative residual.
    n_steps : int
        The steps of descent, if the tolerance is not reached without.
    deadline : float
        The time (of ``time.monotonic``) after which no more is tried.
    """

    widths: tuple[int, ...]
    tolerance: float
    n_steps: int
    deadline: float = math.inf

    def first(self, judge: Judge, rng: np.random.Generator) -> Generator[Trial, None, list[JudgedTrial]]:
        """Compare kinds and spreads at the least width. Yield every trial, and return all, best first."""
        kinds = ("isotropic", "sparse") if judge.features.n_inputs > 1 else ("isotropic",)
        places = [(kind, spread) for kind in kinds for spread in SPREADS]
        return (yield from self._compared(judge, places, self.widths[0], PATH[0], rng))

    def run(
        self, judge: Judge, trials: Sequence[JudgedTrial], rng: np.random.Generator
    ) -> Generator[Trial, None, JudgedTrial]:
        """Descend from the best trial of each kind, and widen what was tried. Yield every trial, return the best."""
        best = trials[0]
        for kind in dict.fromkeys(one.trial.kind for one in trials):
            if not self._is_over(best):
                start = next(one for one in trials if one.trial.kind == kind)
                descended = yield from self._descended(judge, start, rng)
                best = min(best, descended, key=_residual)
        for width in self.widths[1:]:
            if self._is_over(best):
                break
            grown = yield from self._grown(judge, best, width, rng)
            places = self._places(trials)
            trials = yield from self._compared(judge, places, width, trials[0].trial.regularization, rng)
            if grown.trial.residual < trials[0].trial.residual:
                grown = yield from self._descended(judge, grown, rng)
            best = min(best, grown, trials[0], key=_residual)
        return best

    def _compared(
        self, judge: Judge, places: Sequence[tuple[str, float]], width: int, near: float, rng: np.random.Generator
    ) -> Generator[Trial, None, list[JudgedTrial]]:
        """Frequencies of each kind and spread, best first."""
        trials = []
        for kind, spread in places:
            trials.append(judge.look(kind, spread, drawn(kind, spread, width, judge, rng), near))
            yield trials[-1].trial
            if self._is_over(trials[-1]):
                break
        return sorted(trials, key=_residual)

    def _places(self, trials: Sequence[JudgedTrial]) -> list[tuple[str, float]]:
        """Kinds and spreads for a wider model.

        A narrow model cannot tell spreads apart: all that are not hopeless are tried again. Later the best ones are,
        and spreads near the best.
        """
        best = trials[0].trial
        if best.n_frequencies == self.widths[0]:
            return [one.trial[:2] for one in trials if one.trial.residual < HOPELESS * best.residual]
        near = [(best.kind, factor * best.spread) for factor in NEAR]
        return list(dict.fromkeys([*near, *(one.trial[:2] for one in trials[:N_BEST])]))

    def _is_over(self, best: JudgedTrial) -> bool:
        return best.trial.residual <= self.tolerance or time.monotonic() > self.deadline

    def _grown(
        self, judge: Judge, before: JudgedTrial, width: int, rng: np.random.Generator
    ) -> Generator[Trial, None, JudgedTrial]:
        """Add frequencies near those of large amplitude."""
        new = drawn("walk", before.trial.spread, width - before.trial.n_frequencies, judge, rng, before)
        frequencies = namespace(new).concat((before.frequencies, new))
        grown = judge.look("walk", before.trial.spread, frequencies, before.trial.regularization)
        yield grown.trial
        return grown

    def _descended(
        self, judge: Judge, start: JudgedTrial, rng: np.random.Generator
    ) -> Generator[Trial, None, JudgedTrial]:
        """Descend on the residual of some of the seen rows, with a look now and then. Wide models take fewer steps."""
        n, near, best = start.trial.n_frequencies, start.trial.regularization, start
        n_steps = int(self.n_steps * min(1.0, (self.widths[0] / n) ** 2))
        rows = judge.fewer(ROWS_PER_UNKNOWN * judge.features.n_unknowns * n, rng).seen
        minimize, descent = Orthogonal(rows, judge.features, near), Descent()
        steps = descent.sample(minimize, descent.init(minimize, start.frequencies), rng, n_steps) if n_steps else ()
        for state, _ in steps:
            if state.step % LOOK_EVERY == 0 or state.step == n_steps:
                looked = judge.look("descent", start.trial.spread, state.frequencies, near)
                yield looked.trial
                best = min(best, looked, key=_residual)
                if self._is_over(best):
                    break
        return best


N_BEST = 3
"""The number of best kinds and spreads that are tried again at the last widths."""

HOPELESS = 100.0
"""Kinds and spreads whose residual is this many times the least are not tried again."""

ROWS_PER_UNKNOWN = 5
"""Rows of a step of descent, for each unknown."""

LOOK_EVERY = 10
"""Steps of descent between two looks at unseen points."""


def drawn(
    kind: str, spread: float, n: int, judge: Judge, rng: np.random.Generator, before: JudgedTrial | None = None
) -> Array:
    """New frequencies of one kind and spread."""
    d, known = judge.features.n_inputs, (None, None)
    if before is not None:
        known = to_host(before.frequencies), to_host(before.amplitudes)  # type: ignore[assignment]
    shape = Shape(spread * np.eye(d), 1.0 / spread)
    draw = Drawing(shape, *known, ScaledWalk(ShapedWalk(0.5)), INPUTS_TOGETHER)
    return like(KINDS[kind](draw, n, rng), judge.seen.y)


def _residual(judged: Any) -> float:
    return judged.trial.residual
