"""Cells to numbers: errors over K, slopes, the paper's table beside ours, and which claims hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.paper import results
from fourierwalk.paper.cases import CASES, Case, at_scale, cells
from fourierwalk.paper.targets import sine_integral, transform_modulus

Found = dict[str, dict[str, Any]]

# Table 1 of the paper: % misclassified of MNIST for fixed N(0,1), fixed N(0,0.1²) and Algorithm 1.
PRINTED = {
    2: (89.97, 81.65, 80.03),
    4: (89.2, 70.65, 65.25),
    8: (88.98, 55.35, 53.44),
    16: (88.69, 46.77, 36.42),
    32: (88.9, 30.43, 23.52),
    64: (88.59, 19.73, 16.98),
    128: (88.7, 13.6, 11.13),
    256: (88.09, 10.12, 7.99),
    512: (88.01, 8.16, 5.93),
    1024: (87.34, 6.29, 4.57),
    2048: (86.5, 4.94, 3.5),
    4096: (85.21, 3.76, 2.74),
    8192: (83.98, 3.16, 1.98),
}
TABLE_COLUMNS = ("fixed", "fixed-0.1", "algorithm-1")


class Curve(NamedTuple):
    """Mean and standard deviation of a figure over realisations, by width."""

    widths: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    n_seeds: np.ndarray

    def at(self, width: int) -> float:
        """The mean at a width, NaN where there is none."""
        hit = np.flatnonzero(self.widths == width)
        return float(self.mean[hit[0]]) if hit.size else math.nan


def curve(found: Found, case: str, experiment: str, figure: str = "rms_modulus") -> Curve:
    """A figure of an experiment's cells over K."""
    values: dict[int, list[float]] = {}
    for width, _, result in results.of(found, case, experiment):
        if result.get(figure) is not None:
            values.setdefault(width, []).append(result[figure])
    widths = sorted(values)
    return Curve(
        np.array(widths),
        np.array([np.mean(values[w]) for w in widths]),
        np.array([np.std(values[w], ddof=1) if len(values[w]) > 1 else 0.0 for w in widths]),
        np.array([len(values[w]) for w in widths]),
    )


def slope(line: Curve, smallest: int = 32, largest: int = 2**30) -> float:
    """The exponent of K fitted to the means in a range of widths; NaN below three of them."""
    chosen = (line.widths >= smallest) & (line.widths <= largest)
    if chosen.sum() < 3:
        return math.nan
    return float(np.polyfit(np.log(line.widths[chosen]), np.log(line.mean[chosen]), 1)[0])


def scales(found: Found) -> list[str]:
    """The scales among the cells."""
    return sorted({cell["settings"]["scale"] for cell in found.values()})


def missing(found: Found, scale: str) -> list[str]:
    """What the scale asks for and the results lack, a line per experiment."""
    lines = []
    for case in (at_scale(case, scale) for case in CASES.values()):
        lacking: dict[str, dict[int, int]] = {}
        for cell in cells([case]):
            if cell.key not in found:
                lacking.setdefault(cell.experiment.label, {}).setdefault(cell.width, 0)
                lacking[cell.experiment.label][cell.width] += 1
        for label, widths in lacking.items():
            text = ", ".join(f"K = {width} ({count} of {case.realisations})" for width, count in widths.items())
            lines.append(f"{case.title}, {label}: {text}")
    return lines


def error_rows(found: Found, case: Case) -> tuple[list[str], list[list[str]]]:
    """Header and rows: e_K as printed and both root mean squares, mean ± 2 standard deviations."""
    header = ["method", "K", "n", "e_K as printed", "rms, modulus", "rms, real part"]
    rows = []
    for experiment in case.experiments:
        lines = [curve(found, case.name, experiment.name, f) for f in ("error_as_printed", "rms_modulus", "rms_real")]
        for i, width in enumerate(lines[0].widths):
            figures = [f"{line.mean[i]:.4g} ± {2 * line.deviation[i]:.2g}" for line in lines]
            rows.append([experiment.label, str(width), str(lines[0].n_seeds[i]), *figures])
    return header, rows


def table_1(found: Found) -> tuple[list[str], list[list[str]]]:
    """Table 1: the paper's % misclassified beside ours, and our tuned column."""
    names = ("fixed N(0,1)", "fixed N(0,0.1²)", "adaptive")
    header = ["K", *(f"{name}, {whose}" for name in names for whose in ("paper", "ours")), "fixed, tuned (ours)"]
    lines = {name: curve(found, "case4", name, "misclassified_modulus") for name in (*TABLE_COLUMNS, "tuned")}
    rows = []
    for width in sorted({int(w) for line in lines.values() for w in line.widths}):
        row = [str(width)]
        for i, name in enumerate(TABLE_COLUMNS):
            printed = PRINTED.get(width)
            row += [f"{printed[i]:.2f}" if printed else "–", _percent(lines[name], width)]
        rows.append([*row, _percent(lines["tuned"], width)])
    return header, rows


def _percent(line: Curve, width: int) -> str:
    """Mean and, of several seeds, standard deviation."""
    at = np.flatnonzero(line.widths == width)
    if not at.size:
        return "–"
    scatter = f" ± {line.deviation[at[0]]:.2f}" if line.n_seeds[at[0]] > 1 else ""
    return f"{line.mean[at[0]]:.2f}{scatter}"


def rounded(found: Found, case: str) -> str:
    """Which walks of a case had products below double precision; empty where none had."""
    cells = [cell["settings"] for key, cell in found.items() if key.startswith(f"{case}/")]
    precisions = [settings["experiment"].get("precision") for settings in cells]
    kinds = sorted({precision for precision in precisions if precision is not None})
    if not kinds:
        return ""
    widths = [settings["width"] for settings, each in zip(cells, precisions, strict=True) if each is not None]
    least, most = min(widths), max(widths)
    walks = "One walk" if len(widths) == 1 else f"{len(widths)} walks"
    among = f"{least}" if least == most else f"{least} to {most}"
    return f"{walks} (K = {among}) had products in {' and '.join(kinds)}, and the last fit in double precision."


def slope_rows(found: Found) -> tuple[list[str], list[list[str]]]:
    """Fitted exponents of K, K ≥ 32; the theory's is −1/2."""
    rows = []
    for case in ("case1", "case2"):
        for experiment in CASES[case].experiments:
            line = curve(found, case, experiment.name)
            value = slope(line)
            if not math.isnan(value):
                used = line.widths[line.widths >= 32]
                rows.append([CASES[case].title, experiment.label, f"{used[0]} … {used[-1]}", f"{value:.3f}"])
    return ["case", "method", "K", "exponent"], rows


class Claim(NamedTuple):
    """A sentence of Section 5, what was measured, and whether it holds (None: the cells for it are missing)."""

    claim: str
    measured: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """In words."""
        return {True: "holds", False: "does not hold", None: "not measured"}[self.holds]


def claims(found: Found) -> list[Claim]:
    """Every sentence of Section 5 that can be checked by number."""
    return [check(found) for check in CLAIMS]


def _claim(text: str, measured: str, holds: bool, *needed: float) -> Claim:
    if any(math.isnan(value) for value in needed):
        return Claim(text, "cells are missing", None)
    return Claim(text, measured, holds)


def _slope_claim(case: str, text: str) -> Callable[[Found], Claim]:
    def check(found: Found) -> Claim:
        value = slope(curve(found, case, "algorithm-1"))
        return _claim(text, f"fitted exponent {value:.2f} for K ≥ 32", abs(value + 0.5) <= 0.15, value)

    return check


def _case_1_gradient_better(found: Found) -> Claim:
    narrow, wide = curve(found, "case1", "gradient"), curve(found, "case1", "gradient-50")
    common = [w for w in narrow.widths if w in wide.widths and w >= 32]
    text = "Case 1: the stochastic gradient's error becomes smaller as the initial spread grows from 1 to 50"
    if not common:
        return Claim(text, "cells are missing", None)
    pairs = [(w, narrow.at(w), wide.at(w)) for w in common]
    measured = "; ".join(f"K = {w}: {a:.3f} → {b:.3f}" for w, a, b in pairs)
    return Claim(text, measured, all(b < a for _, a, b in pairs))


def _case_1_gradient_stagnates(found: Found) -> Claim:
    line = curve(found, "case1", "gradient-50")
    largest = int(line.widths.max(initial=0))
    end, before = line.at(largest), line.at(largest // 8)
    ours = curve(found, "case1", "algorithm-1")
    return _claim(
        "Case 1: even so it stagnates as K increases, where Algorithm 1 goes on",
        f"from K = {largest // 8} to {largest}: stochastic gradient {before:.3f} → {end:.3f}, "
        f"Algorithm 1 {ours.at(largest // 8):.3f} → {ours.at(largest):.3f}",
        end > 0.8 * before and ours.at(largest) < 0.6 * ours.at(largest // 8),
        end,
        before,
        ours.at(largest),
        ours.at(largest // 8),
    )


def _case_1_fixed(found: Found) -> Claim:
    ours, fixed = curve(found, "case1", "algorithm-1"), curve(found, "case1", "fixed")
    largest = int(min(ours.widths.max(initial=0), fixed.widths.max(initial=0)))
    return _claim(
        "Case 1: Algorithm 1 samples the optimal distribution approximately, fixed N(0,1) does not",
        f"error at K = {largest}: {ours.at(largest):.3f} against {fixed.at(largest):.3f}",
        ours.at(largest) < 0.5 * fixed.at(largest),
        ours.at(largest),
        fixed.at(largest),
    )


def _case_1_algorithm_2(found: Found) -> Claim:
    one, two = curve(found, "case1", "algorithm-1"), curve(found, "case1", "algorithm-2")
    common = [w for w in one.widths if w in two.widths and w >= 32]
    text = "Case 1: Algorithm 2 needs no tuning of the initial frequencies either (its errors are like Algorithm 1's)"
    if not common:
        return Claim(text, "cells are missing", None)
    ratios = [two.at(w) / one.at(w) for w in common]
    return Claim(text, f"error over Algorithm 1's: {min(ratios):.2f} to {max(ratios):.2f}", max(ratios) < 1.5)


def _case_1_sigmoid(found: Found) -> Claim:
    line, fixed = curve(found, "case1", "sigmoid"), curve(found, "case1", "fixed")
    largest = int(min(line.widths.max(initial=0), fixed.widths.max(initial=0)))
    return _claim(
        "Experiment 5: Algorithm 1 performs well with the sigmoid too",
        f"error at K = {largest}: {line.at(largest):.3f}, fixed Fourier features {fixed.at(largest):.3f}",
        line.at(largest) < 0.8 * fixed.at(largest),
        line.at(largest),
        fixed.at(largest),
    )


def _amplitudes(found: Found) -> Claim:
    walk, fixed = (curve(found, "case1", name, "amplitude_variation") for name in ("algorithm-1", "fixed"))
    common = [w for w in walk.widths if w in fixed.widths and w >= 16]
    text = "Section 1: the walk equidistributes amplitudes (their coefficient of variation is below fixed sampling's)"
    if not common:
        return Claim(text, "cells are missing", None)
    pairs = "; ".join(f"K = {w}: {walk.at(w):.2f} against {fixed.at(w):.2f}" for w in common)
    return Claim(text, pairs, all(walk.at(w) < fixed.at(w) for w in common))


def _histogram(found: Found) -> Claim:
    text = "Theorem 2.2 and Figure 1: the walk's frequencies follow |f̂| (fixed N(0,1) ones do not)"
    kept = {}
    for name in ("algorithm-1", "fixed"):
        cells = [(width, r["frequencies"]) for width, _, r in results.of(found, "case1", name) if "frequencies" in r]
        if not cells:
            return Claim(text, "cells are missing", None)
        kept[name] = np.abs(np.array(max(cells)[1]))
    walk, fixed = (distance_to_transform(kept[name]) for name in ("algorithm-1", "fixed"))
    root = distance_to_transform(kept["algorithm-1"], 0.5)
    measured = (
        f"largest difference of the distribution functions {walk:.2f}, of fixed frequencies {fixed:.2f}; "
        f"{root:.2f} to |f̂|^(1/2), which Remark 3.2 expects at γ = 1"
    )
    return Claim(text, measured, walk < 0.2 and walk < 0.5 * fixed)


def distance_to_transform(frequencies: np.ndarray, power: float = 1.0) -> float:
    """The Kolmogorov distance of |ω| to a power of Case 1's |f̂| as a density (scaled units are raw ones to 1 %)."""
    omega, modulus = transform_modulus(lambda x: sine_integral(x, 1e-3), 20_000)
    inside = omega <= 1_000  # |f̂| ends there; what FFT leaves beyond is rounding, which a root would raise
    density = np.where(inside, modulus, 0) ** power
    cumulative = np.cumsum(density) / np.sum(density)
    empirical = np.searchsorted(np.sort(frequencies), omega, side="right") / frequencies.size
    return float(np.max(np.abs(empirical - cumulative)))


def _case_2_gradient(found: Found) -> Claim:
    line = curve(found, "case2", "gradient")
    early, late = slope(line, 8, 128), slope(line, 128)
    return _claim(
        "Case 2: the stochastic gradient converges like K^(−1/2) for small K and stops improving for about K > 128",
        f"fitted exponent {early:.2f} for 8 ≤ K ≤ 128, {late:.2f} for K ≥ 128",
        abs(early + 0.5) <= 0.2 and late > -0.15,
        early,
        late,
    )


def _case_3_time(found: Found) -> Claim:
    text = "Case 3: both algorithms converge faster over time than the stochastic gradient"
    traces = {name: trace(found, name) for name in ("algorithm-1", "algorithm-2", "gradient")}
    if any(line is None for line in traces.values()):
        return Claim(text, "cells are missing", None)
    gradient = traces["gradient"]
    assert gradient is not None
    best = float(gradient[:, 2].min())
    took = {name: time_to(line, best) for name, line in traces.items() if line is not None}
    measured = f"seconds to the stochastic gradient's best error, {best:.3f}: " + ", ".join(
        f"{name} {'never' if math.isinf(value) else f'{value:.1f}'}" for name, value in took.items()
    )
    measured += "; error at the end: " + ", ".join(
        f"{name} {line[-1, 2]:.3f} after {line[-1, 1]:.0f} s" for name, line in traces.items() if line is not None
    )
    measured += " (the stochastic gradient is compiled, at some 500 million frequency updates a second)"
    return Claim(text, measured, max(took["algorithm-1"], took["algorithm-2"]) < took["gradient"])


def _case_3_covariance(found: Found) -> Claim:
    text = "Case 3: the optimal covariance diag(32², 32⁻²) (entries as they belong) is approached by Algorithm 2"
    cell = next(iter(results.of(found, "case3", "algorithm-2")), None)
    if cell is None:
        return Claim(text, "cells are missing", None)
    (a, b), (_, c) = cell[2]["covariance"]
    measured = f"sample covariance [[{a:.0f}, {b:.1f}], [{b:.1f}, {c:.2f}]] in normalised units"
    return Claim(text, measured, 0.5 * 32**2 < a < 2 * 32**2 and c < 32)


def trace(found: Found, experiment: str) -> np.ndarray | None:
    """(step, seconds, rms modulus, rms real) of Case 3's first realisation."""
    cell = next(iter(results.of(found, "case3", experiment)), None)
    return None if cell is None or "trace" not in cell[2] else np.array(cell[2]["trace"])


def time_to(line: np.ndarray, error: float) -> float:
    """Seconds until an error is first reached; infinite where it never is."""
    reached = np.flatnonzero(line[:, 2] <= error)
    return float(line[reached[0], 1]) if reached.size else math.inf


def _case_4_smallest(found: Found) -> Claim:
    lines = {name: curve(found, "case4", name, "misclassified_modulus") for name in TABLE_COLUMNS}
    text = "Case 4: the smallest error is achieved with frequencies sampled by Algorithm 1"
    common = [int(w) for w in lines["algorithm-1"].widths if all(w in line.widths for line in lines.values())]
    if not common:
        return Claim(text, "cells are missing", None)
    largest = max(common)
    figures = ", ".join(f"{name} {line.at(largest):.2f} %" for name, line in lines.items())
    lost = [w for w in common if lines["algorithm-1"].at(w) > min(line.at(w) for line in lines.values())]
    measured = f"K = {largest}: {figures}" + (
        f"; not at K = {', '.join(map(str, lost))}" if lost else "; so at every K"
    )
    return Claim(text, measured, all(w < 16 for w in lost))


def _case_4_fixed(found: Found) -> Claim:
    line = curve(found, "case4", "fixed", "misclassified_modulus")
    first, last = (line.mean[0], line.mean[-1]) if line.widths.size > 1 else (math.nan, math.nan)
    measured = f"{first:.1f} % → {last:.1f} %"
    return _claim(
        "Case 4: with fixed N(0,1) no convergence in K is observed", measured, last > 0.85 * first, first, last
    )


def _case_4_table(found: Found) -> Claim:
    line = curve(found, "case4", "algorithm-1", "misclassified_modulus")
    text = "Table 1, adaptive column, K ≥ 16: within 0.5 points or 10 % of the printed figure, or better"
    pairs = [(int(w), PRINTED[int(w)][2], line.at(w)) for w in line.widths if int(w) in PRINTED and w >= 16]
    if not pairs or any("digits" in cell["settings"]["case"]["target"] for cell in found.values()):
        return Claim(text, "cells are missing", None)
    off = [f"K = {w}: {p:.2f} printed, {m:.2f} ours" for w, p, m in pairs if m > p + max(0.5, 0.1 * p)]
    measured = "; ".join(off) if off else "; ".join(f"{w}: {p:.2f} → {m:.2f}" for w, p, m in pairs)
    return Claim(text, measured, not off)


def _sweep(found: Found) -> Claim:
    values = sweep(found)
    text = "Optimal distribution: the generalisation error is least for σ_ω ≈ 1"
    if len(values) < 3:
        return Claim(text, "cells are missing", None)
    best = min(values, key=lambda spread: values[spread][0])
    return Claim(text, f"least at σ_ω = {best:g} (raw data, noise included)", 0.7 <= best <= 1.2)


def sweep(found: Found, figure: str = "rms_modulus") -> dict[float, tuple[float, float]]:
    """(mean, standard deviation) of the error by σ_ω."""
    values: dict[float, list[float]] = {}
    for key, cell in found.items():
        if key.startswith("sweep/"):
            values.setdefault(cell["settings"]["experiment"]["spread"], []).append(cell["result"][figure])
    return {s: (float(np.mean(v)), float(np.std(v, ddof=1)) if len(v) > 1 else 0.0) for s, v in sorted(values.items())}


CLAIMS: tuple[Callable[[Found], Claim], ...] = (
    _slope_claim("case1", "Case 1: Algorithm 1 shows a constant slope with respect to K (the theory's K^(−1/2))"),
    _case_1_gradient_better,
    _case_1_gradient_stagnates,
    _case_1_fixed,
    _case_1_algorithm_2,
    _case_1_sigmoid,
    _amplitudes,
    _histogram,
    _slope_claim("case2", "Case 2: Algorithm 1 has the expected rate O(K^(−1/2))"),
    _case_2_gradient,
    _case_3_time,
    _case_3_covariance,
    _case_4_smallest,
    _case_4_fixed,
    _case_4_table,
    _sweep,
)
