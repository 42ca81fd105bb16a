"""A check of the theory: a computation that ends in plain numbers, and a judgement of such numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from fourierwalk.paper import verdicts
from fourierwalk.paper.verdicts import Claim, Verdict

Numbers = dict[str, Any]


class Finding(NamedTuple):
    """What the numbers say about a claim."""

    verdict: Verdict
    evidence: str
    restriction: str = ""


@dataclass(frozen=True)
class Check:
    """A statement of the theory that a small problem can refute.

    Parameters
    ----------
    text, where : str
        See `Claim`.
    compute : callable
        Takes no arguments; returns numbers, lists and texts, which are stored.
    find : callable
        Takes those numbers, returns a `Finding`.
    """

    text: str
    where: str
    compute: Callable[[], Numbers]
    find: Callable[[Numbers], Finding]

    def judge(self, numbers: Numbers) -> Claim:
        """The claim, as these numbers judge it."""
        return Claim(self.text, self.where, *self.find(numbers))

    @property
    def missing(self) -> Claim:
        """The claim before its check was computed."""
        return verdicts.missing(self.text, self.where)
