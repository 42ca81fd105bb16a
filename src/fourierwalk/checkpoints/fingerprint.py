"""The fingerprint of a fit: digests of its data, its parameters and its random numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from fourierwalk.arrays.library import to_host
from fourierwalk.data.streaming import held_values
from fourierwalk.files.container import checksum
from fourierwalk.training.data import Data
from fourierwalk.training.followed import Resume

BYTES_AT_ONCE = 2**24
"""Arrays are read in parts of this many bytes: a memory map is never in memory as a whole."""


class Fingerprint(NamedTuple):
    """What a fit is of: a checkpoint is taken only if all of it is the same."""

    data: str  # a digest of inputs, targets, weights, validation rows and groups
    parameters: dict[str, str]  # a digest of each parameter that the result depends on
    seed: str  # a digest of the generator; empty: the fit was not seeded
    before: str  # a digest of the earlier fit that a warm start continues; empty: there is none

    @property
    def digest(self) -> str:
        """One digest of all."""
        return checksum([json.dumps(self, sort_keys=True).encode()])

    def difference(self, other: Fingerprint) -> str | None:
        """What the fit of the other fingerprint has of its own, in words; None: nothing."""
        if other.data != self.data:
            return "other data"
        names = sorted(self.parameters.keys() | other.parameters.keys())
        changed = [name for name in names if self.parameters.get(name) != other.parameters.get(name)]
        if changed:
            return f"another {' and '.join(changed[:3])}"
        if other.before != self.before:
            return "another fit to continue by warm_start"
        return "another random_state" if other.seed != self.seed else None


def fingerprint(
    data: Data, parameters: Mapping[str, Any], rng: np.random.Generator | None, resume: Resume | None
) -> Fingerprint:
    """The fingerprint of a fit; `parameters` are packed as for a file, `rng` is None for a fit that is not seeded."""
    before = "" if resume is None else checksum(_bytes((resume.state, resume.best, resume.split_seed)))
    seed = "" if rng is None else checksum(_bytes((rng.bit_generator.state, *_children(rng))))
    own = {name: checksum(_bytes(value)) for name, value in parameters.items()}
    return Fingerprint(checksum(_data_bytes(data)), own, seed, before)


def _children(rng: np.random.Generator) -> tuple[str, int]:
    """What the generators that are spawned later depend on."""
    seeds: Any = rng.bit_generator.seed_seq
    state = getattr(seeds, "state", None) or {}
    plain = {name: int(value) if isinstance(value, np.integer) else value for name, value in state.items()}
    return str(plain), int(getattr(seeds, "n_children_spawned", 0))


def _bytes(value: Any) -> Iterator[bytes]:
    """A tree of plain values, arrays and frozen settings as bytes."""
    arrays: list[Any] = []
    yield json.dumps(_plain(value, arrays), sort_keys=True).encode()
    for array in arrays:
        yield from _array_bytes(array)


def _plain(value: Any, arrays: list[Any]) -> Any:
    """JSON, with arrays set aside."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each, arrays) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, arrays) for each in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    arrays.append(value)
    return "array"


def _data_bytes(data: Data) -> Iterator[bytes]:
    for name, part in zip(data._fields, data, strict=True):
        if part is None:
            continue
        yield name.encode()
        if hasattr(part, "survey"):  # rows in chunks: what the pass over them has found, so that none is read again
            yield from _bytes(part.survey)
        else:
            yield from _array_bytes(data.identities if name == "means" else part)


def _array_bytes(array: Any) -> Iterator[bytes]:
    """Type, shape and values of an array of any library."""
    array = held_values(array)
    if scipy.sparse.issparse(array):
        array = array.tocsr()
        yield str(array.shape).encode()
        for part in (array.indptr, array.indices, array.data):
            yield from _array_bytes(part)
        return
    yield f"{str(array.dtype).split('.')[-1]} {tuple(array.shape)}".encode()
    n = int(array.shape[0]) if array.ndim else 1
    height = max(1, BYTES_AT_ONCE * n // max(1, to_host(array[:1]).nbytes * n)) if array.ndim else 1
    for start in range(0, n, height):
        part = to_host(array[start : start + height] if array.ndim else array)
        yield part.astype(str).tobytes() if part.dtype == object else np.ascontiguousarray(part).tobytes()
