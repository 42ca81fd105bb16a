"""Training without tuning (`sampler="auto"`): models grow while the validation error falls, and are averaged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fourierwalk.sampling.proposals import Proposal, ScaledWalk, ShapedWalk
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training.ensemble import Ensemble, Searching, doubt, mean_error
from fourierwalk.training.following import spread_of
from fourierwalk.training.growing import Grown, Growth
from fourierwalk.training.history import Decision
from fourierwalk.training.policy import DEFAULT, Policy
from fourierwalk.training.selection import Candidate, by_leave_one_out, refined
from fourierwalk.training.split import Panel, Split, least_error, rows_to_learn_from
from fourierwalk.training.starts import KINDS, Start, inside, spread_by_trial

NOTHING = Decision("nothing beats the mean of the targets on rows that were not fitted: the constant model")


@dataclass(frozen=True)
class Automatic:
    """Training without tuning: a narrow model grows as long as its validation error falls clearly.

    New frequencies are drawn in several ways, and the way with the least validation error is taken. Descent then
    refines all frequencies. The final model is the average of several members, each with other validation rows.

    Parameters
    ----------
    policy : Policy
        The tuned numbers.
    kinds : tuple of str
        The ways to draw new frequencies, some of `fourierwalk.training.starts.KINDS`.
    descend : bool
        Whether frequencies are refined by descent.
    proposal : Proposal, optional
        How the kind "walk" moves frequencies. None: by their amplitude-weighted covariance, with log-normal lengths.
    max_norm : float
        All frequencies stay below this norm.
    n_steps : int, optional
        The most steps of descent of each member. None: as the policy says.
    patience : int, optional
        Descent ends after this many looks at the validation rows without a gain. None: as the policy says.

    See Also
    --------
    fourierwalk.training.policy.Policy : The tuned numbers, with the evidence for each.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> from fourierwalk.training.automatic import Automatic
    >>> x = np.linspace(-3, 3, 400)[:, None]
    >>> y = np.sin(9 * x[:, 0])
    >>> model = AdaptiveFourierRegressor(8, sampler=Automatic(kinds=("isotropic",)), random_state=0).fit(x, y)
    >>> bool(model.score(x, y) > 0.99)
    True
    """

    policy: Policy = field(default_factory=lambda: DEFAULT)
    kinds: tuple[str, ...] = tuple(KINDS)
    descend: bool = True
    proposal: Proposal | None = None
    max_norm: float = math.inf
    n_steps: int | None = None
    patience: int | None = None

    def search(self, panel: Panel, start: Start, rng: np.random.Generator) -> Searching:
        """Search for frequencies. Yields every step, look and decision, and each better result as an `Ensemble`."""
        if not panel.holds_out:
            return (yield from self._by_leave_one_out(panel.split(0).problem, start, rng))
        widths = self.widths(panel, start)
        growth = self._growth(len(widths), start, rng)
        ensemble = yield from self._grown_together(panel, growth, widths)
        # Each member is judged at its own λ: with one λ for all, a fold may lose what it has found.
        judged = zip(ensemble.members, ensemble.judges, strict=True)
        alone = [refined([member], [judge])[0] for member, judge in judged]
        if not ensemble._replace(members=tuple(alone)).beats_the_mean(self.policy):
            yield NOTHING
            return ensemble.constant()
        ensemble = ensemble._replace(members=tuple(refined(ensemble.members, ensemble.judges)))
        yield ensemble
        sizes = self._sizes(panel, start, int(ensemble.members[0].frequencies.shape[0]))
        later = growth if self.patience is not None else replace(growth, patience=self.policy.later_patience)
        for member in range(len(ensemble.members), len(sizes)):
            ensemble = yield from self._joined(panel, later, ensemble, widths, member, sizes)
        return (yield from self._settled(panel, growth, ensemble))

    def _joined(
        self, panel: Panel, growth: Growth, ensemble: Ensemble, widths: Sequence[int], member: int, sizes: Sequence[int]
    ) -> Searching:
        """The same with one more member, which draws frequencies like those of an earlier one.

        Where every fold has an earlier one, that is the one with the same validation rows. A member whose error is far
        above that of the earlier ones has missed what they have found: it starts again from that one's frequencies.
        """
        earlier, width = ensemble.members[member % panel.n_together], sizes[member]
        split = panel.split(member).shaped_by(earlier)
        grown: Any = None
        for i, each in enumerate((*(narrower for narrower in widths if narrower < width), width)):
            kinds = ensemble.kinds[i : i + 1] or ensemble.kinds[-1:]
            grown = yield from growth.widened(split, grown, each, kinds)
        finished = yield from growth.finished(split, grown)
        floor = least_error([split], self.policy)
        most = self.policy.hopeless * (mean_error(ensemble.members) + floor) - floor
        if finished.candidate.look.error > most and self.n_steps is None:  # a user's own number of steps is exact
            grown = yield from growth.begun_at(earlier.frequencies[:width, :]).widened(split, None, width, ("given",))
            if int(grown.candidate.frequencies.shape[0]) < width:
                grown = yield from growth.widened(split, grown, width, ensemble.kinds[-1:])
            finished = yield from growth.finished(split, grown)
        (candidate,) = refined([finished.candidate], [split.selection])
        members, judges = (*ensemble.members, candidate), (*ensemble.judges, split.selection)
        ensemble = ensemble._replace(members=members, judges=judges, n_kept=None)
        text = f"model {member + 1} of {len(sizes)}: held-out error {candidate.look.error:.4g}"
        yield Decision(text, len(sizes) - member - 1)
        yield ensemble
        return ensemble

    def _settled(self, panel: Panel, growth: Growth, ensemble: Ensemble) -> Searching:
        """A single member takes some steps on all rows: its validation rows are new to it. An average knows all."""
        is_small = panel.n_rows <= rows_to_learn_from(panel.n_inputs, panel.n_rows, self.policy)
        settles = self.descend and self.n_steps is None and is_small and len(ensemble.final) == 1
        whole = panel.unsplit() if settles else None
        if whole is None:
            return ensemble
        settled = (yield from growth.settled(whole, ensemble.final[0], ensemble.n_useful)).candidate
        return ensemble._replace(settled=settled, state=Ensemble.of([settled], [None]).state)

    def _growth(self, n_levels: int, start: Start, rng: np.random.Generator) -> Growth:
        """How members grow; the user's own steps are shared among the levels, and the last descent has the rest."""
        policy, steps = self.policy, (0, 0)
        if self.descend:
            steps = (policy.steps, policy.last_steps) if self.n_steps is None else divmod(self.n_steps, n_levels)
        patience = policy.patience if self.patience is None else self.patience
        proposal = self.proposal or ScaledWalk(ShapedWalk(policy.wander))
        return Growth(start, rng, policy, *steps, patience, proposal, self.max_norm)

    def widths(self, panel: Panel, start: Start) -> list[int]:
        """The widths (numbers of frequencies of a member) to try, narrowest first."""
        if start.frequencies is not None:
            return [int(start.frequencies.shape[0])]
        policy, usual, most = self.policy, self.policy.usual, start.n_frequencies
        if most is not None:
            return [*(width for width in self._below(most) if 2 * width <= most), most]
        n_frequencies = min(policy.most_frequencies, max(usual, int(policy.wide / panel.n_columns)))
        most = min(n_frequencies // self._n_members(panel), max(usual, panel.n_rows // 2))
        most = max(policy.least_width, most)
        widths = self._below(most)
        return widths if widths and most < 2 * widths[-1] else [*widths, most]

    def _below(self, most: int) -> list[int]:
        """The geometric sequence of widths from the policy's least width on, as far as it is below `most`."""
        widths, width = [], self.policy.least_width
        while width < most:
            widths.append(width)
            width *= self.policy.growth
        return widths

    def _n_members(self, panel: Panel) -> int:
        """The least number of members if no number of frequencies is given."""
        return max(self.policy.members, panel.n_together)

    def _worth(self, width: int, panel: Panel) -> float:
        """The relative gain in validation error that makes this width worth its cost; it grows with the cost."""
        n_rows = rows_to_learn_from(panel.n_inputs, panel.n_rows, self.policy)
        cost = 4.0 * width**2 * n_rows * self.policy.steps * self._n_members(panel)
        return self.policy.widening * (1.0 + cost / self.policy.operations)

    def _needed(self, width: int, error: float, floor: float, panel: Panel, is_given: bool) -> float:
        """How much a larger width must take off the validation error of the narrower model.

        If K is given, its cost does not matter. Log losses of classes that differ by less than the floor cannot be told
        apart. So a wider model is taken unless it is worse by more than that. It must gain if the narrower one has an
        error below the floor.
        """
        if is_given:
            return self.policy.widening * error
        return self._worth(width, panel) * error - (floor if error > floor else 0.0)

    def _sizes(self, panel: Panel, start: Start, width: int) -> list[int]:
        """The numbers of frequencies of the final members, if their width was found to be best: K in all, if given."""
        policy, n_frequencies = self.policy, start.n_frequencies
        if start.frequencies is not None:
            return [width]
        if n_frequencies is None:
            return [width] * max(self._n_members(panel), min(policy.most_members, policy.usual // width))
        return shares(n_frequencies, max(1, min(n_frequencies // width, policy.most_members)))

    def _grown_together(self, panel: Panel, growth: Growth, widths: Sequence[int]) -> Searching:
        """Grow the members of the panel together, until a larger width does not lower their mean error.

        A width beyond the usual one is not tried if it must gain more than the last one did. Narrower ones cost little,
        and interactions of many inputs may show only at the third width.
        """
        start = growth.start
        n_members, is_given = panel.n_together if start.frequencies is None else 1, start.n_frequencies is not None
        splits = [panel.split(member) for member in range(n_members)]
        judges = [split.selection for split in splits]
        best: list[Grown] = []
        last: list[Any] = [None] * n_members
        least, gained, floor = math.inf, math.inf, least_error(splits, self.policy)
        for width in widths:
            needed = self._needed(width, least, floor, panel, is_given)
            if best and width > self.policy.usual and gained < needed:
                break
            for i in range(n_members):
                last[i] = yield from growth.widened(splits[i], last[i], width, self.kinds)
                if not best and i == 0:
                    yield self._so_far([last[0].candidate], judges[:1])
            candidates = [grown.candidate for grown in last]
            error = mean_error(candidates)
            if is_given and best:  # narrower models have more members, so a wider one must be surely better
                needed += doubt(judges, [grown.candidate for grown in best], candidates)
            pays = not best or least - error > needed
            yield Decision(
                f"{n_members} model{'s' * (n_members > 1)} of {width} frequencies: held-out error {error:.4g}"
                + ("" if pays else f", against {least:.4g}: not worth its width")
            )
            if not pays:
                break
            best, least, gained = list(last), error, least - error
            n_kept = min(len(self._sizes(panel, start, width)), n_members)
            yield self._so_far(candidates, judges)._replace(n_kept=n_kept)
        return (yield from self._finished_together(panel, growth, splits, best))

    def _so_far(self, candidates: Sequence[Candidate], judges: Sequence[Any]) -> Ensemble:
        """What a search that ends here has found; the constant model, if that is not better than the mean."""
        ensemble = Ensemble.of(candidates, judges)
        return ensemble if ensemble.beats_the_mean(self.policy) else ensemble.constant()

    def _finished_together(
        self, panel: Panel, growth: Growth, splits: Sequence[Split], best: Sequence[Grown]
    ) -> Searching:
        """The members after their last descent. They may be wider than before it, so that all share a given K."""
        width = int(best[0].candidate.frequencies.shape[0])
        sizes = self._sizes(panel, growth.start, width)
        finished = []
        for i, (split, grown) in enumerate(zip(splits, best, strict=True)):
            if i < len(sizes) and sizes[i] > width:
                grown = yield from growth.widened(split, grown, sizes[i], grown.kinds[-1:])
            finished.append((yield from growth.finished(split, grown)))
        ensemble = Ensemble.of([grown.candidate for grown in finished], [split.selection for split in splits])
        n_kept = min(len(sizes), len(splits))
        if n_kept < len(splits):
            yield Decision(
                f"{n_kept} of {len(splits)} models kept, with {growth.start.n_frequencies} frequencies in all"
            )
        return ensemble._replace(kinds=best[0].kinds, n_useful=finished[0].n_useful, n_kept=n_kept)

    def _by_leave_one_out(self, problem: LeastSquares, start: Start, rng: np.random.Generator) -> Searching:
        """Very few rows: leave-one-out chooses the spread of the frequencies and λ.

        No step is taken, because leave-one-out cannot judge frequencies that were fitted to the same rows.
        """
        max_norm = self.max_norm if start.frequencies is None else math.inf
        best = spread_by_trial(
            lambda ω: by_leave_one_out(problem, inside(ω, max_norm), start.regularization),
            start._replace(n_frequencies=start.n_frequencies or self.policy.usual),
            problem.rows.y,
            rng,
        )
        yield best.look
        yield Decision(f"frequencies of spread {spread_of(best.frequencies):.3g} without steps, by leave-one-out")
        ensemble = Ensemble.of([best], [None])
        total = problem.rows.total_weight
        # The leave-one-out error of the constant model, which predicts each row by the mean of the others.
        constant_error = float(problem.rows.target_energy) / total * (total / max(total - 1.0, 1.0)) ** 2
        if not best.look.error < constant_error:
            yield NOTHING
            return ensemble.constant()
        return ensemble


def shares(n: int, n_parts: int) -> list[int]:
    """n as a sum of `n_parts` whole numbers that differ by at most one."""
    return [n * (i + 1) // n_parts - n * i // n_parts for i in range(n_parts)]
