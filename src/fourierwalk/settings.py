"""An estimator's parameters as plain data: words, numbers, arrays, and the settings objects of this library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.checkpoints.checkpoint import Checkpoint
from fourierwalk.data import features
from fourierwalk.sampling import proposals
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.solver import Solver
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.policy import Policy

WALKS = (
    proposals.RandomWalk,
    proposals.AdaptiveWalk,
    proposals.TargetedWalk,
    proposals.ShapedWalk,
    proposals.ScaledWalk,
    proposals.AnnealedWalk,
)
KNOWN: dict[str, Any] = {
    kind.__name__: kind for kind in (Solver, Metropolis, Resampling, Descent, Automatic, Policy, Checkpoint, *WALKS)
}
"""All that a file can name: loading makes nothing else."""


def packed(name: str, value: Any) -> Any:
    """A parameter as JSON values and arrays; whatever has none is refused in one sentence.

    Examples
    --------
    >>> packed("solver", Solver("dual"))["is"]
    'Solver'
    >>> packed("random_state", np.random.default_rng(0))
    Traceback (most recent call last):
        ...
    ValueError: random_state must be plain data or an object of fourierwalk to be saved in a file, because a file \
holds no code, got Generator: joblib and pickle keep it.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Path):
        value = str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value
    if isinstance(value, list):
        return [packed(name, each) for each in value]
    if isinstance(value, tuple):
        return {"is": "tuple", "of": [packed(name, each) for each in value]}
    if isinstance(value, Mapping):
        return {"is": "dict", "of": [[packed(name, key), packed(name, each)] for key, each in value.items()]}
    if KNOWN.get(type(value).__name__) is type(value) and is_dataclass(value):
        own = {field.name: packed(field.name, getattr(value, field.name)) for field in fields(value)}
        return {"is": type(value).__name__, "fields": own}
    if name == "features":
        return {"is": "features", "name": features.name_of(value)}
    raise ValueError(
        f"{name} must be plain data or an object of fourierwalk to be saved in a file, because a file holds no code, "
        f"got {type(value).__name__}: joblib and pickle keep it."
    )


def unpacked(value: Any) -> Any:
    """The parameter that `packed` gave.

    Examples
    --------
    >>> unpacked(packed("solver", Solver("dual"))) == Solver("dual")
    True
    """
    if isinstance(value, list):
        return [unpacked(each) for each in value]
    if not isinstance(value, dict):
        return value
    kind = value["is"]
    if kind == "tuple":
        return tuple(unpacked(each) for each in value["of"])
    if kind == "dict":
        return {unpacked(key): unpacked(each) for key, each in value["of"]}
    if kind == "features":
        return features.named(str(value["name"]))
    if kind not in KNOWN:
        raise ValueError(f"a parameter must be one of {sorted(KNOWN)}, got {str(kind)[:80]!r}.")
    return KNOWN[kind](**{name: unpacked(each) for name, each in value["fields"].items()})
