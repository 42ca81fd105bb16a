"""Errors and seconds of one method over those of another, over many data sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.comparison.methods import Name
from fourierwalk.comparison.tuning import PEER

LIMIT = 2.0  # the ratio of a set is clipped to [1/2, 2], so that no single set decides
WORSE = 1.05  # sets that are worse by more than this and by two standard errors are listed
TINY = 1e-12  # replaces an error of 0 in a regression

Results = Mapping[int, Mapping[str, Any]]  # finished results of a method, by split


class Bed(NamedTuple):
    """A data set with the finished results of every method on it."""

    name: str
    group: str
    task: str
    methods: dict[str, Results]
    families: dict[str, str]

    @property
    def n_train(self) -> int:
        """Number of training rows, of any split."""
        return max(int(result["n_train"]) for results in self.methods.values() for result in results.values())

    def split_error(self, result: Mapping[str, Any]) -> float:
        """RMSE over the test targets' standard deviation; for classes the share of wrong rows, plus half a row."""
        if self.task == "classification":
            return _share(_wrong(result), int(result["n_test"]))
        return max(float(result["error"]) / float(result["target_spread"]), TINY)

    def reported_error(self, result: Mapping[str, Any]) -> float:
        """RMSE over the test targets' standard deviation; or % misclassified."""
        scale = 1.0 if self.task == "classification" else float(result["target_spread"])
        return float(result["error"]) / scale

    def score(self, result: Mapping[str, Any]) -> float:
        """Accuracy or R², in shares."""
        error = self.reported_error(result)
        return 1.0 - (error / 100 if self.task == "classification" else error**2)

    def error(self, results: Iterable[Mapping[str, Any]]) -> float:
        """Over splits: the root mean square; for classes the share of wrong rows of all splits, plus half a row."""
        each = list(results)
        if self.task == "classification":
            return _share(sum(map(_wrong, each)), sum(int(result["n_test"]) for result in each))
        return float(np.sqrt(np.mean([self.split_error(result) ** 2 for result in each])))


class SetRatio(NamedTuple):
    """One data set: the ratio of errors on the splits that both have, and its logarithm split by split."""

    dataset: str
    other: str
    ratio: float
    logs: dict[int, float]

    @property
    def standard_error(self) -> float:
        """Standard error of the mean log ratio over splits; NaN for a single split."""
        return _standard_error(list(self.logs.values()))

    @property
    def is_worse(self) -> bool:
        """Whether it is worse by more than 5 % and by more than two standard errors."""
        return self.ratio > WORSE and math.log(self.ratio) > 2 * self.standard_error


class MeanDifference(NamedTuple):
    """One data set: the mean over splits of one error minus the other, and its standard error."""

    dataset: str
    mean: float
    standard_error: float
    n_splits: int

    @property
    def words(self) -> str:
        """Ahead or behind by more than one standard error, or within it."""
        if abs(self.mean) <= self.standard_error or self.mean == 0:
            return "within one standard error"
        return "ahead" if self.mean < 0 else "behind"


class Standing(NamedTuple):
    """All data sets."""

    n_sets: int
    n_ahead: int
    n_behind: int
    ratio: float  # geometric mean of the clipped ratios
    standard_error: float  # of its logarithm, over data sets
    worse: list[SetRatio]


def beds_of(cells: Mapping[str, Mapping[str, Any]]) -> list[Bed]:
    """The finished cells of a folder by data set, method and split."""
    beds: dict[str, Bed] = {}
    for _, cell in sorted(cells.items()):
        if "error" not in cell["result"]:
            continue
        dataset, method = cell["settings"]["dataset"], cell["settings"]["method"]
        empty = Bed(dataset["name"], dataset.get("group", ""), dataset["task"], {}, {})
        bed = beds.setdefault(dataset["name"], empty)
        results: Any = bed.methods.setdefault(method["name"], {})
        machine = cell.get("provenance", {}).get("machine")
        results[cell["settings"]["split"]] = {**cell["result"], "machine": machine}
        bed.families[method["name"]] = method["family"]
    return list(beds.values())


def set_ratio(bed: Bed, one: str, other: str) -> SetRatio | None:
    """Errors of one method over those of the other; None if they share no split."""
    pair = _both(bed, one, other)
    if not pair:
        return None
    logs = {i: math.log(bed.split_error(a) / bed.split_error(b)) for i, (a, b) in pair.items()}
    ratio = bed.error(a for a, _ in pair.values()) / bed.error(b for _, b in pair.values())
    return SetRatio(bed.name, other, ratio, logs)


def difference(bed: Bed, one: str, other: str) -> MeanDifference | None:
    """Paired by split, in % misclassified or RMSE over the standard deviation; None if they share no split.

    Examples
    --------
    >>> results = [{0: {"error": a}, 1: {"error": b}} for a, b in ((2.0, 4.0), (1.0, 1.0))]
    >>> bed = Bed("iris", "", "classification", dict(zip(["ours", "svm"], results)), {})
    >>> difference(bed, "ours", "svm").words
    'behind'
    """
    pair = _both(bed, one, other)
    if not pair:
        return None
    gaps = [bed.reported_error(a) - bed.reported_error(b) for a, b in pair.values()]
    return MeanDifference(bed.name, float(np.mean(gaps)), _standard_error(gaps), len(gaps))


def against(beds: Sequence[Bed], one: str, other: str) -> list[SetRatio]:
    """Ratios on every data set that both methods have."""
    return [ratio for bed in beds if (ratio := set_ratio(bed, one, other))]


def against_best(beds: Sequence[Bed], one: str) -> list[SetRatio]:
    """Ratios against each data set's best kernel or network peer: the lowest error of those that share most splits."""
    worst = []
    for bed in beds:
        peers = [name for name, family in bed.families.items() if family == PEER]
        ratios = [ratio for name in peers if (ratio := set_ratio(bed, one, name))]
        most = max((len(ratio.logs) for ratio in ratios), default=0)
        worst += sorted((r for r in ratios if len(r.logs) == most), key=lambda r: -r.ratio)[:1]
    return worst


def verdict(ratios: Sequence[SetRatio]) -> Standing | None:
    """Over data sets: on how many ours is ahead, the clipped geometric mean, and its standard error.

    Examples
    --------
    >>> half, same = SetRatio("a", "svm", 0.25, {0: -1.0, 1: -2.0}), SetRatio("b", "svm", 1.0, {0: 0.2, 1: -0.2})
    >>> standing = verdict([half, same])
    >>> standing.n_ahead, standing.n_behind, round(standing.ratio, 4)  # 0.25 counts as 0.5
    (1, 0, 0.7071)
    """
    if not ratios:
        return None
    logs = [_clipped(math.log(each.ratio)) for each in ratios]
    return Standing(
        len(ratios),
        sum(each.ratio < 1 for each in ratios),
        sum(each.ratio > 1 for each in ratios),
        math.exp(np.mean(logs)),
        _standard_error(logs),
        sorted((each for each in ratios if each.is_worse), key=lambda each: -each.ratio),
    )


def seconds_ratio(beds: Sequence[Bed], one: str, other: str) -> tuple[float, int] | None:
    """Geometric mean over data sets of the ratio of seconds to fit, on splits fitted on one machine; number of sets."""
    both = [_both(bed, one, other).values() for bed in beds]
    pairs = [same for pair in both if (same := [(a, b) for a, b in pair if a.get("machine") == b.get("machine")])]
    logs = [math.log(_total(a for a, _ in pair) / _total(b for _, b in pair)) for pair in pairs]
    return (math.exp(np.mean(logs)), len(logs)) if logs else None


def ours(beds: Sequence[Bed]) -> list[str]:
    """Names of our methods, by width and commit."""
    names = {name for bed in beds for name in bed.methods if Name.of(name).kind == "ours"}
    return sorted(names, key=lambda name: (_place(Name.of(name).width), name))


def others(beds: Sequence[Bed], one: str, order: Callable[[str], Any]) -> list[str]:
    """What a method of ours is compared with: the same width at other commits, then the peers."""
    width = Name.of(one).width
    commits = [name for name in ours(beds) if name != one and Name.of(name).width == width]
    return [*commits, *sorted(peers(beds), key=order)]


def peers(beds: Sequence[Bed]) -> set[str]:
    """Names of what is neither ours nor ours with a part left out."""
    return {name for bed in beds for name in bed.methods if Name.of(name).commit is None}


def parts(beds: Sequence[Bed], one: str) -> list[str]:
    """Names of a method of ours with a part left out, of the same width and commit."""
    _, width, commit = Name.of(one)
    names = {name for bed in beds for name in bed.methods if name != one}
    return sorted(name for name in names if Name.of(name)[1:] == (width, commit))


def _both(bed: Bed, one: str, other: str) -> dict[int, tuple[Mapping[str, Any], Mapping[str, Any]]]:
    a, b = bed.methods.get(one, {}), bed.methods.get(other, {})
    return {split: (a[split], b[split]) for split in sorted(a.keys() & b.keys())}


def _place(width: str | None) -> int:
    return int(width) if width is not None and width.isdigit() else 0


def _wrong(result: Mapping[str, Any]) -> int:
    return round(float(result["error"]) / 100 * int(result["n_test"]))


def _share(wrong: int, n: int) -> float:
    return (wrong + 0.5) / (n + 1)


def _clipped(log: float) -> float:
    return min(max(log, -math.log(LIMIT)), math.log(LIMIT))


def _total(results: Iterable[Mapping[str, Any]]) -> float:
    return sum(float(result["fit_seconds"]) for result in results)


def _standard_error(values: Sequence[Any]) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
