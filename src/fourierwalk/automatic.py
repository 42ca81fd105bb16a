"""Training without tuning (`sampler="auto"`): a spread by trial, a resampling walk, descent; held-out rows decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fourierwalk._arrays import Array, like, namespace
from fourierwalk.descent import Descent
from fourierwalk.following import (
    LOST,
    Phase,
    at_regularization,
    follow_from,
    hope,
    patience,
    patience_in_proportion,
    raced,
    spread_of,
)
from fourierwalk.least_squares import LeastSquares, Minibatch
from fourierwalk.proposals import AnnealedWalk, Proposal, ScaledWalk, ShapedWalk
from fourierwalk.resampling import Resampling
from fourierwalk.residual import Residual
from fourierwalk.sampler import Info, State
from fourierwalk.selection import Candidate, Look, Selection, beats_the_mean_left_out, by_leave_one_out, has_repeats

WALK_REGULARIZATION = 0.01
WALK_STEPS = 100
DESCENT_STEPS = 400
WALK_LOOKS_EVERY = 5
DESCENT_LOOKS_EVERY = 5
FIRST_STEP, LAST_STEP = 0.5, 0.1  # of the walk: relative to the frequencies' spread, and to the first
LEAST_MEMBER = 4  # frequencies of a member of an average
HOPELESS = 10.0  # times the error that there is: what descent makes up for in no member
AVERAGE = 0.98  # of the error that there is: what an average must reach to be worth its members
FINISHING_STEPS = 5
RICH, CROWDED = 1.0, 0.2  # components of the frequencies, per target: they can follow any noise; λ will be large
FEW_ROWS = 400  # below, no average is tried and descent is short
SHORT_PATIENCE = 10  # looks, at most, where gains do not come late: of members, of frequencies that follow anything
MOST_DOUBLINGS = 14


class Found(NamedTuple):
    """What a search has found: the members of the model (one, unless an average is better), and how."""

    members: tuple[Candidate, ...]
    state: State
    infos: list[Info]
    looks: list[Look]
    decisions: list[str]
    judged: tuple[Candidate, ...] = ()  # members that have not seen the first held-out rows, where those kept have
    is_lost: bool = False  # whether the walk led away from its start


class Split(NamedTuple):
    """The problem on the rows of the walk, and looks at those held out from it, if any are."""

    problem: LeastSquares
    selection: Any  # a Selection, or None


class Start(NamedTuple):
    """Where frequencies start: K and their dimension; the user's own frequencies, spread and λ, if any; steps taken."""

    shape: tuple[int, int]
    frequencies: Array | None = None
    spread: float | None = None
    regularization: float | None = None
    step: int = 0


@dataclass(frozen=True)
class Automatic:
    """Training without tuning. Each part can be left out, which is how its worth is measured.

    Parameters
    ----------
    walk : bool
        Whether a resampling walk explores.
    descend : bool
        Whether descent refines.
    members : tuple of int
        Numbers of models whose average is tried, one after the other; their frequencies together are K. The members of
        an average that is kept are trained on different rows.
    proposal : Proposal, optional
        How the walk moves frequencies. None: shaped by their amplitude-weighted covariance, with log-normal lengths,
        annealed.
    exponent : float, optional
        γ of a Metropolis test in the walk; none means no test.
    max_norm : float
        No frequency moves to this norm or beyond.
    n_steps : int, optional
        Steps of walk and descent together, a sixth of them walk. None: 100 and 400, fewer for few rows, and a few more
        from wider starts.
    patience : int
        Looks at the held-out rows without a gain after which descent ends; 10 at most for the members of an average,
        and, without `n_steps`, where the frequencies have more components than there are targets, and these are noisy
        (there often fewer).

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> from fourierwalk.automatic import Automatic
    >>> x = np.linspace(-3, 3, 400)[:, None]
    >>> y = np.sin(9 * x[:, 0])
    >>> model = AdaptiveFourierRegressor(8, sampler=Automatic(members=()), random_state=0).fit(x, y)
    >>> bool(model.score(x, y) > 0.99)
    True
    """

    walk: bool = True
    descend: bool = True
    members: tuple[int, ...] = (4, 16)
    proposal: Proposal | None = None
    exponent: float | None = None
    max_norm: float = math.inf
    n_steps: int | None = None
    patience: int = 30

    def search(self, splits: Callable[[int], Split], start: Start, rng: Any) -> Generator[Look, None, Found]:
        """Search for frequencies, yielding every look at the held-out rows.

        `splits(i)` is the i-th way to hold rows out.
        """
        first = splits(0)
        problem, selection = first
        if selection is None:
            return self._by_leave_one_out(problem, start, rng)
        found = yield from self._one(first, start, rng)
        best_error = found.members[0].look.error
        for_members = replace(self, walk=self.walk and not found.is_lost, patience=min(self.patience, SHORT_PATIENCE))
        for n_members in self.members if start.frequencies is None else ():  # given ones are those of one model
            if start.shape[0] // n_members < LEAST_MEMBER or problem.rows.total_weight < FEW_ROWS:
                break
            tried, error = yield from for_members._members(first, start, n_members, rng, best_error)
            kept = len(tried.members) == n_members and error < AVERAGE * best_error
            found = found._replace(
                infos=[*found.infos, *tried.infos],
                looks=[*found.looks, *tried.looks],
                decisions=[*found.decisions, tried.decisions[-1] + ("kept" if kept else "not kept")],
            )
            if kept:
                best_error = error
                found = found._replace(members=tried.members)
        if not selection.beats_the_mean(*averaged([(each.frequencies, each.amplitudes) for each in found.members])):
            return self._without_steps(problem, start, rng, found)
        if len(found.members) > 1 and splits(1) is not first:
            found = yield from for_members._on_other_rows(splits, start, rng, found)
        return found

    def _without_steps(self, problem: LeastSquares, start: Start, rng: Any, found: Found) -> Found:
        """Where no state surely beats the mean: frequencies without steps, by leave-one-out, a steadier judge."""
        if start.frequencies is not None or has_repeats(problem.rows):
            return _constant(found, "on held-out rows")
        fixed = self._by_leave_one_out(problem, start, rng)
        return fixed._replace(
            state=found.state,
            infos=found.infos,
            looks=[*found.looks, *fixed.looks],
            decisions=[*found.decisions, "no state surely beats the mean on held-out rows", *fixed.decisions],
        )

    def _by_leave_one_out(self, problem: LeastSquares, start: Start, rng: Any) -> Found:
        """A spread and a λ, and no steps: leave-one-out cannot judge frequencies that were fitted to its rows."""
        best = spread_by_trial(lambda ω: by_leave_one_out(problem, ω, start.regularization), start, problem.rows.y, rng)
        decisions = [f"frequencies of spread {spread_of(best.frequencies):.3g} without steps, by leave-one-out"]
        state = State(start.step, best.frequencies, best.amplitudes, None)
        found = Found((best,), state, [], [best.look], decisions)
        return found if beats_the_mean_left_out(problem, best) else _constant(found, "by leave-one-out")

    def _one(self, split: Split, start: Start, rng: Any, error: float = math.inf) -> Generator[Look, None, Found]:
        """One model: a spread by trial, a walk from there, descent from the walk's best state.

        No descent where it would have to gain too much to come near an error that there is.
        """
        problem, selection = split
        best = spread_by_trial(lambda ω: selection.look(start.step, ω, "start"), start, problem.rows.y, rng)
        yield best.look
        decisions = [f"start: spread {spread_of(best.frequencies):.3g}, held-out error {best.look.error:.4g}"]
        state = State(start.step, best.frequencies, best.amplitudes, None)
        infos: list[Info] = []
        looks, is_lost = [best.look], False
        first, may_race = best.frequencies, start.frequencies is None and start.spread is None and self.n_steps is None
        crowding = math.prod(start.shape) / (problem.rows.total_weight * problem.rows.y.shape[1])  # type: ignore[union-attr]
        for name in ("walk", "descent"):
            is_rich = crowding > RICH and not selection.is_quiet(best.look.error)
            phase = (
                self._walk_phase(problem, is_rich, rng)
                if name == "walk"
                else self._descent_phase(problem, is_rich, may_race and crowding > CROWDED)
            )
            if phase is None:
                continue
            if phase.follows and best.look.error > HOPELESS * error:
                break
            if phase.follows and may_race and not is_rich:
                trail, told = yield from raced(phase, selection, best, 2.0 * first, state.step, rng)
                decisions.extend(told)
            else:
                trail = yield from follow_from(phase, selection, best, state.step, rng)
            decisions.append(
                f"{name}: {len(trail.infos)} steps, held-out error {best.look.error:.4g} → "
                f"{trail.best.look.error:.4g}; {trail.ending}"  # type: ignore[union-attr]
            )
            best, state, is_lost = trail.best, trail.state, is_lost or trail.ending == LOST  # type: ignore[assignment]
            infos.extend(trail.infos)
            looks.extend(trail.looks)
        if self.descend and not hasattr(problem.features, "gradient"):
            decisions.append(f"no descent: the features {problem.features.name!r} have no gradient")
        return Found((selection.refined(best),), state, infos, looks, decisions, is_lost=is_lost)

    def _walk_phase(self, problem: LeastSquares, is_rich: bool, rng: Any) -> Phase | None:
        """How to explore."""
        n_steps, _ = self._budget(problem.rows.total_weight)
        if not self.walk or not n_steps:
            return None
        walk = Resampling(self.proposal or exploring(n_steps), exponent=self.exponent, max_norm=self.max_norm)
        on_batches = problem if problem.solver.batch_size is None else Minibatch(problem, rng.spawn(1)[0])
        n_looks = 0 if is_rich else n_steps // WALK_LOOKS_EVERY
        gives_up = hope(n_looks) if self.n_steps is None and self.descend else patience(n_steps)
        return Phase(walk, on_batches, n_steps, WALK_LOOKS_EVERY, gives_up)

    def _descent_phase(self, problem: LeastSquares, is_rich: bool, is_crowded: bool) -> Phase | None:
        """How to refine.

        Frequencies of more components than there are targets can follow any noise, from any start: descent is short,
        and once held-out errors rise they do so for good. Fewer may gain after a long time without. Where they are
        crowded amplitudes need a large λ, and its penalty would rule the loss.
        """
        _, n_steps = self._budget(problem.rows.total_weight)
        if not self.descend or not n_steps or not hasattr(problem.features, "gradient"):
            return None
        descent, minimize = Descent(max_norm=self.max_norm), replace(problem, solver=problem.solver.for_descent)
        in_proportion = patience_in_proportion(min(self.patience, SHORT_PATIENCE))
        gives_up = in_proportion if self.n_steps is None and is_rich else patience(self.patience)
        instead = Residual.of(minimize) if is_crowded else None
        return Phase(descent, minimize, n_steps, DESCENT_LOOKS_EVERY, gives_up, True, instead=instead)

    def _budget(self, n_rows: float) -> tuple[int, int]:
        """Steps of walk and descent."""
        if self.n_steps is not None:
            n_walk = self.n_steps if not self.descend else self.n_steps // 6 if self.walk else 0
            return n_walk, self.n_steps - n_walk
        return int(min(WALK_STEPS, n_rows / 8)), int(min(DESCENT_STEPS, n_rows / (8 if n_rows < FEW_ROWS else 4)))

    def _members(
        self, split: Split, start: Start, n_members: int, rng: Any, error: float
    ) -> Generator[Look, None, tuple[Found, float]]:
        """Several models that share the K frequencies, and the held-out error of their average.

        Given up as soon as the average of all can be foreseen to be no better than the error there is.
        """
        founds: list[Found] = []
        for size in _shares(start.shape[0], n_members):
            founds.append((yield from self._one(split, start._replace(shape=(size, start.shape[1])), rng, error)))
            if foreseen_error(split.selection, [found.members[0] for found in founds], n_members) > error:
                break
        tried = _merged(founds)
        average = average_error(split.selection, tried.members)
        decision = (
            f"average of {len(founds)} models of {start.shape[0] // n_members} frequencies: held-out error "
            f"{average:.4g} against {error:.4g}; "
        )
        return tried._replace(decisions=[decision]), average

    def _on_other_rows(
        self, splits: Callable[[int], Split], start: Start, rng: Any, found: Found
    ) -> Generator[Look, None, Found]:
        """The members of an average once more, each with other rows held out: together they have seen all."""
        n_members = len(found.members)
        founds = []
        for fold, size in enumerate(_shares(start.shape[0], n_members)):
            if fold:
                founds.append((yield from self._one(splits(fold), start._replace(shape=(size, start.shape[1])), rng)))
        others = _merged(founds)
        return found._replace(
            members=(found.members[0], *others.members),
            infos=[*found.infos, *others.infos],
            looks=[*found.looks, *others.looks],
            decisions=[*found.decisions, "the average's members trained once more, each with other rows held out"],
            judged=found.members,
        )

    def finish(self, problem: LeastSquares, member: Candidate, rng: Any) -> Candidate:
        """A few more steps of descent on all rows, for a member that descent has brought to where it is."""
        if not self.descend or member.look.phase != "descent" or math.isinf(member.look.regularization):
            return member
        minimize = at_regularization(problem, member.look.regularization)
        descent = Descent(max_norm=self.max_norm)
        state = descent.init(minimize, member.frequencies)
        for after, _ in descent.sample(minimize, state, rng, FINISHING_STEPS):
            state = after
        return member._replace(frequencies=state.frequencies)


def exploring(n_steps: int) -> Proposal:
    """Steps shaped by the amplitude-weighted covariance, of log-normal lengths, annealed over so many steps."""
    return AnnealedWalk(ScaledWalk(ShapedWalk(FIRST_STEP)), LAST_STEP, n_steps)


def _shares(n: int, n_parts: int) -> list[int]:
    return [n * (i + 1) // n_parts - n * i // n_parts for i in range(n_parts)]


def _merged(founds: list[Found]) -> Found:
    """Several searches told as one."""
    return Found(
        tuple(found.members[0] for found in founds),
        founds[-1].state,
        [info for found in founds for info in found.infos],
        [look for found in founds for look in found.looks],
        [decision for found in founds for decision in found.decisions],
    )


def foreseen_error(selection: Selection, members: Sequence[Candidate], n_members: int) -> float:
    """The error of an average of n members, from the first m: it falls like b + v/m from one member to all.

    From one member alone two thirds of its error: as a rule, averages gain less than a third.
    """
    one = sum(member.look.error for member in members) / len(members)
    m = len(members)
    if m == 1:
        return one / 1.5
    varying = (one - average_error(selection, members)) * m / (m - 1)
    return one - varying + varying / n_members


def average_error(selection: Selection, members: Sequence[Candidate]) -> float:
    """The held-out error of the members' average."""
    frequencies, amplitudes = averaged([(each.frequencies, each.amplitudes) for each in members])
    return selection.errors(frequencies, [amplitudes])[0]


def averaged(models: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Frequencies and amplitudes of the average of some models."""
    if len(models) == 1:
        return models[0]
    concat = namespace(models[0][0]).concat
    frequencies = concat([frequencies for frequencies, _ in models], axis=0)
    return frequencies, concat([amplitudes for _, amplitudes in models], axis=0) / len(models)


def spread_by_trial(look: Callable[[Array], Candidate], start: Start, reference: Any, rng: Any) -> Candidate:
    """The best of frequencies N(0, (2ⁱ/√d)²) with one draw of directions; the user's own start as it is."""
    if start.frequencies is not None:
        return look(start.frequencies)
    drawn = like(rng.standard_normal(start.shape), reference)
    if start.spread is not None:
        return look(start.spread * drawn)
    unit = 1.0 / math.sqrt(start.shape[1])
    tried = {power: look(unit * 2.0**power * drawn) for power in (0, 1)}
    way = 1 if tried[1].look.error < tried[0].look.error else -1
    power = max(0, way)
    while abs(power) < MOST_DOUBLINGS:
        tried[power + way] = look(unit * 2.0 ** (power + way) * drawn)
        if not tried[power + way].look.error < tried[power].look.error:
            break
        power += way
    return tried[power]


def _constant(found: Found, where: str) -> Found:
    """The constant model: nothing found is better."""
    nothing = tuple(
        Candidate(look._replace(regularization=math.inf), frequencies, 0 * amplitudes)
        for look, frequencies, amplitudes in found.members
    )
    decision = f"nothing beats the mean of the targets {where}: the constant model"
    return found._replace(members=nothing, decisions=[*found.decisions, decision])
