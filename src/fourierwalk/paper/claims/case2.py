"""Case 2: a function in dimension 5."""

from __future__ import annotations

import math
from collections.abc import Callable

from fourierwalk.paper.claims.rules import exponents_in_words, is_constant, lower, rate
from fourierwalk.paper.curves import exponent, local_exponents
from fourierwalk.paper.summary import Cells, curve
from fourierwalk.paper.verdicts import Claim, Verdict, missing


def expected_rate(cells: Cells) -> Claim:
    """Judged by the exponents between neighbouring K."""
    text = "Algorithm 1 has the expected convergence rate O(K^(−1/2))."
    return rate(text, "Case 2, Figure 3", curve(cells, "case2", "algorithm-1"), expected=-0.5)


def gradient_rate(cells: Cells) -> Claim:
    """The gradient up to K = 128."""
    text = "The stochastic gradient's error converges like K^(−1/2) for smaller K."
    where, line = "Case 2, Figure 3", curve(cells, "case2", "gradient").between(2, 128)
    fitted = exponent(line, 2)
    if math.isnan(fitted.value):
        return missing(text, where)
    near = abs(fitted.value + 0.5) <= 2 * fitted.error
    verdict = Verdict.HOLDS if is_constant(line, -0.5) else Verdict.PARTLY if near else Verdict.FAILS
    evidence = f"The exponent fitted for K ≤ 128 is {fitted.text(2)}; between neighbours it is "
    return Claim(text, where, verdict, f"{evidence}{exponents_in_words(line)}.", "K ≤ 128.")


def gradient_stops(cells: Cells) -> Claim:
    """The gradient from K = 128 on: no exponent between neighbours is below −0.1."""
    text = "The stochastic gradient stops improving for about K > 128."
    where, line = "Case 2, Figure 3", curve(cells, "case2", "gradient").between(128)
    local = local_exponents(line)
    if len(local) < 2:
        return missing(text, where)
    flat = [each.value > -0.1 for each in local.values()]
    verdict = Verdict.HOLDS if all(flat) else Verdict.PARTLY if any(flat) else Verdict.FAILS
    errors = ", ".join(line.measured(int(width)).text() for width in line.widths)
    return Claim(text, where, verdict, f"Its error from K = 128 to {line.largest} is {errors}.")


def walk_against_gradient(cells: Cells) -> Claim:
    """Algorithm 1 against the stochastic gradient at every K."""
    return lower(
        "Algorithm 1's error is below the stochastic gradient's.",
        "Case 2, Figure 3 (its curves; the text does not say it)",
        curve(cells, "case2", "algorithm-1"),
        curve(cells, "case2", "gradient"),
    )


CLAIMS: tuple[Callable[[Cells], Claim], ...] = (expected_rate, gradient_rate, gradient_stops, walk_against_gradient)
