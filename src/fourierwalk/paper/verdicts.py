"""The verdict on a claim of the paper: one of four kinds, the numbers that it rests on, and its restriction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

MISSING = "Its cells have not been computed."


class Verdict(StrEnum):
    """The four kinds, each as the words that a reader sees.

    Examples
    --------
    >>> [str(each) for each in Verdict]
    ['holds', 'partly', 'does not hold', 'not testable at this scale']
    """

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "does not hold"
    NOT_TESTABLE = "not testable at this scale"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and the verdict on it.

    Parameters
    ----------
    text : str
        What the paper says, in a sentence.
    where : str
        Its equation, figure, table or section, numbered as in the paper.
    verdict : Verdict
        The verdict.
    evidence : str
        One sentence with the numbers, and their standard errors after "±".
    restriction : str
        The part, reading or measure that the verdict is about; empty if it is about all that the paper says.
    """

    text: str
    where: str
    verdict: Verdict
    evidence: str
    restriction: str = ""


def missing(text: str, where: str) -> Claim:
    """A claim whose cells have not been computed."""
    return Claim(text, where, Verdict.NOT_TESTABLE, MISSING)


def at_scale(claim: Claim, scales: Sequence[str]) -> Claim:
    """The claim as results of these scales can judge it. Only results with the paper's own parameters can refute it.

    Examples
    --------
    >>> claim = Claim("Errors fall", "Figure 3", Verdict.FAILS, "They rise by 0.1 ± 0.02.")
    >>> str(at_scale(claim, ["quick"]).verdict), str(at_scale(claim, ["paper"]).verdict)
    ('not testable at this scale', 'does not hold')
    """
    is_whole = list(scales) == ["paper"] or claim.verdict in (Verdict.HOLDS, Verdict.NOT_TESTABLE)
    return claim if is_whole else replace(claim, verdict=Verdict.NOT_TESTABLE)


def of_parts(parts: Sequence[bool]) -> Verdict:
    """Holds if every part does, partly if some do.

    Examples
    --------
    >>> str(of_parts([True, True])), str(of_parts([True, False])), str(of_parts([False]))
    ('holds', 'partly', 'does not hold')
    """
    if not parts:
        return Verdict.NOT_TESTABLE
    return Verdict.HOLDS if all(parts) else Verdict.PARTLY if any(parts) else Verdict.FAILS
