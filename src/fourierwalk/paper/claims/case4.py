"""Case 4: handwritten digits, and Table 1."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import t as student

from fourierwalk.paper import results
from fourierwalk.paper.claims.rules import lower
from fourierwalk.paper.curves import Curve, common, compared, exponent, measured, widths_in_words
from fourierwalk.paper.printed import PRINTED, TABLE_COLUMNS
from fourierwalk.paper.summary import Cells, curve
from fourierwalk.paper.verdicts import Claim, Verdict, missing, of_parts

READINGS = {"misclassified_modulus": "largest modulus", "misclassified_real": "largest real part"}
"""How the largest of the ten complex outputs is read; the paper prints the modulus."""

COLUMN_LABELS = ("fixed N(0,1)", "fixed N(0,0.1²)", "adaptive")
CONFIDENCE = 0.95


def smallest_error(cells: Cells) -> Claim:
    """Algorithm 1 against the better of the paper's two fixed spreads, and beside our tuned one."""
    text = "The smallest error is achieved with frequencies sampled by Algorithm 1."
    walk, narrow, tuned = (_curve(cells, name) for name in ("algorithm-1", "fixed-0.1", "tuned"))
    beside = compared(walk, tuned)
    ahead, behind = ([width for width, each in beside.items() if each.sign == sign] for sign in (-1, 1))
    restriction = "Against N(0,0.1²), the better of the paper's two fixed distributions at every K."
    if beside:
        restriction += (
            f" Against fixed frequencies with tuned σ and λ (ours) it is lower at "
            f"{widths_in_words(ahead, list(beside))}, and higher at {widths_in_words(behind, list(beside))}."
        )
    return lower(text, "Case 4, Table 1 and Figure 5", walk, narrow, restriction, digits=2)


def _curve(cells: Cells, name: str, figure: str = "misclassified_modulus") -> Curve:
    return curve(cells, "case4", name, figure)


def fixed_does_not_converge(cells: Cells) -> Claim:
    """The exponent of K under N(0,1)."""
    text = "With frequencies from N(0,1) no convergence with respect to K is observed."
    where, line = "Case 4, Table 1 and Figure 5", _curve(cells, "fixed")
    fitted = exponent(line, 2)
    if math.isnan(fitted.value):
        return missing(text, where)
    first, last = line.measured(int(line.widths[0])), line.measured(line.largest)
    evidence = (
        f"From K = {line.widths[0]} to {line.largest} the error goes from {first.text(2)} % to {last.text(2)} %; the "
        f"exponent of K is {fitted.text(4)}."
    )
    verdict = Verdict.HOLDS if fitted.value > -0.05 else Verdict.FAILS
    restriction = "Read as: an exponent above −0.05. " + (
        "The error does fall, by more than two standard errors." if last.minus(first).sign == -1 else ""
    )
    return Claim(text, where, verdict, evidence, restriction.strip())


def column(index: int) -> Callable[[Cells], Claim]:
    """A printed column, one run per K: whether each is within our 95 % prediction interval."""

    def judged(cells: Cells) -> Claim:
        text = f"Table 1, column “{COLUMN_LABELS[index]}”: our runs reproduce the printed errors."
        where, name = "Table 1", TABLE_COLUMNS[index]
        rows = {width: distance(_curve(cells, name), width, PRINTED[width][index]) for width in PRINTED}
        rows = {width: z for width, z in rows.items() if not math.isnan(z)}
        if not rows:
            return missing(text, where)
        verdict = of_parts([abs(z) <= 1 for z in rows.values()])
        return Claim(text, where, verdict, _differences(cells, index, rows), _reading(cells, name))

    judged.__doc__ = f"Column {index + 1}."
    return judged


def distance(line: Curve, width: int, printed: float) -> float:
    """Printed error minus our mean, in half widths of our 95 % prediction interval for a further run.

    NaN if there is no standard deviation.
    """
    at = np.flatnonzero(line.widths == width)
    if not at.size or line.n_seeds[at[0]] < 2:
        return math.nan
    n = int(line.n_seeds[at[0]])
    half = float(student.ppf(0.5 + CONFIDENCE / 2, n - 1)) * float(line.deviation[at[0]]) * math.sqrt(1 + 1 / n)
    return (
        (printed - float(line.mean[at[0]])) / half if half > 0 else math.copysign(math.inf, printed - line.mean[at[0]])
    )


def _differences(cells: Cells, index: int, rows: dict[int, float]) -> str:
    line = _curve(cells, TABLE_COLUMNS[index])
    among = list(rows)
    inside = [width for width, z in rows.items() if abs(z) <= 1]
    words = f"The printed value is inside the 95 % interval of a run of ours at {widths_in_words(inside, among)}"
    off = [
        f"K = {width}: {PRINTED[width][index]:.2f} % printed, ours {line.at(width):.2f} % with a standard deviation of "
        f"{float(line.deviation[line.widths == width][0]):.2f}"
        for width, z in rows.items()
        if abs(z) > 1
    ]
    return f"{words}; outside at {'; '.join(off)}." if off else f"{words}."


def _reading(cells: Cells, name: str) -> str:
    modulus, real = (_curve(cells, name, figure) for figure in READINGS)
    seeds = sorted(set(modulus.n_seeds.tolist()))
    n = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    gaps = {width: abs(modulus.at(width) - real.at(width)) for width in common(modulus, real)}
    words = f"{n} realisations at every K; by chance one width in twenty is outside. Class of the largest modulus."
    if gaps:
        worst = max(gaps, key=lambda width: gaps[width])
        words += f" By the largest real part errors differ by up to {gaps[worst]:.1f} points (K = {worst})."
    return words


def largest_width(cells: Cells) -> Claim:
    """What a changed parameter does to the error at K = 8192."""
    text = "Algorithm 1 with the printed parameters has an error of 1.98 % at K = 8192."
    where, line = "Table 1, last row", _curve(cells, "algorithm-1")
    printed, z = PRINTED[8192][2], distance(line, 8192, PRINTED[8192][2])
    if math.isnan(z):
        return missing(text, where)
    ours = sorted(r["misclassified_modulus"] for k, _, r in results.of(cells, "case4", "algorithm-1") if k == 8192)
    among = ours[0] <= printed <= ours[-1]
    verdict = Verdict.HOLDS if among else Verdict.PARTLY if abs(z) <= 1 else Verdict.FAILS
    side = "inside" if abs(z) <= 1 else "outside"
    evidence = (
        f"Ours is {line.measured(8192).text(2)} %, {len(ours)} walks from {ours[0]:.2f} to {ours[-1]:.2f} %; the "
        f"printed run is {side} the interval that 95 % of further walks would fall into, {abs(z):.2f} of the way to "
        "its end"
    )
    changed = changes(cells)
    if changed:
        evidence += ". With products in bf16 it is " + ", ".join(
            f"{v} % {k}" if k == "as printed" else f"{v} % with {k}" for k, v in changed.items()
        )
    restriction = "In bf16 one parameter is changed at a time. " if changed else ""
    return Claim(text, where, verdict, f"{evidence}.", f"{restriction}One image of the test set is 0.01 points.")


def changes(cells: Cells) -> dict[str, str]:
    """% misclassified by what was changed, mean ± standard error."""
    kept: dict[str, list[float]] = {}
    for key, cell in sorted(cells.items()):
        if key.startswith("gap/"):
            kept.setdefault(cell["settings"]["experiment"]["label"], []).append(cell["result"]["misclassified_modulus"])
    return {label: measured(values).text(2) for label, values in kept.items()}


CLAIMS: tuple[Callable[[Cells], Claim], ...] = (
    smallest_error,
    fixed_does_not_converge,
    *(column(index) for index in range(3)),
    largest_width,
)
