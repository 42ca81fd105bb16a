"""Case 1: a regularised step."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fourierwalk.paper import results
from fourierwalk.paper.claims.rules import lower, rate
from fourierwalk.paper.curves import Curve, common, local_exponents, widths_in_words
from fourierwalk.paper.summary import Cells, curve
from fourierwalk.paper.targets import sine_integral, transform_modulus
from fourierwalk.paper.verdicts import Claim, Verdict, missing


def constant_slope(cells: Cells) -> Claim:
    """Judged by the exponents between neighbouring K."""
    text = "Algorithm 1's error shows a constant slope with respect to K."
    return rate(text, "Case 1, Figure 2d", curve(cells, "case1", "algorithm-1"))


def wider_start(cells: Cells) -> Claim:
    """The gradient from N(0, 50²) against that from N(0, 1)."""
    return lower(
        "The stochastic gradient's error becomes smaller when its initial frequencies are spread by 50 instead of 1.",
        "Case 1, Figures 2a and 2c",
        curve(cells, "case1", "gradient-50"),
        curve(cells, "case1", "gradient"),
    )


def gradient_stagnates(cells: Cells) -> Claim:
    """The last three widths: the gradient's exponents are not below −0.1, Algorithm 1's are below zero."""
    text = "With the wide start the stochastic gradient stagnates as K increases; Algorithm 1 does not."
    where = "Case 1, Figures 2a and 2d"
    gradient, walk = curve(cells, "case1", "gradient-50"), curve(cells, "case1", "algorithm-1")
    last = common(gradient, walk)[-3:]
    if len(last) < 3:
        return missing(text, where)
    stuck = [each.value > -0.1 for each in local_exponents(gradient.between(last[0])).values()]
    moving = [each.sign == -1 for each in local_exponents(walk.between(last[0])).values()]
    verdict = Verdict.HOLDS if all(stuck + moving) else Verdict.PARTLY if all(stuck) else Verdict.FAILS
    evidence = f"Over {widths_in_words(last, last)} the gradient's error is {_row(gradient, last)}, "
    return Claim(text, where, verdict, evidence + f"Algorithm 1's {_row(walk, last)}.")


def _row(line: Curve, widths: list[int]) -> str:
    return ", ".join(line.measured(width).text() for width in widths)


def walk_against_gradient(cells: Cells) -> Claim:
    """Algorithm 1 against the better of the two gradients at every K."""
    text = "Algorithm 1's error is below the stochastic gradient's."
    return lower(
        text,
        "Case 1, Figure 2 (its curves; the text does not say it)",
        curve(cells, "case1", "algorithm-1"),
        better(curve(cells, "case1", "gradient"), curve(cells, "case1", "gradient-50")),
        "Against the better of the two initial spreads at every K.",
    )


def better(first: Curve, second: Curve) -> Curve:
    """The lower of two curves at every common width."""
    chosen = []
    for width in common(first, second):
        line = min((first, second), key=lambda each: each.at(width))
        chosen.append([float(part[line.widths == width][0]) for part in line])
    columns = np.array(chosen).reshape(-1, 4).T
    return Curve(columns[0].astype(int), columns[1], columns[2], columns[3].astype(int))


def no_tuning(cells: Cells) -> Claim:
    """From ω = 0 both walks end below both gradients."""
    text = "Algorithms 1 and 2 need no tuning of the initial frequencies; the stochastic gradient does."
    where = "Case 1, Figure 2"
    names = ("algorithm-1", "algorithm-2", "gradient", "gradient-50")
    lines = {name: curve(cells, "case1", name) for name in names}
    at = max(common(*lines.values()), default=0)
    if not at:
        return missing(text, where)
    figures = {name: line.measured(at) for name, line in lines.items()}
    signs = [
        figures[walk].minus(figures[rival]).sign
        for walk in ("algorithm-1", "algorithm-2")
        for rival in ("gradient", "gradient-50")
    ]
    verdict = Verdict.HOLDS if set(signs) == {-1} else Verdict.PARTLY if -1 in signs else Verdict.FAILS
    evidence = (
        f"At K = {at}, from ω = 0, Algorithm 1 ends at {figures['algorithm-1'].text()} and Algorithm 2 at "
        f"{figures['algorithm-2'].text()}; the gradient ends at {figures['gradient'].text()} from N(0,1) and at "
        f"{figures['gradient-50'].text()} from N(0,50²)."
    )
    restriction = "At the largest K. Each walk has a step length δ of its own (5.76 and 0.1), which was chosen instead."
    return Claim(text, where, verdict, evidence, restriction)


def sigmoid(cells: Cells) -> Claim:
    """Experiment 5 against fixed Fourier features."""
    line, walk = curve(cells, "case1", "sigmoid"), curve(cells, "case1", "algorithm-1")
    at = max(common(line, walk), default=0)
    also = f" Algorithm 1 with Fourier features has {walk.measured(at).text()} at K = {at}." if at else ""
    return lower(
        "Algorithm 1 performs well with the sigmoid too.",
        "Experiment 5, Figure 2e",
        line,
        curve(cells, "case1", "fixed"),
        f"“Well” is read as: below fixed Fourier features N(0,1).{also}",
    )


def equal_amplitudes(cells: Cells) -> Claim:
    """The coefficient of variation of |β̂ₖ|, which is zero if all are equal."""
    text = "The walk equidistributes the amplitudes |β̂ₖ| as K → ∞."
    where = "Abstract and Section 1, property (b)"
    walk, fixed = (curve(cells, "case1", name, "amplitude_variation") for name in ("algorithm-1", "fixed"))
    judged = lower(text, where, walk.between(16), fixed.between(16), digits=2)
    if judged.verdict is Verdict.NOT_TESTABLE:
        return judged
    widths = common(walk.between(16), fixed)
    first, last = walk.measured(widths[0]), walk.measured(widths[-1])
    equal, falling = last.value < 0.1, last.minus(first).sign == -1
    more = judged.verdict is Verdict.HOLDS and falling
    verdict = Verdict.HOLDS if equal else Verdict.PARTLY if more else Verdict.FAILS
    evidence = (
        f"Their coefficient of variation (0 where all are equal) goes from {first.text(2)} at K = {widths[0]} to "
        f"{last.text(2)} at K = {widths[-1]}; of fixed N(0,1) frequencies from {fixed.measured(widths[0]).text(2)} to "
        f"{fixed.measured(widths[-1]).text(2)}."
    )
    restriction = "Case 1, Algorithm 1, K ≥ 16; of the amplitudes themselves, not of the smoothed measure β̄."
    return Claim(text, where, verdict, evidence, restriction)


def optimal_distribution(cells: Cells) -> Claim:
    """The Kolmogorov distance of the frequencies to |f̂|, against what K draws from it would have."""
    text = "Algorithms 1 and 2 approximately sample p* = |f̂|/‖f̂‖₁; random Fourier features N(0,1) do not."
    where = "Section 5 and Case 1, Figure 1"
    kept = {name: _frequencies(cells, name) for name in ("algorithm-1", "algorithm-2", "fixed")}
    if any(each.size == 0 for each in kept.values()):
        return missing(text, where)
    distance = {name: distance_to_transform(each) for name, each in kept.items()}
    chance = 1.36 / math.sqrt(kept["algorithm-1"].size)
    walks = [distance[name] for name in ("algorithm-1", "algorithm-2")]
    verdict = Verdict.FAILS
    if max(walks) <= chance < distance["fixed"]:
        verdict = Verdict.HOLDS
    elif max(walks) < 0.5 * distance["fixed"]:
        verdict = Verdict.PARTLY
    root = distance_to_transform(kept["algorithm-1"], 0.5)
    evidence = (
        f"The largest difference between the distribution functions of |ω| and p* is {walks[0]:.2f} and "
        f"{walks[1]:.2f}, of N(0,1) {distance['fixed']:.2f}; {kept['algorithm-1'].size} draws from p* would stay below "
        f"{chance:.2f} in 95 % of cases. To |f̂|^(1/2), which Remark 3.2 expects at γ = 1, Algorithm 1 has {root:.2f}."
    )
    return Claim(text, where, verdict, evidence, f"One realisation, K = {kept['algorithm-1'].size}.")


def _frequencies(cells: Cells, name: str) -> np.ndarray:
    """|ω| at the largest K where they were kept."""
    kept = [(width, r["frequencies"]) for width, _, r in results.of(cells, "case1", name) if "frequencies" in r]
    return np.abs(np.array(max(kept)[1])) if kept else np.array([])


def distance_to_transform(frequencies: np.ndarray, power: float = 1.0) -> float:
    """The Kolmogorov distance of |ω| to a power of Case 1's |f̂| as a density (scaled units are raw ones to 1 %)."""
    omega, modulus = transform_modulus(lambda x: sine_integral(x, 1e-3), 20_000)
    inside = omega <= 1_000  # |f̂| ends there; what FFT leaves beyond is rounding, which a root would raise
    density = np.where(inside, modulus, 0) ** power
    cumulative = np.cumsum(density) / np.sum(density)
    empirical = np.searchsorted(np.sort(frequencies), omega, side="right") / frequencies.size
    return float(np.max(np.abs(empirical - cumulative)))


CLAIMS: tuple[Callable[[Cells], Claim], ...] = (
    constant_slope,
    wider_start,
    gradient_stagnates,
    walk_against_gradient,
    no_tuning,
    sigmoid,
    equal_amplitudes,
    optimal_distribution,
)
