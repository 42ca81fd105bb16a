"""Training without tuning (`sampler="auto"`): models grow while the validation error falls, and are averaged."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.data.waves import CosineSine, RoundedCosineSine
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import Proposal, ScaledWalk, ShapedWalk
from fourierwalk.sampling.sampler import Info, State, norms
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training.following import Ending, Phase, Trail, follow_from, spread_of
from fourierwalk.training.history import Decision, Event
from fourierwalk.training.policy import DEFAULT, Policy
from fourierwalk.training.replay import Request, piece
from fourierwalk.training.selection import Candidate, Selection, by_leave_one_out
from fourierwalk.training.starts import KINDS, MOST_DOUBLINGS, Drawing, Shape, drawn

MANY_INPUTS = 10
"""With more inputs than this, frequencies are learnt from more rows."""

WALK_REGULARIZATION = 0.01
"""λ of the steps of a walk if the user gives none."""


class Split(NamedTuple):
    """A train-validation split, and the distribution of the first frequencies."""

    problem: LeastSquares  # on the training rows
    selection: Selection | None  # with the validation rows; None: there are none
    shape: Shape | None = None

    def sample(self, n_rows: int) -> Split:
        """The same with at most `n_rows` training rows: the first ones, because rows are in random order."""
        if n_rows >= len(self.problem.rows) or self.selection is None:
            return self
        return self._posed(self.problem.rows.take(np.arange(n_rows)), self.problem.features)

    def rounded(self) -> Split:
        """The same in single precision where that is faster: for cosine-sine features of dense NumPy rows."""
        if self.problem.features != CosineSine() or not isinstance(self.problem.rows.x, np.ndarray):
            return self
        return self._posed(self.problem.rows, RoundedCosineSine())

    def _posed(self, rows: Rows, features: Features) -> Split:
        """A split with other training rows or features; the problem and the looks share their equations."""
        selection: Any = self.selection
        problem = LeastSquares(rows, features, self.problem.regularization, self.problem.solver)
        minimize = replace(problem, solver=selection.minimize.solver)
        return Split(problem, replace(selection, minimize=minimize), self.shape)


class Panel(Protocol):
    """The rows of a fit, with one train-validation split for each member of the average."""

    @property
    def n_together(self) -> int:
        """The number of members whose validation errors are averaged when the width is chosen."""

    @property
    def n_rows(self) -> int:
        """The number of distinct rows."""

    @property
    def n_inputs(self) -> int:
        """The number of columns."""

    @property
    def holds_out(self) -> bool:
        """Whether there are validation rows."""

    def split(self, member: int) -> Split:
        """The train-validation split of a member."""


class Grown(NamedTuple):
    """A member that may still grow, whether its descent stopped early, and the kinds of frequencies it has taken."""

    candidate: Candidate
    is_done: bool = False
    kinds: tuple[str, ...] = ()  # one for each width so far


class Ensemble(NamedTuple):
    """The result of a search so far."""

    members: tuple[Candidate, ...]  # the models to be averaged
    judges: tuple[Selection | None, ...]  # the validation rows of each member; None: there are none
    state: State  # where a warm start continues
    kinds: tuple[str, ...] = ()  # the kind of new frequencies that the first member took at each width


class Start(NamedTuple):
    """What the user has fixed about the first frequencies; None is left to the search."""

    n_frequencies: int | None
    dimension: int  # components of a frequency: the inputs, and a bias if the features have one
    n_inputs: int
    frequencies: Array | None = None  # the first frequencies themselves
    spread: float | None = None  # the standard deviation of their components
    regularization: float | None = None  # λ
    step: int = 0  # steps of earlier fits


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

    def search(
        self, panel: Panel, start: Start, rng: np.random.Generator
    ) -> Generator[Event | Ensemble | Request, Any, Ensemble]:
        """Search for frequencies. Yields every step, look and decision, and each better result as a `Ensemble`."""
        if not panel.holds_out:
            return (yield from self._by_leave_one_out(panel.split(0).problem, start, rng))
        levels = self.levels(panel, start)
        ensemble = yield from self._grown_together(panel, start, levels, rng)
        if not beats_the_mean(ensemble, self.policy):
            return (yield from _constant(ensemble))
        sizes = self._sizes(start, [int(member.frequencies.shape[0]) for member in ensemble.members])
        for member in range(len(ensemble.members), len(sizes)):
            split = _shaped_by(ensemble.members[0], panel.split(member))
            grown: Any = None
            narrower = [level[0] for level in levels if level[0] < sizes[member]]
            for i, width in enumerate((*narrower, sizes[member])):
                kinds = ensemble.kinds[i : i + 1] or ensemble.kinds[-1:]
                grown = yield from self._grown(split, grown, width, start, levels, rng, kinds)
            candidate = yield from self._polished(split, grown, levels, rng)
            ensemble = ensemble._replace(
                members=(*ensemble.members, candidate), judges=(*ensemble.judges, split.selection)
            )
            text = f"model {member + 1} of {len(sizes)}: held-out error {candidate.look.error:.4g}"
            yield Decision(text, len(sizes) - member - 1)
            yield ensemble
        return ensemble

    def levels(self, panel: Panel, start: Start) -> list[tuple[int, ...]]:
        """The widths (numbers of frequencies) to try, narrowest first: one width for each member of the panel."""
        if start.frequencies is not None:
            return [(int(start.frequencies.shape[0]),)]
        least = self.policy.least_width
        if start.n_frequencies is None:
            n_members = max(self.policy.members, panel.n_together)
            most = max(least, min(self.policy.most_frequencies // n_members, panel.n_rows // 2))
            widths = self._widths(most)
            if len(widths) > 1 and widths[-1] < 2 * widths[-2]:  # not worth a level of its own
                widths = widths[:-1]
            return [(width,) * panel.n_together for width in widths]
        n_members = max(1, min(panel.n_together, start.n_frequencies // least))
        last = shares(start.n_frequencies, n_members)
        return [*((width,) * n_members for width in self._widths(last[0])[:-1]), tuple(last)]

    def _widths(self, most: int) -> list[int]:
        """A geometric sequence of widths, from the policy's least width to `most`."""
        widths = [min(self.policy.least_width, most)]
        while widths[-1] < most:
            widths.append(min(self.policy.growth * widths[-1], most))
        return widths

    def _worth(self, width: int, panel: Panel) -> float:
        """The relative gain in validation error that makes this width worth its cost; it grows with the cost."""
        n_members = max(self.policy.members, panel.n_together)
        n_rows = self.n_rows(panel.n_inputs, panel.n_rows)
        cost = 4.0 * width**2 * n_rows * self.policy.steps * n_members
        return self.policy.widening * (1.0 + cost / self.policy.operations)

    def _pays(self, width: int, before: float, after: float, floor: float, panel: Panel, start: Start) -> bool:
        """Whether a larger width is taken: by the validation errors of the narrower and of the wider model.

        Where few rows decide, a larger width of classes is taken unless it is clearly worse. If the number of
        frequencies is given, narrow models do not have fewer frequencies but more members: a larger width must gain.
        """
        if start.n_frequencies is None:
            return before - after > self._worth(width, panel) * before - floor
        return before - after > self.policy.widening * (before + floor)

    def n_rows(self, n_inputs: int, n_rows: int) -> int:
        """The number of rows that frequencies are learnt from; more if there are many inputs."""
        return min(n_rows, self.policy.rows_per_input * max(MANY_INPUTS, n_inputs))

    def _sampled(self, split: Split) -> Split:
        rows = split.problem.rows
        return split.sample(self.n_rows(int(rows.x.shape[1]), len(rows)))

    def _sizes(self, start: Start, trained: Sequence[int]) -> list[int]:
        """The widths of all members; the trained ones come first."""
        if start.frequencies is not None:
            return list(trained)
        policy, width = self.policy, trained[0]
        if start.n_frequencies is None:
            n_members = max(policy.members, min(policy.most_members, policy.usual // width))
            return [*trained, *[width] * (n_members - len(trained))]
        rest = start.n_frequencies - sum(trained)
        n_more = max(1, min(rest // width, policy.most_members - len(trained)))
        return [*trained, *shares(rest, n_more)] if rest > 0 else list(trained)

    def _grown_together(
        self, panel: Panel, start: Start, levels: Sequence[tuple[int, ...]], rng: np.random.Generator
    ) -> Generator[Event | Ensemble | Request, Any, Ensemble]:
        """Grow the members of the panel together, until a larger width does not lower their mean validation error."""
        n_members = len(levels[0])
        splits = [panel.split(member) for member in range(n_members)]
        judges = tuple(split.selection for split in splits)
        best: list[Grown] = []
        last: list[Any] = [None] * n_members
        floor = _least_error(judges, self.policy)
        for level in levels:
            for i, width in enumerate(level):
                last[i] = yield from self._grown(splits[i], last[i], width, start, levels, rng, self.kinds)
                if not best and i == 0:
                    yield _ensemble([last[0].candidate], judges[:1])
            pays = not best or self._pays(level[0], _error(best), _error(last), floor, panel, start)
            yield Decision(
                f"{_counted(n_members, 'model')} of {level[0]} frequencies: held-out error {_error(last):.4g}"
                + ("" if pays else f", against {_error(best):.4g}: not worth its width")
            )
            if not pays:
                break
            best = list(last)
            yield _ensemble([grown.candidate for grown in best], judges)
        members: list[Candidate] = []
        for split, grown in zip(splits, best, strict=True):
            member = yield from self._polished(split, grown, levels, rng)
            members.append(member)
        ensemble = _ensemble(members, judges)._replace(kinds=best[0].kinds)
        yield ensemble
        return ensemble

    def _grown(
        self,
        split: Split,
        grown: Grown | None,
        width: int,
        start: Start,
        levels: Sequence[tuple[int, ...]],
        rng: np.random.Generator,
        kinds: tuple[str, ...],
    ) -> Generator[Event | Request, Any, Grown]:
        """A widened model; after an interruption the journal may have it."""
        return (yield from piece(self._widened(split, grown, width, start, levels, rng, kinds), rng, split.problem))

    def _widened(
        self,
        split: Split,
        grown: Grown | None,
        width: int,
        start: Start,
        levels: Sequence[tuple[int, ...]],
        rng: np.random.Generator,
        kinds: tuple[str, ...],
    ) -> Generator[Event | Request, Any, Grown]:
        """Widen a model: draw new frequencies in each of some ways, keep the best, and descend from there."""
        sampled = self._sampled(split)
        selection: Any = sampled.selection
        before = None if grown is None else grown.candidate
        tried = []
        for kind, frequencies in self._drawn(sampled, before, width, start, rng, kinds):
            if before is None:
                candidate = selection.look(start.step, frequencies, kind)
            else:
                candidate = selection.look_near(before.look, before.look.step, frequencies, kind)
            yield candidate.look
            tried.append(candidate)
        chosen = min(tried, key=lambda candidate: candidate.look.error)
        n_steps = self.policy.steps if self.n_steps is None else self.n_steps // len(levels)
        wider = yield from self._descended(sampled, chosen, n_steps, rng)
        return wider._replace(kinds=(*(() if grown is None else grown.kinds), chosen.look.phase))

    def _drawn(
        self,
        split: Split,
        before: Candidate | None,
        width: int,
        start: Start,
        rng: np.random.Generator,
        kinds: tuple[str, ...],
    ) -> Generator[tuple[str, Array], None, None]:
        """For each way to draw new frequencies: its name, and all frequencies of the wider model."""
        reference, xp = split.problem.rows.y, namespace(split.problem.rows.y)
        if start.frequencies is not None:
            yield "given", start.frequencies
            return
        known: Any = (None, None) if before is None else (to_host(before.frequencies), to_host(before.amplitudes))
        walk = self.proposal or ScaledWalk(ShapedWalk(self.policy.wander))
        if start.spread is not None:
            kinds = tuple(kind for kind in kinds if kind in ("isotropic", "walk")) or ("isotropic",)
        shape: Any = split.shape
        draw = Drawing(shape, known[0], known[1], walk, self.policy.inputs_together)
        n_new = width - (0 if before is None else before.frequencies.shape[0])
        for kind, new in drawn(kinds, draw, n_new, start.dimension - start.n_inputs, rng):
            frequencies = self._inside(like(new, reference))
            yield kind, frequencies if before is None else xp.concat((before.frequencies, frequencies), axis=0)

    def _inside(self, frequencies: Array) -> Array:
        """New frequencies; those of a norm beyond `max_norm` are shortened."""
        if math.isinf(self.max_norm):
            return frequencies
        xp, lengths = namespace(frequencies), norms(frequencies)
        is_inside = lengths < self.max_norm
        factors = xp.where(is_inside, xp.ones_like(lengths), 0.99 * self.max_norm / lengths)
        return frequencies * factors[:, None]

    def _descended(
        self, split: Split, chosen: Candidate, n_steps: int, rng: np.random.Generator
    ) -> Generator[Event | Request, Any, Grown]:
        """The best state of a descent from a candidate; in single precision while errors and λ are large enough."""
        if not self.descend or n_steps < 1 or split.problem.features.gradient is None:
            return Grown(chosen)
        policy, floor = self.policy, _least_error((split.selection,), self.policy)
        if self._may_round(split.problem, chosen, floor):
            split = split.rounded()
            least = max(policy.rounded_regularization, policy.least_regularization)
            policy = replace(policy, least_regularization=least)
        phase = Phase(
            Descent(max_norm=self.max_norm),
            replace(split.problem, solver=split.problem.solver.for_descent),
            n_steps,
            policy.look_every,
            policy.patience if self.patience is None else self.patience,
            follows=True,
            policy=policy,
            floor=floor,
        )
        selection: Any = split.selection
        events = follow_from(phase, selection, chosen, chosen.look.step, rng)
        trail: Any = yield from (
            _in_single(events) if isinstance(split.problem.features, RoundedCosineSine) else events
        )
        look = trail.best.look._replace(step=trail.state.step)  # count on from the last step, not from the best one
        return Grown(trail.best._replace(look=look), trail.ending is not Ending.ALL_DONE)

    def _may_round(self, problem: LeastSquares, chosen: Candidate, floor: float) -> bool:
        """Whether single precision saves time and is far below the error and the ridge."""
        width = problem.features.n_columns * int(chosen.frequencies.shape[0])
        saves = float(len(problem.rows)) * width**2 >= self.policy.rounded_from
        is_safe = chosen.look.regularization >= self.policy.rounded_regularization
        return saves and is_safe and chosen.look.error + floor >= self.policy.rounded

    def _polished(
        self, split: Split, grown: Grown, levels: Sequence[tuple[int, ...]], rng: np.random.Generator
    ) -> Generator[Event | Request, Any, Candidate]:
        """A finished member; after an interruption the journal may have it."""
        return (yield from piece(self._finished(split, grown, levels, rng), rng, split.problem))

    def _finished(
        self, split: Split, grown: Grown, levels: Sequence[tuple[int, ...]], rng: np.random.Generator
    ) -> Generator[Event | Request, Any, Candidate]:
        """The finished member: a longer descent unless the last one stopped early, then λ from a finer grid."""
        selection: Any = split.selection
        n_steps = self.policy.last_steps if self.n_steps is None else self.n_steps % len(levels)
        if not grown.is_done:
            sampled = self._sampled(split)
            grown = yield from self._descended(sampled, grown.candidate, n_steps, rng)
        return selection.refined(grown.candidate)

    def _by_leave_one_out(
        self, problem: LeastSquares, start: Start, rng: np.random.Generator
    ) -> Generator[Event | Ensemble | Request, Any, Ensemble]:
        """Very few rows: leave-one-out chooses the spread of the frequencies and λ.

        No step is taken, because leave-one-out cannot judge frequencies that were fitted to the same rows.
        """
        is_given = start.frequencies is not None
        best = spread_by_trial(
            lambda ω: by_leave_one_out(problem, ω if is_given else self._inside(ω), start.regularization),
            start._replace(n_frequencies=start.n_frequencies or self.policy.usual),
            problem.rows.y,
            rng,
        )
        yield best.look
        yield Decision(f"frequencies of spread {spread_of(best.frequencies):.3g} without steps, by leave-one-out")
        ensemble = _ensemble([best], (None,))
        total = problem.rows.total_weight
        # The leave-one-out error of the constant model, which predicts each row by the mean of the others.
        constant_error = float(problem.rows.target_energy) / total * (total / max(total - 1.0, 1.0)) ** 2
        if not best.look.error < constant_error:
            return (yield from _constant(ensemble))
        yield ensemble
        return ensemble


def _shaped_by(member: Candidate, split: Split) -> Split:
    """The split with new frequencies drawn from the covariance of a trained member's, weighted by ``|βₖ|²``.

    By Parseval this is the mean outer product of the member's own gradients. It has seen more rows than the kernel's.
    """
    if split.shape is None:
        return split
    weights = np.sum(np.abs(to_host(member.amplitudes)) ** 2, axis=1)
    roots = np.sqrt(weights / max(float(np.sum(weights)), 1e-300))
    n_inputs = split.shape.root.shape[1]
    return split._replace(shape=split.shape._replace(root=roots[:, None] * to_host(member.frequencies)[:, :n_inputs]))


def _in_single(events: Generator[Any, Any, Trail]) -> Generator[Any, Any, Trail]:
    """The same events, with the precision of the steps recorded as single."""
    answer: Any = None
    while True:
        try:
            event = events.send(answer)
        except StopIteration as end:
            return end.value
        if isinstance(event, Info) and event.solve is not None:
            event = event._replace(solve=event.solve._replace(precision="single"))
        answer = yield event


def _ensemble(members: Sequence[Any], judges: Sequence[Selection | None]) -> Ensemble:
    first = members[0]
    return Ensemble(tuple(members), tuple(judges), State(first.look.step, first.frequencies, first.amplitudes, None))


def _error(members: Sequence[Grown]) -> float:
    """The mean validation error of the members; their folds have the same size."""
    return sum(member.candidate.look.error for member in members) / len(members)


def _least_error(judges: Sequence[Selection | None], policy: Policy) -> float:
    """A floor for comparisons of log losses, so that a few rows do not decide; zero for squared errors."""
    n_rows = sum(len(judge.held_out) for judge in judges if judge is not None and judge.shares is not None)
    return policy.sure_rows / n_rows if n_rows else 0.0


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def shares(n: int, n_parts: int) -> list[int]:
    """n as a sum of `n_parts` whole numbers that differ by at most one."""
    return [n * (i + 1) // n_parts - n * i // n_parts for i in range(n_parts)]


def beats_the_mean(ensemble: Ensemble, policy: Policy) -> bool:
    """Whether the members beat the mean of the targets on their validation rows.

    Either every fold gains a clear share of the mean's error, or the mean gain is several standard errors above zero.
    """
    judged = [
        (judge, member) for judge, member in zip(ensemble.judges, ensemble.members, strict=True) if judge is not None
    ]
    gains = [judge.gains(member) for judge, member in judged]
    shares_gained = [
        float(np.mean(gain)) / max(float(np.mean(gain)) + member.look.error, 1e-300)
        for gain, (_, member) in zip(gains, judged, strict=True)
    ]
    if min(shares_gained) > (policy.clear if len(gains) >= policy.folds else 1.0 - policy.clear):
        return True  # targets with heavy tails have a large standard error, even if the fit is perfect
    pooled = np.concatenate(gains)
    return bool(np.mean(pooled) > policy.sure * np.std(pooled) / math.sqrt(pooled.size))


def for_average(members: Sequence[Candidate]) -> list[Candidate]:
    """The members, with λ divided by the root of their number: an average varies less, so each needs less ridge."""
    looks = [member.look for member in members]
    fewer = [look._replace(regularization=look.regularization / math.sqrt(len(looks))) for look in looks]
    return [member._replace(look=look) for member, look in zip(members, fewer, strict=True)]


def averaged(models: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Frequencies and amplitudes of the average of several models."""
    if len(models) == 1:
        return models[0]
    concat = namespace(models[0][0]).concat
    frequencies = concat([frequencies for frequencies, _ in models], axis=0)
    return frequencies, concat([amplitudes for _, amplitudes in models], axis=0) / len(models)


def spread_by_trial(
    look: Callable[[Array], Candidate], start: Start, reference: Any, rng: np.random.Generator
) -> Candidate:
    """The candidate with the least error among frequencies (2ⁱ/√d) ξ, for one draw ξ of normal numbers and some i.

    The user's own frequencies, or frequencies of the user's spread, are taken as they are.
    """
    if start.frequencies is not None:
        return look(start.frequencies)
    normal = like(rng.standard_normal((start.n_frequencies, start.dimension)), reference)  # type: ignore[arg-type]
    if start.spread is not None:
        return look(start.spread * normal)
    unit = 1.0 / math.sqrt(start.dimension)
    tried = {power: look(unit * 2.0**power * normal) for power in (0, 1)}
    direction = 1 if tried[1].look.error < tried[0].look.error else -1
    power = max(0, direction)
    while abs(power) < MOST_DOUBLINGS:
        tried[power + direction] = look(unit * 2.0 ** (power + direction) * normal)
        if not tried[power + direction].look.error < tried[power].look.error:
            break
        power += direction
    return tried[power]


def _constant(ensemble: Ensemble) -> Generator[Event | Ensemble | Request, Any, Ensemble]:
    """The constant model, as members whose amplitudes are zero."""
    yield Decision("nothing beats the mean of the targets on rows that were not fitted: the constant model")
    nothing = tuple(
        Candidate(look._replace(regularization=math.inf), frequencies, 0 * amplitudes)
        for look, frequencies, amplitudes in ensemble.members
    )
    ensemble = ensemble._replace(members=nothing)
    yield ensemble
    return ensemble
