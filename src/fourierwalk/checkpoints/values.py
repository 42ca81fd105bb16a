"""States, candidates and events as plain values and arrays, and back: bit for bit, and with the arrays' layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.library import is_foreign, like, to_host
from fourierwalk.sampling.descent import Curvature
from fourierwalk.sampling.proposals import Covariance, Pace
from fourierwalk.sampling.sampler import Info, State
from fourierwalk.solving.solution import SolveInfo
from fourierwalk.training.growing import Grown
from fourierwalk.training.history import Decision
from fourierwalk.training.selection import Candidate, Look

KNOWN: dict[str, Any] = {kind.__name__: kind for kind in (State, Covariance, Pace, Curvature, Candidate, Look, Grown)}
"""The named tuples that a checkpoint can hold: reading makes nothing else."""


def packed(value: Any) -> Any:
    """A state or a candidate as plain values and NumPy arrays.

    Examples
    --------
    >>> packed(Look(3, 0.5, 0.1))
    {'is': 'Look', 'of': [3, 0.5, 0.1, 'walk']}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {"is": "dict", "of": {str(key): packed(each) for key, each in value.items()}}
    if isinstance(value, tuple | list):
        kind = type(value).__name__
        if kind not in ("tuple", "list") and KNOWN.get(kind) is not type(value):
            raise TypeError(f"checkpoint needs states of the library's own samplers, got {kind}.")
        return {"is": kind, "of": [packed(each) for each in value]}
    if compat.is_array_api_obj(value):
        return _packed_array(value)
    raise TypeError(f"checkpoint needs states of the library's own samplers, got {type(value).__name__}.")


def _packed_array(array: Any) -> dict[str, Any]:
    """Values, type and layout: the order of a sum, and so its last bits, can depend on the layout."""
    host = to_host(array)
    layout = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    kept = host.astype(np.int64) if host.dtype.kind in "iu" else host
    return {"is": "array", "dtype": host.dtype.name, "layout": layout, "foreign": is_foreign(array), "of": kept}


def unpacked(value: Any, reference: Any) -> Any:
    """The inverse of `packed`; arrays of another library than NumPy are made like the reference."""
    if not isinstance(value, dict):
        return value
    kind, of = value["is"], value["of"]
    if kind == "array":
        array = np.array(of, dtype=value["dtype"], order=value["layout"])
        return like(array, reference) if value["foreign"] else array
    if kind == "dict":
        return {key: unpacked(each, reference) for key, each in of.items()}
    each = [unpacked(part, reference) for part in of]
    if kind == "list":
        return each
    return tuple(each) if kind == "tuple" else KNOWN[kind](*each)


NUMBERS = {"Info": ("step", "acceptance", "step_size", "loss"), "Look": ("step", "error", "regularization")}


def packed_events(events: Sequence[Any]) -> dict[str, Any]:
    """Steps, looks and decisions as columns."""
    infos = [event for event in events if isinstance(event, Info)]
    looks = [event for event in events if isinstance(event, Look)]
    solves = list(dict.fromkeys(info.solve for info in infos))
    return {
        "kinds": np.array([("Info", "Look", "Decision").index(type(event).__name__) for event in events], dtype="<i4"),
        "infos": _columns(infos, NUMBERS["Info"]),
        "looks": _columns(looks, NUMBERS["Look"]),
        "decisions": [list(event) for event in events if isinstance(event, Decision)],
        "solves": [None if solve is None else list(solve) for solve in solves],
        "solve": np.array([solves.index(info.solve) for info in infos], dtype="<i4"),
    }


def unpacked_events(tree: Mapping[str, Any]) -> list[Any]:
    """The inverse of `packed_events`."""
    solves = [None if solve is None else SolveInfo(*solve) for solve in tree["solves"]]
    infos = (
        Info(int(step), acceptance, size, loss, solves[code], phase)
        for (step, acceptance, size, loss, phase), code in zip(
            _rows(tree["infos"]), tree["solve"].tolist(), strict=True
        )
    )
    looks = (Look(int(step), error, chosen, phase) for step, error, chosen, phase in _rows(tree["looks"]))
    decisions = (Decision(text, n_left) for text, n_left in tree["decisions"])
    return [next((infos, looks, decisions)[kind]) for kind in tree["kinds"].tolist()]


def _columns(events: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    phases = list(dict.fromkeys(event.phase for event in events))
    numbers = np.array([[float(getattr(event, name)) for event in events] for name in names])
    codes = np.array([phases.index(event.phase) for event in events], dtype="<i4")
    return {"numbers": numbers.reshape(len(names), -1), "phases": phases, "phase": codes}


def _rows(columns: Mapping[str, Any]) -> list[Any]:
    names = [columns["phases"][code] for code in columns["phase"].tolist()]
    return [(*numbers, name) for numbers, name in zip(columns["numbers"].T.tolist(), names, strict=True)]
