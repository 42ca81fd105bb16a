"""Every statement of the paper that numbers can judge: those of Section 5 by the cells, the theory by its checks."""

from __future__ import annotations

from fourierwalk.paper.claims import case1, case2, case3, case4, sweep
from fourierwalk.paper.summary import Cells, is_digits, scales
from fourierwalk.paper.theory import CHECKS
from fourierwalk.paper.verdicts import Claim, Verdict, at_scale, missing

CLAIMS = (*case1.CLAIMS, *case2.CLAIMS, *case3.CLAIMS, *case4.CLAIMS, *sweep.CLAIMS)


def claims(cells: Cells) -> list[Claim]:
    """The claims of Section 5, as the cells judge them at their scale.

    Examples
    --------
    >>> {str(claim.verdict) for claim in claims({})}
    {'not testable at this scale'}
    """
    told = scales(cells)
    return [at_scale(_with_images(check(cells), cells), told) for check in CLAIMS]


def _with_images(claim: Claim, cells: Cells) -> Claim:
    """Other images do not judge claims about MNIST."""
    return missing(claim.text, claim.where) if "Table 1" in claim.where and is_digits(cells) else claim


def theory(cells: Cells) -> list[Claim]:
    """The claims of Sections 2 to 4, as their checks judge them. The checks are the same at every scale."""
    return [
        check.judge(cells[key]["result"]) if (key := f"theory/{name}/K00000-seed00") in cells else check.missing
        for name, check in CHECKS.items()
    ]


def counts(judged: list[Claim]) -> dict[Verdict, int]:
    """How many claims there are of each verdict.

    Examples
    --------
    >>> counts(claims({}))[Verdict.HOLDS]
    0
    """
    return {verdict: sum(claim.verdict is verdict for claim in judged) for verdict in Verdict}
