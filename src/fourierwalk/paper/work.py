"""The work of a method after some steps. It is counted, not timed, so it is the same on every machine."""

from __future__ import annotations

from fourierwalk.paper.cases import Case, Experiment

COSINE = 40
"""Number of operations that the sine and cosine of one angle count as."""


def solves(experiment: Experiment, step: int) -> int:
    """Number of solves of a walk: one at its start, one at every step, and one more at every m-th step."""
    return 1 + step + step // experiment.refit_every


def evaluations(case: Case, experiment: Experiment, width: int, step: int) -> float:
    """Values exp(iω·x) computed: rows times frequencies of every solve, or of every sample of the gradient.

    Examples
    --------
    >>> from fourierwalk.paper.cases import CASE_3
    >>> walk, _, gradient = CASE_3.experiments
    >>> evaluations(CASE_3, walk, 256, 99) / evaluations(CASE_3, gradient, 256, 10_000)
    100.0
    """
    return float(step) * width if experiment.method == "gradient" else float(_rows(case, experiment, step)) * width


def operations(case: Case, experiment: Experiment, width: int, step: int) -> float:
    """Additions and multiplications of real numbers, by the plain method.

    Every value exp(iω·x) takes 2d + 40. A solve adds 4NK² for one triangle of SᴴS, 8NK for Sᴴy and 4K³/3 for the
    factorisation; a sample of the gradient 2d + 24 for each frequency.
    """
    d, values = case.d, evaluations(case, experiment, width, step)
    if experiment.method == "gradient":
        return values * (4 * d + COSINE + 24)
    return values * (2 * d + COSINE + 4 * width + 8) + solves(experiment, step) * 4 * width**3 / 3


def _rows(case: Case, experiment: Experiment, step: int) -> int:
    return case.n_rows * solves(experiment, step)
