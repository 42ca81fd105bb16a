"""The models that are averaged, with the validation rows of each."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, namespace
from fourierwalk.sampling.sampler import State
from fourierwalk.training.history import Event
from fourierwalk.training.policy import Policy
from fourierwalk.training.replay import Request
from fourierwalk.training.selection import Candidate, Selection


class Ensemble(NamedTuple):
    """The result of a search so far."""

    members: tuple[Candidate, ...]  # the models to be averaged
    judges: tuple[Any, ...]  # the `Selection` of each member on its validation rows; None: there are none
    state: State  # where a warm start continues
    kinds: tuple[str, ...] = ()  # the kind of new frequencies that the first member took at each width
    n_useful: int = 0  # the steps of the first member at its last width that led to its best state
    n_kept: int | None = None  # the members that are averaged, the first ones; None: all
    settled: Candidate | None = None  # a single member after steps on all rows: no validation row is new to it

    @classmethod
    def of(cls, members: Sequence[Candidate], judges: Sequence[Selection | None]) -> Ensemble:
        """Some members; a warm start continues from the first."""
        look, frequencies, amplitudes = members[0]
        return cls(tuple(members), tuple(judges), State(look.step, frequencies, amplitudes, None))

    @property
    def final(self) -> tuple[Candidate, ...]:
        """The members whose amplitudes are solved for on all rows."""
        return self.members[: self.n_kept] if self.settled is None else (self.settled,)

    def constant(self) -> Ensemble:
        """The constant model, as members whose amplitudes are zero, but that of a frequency zero: the mean."""
        members = []
        for (look, frequencies, amplitudes), judge in zip(self.members, self.judges, strict=True):
            amplitudes = 0 * amplitudes
            if judge is not None and judge.mean is not None:
                xp = namespace(amplitudes)
                frequencies = xp.concat((0 * frequencies[:1, :], frequencies[1:, :]), axis=0)
                first = xp.astype(judge.mean, amplitudes.dtype)[None, :]
                amplitudes = xp.concat((first, amplitudes[1:, :]), axis=0)
            members.append(Candidate(look._replace(regularization=math.inf), frequencies, amplitudes))
        return self._replace(members=tuple(members))

    def beats_the_mean(self, policy: Policy) -> bool:
        """Whether the members beat the mean of the targets on their validation rows.

        Either every fold gains a clear share of the mean's error, or the mean gain is several standard errors above
        zero.
        """
        gains, shares_gained = [], []
        for judge, member in zip(self.judges, self.members, strict=True):
            gains.append(judge.gains(member))
            gain = float(np.mean(gains[-1]))
            shares_gained.append(gain / max(gain + member.look.error, 1e-300))
        if min(shares_gained) > (policy.clear if len(gains) >= policy.folds else 1.0 - policy.clear):
            return True  # targets with heavy tails have a large standard error, even if the fit is perfect
        pooled = np.concatenate(gains)
        return bool(np.mean(pooled) > policy.sure * np.std(pooled) / math.sqrt(pooled.size))


Searching = Generator[Event | Ensemble | Request, Any, Ensemble]
"""A search: it yields events, requests and each better result, and returns the last."""


def mean_error(members: Sequence[Candidate]) -> float:
    """The mean validation error of the members; their folds have the same size."""
    return sum(member.look.error for member in members) / len(members)


def doubt(judges: Sequence[Any], before: Sequence[Candidate], after: Sequence[Candidate]) -> float:
    """The standard error of the gain in mean validation error from some members to others, on the same rows."""
    tried = zip(judges, before, after, strict=True)
    pooled = np.concatenate([judge.gains(other) - judge.gains(one) for judge, one, other in tried])
    return float(np.std(pooled)) / math.sqrt(pooled.size)


def for_average(members: Sequence[Candidate]) -> list[Candidate]:
    """The members, with λ divided by the root of their number: an average varies less, so each needs less ridge."""
    root = math.sqrt(len(members))
    return [
        member._replace(look=member.look._replace(regularization=member.look.regularization / root))
        for member in members
    ]


def averaged(members: Sequence[Candidate]) -> tuple[Array, Array]:
    """Frequencies and amplitudes of the average of several models."""
    if len(members) == 1:
        return members[0].frequencies, members[0].amplitudes
    concat = namespace(members[0].frequencies).concat
    amplitudes = concat([member.amplitudes for member in members], axis=0) / len(members)
    return concat([member.frequencies for member in members], axis=0), amplitudes
