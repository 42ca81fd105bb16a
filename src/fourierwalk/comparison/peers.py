"""The table of peers: what they are, what is tuned, and their largest number of rows."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR

from fourierwalk.comparison.adapters import KernelRidgeClassifier, RecursiveFeatureMachine
from fourierwalk.comparison.tuning import BESIDE, ON_A_FIFTH, Search, Steps, Tuned

N_COMPONENTS = 1024
GAMMAS = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)  # over the number of inputs


def _approximation(kind: Any, last: Any) -> Steps:
    def steps(n: int, d: int, seed: int) -> list[tuple[str, Any]]:
        return [("features", kind(n_components=min(N_COMPONENTS, n), random_state=seed)), ("model", last())]

    return steps


def _model(make: Callable[[int], Any]) -> Steps:
    return lambda n, d, seed: [("model", make(seed))]


def _support_vectors(kind: Any) -> Steps:
    """Iterations are bounded. With a large C, noisy rows take minutes to converge to a model that is not chosen."""
    return lambda n, d, seed: [("model", kind(cache_size=500, max_iter=100_000 + 100 * n))]


def _gaussian_process(n: int, d: int, seed: int) -> list[tuple[str, Any]]:
    kernel = ConstantKernel(1.0, (1e-3, 1e5)) * RBF([d**0.5] * d, (1e-2, 1e4)) + WhiteKernel(0.1, (1e-10, 1e1))
    return [("model", GaussianProcessRegressor(kernel, random_state=seed))]


def _gaussian_process_classifier(n: int, d: int, seed: int) -> list[tuple[str, Any]]:
    kernel = ConstantKernel(1.0, (1e-3, 1e5)) * RBF(d**0.5, (1e-2, 1e4))
    return [("model", GaussianProcessClassifier(kernel, random_state=seed))]


def _boosted(library: str, kind: str, **settings: Any) -> Steps:
    """An estimator of a library that may be missing. It is imported when it is needed."""

    def steps(n: int, d: int, seed: int) -> list[tuple[str, Any]]:
        return [("model", getattr(importlib.import_module(library), kind)(random_state=seed, **settings))]

    return steps


def _components(pipeline: Any, n: int) -> int:
    return int(pipeline["features"].get_feature_names_out().size)


def _hidden(pipeline: Any, n: int) -> int:
    return int(np.sum(pipeline["model"].hidden_layer_sizes))


def _all_rows(pipeline: Any, n: int) -> int:
    return n


def _support(pipeline: Any, n: int) -> int:
    return int(np.sum(pipeline["model"].n_support_))


_RIDGE = {"model__alpha": (1e-6, 1e-3, 1.0)}
_CLOSER_RIDGE = {"model__alpha": (0.03, 0.2, 1.0, 5.0, 30.0)}
_CLOSER = (0.3, 1.0, 3.0)
_FEATURES: dict[str, Any] = {
    "grid": {"features__gamma": GAMMAS, **_RIDGE},
    "finer": {"features__gamma": _CLOSER, **_CLOSER_RIDGE},
    "count": _components,
}
_KERNEL: dict[str, Any] = {"tuning_rows": 2_000, "most_rows": 10_000}
_NETWORK: dict[str, Any] = {
    "grid": {"model__alpha": (1e-4, 1e-2, 1.0), "model__learning_rate_init": (1e-3, 1e-2)},
    "count": _hidden,
}
_MLP: dict[str, Any] = {
    "hidden_layer_sizes": (100, 100),
    "early_stopping": True,
    "n_iter_no_change": 20,
    "max_iter": 500,
}
_HISTOGRAM: dict[str, Any] = {"max_iter": 1_000, "early_stopping": True, "n_iter_no_change": 20}
_RATES, _LEAVES = (0.03, 0.1, 0.3), (7, 31)


def _peers(task: str) -> list[Tuned]:
    regression = task == "regression"
    kind, ridge = ("Regressor", Ridge) if regression else ("Classifier", RidgeClassifier)
    kernel_ridge = KernelRidge if regression else KernelRidgeClassifier
    mlp = MLPRegressor if regression else MLPClassifier
    histogram = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    svm: dict[str, Any] = {"model__gamma": GAMMAS, "model__C": (1.0, 30.0)}
    closer_svm: dict[str, Any] = {"model__gamma": _CLOSER, "model__C": (0.1, 1.0, 10.0)}
    if regression:
        svm, closer_svm = {**svm, "model__epsilon": (0.1,)}, {**closer_svm, "model__epsilon": (0.1, 1.0, 3.0)}
    trees: dict[str, Any] = {"task": task, "family": BESIDE}
    native: dict[str, Any] = {**trees, "takes_tables": True}
    return [
        Tuned("rbf-sampler", "RBFSampler", task, _approximation(RBFSampler, ridge), **_FEATURES),
        Tuned("nystroem", "Nystroem", task, _approximation(Nystroem, ridge), **_FEATURES),
        Tuned(
            "kernel-ridge",
            "kernel ridge",
            task,
            _model(lambda seed: kernel_ridge(kernel="rbf")),
            {"model__gamma": GAMMAS, **_RIDGE},
            {"model__gamma": _CLOSER, **_CLOSER_RIDGE},
            count=_all_rows,
            **_KERNEL,
        ),
        Tuned(
            "svm",
            "SVR" if regression else "SVC",
            task,
            _support_vectors(SVR if regression else SVC),
            svm,
            closer_svm,
            count=_support,
            **_KERNEL,
        ),
        Tuned(
            "gaussian-process",
            "Gaussian process",
            task,
            _gaussian_process if regression else _gaussian_process_classifier,
            count=_all_rows,
            most_rows=1_500 if regression else 500,
        ),
        Tuned("mlp", "MLP (100, 100)", task, _model(lambda seed: mlp(random_state=seed, **_MLP)), **_NETWORK),
        Tuned(
            "boosting",
            "gradient boosting",
            steps=_model(lambda seed: histogram(random_state=seed, **_HISTOGRAM)),
            grid={"model__learning_rate": _RATES, "model__max_leaf_nodes": _LEAVES},
            **native,
        ),
        Tuned(
            "lightgbm",
            "LightGBM",
            steps=_boosted("lightgbm", f"LGBM{kind}", n_estimators=500, verbose=-1, n_jobs=0),  # as many as allowed
            grid={"model__learning_rate": _RATES, "model__num_leaves": _LEAVES},
            module="lightgbm",
            **native,
        ),
        Tuned(
            "xgboost",
            "XGBoost",
            steps=_boosted("xgboost", f"XGB{kind}", n_estimators=500),
            grid={"model__learning_rate": _RATES, "model__max_depth": (3, 6)},
            module="xgboost",
            **trees,
        ),
        Tuned(
            "xrfm",
            "xRFM",
            task,
            steps=_model(lambda seed: RecursiveFeatureMachine(regression=regression, random_state=seed)),
            grid={"model__bandwidth": (2.0, 10.0, 50.0), "model__regularization": (1e-5, 1e-3, 1e-1)},
            count=_all_rows,
            module="xrfm",
        ),
    ]


REGRESSION, CLASSIFICATION = _peers("regression"), _peers("classification")

_BANDWIDTHS = (0.03, 0.15, 0.6, 2.5, 10.0)  # gamma, over the number of inputs
_RIDGES = (1e-5, 1e-3, 3e-2, 1.0)


def suite(task: str, threads: int, search: Search = ON_A_FIFTH) -> list[Tuned]:
    """Peers of a suite: tuned on one held-out fifth of the training rows or as said, then fitted to all of them."""
    regression = task == "regression"
    kind, ridge = ("Regressor", Ridge) if regression else ("Classifier", RidgeClassifier)
    kernel_ridge = KernelRidge if regression else KernelRidgeClassifier
    mlp = MLPRegressor if regression else MLPClassifier
    rounds = [{"model__n_estimators": (n,), "model__learning_rate": (rate,)} for n, rate in ((200, 0.1), (600, 0.05))]
    tuned: dict[str, Any] = {"search": search, "least_members": 5, "tuning_rows": 10**9}
    kernel: dict[str, Any] = {**tuned, "task": task, "most_rows": 9_000}
    return [
        Tuned(
            "network",
            "network (100, 100)",
            task,
            _model(lambda seed: mlp(random_state=seed, **_MLP)),
            {"model__alpha": (1e-4, 1e-1)},
            count=_hidden,
            **tuned,
        ),
        Tuned(
            "fixed",
            "1,024 fixed features",
            task,
            lambda n, d, seed: [
                ("features", RBFSampler(n_components=N_COMPONENTS, random_state=seed)),
                ("model", ridge()),
            ],
            {"features__gamma": _BANDWIDTHS, "model__alpha": _RIDGES},
            count=_components,
            **tuned,
        ),
        Tuned(
            "kernel-ridge",
            "kernel ridge",
            steps=_model(lambda seed: kernel_ridge(kernel="rbf")),
            grid={"model__gamma": _BANDWIDTHS, "model__alpha": _RIDGES},
            count=_all_rows,
            **kernel,
        ),
        Tuned(
            "svm",
            "SVR" if regression else "SVC",
            steps=_support_vectors(SVR if regression else SVC),
            grid={"model__gamma": _BANDWIDTHS, "model__C": (1.0, 10.0, 100.0)},
            count=_support,
            **kernel,
        ),
        Tuned(
            "xrfm",
            "xRFM",
            task,
            _model(lambda seed: RecursiveFeatureMachine(regression=regression, random_state=seed, threads=threads)),
            count=_all_rows,
            module="xrfm",
            **tuned,
        ),
        Tuned(
            "lightgbm",
            "LightGBM",
            task,
            _boosted("lightgbm", f"LGBM{kind}", verbose=-1, n_jobs=threads),
            [{**pair, "model__num_leaves": (15, 63)} for pair in rounds],
            module="lightgbm",
            family=BESIDE,
            takes_tables=True,
            **tuned,
        ),
        Tuned(
            "ridge",
            "linear ridge",
            task,
            _model(lambda seed: ridge()),
            {"model__alpha": (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)},
            family=BESIDE,
            **tuned,
        ),
    ]
