"""How one model grows: new frequencies are drawn in several ways, the best are taken, and descent refines all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import Proposal
from fourierwalk.training.following import Ending, Phase, follow
from fourierwalk.training.policy import Policy
from fourierwalk.training.replay import Work, piece
from fourierwalk.training.selection import Candidate
from fourierwalk.training.split import Split, least_error
from fourierwalk.training.starts import Drawing, Start, drawn, inside


class Grown(NamedTuple):
    """A member that may still grow."""

    candidate: Candidate
    is_done: bool = False  # whether its descent stopped early
    n_useful: int = 0  # steps at the last width that led to its best state
    kinds: tuple[str, ...] = ()  # the kinds of frequencies that it has taken, one for each width so far


@dataclass(frozen=True)
class Growth:
    """How the members of one search grow.

    Parameters
    ----------
    start : Start
        What the user has fixed about the first frequencies.
    rng : Generator
        The source of random numbers.
    policy : Policy
        The tuned numbers.
    n_steps : int
        The most steps of descent at each width.
    n_last_steps : int
        The most further steps at the last width.
    patience : int
        Descent ends after this many looks at the validation rows without a gain.
    proposal : Proposal
        How the kind "walk" moves frequencies.
    max_norm : float
        All frequencies stay below this norm.
    """

    start: Start
    rng: np.random.Generator
    policy: Policy
    n_steps: int
    n_last_steps: int
    patience: int
    proposal: Proposal
    max_norm: float

    def begun_at(self, frequencies: Array) -> Growth:
        """The same, with given first frequencies."""
        return replace(self, start=self.start._replace(frequencies=frequencies))

    def widened(self, split: Split, grown: Grown | None, width: int, kinds: tuple[str, ...]) -> Work[Grown]:
        """Widen a model, or begin with one; after an interruption the journal may have it."""
        return piece(self._widened(split, grown, width, kinds), self.rng, split.problem)

    def finished(self, split: Split, grown: Grown) -> Work[Grown]:
        """A finished member; after an interruption the journal may have it."""
        return piece(self._finished(split, grown), self.rng, split.problem)

    def settled(self, whole: Split, member: Candidate, n_useful: int) -> Work[Grown]:
        """The member after as many steps on all rows as were useful, at its λ; the journal may have it.

        But at least as many as between two looks: a look cannot tell which of them were useful.
        """
        n_steps = max(n_useful, self.policy.look_every)
        return piece(self._descended(whole, member, n_steps), self.rng, whole.problem)

    def _widened(self, split: Split, grown: Grown | None, width: int, kinds: tuple[str, ...]) -> Work[Grown]:
        """Draw new frequencies in each of some ways, keep the best, and descend from there."""
        sampled = split.sample(self.policy)
        selection: Any = sampled.selection
        before, taken = (None, ()) if grown is None else (grown.candidate, grown.kinds)
        tried = []
        for kind, frequencies in self._drawn(sampled, before, width, kinds):
            if before is None:
                candidate = selection.look(self.start.step, frequencies, kind)
            else:
                candidate = selection.look_near(before.look, before.look.step, frequencies, kind)
            yield candidate.look
            tried.append(candidate)
        chosen = min(tried, key=lambda candidate: candidate.look.error)
        wider = yield from self._descended(sampled, chosen, self.n_steps)
        return wider._replace(kinds=(*taken, chosen.look.phase))

    def _drawn(
        self, split: Split, before: Candidate | None, width: int, kinds: tuple[str, ...]
    ) -> Iterator[tuple[str, Array]]:
        """For each way to draw new frequencies: its name, and all frequencies of the wider model."""
        start, reference, xp = self.start, split.problem.rows.y, namespace(split.problem.rows.y)
        if start.frequencies is not None:
            yield "given", start.frequencies
            return
        known = (None, None) if before is None else (to_host(before.frequencies), to_host(before.amplitudes))
        if start.spread is not None:
            kinds = tuple(kind for kind in kinds if kind in ("isotropic", "walk")) or ("isotropic",)
        shape: Any = split.shape
        draw = Drawing(shape, known[0], known[1], self.proposal, self.policy.inputs_together)
        n_new = width - (0 if before is None else before.frequencies.shape[0])
        for kind, new in drawn(kinds, draw, n_new, start.dimension - start.n_inputs, self.rng):
            frequencies = inside(like(new, reference), self.max_norm)
            yield kind, frequencies if before is None else xp.concat((before.frequencies, frequencies), axis=0)

    def _descended(self, split: Split, chosen: Candidate, n_steps: int) -> Work[Grown]:
        """The best state of a descent from a candidate; in single precision while errors and λ are large enough."""
        if n_steps < 1 or split.problem.features.gradient is None:
            return Grown(chosen)
        policy, floor = self.policy, least_error([split], self.policy)
        least = policy.least_regularization
        if self._may_round(split, chosen, floor):
            split, least = split.rounded(), max(policy.rounded_regularization, least)
        minimize = replace(split.problem, solver=split.problem.solver.for_descent)
        parts = Descent(max_norm=self.max_norm), minimize, n_steps, policy.look_every, self.patience
        phase = Phase(*parts, policy.gain, floor, least)
        first = phase.sampler.init(phase.minimize_at(chosen.look), chosen.frequencies)
        trail = yield from follow(phase, split.selection, chosen, first._replace(step=chosen.look.step), self.rng)
        state, best = trail.state, trail.best or chosen
        n_useful = best.look.step - chosen.look.step
        if split.selection is None:  # there is no look to tell the best state: the last one
            best = best._replace(frequencies=state.frequencies, amplitudes=state.amplitudes)
        look = best.look._replace(step=state.step)  # count on from the last step, not from the best one
        return Grown(best._replace(look=look), trail.ending is not Ending.ALL_DONE, n_useful)

    def _may_round(self, split: Split, chosen: Candidate, floor: float) -> bool:
        """Whether single precision saves time and is far below the error and the ridge."""
        problem = split.problem
        width = problem.features.n_columns * int(chosen.frequencies.shape[0])
        saves = float(len(problem.rows)) * width**2 >= self.policy.rounded_from
        is_safe = chosen.look.regularization >= self.policy.rounded_regularization
        return saves and is_safe and chosen.look.error + floor >= self.policy.rounded

    def _finished(self, split: Split, grown: Grown) -> Work[Grown]:
        """A longer descent unless the last one stopped early."""
        if grown.is_done:
            return grown
        further = yield from self._descended(split.sample(self.policy), grown.candidate, self.n_last_steps)
        n_useful = self.n_steps + further.n_useful if further.n_useful else grown.n_useful
        return grown._replace(candidate=further.candidate, n_useful=n_useful)
