"""Section 5.1: the spread of fixed frequencies, and what Algorithm 1 samples on the same data."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import chi2

from fourierwalk.paper import results
from fourierwalk.paper.cases import SWEEP
from fourierwalk.paper.curves import Measured, measured
from fourierwalk.paper.summary import Cells, sweep_by_seed
from fourierwalk.paper.verdicts import Claim, Verdict, missing, of_parts

FIGURES = {
    "rms_modulus": "modulus, noisy targets (as printed)",
    "rms_real": "real part, noisy targets",
    "rms_modulus_clean": "modulus, noise-free targets",
    "rms_real_clean": "real part, noise-free targets",
}
"""The four ways of measuring the error."""


def least_at_one(cells: Cells) -> Claim:
    """Where each way of measuring the error has its minimum."""
    text, where = "The generalisation error is least for σ_ω ≈ 1.", "Section 5.1, Figure 6"
    least = {figure: minimum(sweep_by_seed(cells, figure)) for figure in FIGURES}
    known = {figure: each for figure, each in least.items() if each is not None}
    if not known:
        return missing(text, where)
    parts = [0.8 <= spread <= 1.2 for spread, _ in known.values()]
    words = "; ".join(
        f"{FIGURES[figure]}: σ_ω = {spread:g}, at σ_ω = 1 the error is {(100 * excess.value):.2f} ± "
        f"{(100 * excess.error):.2f} % larger"
        for figure, (spread, excess) in known.items()
    )
    restriction = (
        f"“≈ 1” is read as 0.8 to 1.2. Raw data; test size Ñ = {_test_size(cells):,}, which the paper does not state."
    )
    return Claim(text, where, of_parts(parts), f"Least by {words}.", restriction)


def minimum(errors: dict[float, dict[int, float]]) -> tuple[float, Measured] | None:
    """The σ_ω of the least mean error, and by which share the error at 1 is larger (over realisations, paired)."""
    if len(errors) < 3 or 1.0 not in errors:
        return None
    best = min(errors, key=lambda spread: float(np.mean(list(errors[spread].values()))))
    seeds = sorted(errors[best].keys() & errors[1.0].keys())
    return best, measured([errors[1.0][seed] / errors[best][seed] - 1 for seed in seeds])


def _test_size(cells: Cells) -> int:
    sizes = [cell["settings"]["case"]["n_test"] for key, cell in cells.items() if key.startswith("sweep/")]
    return int(sizes[0]) if sizes else SWEEP.n_test


def algorithm_1_samples_it(cells: Cells) -> Claim:
    """The frequencies' spread and the median of |ω|, against N(0, I) in d dimensions."""
    text = "On these data Algorithm 1 would approximately sample p*, the standard normal density."
    where = "Section 5.1"
    kept = [result for _, _, result in results.of(cells, "sweep", "algorithm-1")]
    if not kept:
        return missing(text, where)
    spread = measured([result["frequency_spread"] for result in kept])
    middle, upper = (measured([result["norm_quartiles"][i] for result in kept]) for i in (1, 2))
    expected, far = (math.sqrt(float(chi2.ppf(share, SWEEP.d))) for share in (0.5, 0.75))
    near = [abs(spread.value - 1) <= 0.15, abs(middle.value / expected - 1) <= 0.15]
    gamma = 3 * SWEEP.d - 2
    evidence = (
        f"The root mean square of a frequency's component is {spread.text(2)} (1 under p*, "
        f"{math.sqrt(1 + 1 / gamma):.2f} by Remark 3.2 at γ = {gamma}); the median of |ω| is {middle.text(2)} "
        f"({expected:.2f}), its upper quartile {upper.text(1)} ({far:.1f})."
    )
    restriction = (
        "“Approximately” is read as within 15 %. The parameters are ours: δ = 2.4²/d, M = 1,000 at paper scale."
    )
    verdict = of_parts(near) if near[0] == near[1] else Verdict.PARTLY
    return Claim(text, where, verdict, evidence, restriction)


CLAIMS: tuple[Callable[[Cells], Claim], ...] = (least_at_one, algorithm_1_samples_it)
