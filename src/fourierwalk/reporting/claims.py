"""Claims with verdicts, as a page shows them: a coloured word, then the claim and its evidence."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple, Protocol

SIGNS = {
    "holds": "✓",
    "partly": "≈",
    "does not hold": "✗",
    "not testable at this scale": "?",
    "ahead": "▲",
    "level": "=",
    "behind": "▼",
}
"""Verdicts of claims and of comparisons, each with a sign for readers who do not see its colour."""


class Judged(Protocol):
    """What the page needs of a claim."""

    @property
    def text(self) -> str:
        """The claim, in a sentence."""

    @property
    def where(self) -> str:
        """Its place in the paper."""

    @property
    def verdict(self) -> str:
        """One of `SIGNS`."""

    @property
    def evidence(self) -> str:
        """A sentence with numbers."""

    @property
    def restriction(self) -> str:
        """The restriction under which the verdict stands; may be empty."""


class ShownClaim(NamedTuple):
    """A claim as it is shown."""

    text: str
    where: str  # its place in the paper
    verdict: str  # one of SIGNS
    evidence: str  # a sentence with numbers
    restriction: str = ""  # under which the verdict stands


def shown(claims: Sequence[Judged]) -> str:
    """A line that counts the verdicts, then the list of claims.

    Examples
    --------
    >>> "holds: 1" in shown([ShownClaim("Errors fall", "Figure 2", "holds", "from 0.4 to 0.1")])
    True
    """
    return f'{_counts(claims)}<ol class="claims">{"".join(map(_item, claims))}</ol>'


def badge(verdict: str, words: str | None = None) -> str:
    """A coloured word."""
    kind = verdict.replace(" ", "-")
    sign = f'<span aria-hidden="true">{SIGNS[verdict]}</span>'
    return f'<span class="verdict {kind}">{sign} {html.escape(words or verdict)}</span>'


def _counts(claims: Sequence[Judged]) -> str:
    each = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in SIGNS}
    words = "".join(badge(verdict, f"{verdict}: {count}") for verdict, count in each.items() if count)
    return f'<p class="counts">{words}</p>'


def _item(claim: Judged) -> str:
    lines = [f"<strong>{html.escape(claim.text)}</strong>", html.escape(claim.evidence)]
    if claim.restriction:
        lines.append(f"<em>Restriction: {html.escape(claim.restriction)}</em>")
    if claim.where:
        lines.append(f'<span class="where">{html.escape(claim.where)}</span>')
    told = "".join(f"<span>{line}</span>" for line in lines if line)
    return f'<li>{badge(claim.verdict)}<div class="told">{told}</div></li>'
