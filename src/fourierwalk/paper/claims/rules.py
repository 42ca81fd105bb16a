"""Two rules that many claims share: one curve is below another, and errors fall at a constant rate."""

from __future__ import annotations

import math

from fourierwalk.paper.curves import SURE, Curve, Measured, compared, exponent, local_exponents, widths_in_words
from fourierwalk.paper.verdicts import Claim, Verdict, missing

FROM = 32
"""Exponents are fitted from this K on. The text of a claim says so."""


def lower(text: str, where: str, curve: Curve, other: Curve, restriction: str = "", digits: int = 3) -> Claim:
    """The first curve is below the second: at every K, at some, or at none, by two standard errors.

    It holds if the first is higher at no K and lower at the largest.
    """
    differences = compared(curve, other)
    if not differences:
        return missing(text, where)
    if all(math.isnan(each.error) for each in differences.values()):
        return Claim(text, where, Verdict.NOT_TESTABLE, "One realisation of each gives no standard error.", restriction)
    among, by_sign = list(differences), _by_sign(differences)
    at = max(differences)
    words = [
        f"{name} at {widths_in_words(by_sign[sign], among)}"
        for sign, name in ((-1, "lower"), (0, "level within two standard errors"), (1, "higher"))
        if by_sign[sign]
    ]
    figures = f"at K = {at} it is {curve.measured(at).text(digits)} against {other.measured(at).text(digits)}"
    verdict = Verdict.FAILS if not by_sign[-1] else Verdict.PARTLY
    if not by_sign[1] and at in by_sign[-1]:
        verdict = Verdict.HOLDS
    return Claim(text, where, verdict, _sentence(f"{', '.join(words)}; {figures}"), restriction)


def _by_sign(differences: dict[int, Measured]) -> dict[int, list[int]]:
    return {sign: [width for width, each in differences.items() if each.sign == sign] for sign in (-1, 0, 1)}


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def exponents_in_words(curve: Curve) -> str:
    """The exponents between neighbouring widths, in a row."""
    local = local_exponents(curve)
    if not local:
        return "none"
    words = ", ".join(each.text(2) for each in local.values())
    return f"{words} from K = {min(local)[0]} to {max(local)[1]}"


def is_constant(curve: Curve, value: float) -> bool:
    """Whether every local exponent is within two standard errors of a value."""
    return all(abs(each.value - value) <= SURE * each.error for each in local_exponents(curve).values())


def falls(curve: Curve) -> bool:
    """Whether the error falls at every doubling, by two standard errors."""
    return all(each.sign == -1 for each in local_exponents(curve).values())


def rate(text: str, where: str, curve: Curve, expected: float | None = None) -> Claim:
    """Errors fall like a power of K, with the expected exponent if one is given.

    It holds if no exponent between neighbouring K differs from it (or from the fitted one) by more than two standard
    errors. It holds partly if errors fall at every doubling from K = 32 on and the fitted exponent is within 0.1 of the
    expected one, if there is one.
    """
    fitted, tail = exponent(curve, FROM), curve.between(FROM)
    if math.isnan(fitted.value):
        return missing(text, where)
    target = fitted.value if expected is None else expected
    verdict = Verdict.FAILS
    if is_constant(curve, target) and fitted.sign == -1:
        verdict = Verdict.HOLDS
    elif falls(tail) and abs(fitted.value - target) <= 0.1:
        verdict = Verdict.PARTLY
    evidence = f"The exponent fitted for K ≥ {FROM} is {fitted.text(2)}; between neighbours it is "
    evidence += f"{exponents_in_words(tail)}."
    small = curve.between(2, FROM)
    restriction = "" if verdict is Verdict.HOLDS else f"Judged for K ≥ {FROM}."
    if restriction and len(small.widths) > 1:
        restriction += f" Below, the exponents are {exponents_in_words(small)}."
    return Claim(text, where, verdict, evidence, restriction)
