"""The development suite's page, `suite.md`: errors, ours against every other, seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fourierwalk.comparison import ratios, report, summary
from fourierwalk.comparison.methods import SUITE_NAMES, Name
from fourierwalk.comparison.ratios import Bed, SetRatio
from fourierwalk.comparison.suite import FEW, TABULAR
from fourierwalk.comparison.summary import Cells
from fourierwalk.reporting.files import write_text

FILE = "suite.md"
BEST = "best kernel or network peer"
MANY_ROWS = 2_000
TIMED = ("network", "lightgbm", "xrfm")
STEADY = ("svm", "ridge")  # what few rows are compared with
EXPLANATION = (
    "Ours has default settings at K frequencies, of the commit after the @. Every peer has its inputs scaled by the "
    "same rule as ours, tables encoded as for ours (but for LightGBM, which has categories and missing values of its "
    "own), and regression targets standardised; it is tuned on one held-out fifth of the training rows and "
    "fitted again to all of them (xRFM: once at its defaults, that fifth being its validation rows). Seconds count "
    "both. Kernel ridge and support vector machines are left out above 9,000 training rows."
)
HOW_ERRORS = (
    "Means over the splits. Regression: RMSE over the standard deviation of the test targets. Classification: % "
    "misclassified. In brackets: the number of splits, where it is less than the most."
)
HOW_RATIOS = (
    "Below 1 is better. A set's error is, over the splits that both have, the root of the mean square of the "
    "normalised RMSE; for classes (wrong + ½)/(n + 1) of all splits' test rows together. The ratio is the geometric "
    "mean over the sets, each clipped to [1/2, 2]. ± is the standard error of its logarithm over the sets: what other "
    "sets may change. Worse: by more than 5 % and two standard errors of the set's own splits. The best peer "
    "is chosen per set after the fact, which favours it; LightGBM is not among them."
)
HOW_DIFFERENCES = (
    "The mean over the splits of our error less LightGBM's, and its standard error from the same splits. Below 0 is "
    "better."
)
HOW_PARTS = "The default with one part left out over the default itself. Above 1: the part pays."
HOW_WORST = "The mean over the splits, and in brackets the worst of them. Peers are tuned by cross-validation."
HOW_SECONDS = (
    "Seconds to fit of ours over the other's, on the splits that both were fitted to on the same machine; geometric "
    "mean over the sets (how many). Below 1 is faster."
)


def write(folder: Path) -> str:
    """Read the cells of a folder, write its ``suite.md``, and return the text."""
    text = markdown(report.read(folder))
    write_text(folder / FILE, text)
    return text


def markdown(cells: Cells) -> str:
    """All tables."""
    beds = ratios.beds_of(cells)
    tabular = [bed for bed in beds if bed.group == TABULAR]
    groups = [(f"The {len(tabular)} tables of `{TABULAR}`", tabular)] if tabular else []
    lines = ["# The development suite", "", EXPLANATION, "", "## Errors", "", HOW_ERRORS, "", *_errors(beds)]
    lines += _frequencies(beds)
    lines += ["## Ours against others", "", HOW_RATIOS, ""]
    for title, some in (*groups, (f"All {len(beds)} sets", beds)):
        lines += [f"### {title}", "", *_verdicts(some)]
    lines += _parts_left_out(beds) + _worst_splits([bed for bed in beds if bed.group == FEW])
    differences = _differences(beds)
    lines += ["## Set by set against LightGBM", "", HOW_DIFFERENCES, "", *differences] if differences else []
    lines += ["## Seconds", "", HOW_SECONDS, "", *_seconds(beds)]
    return "\n".join([*lines, *_remarks(cells), "## Where this comes from", "", *report.origins(cells), ""])


def _errors(beds: Sequence[Bed]) -> list[str]:
    names = [*ratios.ours(beds), *_peers(beds)]
    rows = []
    for bed in beds:
        most = max(len(results) for results in bed.methods.values())
        kind = "%" if bed.task == "classification" else "RMSE / sd"
        rows.append([bed.name, f"{bed.n_train:,}", kind, *(_mean_error(bed, name, most) for name in names)])
    return _table(["set", "training rows", "error", *names], rows)


def _mean_error(bed: Bed, name: str, most: int) -> str:
    results = bed.methods.get(name, {}).values()
    if not results:
        return "–"
    mean = np.mean([bed.reported_error(result) for result in results])
    return f"{mean:.3g}" if len(results) == most else f"{mean:.3g} ({len(results)})"


def _frequencies(beds: Sequence[Bed]) -> list[str]:
    """How many `auto` chose."""
    names = [name for name in ratios.ours(beds) if Name.of(name).width == "auto"]
    rows = []
    for bed in beds:
        counts = [[r["chosen"]["n_frequencies"] for r in bed.methods.get(name, {}).values()] for name in names]
        if any(counts):
            rows.append([bed.name, *(", ".join(map(str, each)) or "–" for each in counts)])
    return ["## Frequencies that `auto` chose, by split", "", *_table(["set", *names], rows)] if rows else []


def _verdicts(beds: Sequence[Bed]) -> list[str]:
    rows = []
    for one in ratios.ours(beds):
        pairs = [(other, ratios.against(beds, one, other)) for other in ratios.others(beds, one, _order)]
        rows += [_verdict(one, other, by_set) for other, by_set in [*pairs, (BEST, ratios.against_best(beds, one))]]
    header = ["ours", "against", "sets", "ahead", "behind", "error ratio", "worse on"]
    return _table(header, [row for row in rows if row])


def _differences(beds: Sequence[Bed]) -> list[str]:
    rows = []
    for one in ratios.ours(beds):
        for bed in beds:
            gap = ratios.difference(bed, one, "lightgbm")
            if gap is not None:
                numbers = f"{gap.mean:+.3g}", f"{gap.standard_error:.2g}", str(gap.n_splits)
                rows.append([one, bed.name, *numbers, gap.words])
    return _table(["ours", "set", "difference", "standard error", "splits", "ours is"], rows) if rows else []


def _parts_left_out(beds: Sequence[Bed]) -> list[str]:
    """What each part is worth: the error without it over the error with it."""
    rows = [
        _verdict(other, one, ratios.against(beds, other, one))
        for one in ratios.ours(beds)
        for other in ratios.parts(beds, one)
    ]
    header = ["without a part", "against", "sets", "ahead", "behind", "error ratio", "worse on"]
    return ["## Parts left out", "", HOW_PARTS, "", *_table(header, rows)] if rows else []


def _worst_splits(beds: Sequence[Bed]) -> list[str]:
    """Mean and worst score of ours, support vectors and linear ridge."""
    names = [*ratios.ours(beds), *(name for name in STEADY if name in ratios.peers(beds))]
    rows = []
    for bed in beds:
        scores = [[bed.score(result) for result in bed.methods.get(name, {}).values()] for name in names]
        shown = [f"{np.mean(each):.3f} ({min(each):.3f})" if each else "–" for each in scores]
        rows.append([bed.name, "accuracy" if bed.task == "classification" else "R²", *shown])
    return (
        ["## Few rows: mean and worst split", "", HOW_WORST, "", *_table(["set", "score", *names], rows)]
        if rows
        else []
    )


def _verdict(one: str, other: str, by_set: Sequence[SetRatio]) -> list[str]:
    all_sets = ratios.verdict(by_set)
    if all_sets is None:
        return []
    worse = [_worse(each, with_peer=other == BEST) for each in all_sets.worse]
    scatter = "" if math.isnan(all_sets.standard_error) else f" ± {all_sets.standard_error:.3f}"
    counts = map(str, (all_sets.n_sets, all_sets.n_ahead, all_sets.n_behind))
    return [one, other, *counts, f"{all_sets.ratio:.3f}{scatter}", ", ".join(worse)]


def _worse(ratio: SetRatio, with_peer: bool) -> str:
    words = f"{ratio.dataset} {ratio.ratio:.2f} ± {ratio.standard_error:.2f}"
    return f"{words} ({ratio.other})" if with_peer else words


def _seconds(beds: Sequence[Bed]) -> list[str]:
    large = [bed for bed in beds if bed.n_train > MANY_ROWS]
    rows = []
    for one in ratios.ours(beds):
        for other in ratios.others(beds, one, _order):
            if Name.of(other).kind == "ours" or other in TIMED:
                quotients = [ratios.seconds_ratio(some, one, other) for some in (large, beds)]
                rows.append(
                    [one, other, *("–" if each is None else f"{each[0]:.2f} ({each[1]})" for each in quotients)]
                )
    return _table(["ours", "against", f"more than {MANY_ROWS:,} training rows", "all"], rows)


def _remarks(cells: Cells) -> list[str]:
    """What failed, was left out, or is of different settings."""
    lines = [
        f"- {dataset}: {line}"
        for dataset in summary.datasets(cells)
        for line in [*summary.warnings_of(cells, dataset), *summary.left_out(cells, dataset)]
    ]
    return ["## Failures and what was left out", "", *lines, ""] if lines else []


def _peers(beds: Sequence[Bed]) -> list[str]:
    return sorted(ratios.peers(beds), key=_order)


def _order(name: str) -> tuple[int, str]:
    return SUITE_NAMES.index(name) if name in SUITE_NAMES else len(SUITE_NAMES), name


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [report.line(header), report.line(["---"] * len(header)), *map(report.line, rows), ""]
