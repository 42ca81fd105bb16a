"""The search for frequencies on the residual of conditions, judged at points that the amplitudes have not seen."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
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


class Judged(NamedTuple):
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

    def look(self, kind: str, spread: float, frequencies: Array, near: float = PATH[0]) -> Judged:
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
        return Judged(trial, frequencies, amplitudes)

    def _width(self, frequencies: Array) -> int:
        return 2 * self.features.n_columns * int(frequencies.shape[0])

    def _residual(self, columns: Sequence[Array], unknowns: Array) -> float:
        xp, weight = namespace(unknowns), self.unseen.weight
        values = xp.concat([matmul(part, unknowns) for part in columns])
        square = xp.sum(weight * (values - self.unseen.y)[:, 0] ** 2) / self.unseen.total_weight
        energy = self.seen.target_energy / self.seen.total_weight
        found = math.sqrt(float(square) / (energy or 1.0))
        return found if math.isfinite(found) else math.inf

    def fewer(self, n: int, rng: np.random.Generator) -> Judge:
        """The same with at most n seen rows."""
        if n >= len(self.seen):
            return self
        chosen = rng.permutation(len(self.seen))[:n]
        return Judge(self.seen.take(chosen), self.unseen, self.features)


@dataclass(frozen=True)
class Search:
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

    def run(self, judge: Judge, rng: np.random.Generator) -> Generator[Trial, None, Judged]:
        """Yield every trial, and return the best."""
        trials = []
        for kind, spread, frequencies in self._starts(judge, self.widths[0], rng):
            trials.append(judge.look(kind, spread, frequencies))
            yield trials[-1].trial
        best = min(trials, key=_residual)
        descended = yield from self._descended(judge, best, rng)
        for width in self.widths[1:]:
            if self._is_over(descended):
                return descended
            grown = yield from self._grown(judge, descended, width, rng)
            fresh = []
            for kind, spread, frequencies in self._wider(judge, best.trial, width, rng):
                fresh.append(judge.look(kind, spread, frequencies, best.trial.regularization))
                yield fresh[-1].trial
            best = min(best, *fresh, key=_residual)
            if grown.trial.residual < best.trial.residual:
                descended = yield from self._descended(judge, grown, rng)
            else:
                descended = min(best, descended, key=_residual)
        return descended

    def _is_over(self, best: Judged) -> bool:
        return best.trial.residual <= self.tolerance or time.monotonic() > self.deadline

    def _starts(self, judge: Judge, width: int, rng: np.random.Generator) -> Iterator[tuple[str, float, Array]]:
        kinds = ("isotropic", "sparse") if judge.features.n_inputs > 1 else ("isotropic",)
        for kind in kinds:
            for spread in SPREADS:
                yield kind, spread, drawn(kind, spread, width, judge, rng)

    def _wider(
        self, judge: Judge, best: Trial, width: int, rng: np.random.Generator
    ) -> Iterator[tuple[str, float, Array]]:
        for factor in NEAR:
            spread = factor * best.spread
            yield best.kind, spread, drawn(best.kind, spread, width, judge, rng)

    def _grown(
        self, judge: Judge, before: Judged, width: int, rng: np.random.Generator
    ) -> Generator[Trial, None, Judged]:
        """Add frequencies near those of large amplitude."""
        new = drawn("walk", before.trial.spread, width - before.trial.n_frequencies, judge, rng, before)
        frequencies = namespace(new).concat((before.frequencies, new))
        grown = judge.look("walk", before.trial.spread, frequencies, before.trial.regularization)
        yield grown.trial
        return grown

    def _descended(self, judge: Judge, start: Judged, rng: np.random.Generator) -> Generator[Trial, None, Judged]:
        """Descend on the residual of some of the seen rows, with a look now and then."""
        n_rows = ROWS_PER_UNKNOWN * judge.features.n_unknowns * start.trial.n_frequencies
        near, descent, best = start.trial.regularization, Descent(), start
        if self._is_over(best):
            return best
        minimize = Orthogonal(judge.fewer(n_rows, rng).seen, judge.features, near)
        state = descent.init(minimize, start.frequencies)
        for state, _ in descent.sample(minimize, state, rng, self.n_steps):
            if state.step % LOOK_EVERY == 0:
                looked = judge.look("descent", start.trial.spread, state.frequencies, near)
                yield looked.trial
                best = min(best, looked, key=_residual)
                if self._is_over(best):
                    break
        return best


ROWS_PER_UNKNOWN = 6
"""Rows of a step of descent, for each unknown."""

LOOK_EVERY = 10
"""Steps of descent between two looks at unseen points."""


def drawn(
    kind: str, spread: float, n: int, judge: Judge, rng: np.random.Generator, before: Judged | None = None
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
