"""Case 3: an anisotropic Gaussian, over time and over work."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fourierwalk.paper.cases import CASE_3, Case, Experiment
from fourierwalk.paper.curves import Measured, measured
from fourierwalk.paper.summary import Cells, covariances, time_to, trace, traces
from fourierwalk.paper.verdicts import Claim, Verdict, missing, of_parts
from fourierwalk.paper.work import evaluations, operations

WALKS, GRADIENT = ("algorithm-1", "algorithm-2"), "gradient"
LEVELS = (0.7, 0.5, 0.35, 0.25, 0.2)
"""Errors at which the methods are compared: who reaches them first."""

LABELS = {"algorithm-1": "Algorithm 1", "algorithm-2": "Algorithm 2", GRADIENT: "the gradient"}


def faster_over_time(cells: Cells) -> Claim:
    """Who reaches an error first, in seconds."""
    text = "Both algorithms converge faster over time than the stochastic gradient."
    lines = {name: trace(cells, name) for name in (*WALKS, GRADIENT)}
    if any(line is None for line in lines.values()):
        return missing(text, "Case 3, Figure 4")
    reached = {
        name: {level: time_to(line, level) for level in LEVELS} for name, line in lines.items() if line is not None
    }
    ends = "; ".join(
        f"{LABELS[name]} ends at {line[-1, 2]:.3f} after {line[-1, 1]:.0f} s"
        for name, line in lines.items()
        if line is not None
    )
    return Claim(
        text,
        "Case 3, Figure 4",
        of_parts(_firsts(reached)),
        f"Seconds to an error of {_in_words(reached, '{:.1f}')}; {ends}.",
        "One realisation, one thread each; compilation and the drawing of rows are not counted. "
        "The gradient here is compiled; the paper's ran in Matlab, where a loop over samples costs far more.",
    )


def less_work(cells: Cells) -> Claim:
    """Who reaches an error first, in values exp(iω·x) computed."""
    text = "Both algorithms converge with less work than the stochastic gradient."
    where = "Section 5, “computational complexity”"
    counted = {name: work_to(cells, name) for name in (*WALKS, GRADIENT)}
    if not all(counted.values()):
        return missing(text, where)
    values = {name: {level: each[0].value for level, each in levels.items()} for name, levels in counted.items()}
    sums = {name: {level: each[1].value for level, each in levels.items()} for name, levels in counted.items()}
    parts = [*_firsts(values), *_firsts(sums)]
    return Claim(
        text,
        where,
        of_parts(parts),
        f"Values exp(iω·x), in billions, to an error of {_in_words(values, '{:.2g}', 1e-9)}. Arithmetic operations, in "
        f"10¹², to an error of {_in_words(sums, '{:.2g}', 1e-12)}.",
        f"Means of {len(traces(cells, WALKS[0]))} realisation(s); “never” where one of them does not get there. Most "
        "operations of a walk are matrix products, which machines do faster than others.",
    )


def work_to(cells: Cells, name: str) -> dict[float, tuple[Measured, Measured]]:
    """(values, operations) until an error is first reached, by error; infinite if a realisation never reaches it."""
    lines = traces(cells, name)
    if not len(lines):
        return {}
    settings = next(cell["settings"] for key, cell in cells.items() if key.startswith(f"case3/{name}/"))
    case = replace(CASE_3, n_rows=settings["case"]["n_rows"])
    experiment = next(each for each in CASE_3.experiments if each.name == name)
    experiment = replace(experiment, refit_every=settings["experiment"]["refit_every"])
    return {level: _work(lines, level, case, experiment, settings["width"]) for level in LEVELS}


def _work(lines: np.ndarray, level: float, case: Case, experiment: Experiment, width: int) -> tuple[Measured, Measured]:
    steps = [line[line[:, 1] <= level, 0] for line in lines]
    if any(each.size == 0 for each in steps):
        return Measured(math.inf), Measured(math.inf)
    firsts = [int(each[0]) for each in steps]
    values = measured([evaluations(case, experiment, width, step) for step in firsts])
    return values, measured([operations(case, experiment, width, step) for step in firsts])


def _firsts(reached: dict[str, dict[float, float]]) -> list[bool]:
    """Whether each walk is before the gradient at each error that one of them reaches."""
    return [
        reached[walk][level] < reached[GRADIENT][level]
        for walk in WALKS
        for level in LEVELS
        if not (math.isinf(reached[walk][level]) and math.isinf(reached[GRADIENT][level]))
    ]


def _in_words(reached: dict[str, dict[float, float]], form: str, unit: float = 1.0) -> str:
    def shown(value: float) -> str:
        return "never" if math.isinf(value) else form.format(value * unit)

    return "; ".join(
        f"{level:g}: " + ", ".join(f"{LABELS[name]} {shown(levels[level])}" for name, levels in reached.items())
        for level in LEVELS[1::2] + LEVELS[-1:]
    )


def second_is_more_efficient(cells: Cells) -> Claim:
    """Algorithm 2's error minus Algorithm 1's after the same number of steps, so of solves."""
    text = "Algorithm 2 is more efficient than Algorithm 1: it has the smaller error after the same work."
    where = "Section 5, “especially Algorithm 2”, and Section 4"
    one, two = (traces(cells, name) for name in WALKS)
    n_seeds, n_looks = min(len(one), len(two)), min(one.shape[1], two.shape[1])
    if not n_seeds or not n_looks:
        return missing(text, where)
    looks = sorted({max(1, round(share * n_looks)) for share in (0.1, 0.2, 0.3, 0.5, 1.0)})
    rows = []
    for look in looks:
        pairs = [(float(one[i, look - 1, 1]), float(two[i, look - 1, 1])) for i in range(n_seeds)]
        rows.append((int(one[0, look - 1, 0]), pairs, measured([b - a for a, b in pairs])))
    signs = [difference.sign for _, _, difference in rows]
    verdict = Verdict.FAILS if -1 not in signs else Verdict.PARTLY if 1 in signs or signs[-1] != -1 else Verdict.HOLDS
    words = "; ".join(
        f"{step:,} steps {measured([b for _, b in pairs]).text()} against {measured([a for a, _ in pairs]).text()}"
        for step, pairs, _ in rows
    )
    covariance_starts = next(each.adapt_after for each in CASE_3.experiments if each.name == "algorithm-2")
    restriction = f"{n_seeds} realisation(s); one solve a step in both. Algorithm 2 starts with a step of 0.1 against "
    restriction += f"0.5, and its covariance counts after {covariance_starts:,} steps at paper scale."
    if all(math.isnan(difference.error) for _, _, difference in rows):
        verdict = Verdict.NOT_TESTABLE
    return Claim(text, where, verdict, f"Errors of Algorithm 2 against Algorithm 1 after {words}.", restriction)


def covariance(cells: Cells) -> Claim:
    """Each variance within a factor of two of the optimum."""
    text = "Algorithm 2 finds the covariance diag(32², 32⁻²) of the optimal frequencies."
    where = "Case 3, below (30)"
    one, two = (covariances(cells, name) for name in WALKS)
    if one is None or two is None:
        return missing(text, where)
    optimum = {"first": 32.0**2, "second": 32.0**-2}
    parts = [0.5 < two[name].value / best < 2 for name, best in optimum.items()]
    evidence = (
        f"Variances of the frequencies of Algorithm 2: {two['first'].text(0)} (optimum 1024) and "
        f"{two['second'].text(2)} (optimum 0.001); of Algorithm 1: {one['first'].text(0)} and {one['second'].text(2)}."
    )
    restriction = (
        "“Finds” is read as: within a factor of two. The paper prints the two entries in the other order. "
        "Inputs N(0,1) hardly tell a frequency of 0.03 from one of 0.5 in the second direction."
    )
    return Claim(text, where, of_parts(parts), evidence, restriction)


CLAIMS: tuple[Callable[[Cells], Claim], ...] = (
    faster_over_time,
    less_work,
    second_is_more_efficient,
    covariance,
)
