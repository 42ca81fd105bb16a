"""Ours and its peers: objects that fit rows, count their real columns, and say when they do not apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone

from fourierwalk.comparison import checkouts, peers
from fourierwalk.comparison.checkouts import Checkout, Width
from fourierwalk.comparison.peers import CLASSIFICATION, REGRESSION
from fourierwalk.comparison.tuning import BESIDE, ON_A_FIFTH, OURS, PEER, Fitted, Search, Stopwatch
from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.paper.baselines import SPREADS, tuned_fixed
from fourierwalk.paper.ways import AS_PRINTED
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.starts import KINDS

DENSE = tuple(kind for kind in KINDS if "sparse" not in kind)
STILL = tuple(kind for kind in KINDS if kind != "walk")
SHORT = tuple(kind for kind in KINDS if "long" not in kind)

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "start-only": ("start only, no descent", {"sampler": Automatic(descend=False)}),
    "unexplored": (
        "without exploring",
        {"sampler": Automatic(policy=replace(DEFAULT, iterations=1), kinds=("isotropic",))},
    ),
    "one-kernel": ("no other kernel", {"sampler": Automatic(policy=replace(DEFAULT, other_kernel=1.0))}),
    "dense": ("without sparse kinds", {"sampler": Automatic(kinds=DENSE)}),
    "no-walk": ("without the walk kind", {"sampler": Automatic(kinds=STILL)}),
    "short": ("without long kinds", {"sampler": Automatic(kinds=SHORT)}),
    "patient": (
        "six times as many steps at each width, and patience",
        {"sampler": Automatic(policy=replace(DEFAULT, steps=60, patience=6, gain=1e-3))},
    ),
    "impatient": (
        "descent ends at the first look without a gain",
        {"sampler": Automatic(policy=replace(DEFAULT, patience=1))},
    ),
    "four": ("four members instead of seven", {"sampler": Automatic(policy=replace(DEFAULT, members=4))}),
    "single": (
        "one model instead of an average",
        {"sampler": Automatic(policy=replace(DEFAULT, members=1, most_members=1, few_rows=0))},
    ),
    "no-folds": ("one share held out of few rows too", {"sampler": Automatic(policy=replace(DEFAULT, few_rows=0))}),
    "unclipped": ("heavy tails not clipped", {"sampler": Automatic(policy=replace(DEFAULT, heavy_tail=1e6))}),
    "fixed-ridge": ("with λ = 0.001 instead of a chosen one", {"regularization": 1e-3}),
    "metropolis-only": ("Metropolis walk only", {"sampler": "metropolis", "early_stopping": True, "n_steps": 400}),
}
"""Ours with a part left out, for `--methods ablation` (all) or `ablation-dense` (one). "ours" itself has all parts."""

ALGORITHM_1: dict[str, Any] = {**AS_PRINTED, "n_steps": 1_000, "refit_every": 10, "early_stopping": False}
"""Algorithm 1 with Algorithm 3's scaling: δ = 2.4²/d, γ = 3d − 2, and M, m and λ of the paper's Case 1."""

NAMES = ("ours", "ablation", "fixed", "algorithm-1", *(method.name for method in REGRESSION))
SUITE_NAMES = ("ours", "ablation", *(method.name for method in peers.suite("regression", 1)))


class Name(NamedTuple):
    """The parts of a method's name, such as ``ours-256@0123456789ab``."""

    kind: str
    width: str | None
    commit: str | None

    @classmethod
    def of(cls, name: str) -> Name:
        """Split a name into its parts.

        Examples
        --------
        >>> Name.of("ours-auto@0123456789ab"), Name.of("kernel-ridge").kind
        (Name(kind='ours', width='auto', commit='0123456789ab'), 'kernel-ridge')
        """
        name, _, commit = name.partition("@")
        kind, _, width = name.rpartition("-")
        has_width = width == "auto" or width.isdigit()
        return cls(kind if has_width else name, width if has_width else None, commit or None)


class Method(Protocol):
    """What a run needs of a method."""

    @property
    def name(self) -> str:
        """In keys and file names."""

    @property
    def label(self) -> str:
        """In tables and figures."""

    @property
    def family(self) -> str:
        """OURS, PEER (may be the best peer), or BESIDE (reported beside it)."""

    def settings(self) -> dict[str, Any]:
        """Everything that determines the fit, except the seed."""

    def absent(self, n_rows: int) -> str | None:
        """Why the method is left out for this number of training rows; None if it is not."""

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        """Tune on training rows, fit on all of them."""

    def columns(self, model: Any) -> int | None:
        """Number of real columns that a prediction uses; None if that has no meaning."""


@dataclass(frozen=True)
class Ours:
    """Our estimator with default settings."""

    task: str
    width: Width
    device: str | None = None
    family = OURS

    @property
    def name(self) -> str:
        """In keys and file names."""
        return f"ours-{self.width}"

    @property
    def label(self) -> str:
        """In tables and figures."""
        return f"ours, K = {self.width}"

    def settings(self) -> dict[str, Any]:
        """The estimator's parameters, so that other defaults make other cells."""
        return {"parameters": repr(self._estimator(None).get_params())}

    def absent(self, n_rows: int) -> None:
        """It applies always."""

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        """Fit without tuning from outside."""
        clock = Stopwatch()
        model = self._estimator(seed).fit(x, y)
        seconds = clock()
        chosen = {"regularization": float(model.regularization_), "n_frequencies": len(model.frequencies_)}
        return Fitted(model, seconds, seconds, chosen)

    def _estimator(self, seed: int | None) -> Any:
        estimator: Any = AdaptiveFourierRegressor if self.task == "regression" else AdaptiveFourierClassifier
        return estimator(self.width, device=self.device, random_state=seed)

    def columns(self, model: Any) -> int:
        """2K columns of cosines and sines."""
        return int(model.model_.features.n_columns * model.frequencies_.shape[0])


@dataclass(frozen=True)
class Variant(Ours):
    """Ours with a part left out."""

    kind: str = "start-only"

    @property
    def name(self) -> str:
        """In keys and file names."""
        return f"ablation-{self.kind}-{self.width}"

    @property
    def label(self) -> str:
        """In tables and figures."""
        return f"{VARIANTS[self.kind][0]}, K = {self.width}"

    def _estimator(self, seed: int | None) -> Any:
        return super()._estimator(seed).set_params(**VARIANTS[self.kind][1])


@dataclass(frozen=True)
class VariantAtCommit(checkouts.AtCommit):
    """Ours of a checkout with a part left out, for the suite."""

    kind: str = "start-only"
    family = BESIDE

    @property
    def name(self) -> str:
        """In keys and file names."""
        return f"ablation-{self.kind}-{self.width}@{self.checkout.commit}"

    @property
    def label(self) -> str:
        """In tables and figures."""
        return f"{VARIANTS[self.kind][0]}, K = {self.width} @ {self.checkout.commit}"

    def settings(self) -> dict[str, Any]:
        """Those of ours, and what is left out."""
        return {**super().settings(), "parameters": repr(VARIANTS[self.kind][1])}

    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters that are not the default."""
        return {**super().parameters(), **VARIANTS[self.kind][1]}


@dataclass(frozen=True)
class Fixed(Ours):
    """The same number of fixed random frequencies, with tuned bandwidth and λ: the first peer."""

    family = PEER

    @property
    def name(self) -> str:
        """In keys and file names."""
        return f"fixed-{self.width}"

    @property
    def label(self) -> str:
        """In tables and figures."""
        return f"fixed, K = {self.width}"

    def settings(self) -> dict[str, Any]:
        """The bandwidths tried."""
        return {**super().settings(), "spreads": SPREADS}

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        """Fit with the bandwidth chosen on held-out rows and λ by cross-validation."""
        clock = Stopwatch()
        tuned = tuned_fixed(self._estimator(seed), x, y, SPREADS, seed)
        seconds, clock = clock(), Stopwatch()
        model = clone(tuned.estimator).fit(x, y)
        return Fitted(model, seconds, clock(), {"spread": tuned.spread})


@dataclass(frozen=True)
class AsPrinted(Ours):
    """The paper's own sampler with the paper's own settings. The data choose nothing."""

    family = BESIDE

    @property
    def name(self) -> str:
        """In keys and file names."""
        return f"algorithm-1-{self.width}"

    @property
    def label(self) -> str:
        """In tables and figures."""
        return f"Algorithm 1 as printed, K = {self.width}"

    def _estimator(self, seed: int | None) -> Any:
        return super()._estimator(seed).set_params(**ALGORITHM_1)


def table(task: str, widths: Sequence[Width], device: str | None = None) -> list[Method]:
    """All methods for a task, in the order of the tables."""
    ours: list[Method] = [Ours(task, width, device) for width in widths]
    fixed: list[Method] = [Fixed(task, width, device) for width in widths]
    printed: list[Method] = [AsPrinted(task, width, device) for width in widths if width != "auto"]
    return [*ours, *fixed, *printed, *(REGRESSION if task == "regression" else CLASSIFICATION)]


def named(task: str, widths: Sequence[Width], names: Sequence[str] | None, device: str | None = None) -> list[Method]:
    """The methods of these names; None: all.

    Examples
    --------
    >>> [method.name for method in named("regression", [64, 256], ["ours", "svm"])]
    ['ours-64', 'ours-256', 'svm']
    """
    _check_names(names, NAMES)
    variants: list[Method] = [Variant(task, width, device, kind) for width in widths for kind in _left_out(names)]
    chosen = table(task, widths, device)
    return [*variants, *(each for each in chosen if names is None or Name.of(each.name).kind in names)]


def suite(
    task: str,
    widths: Sequence[Width],
    names: Sequence[str] | None,
    sources: Sequence[Checkout],
    threads: int,
    device: str | None = None,
    search: Search = ON_A_FIFTH,
) -> list[Method]:
    """The methods of a suite: ours of every checkout, ours with parts left out if asked for, and tuned peers."""
    _check_names(names, SUITE_NAMES)
    ours: list[Method] = [
        checkouts.AtCommit(task, width, source, threads, device) for width in widths for source in sources
    ]
    variants: list[Method] = [
        VariantAtCommit(task, width, source, threads, device, kind)
        for width in widths
        for source in sources
        for kind in _left_out(names)
    ]
    chosen = [*ours, *peers.suite(task, threads, search)]
    return [*variants, *(each for each in chosen if names is None or Name.of(each.name).kind in names)]


def _left_out(names: Sequence[str] | None) -> list[str]:
    """The parts to leave out, one after the other: all of them, or those that are named."""
    return [kind for kind in VARIANTS if {"ablation", f"ablation-{kind}"} & set(names or ())]


def _check_names(names: Sequence[str] | None, known: Sequence[str]) -> None:
    unknown = [name for name in names or () if name not in known and name.removeprefix("ablation-") not in VARIANTS]
    if unknown:
        raise ValueError(f"--methods must name some of {', '.join(known)}, got {unknown[0]!r}.")
