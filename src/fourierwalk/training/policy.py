"""Every tuned number of the default training, with its meaning and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any

import numpy as np


def _tuned(default: float, group: str, meaning: str, evidence: str, low: float, high: float) -> Any:
    return field(
        default=default,
        metadata={"group": group, "meaning": meaning, "evidence": evidence, "low": low, "high": high},
    )


SUITE = "the suite's nineteen tables"
CUSTOM = "a customary value, not tuned"
KEPT = "chosen before the suite on Cases 1 to 3, concrete, kin8nm and digits; left as it was"


@dataclass(frozen=True)
class Policy:
    """The tuned numbers of the default training. ``dataclasses.replace(policy, …)`` changes one.

    The docs have a table with the meaning of each number and the data that it was chosen on.

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(Policy(), members=3).members
    3
    >>> replace(Policy(), members=0)
    Traceback (most recent call last):
        ...
    ValueError: Policy.members must be a number from 1 to 64, got 0.
    """

    least_width: int = _tuned(16, "width", "frequencies of the narrowest model tried", SUITE, 1, 4096)
    most_frequencies: int = _tuned(
        4096, "width", "frequencies of all members, at most, if none are asked for", CUSTOM, 1, 1e6
    )
    growth: int = _tuned(4, "width", "factor from one width to the next", "the suite and MNIST", 2, 64)
    widening: float = _tuned(0.01, "width", "share of the error that a wider model must take off", SUITE, 0, 1)
    operations: float = _tuned(
        1e11,
        "width",
        "multiplications of all members' descent at which that share is doubled",
        "seconds on the suite",
        1e6,
        1e18,
    )
    rows_per_input: int = _tuned(
        2500, "width", "rows that frequencies are learnt from, for each of ten or more inputs", SUITE, 1, 1e9
    )
    usual: int = _tuned(
        256, "width", "frequencies of all members, at least, and where leave-one-out decides", SUITE, 1, 4096
    )

    sample: int = _tuned(
        1600,
        "start",
        "rows that the exploring kernel is fitted to, at most",
        "trials on six sets and the suite",
        50,
        20_000,
    )
    iterations: int = _tuned(
        6,
        "start",
        "rounds of the exploring kernel, at most",
        "generated interactions of two or three among 20 to 100 inputs",
        1,
        20,
    )
    sharper: float = _tuned(0.02, "start", "share of the error that a further fit must take off", CUSTOM, 0, 1)
    other_kernel: float = _tuned(
        0.2,
        "start",
        "share of the kernel's error that weighing the inputs, or a constant beside it for classes, must take off",
        "generated interactions (a third to two thirds) and twelve sets of 120 to 900 rows (a tenth at most, but "
        "once); generated clusters and ionosphere (a quarter to a half), eight other sets (an eighth at most)",
        0,
        1,
    )
    coarse: int = _tuned(400, "start", "rows, at least, by which widths far apart are compared", CUSTOM, 10, 20_000)
    wide: float = _tuned(
        1e7,
        "start",
        "numbers in a sample of wide rows, and in the frequencies of all members, at most; but 500 rows at least",
        CUSTOM,
        1,
        1e12,
    )
    kept_inputs: float = _tuned(0.75, "start", "share of the inputs that each trial with fewer keeps", CUSTOM, 0, 0.999)
    hopeless: float = _tuned(
        2.0,
        "start",
        "times the least error, from which on no trial with still fewer inputs is made; times the error of the earlier "
        "models, from which on a later one starts again from one of them",
        CUSTOM,
        1,
        1e6,
    )
    heavy_tail: float = _tuned(
        5.0, "start", "standard deviations of an input's largest value from which on a clip is tried", SUITE, 0, 1e6
    )
    other_scaling: float = _tuned(
        0.01, "start", "share of the kernel's error that another scaling of the inputs must take off", CUSTOM, 0, 1
    )
    inputs_together: int = _tuned(3, "start", "inputs of a sparse frequency, at most", "trials on two sets", 1, 100)
    wander: float = _tuned(0.5, "start", "first step of the walk, relative to the frequencies' spread", KEPT, 1e-3, 10)

    steps: int = _tuned(10, "descent", "steps at each width", SUITE, 0, 10_000)
    last_steps: int = _tuned(
        200, "descent", "further steps at the last width, at most", "Case 2 and the suite", 0, 100_000
    )
    patience: int = _tuned(2, "descent", "looks without a gain after which it ends", SUITE, 1, 10_000)
    later_patience: int = _tuned(
        1, "descent", "the same for later models: the first ones have shown how far descent goes", SUITE, 1, 10_000
    )
    look_every: int = _tuned(5, "descent", "steps between two looks at the held-out rows", KEPT, 1, 1000)
    gain: float = _tuned(0.01, "descent", "share of the error below which a gain is none", SUITE, 0, 1)
    rounded: float = _tuned(
        0.001, "descent", "held-out error from which on steps are taken in single precision", "its rounding", 0, 1e300
    )
    rounded_from: float = _tuned(
        1e9,
        "descent",
        "multiplications of a solve from which on they may be: with fewer little time is saved",
        CUSTOM,
        0,
        1e18,
    )
    rounded_regularization: float = _tuned(
        1e-5, "descent", "λ from which on they may be: sums are right to 1e-6 of the rows' number", "its rounding", 0, 1
    )
    least_regularization: float = _tuned(1e-7, "descent", "smallest λ of its steps", KEPT, 0, 1)

    few_rows: int = _tuned(
        3000,
        "folds",
        "distinct rows below which all folds decide together",
        "ten sets of 1,000 to 5,000 rows",
        0,
        1e9,
    )
    folds: int = _tuned(5, "folds", "parts that few rows are split into", CUSTOM, 2, 100)
    least_rows: int = _tuned(
        40,
        "folds",
        "distinct rows below which leave-one-out decides and no step is taken",
        "nine sets with 30, 40 and 60 rows, ten splits",
        2,
        1e6,
    )
    least_split: int = _tuned(
        100, "folds", "distinct rows below which no single share is held out, as other samplers do", KEPT, 2, 1e6
    )
    members: int = _tuned(
        7,
        "folds",
        "models that are averaged, if no number of frequencies is asked for",
        "eight on the suite; one less to save time",
        1,
        64,
    )
    most_members: int = _tuned(16, "folds", "models that are averaged, at most", KEPT, 1, 1024)

    sure: float = _tuned(
        3.0, "certainty", "standard errors by which a model must beat the mean", "noise of 150 to 2,000 rows", 0, 10
    )
    clear: float = _tuned(
        0.1,
        "certainty",
        "share of the mean's error that each of the folds must take off to be believed without that",
        "sets of 60 to 400 rows",
        0,
        1,
    )
    sure_rows: float = _tuned(
        5.0,
        "certainty",
        "rows in the log loss of classes by which a wider model must be worse not to be taken",
        "the suite; its sign: eight sets of classes",
        0,
        1e6,
    )
    tie: float = _tuned(
        1e-3,
        "certainty",
        "share of the error below which the larger λ, or the smaller set of inputs, is taken",
        f"{KEPT}; for inputs: eighteen generated functions",
        0,
        1,
    )
    margin: float = _tuned(
        0.1, "certainty", "share of the targets' range that predictions may leave it by", CUSTOM, 0, 1e6
    )

    def __post_init__(self) -> None:
        """Raise a `ValueError` if a number is out of its range."""
        for number in fields(self):
            value, low, high = getattr(self, number.name), number.metadata["low"], number.metadata["high"]
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not low <= value <= high:
                raise ValueError(f"Policy.{number.name} must be a number from {low:g} to {high:g}, got {value!r}.")

    def table(self) -> Iterator[str]:
        """The numbers as lines of a Markdown table, for the docs."""
        yield "| number | default | meaning | chosen on |"
        yield "|---|---|---|---|"
        for number in fields(self):
            meaning, evidence = number.metadata["meaning"], number.metadata["evidence"]
            yield f"| `{number.name}` | {_shown(number, self)} | {meaning} | {evidence} |"


def _shown(number: Field[Any], policy: Policy) -> str:
    return f"{getattr(policy, number.name):g}"


DEFAULT = Policy()
