"""A file of JSON and arrays in the safetensors format, with a checksum. Reading runs no code, whatever the file holds.

The file is a length (8 bytes, little-endian), a JSON header of that length, and the arrays' bytes one after the other.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.memory import free_bytes
from fourierwalk.files.writing import replacing
from fourierwalk.version import VERSION

FORMAT = "fourierwalk"
FORMAT_VERSION = 1
"""Version of the format. Files of a higher version are refused."""

TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "BOOL": "?"}
NAMES = {np.dtype(code): name for name, code in TYPES.items()}
NO_SUM = "0" * 64


class Content(NamedTuple):
    """What a file holds: its kind, a tree of JSON values and arrays, the version of the library, the checksum."""

    kind: str
    tree: dict[str, Any]
    library: str
    sha256: str


def write(path: Path | str, kind: str, tree: Mapping[str, Any]) -> Path:
    """Write a tree of JSON values and arrays (real, complex, Boolean or of strings), atomically.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write(Path(folder) / "a.fw", "Example", {"name": "a", "values": np.arange(3.0)})
    ...     read(path).tree
    {'name': 'a', 'values': array([0., 1., 2.])}
    """
    arrays: dict[str, np.ndarray] = {}
    content = _packed(tree, "", arrays)
    with replacing(path) as file:
        for part in _parts(kind, content, arrays):
            file.write(part)
    return Path(path)


def _parts(kind: str, content: Any, arrays: Mapping[str, np.ndarray]) -> list[bytes]:
    """Length, header and arrays. The checksum is of all bytes, with zeros in place of the checksum itself."""
    about = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "library": VERSION,
        "kind": kind,
        "sha256": NO_SUM,
        "content": json.dumps(content, allow_nan=False, separators=(",", ":")),
    }
    header: dict[str, Any] = {"__metadata__": about}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    parts = [len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in arrays.values())]
    parts[1] = text.replace(NO_SUM.encode(), checksum(parts).encode(), 1)
    return parts


def checksum(parts: Iterable[bytes]) -> str:
    """The SHA-256 of some bytes, one after the other."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()


def _packed(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """JSON, with arrays set aside under the dotted name of their place."""
    if isinstance(value, Mapping):
        return {_key(key, name): _packed(each, _under(name, key), arrays) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_packed(each, _under(name, i), arrays) for i, each in enumerate(value)]
    if isinstance(value, np.ndarray):
        return _set_aside(value, name, arrays)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{name} must be JSON or an array to be saved, got {type(value).__name__}.")


def _under(name: str, key: Any) -> str:
    return f"{name}.{key}" if name else str(key)


def _key(key: Any, name: str) -> str:
    if not isinstance(key, str) or key.startswith("$"):
        raise TypeError(f"{name} must have words without $ as keys to be saved, got {key!r}.")
    return key


def _set_aside(array: np.ndarray, name: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if array.dtype.kind == "U":
        return {"$strings": array.reshape(-1).tolist(), "shape": list(array.shape)}
    if array.dtype.kind == "c":
        arrays[name] = np.stack([array.real, array.imag], axis=-1).astype("<f8")
        return {"$complex": name}
    plain = array.astype("<i8") if array.dtype.kind in "iu" and array.dtype.itemsize != 4 else array
    if plain.dtype not in NAMES:
        raise TypeError(f"{name} must be an array of real, complex or Boolean values to be saved, got {array.dtype}.")
    arrays[name] = plain
    return {"$array": name}


def read(path: Path | str) -> Content:
    """Read a file. Every error is one sentence.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is cut short, altered, of a newer version, or not a model file.
    """
    path = Path(path)
    data = _bytes(path)
    try:
        header, begin = _header(path, data)
        about = _about(path, header)
        return Content(
            about["kind"], _content(path, header, about, data, begin), about.get("library", "?"), about["sha256"]
        )
    except (KeyError, TypeError, AttributeError, UnicodeError, RecursionError, OverflowError, IndexError) as error:
        raise ValueError(f"{path} is no model file of ours: its header makes no sense.") from error


def _bytes(path: Path) -> bytes:
    """The bytes of the file, after checking that it is a model file and fits into memory."""
    if not path.exists():
        raise FileNotFoundError(f"The model file {path} is not there.")
    if not path.is_file():
        raise ValueError(f"The model file {path} must be a file, got a folder or a device.")
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(9)
        length = int.from_bytes(start[:8], "little")
        if len(start) < 9 or start[8:] != b"{" or length > 2**40:
            raise ValueError(f"{path} is no model file of ours{_guess(start)}.")
        if 8 + length > size:
            raise ValueError(f"{path} is cut short: it has {size:,} bytes, and its header alone {8 + length:,}.")
        if 2 * size > free_bytes():
            raise ValueError(f"{path} needs {2 * size / 1e9:.3g} GB of memory, {free_bytes() / 1e9:.3g} GB are free.")
        return start + file.read()


def _guess(start: bytes) -> str:
    if not start:
        return ": it is empty"
    kinds = {b"\x80": ": it looks like a pickle, which can run code", b"PK": ": it is a zip file"}
    return next((said for sign, said in kinds.items() if start.startswith(sign)), "")


def _header(path: Path, data: bytes) -> tuple[dict[str, Any], int]:
    begin = 8 + int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8:begin].decode("ascii"))
    except ValueError as error:
        raise ValueError(f"{path} is no model file of ours: its header is not JSON.") from error
    return header, begin


def _about(path: Path, header: Mapping[str, Any]) -> dict[str, str]:
    about = header["__metadata__"]
    if about.get("format") != FORMAT:
        raise ValueError(f"{path} is no model file of ours: it says {str(about.get('format'))[:40]!r} as its format.")
    version = about["format_version"]
    if not version.isdigit() or len(version) > 9:
        raise ValueError(f"{path} is no model file of ours: it says {version[:40]!r} as its version.")
    if int(version) > FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {version}, and this version of fourierwalk reads up to {FORMAT_VERSION}: "
            f"upgrade fourierwalk."
        )
    if not isinstance(about["kind"], str) or not isinstance(about["sha256"], str):
        raise TypeError("kind and sha256 must be words")
    return about


def _content(
    path: Path, header: Mapping[str, Any], about: Mapping[str, str], data: bytes, begin: int
) -> dict[str, Any]:
    places = {name: _place(path, name, entry) for name, entry in header.items() if name != "__metadata__"}
    expected = begin + max((end for _, _, _, end in places.values()), default=0)
    if len(data) < expected:
        raise ValueError(f"{path} is cut short: it has {len(data):,} of {expected:,} bytes.")
    said = about["sha256"].encode()
    text = data[8:begin].replace(said, NO_SUM.encode(), 1)
    if len(said) != 64 or checksum([data[:8], text, data[begin:]]) != about["sha256"]:
        raise ValueError(f"{path} was altered or damaged after it was saved: its checksum does not fit.")
    bounds = sorted((first, end) for _, _, first, end in places.values())
    if [0, *(end for _, end in bounds)] != [*(first for first, _ in bounds), len(data) - begin]:
        raise ValueError(f"{path} is no model file of ours: its arrays do not fill it.")
    arrays = {
        name: np.frombuffer(data, dtype, math.prod(shape), begin + first).reshape(shape).copy()
        for name, (dtype, shape, first, _) in places.items()
    }
    try:
        return _unpacked(json.loads(about["content"]), arrays)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path} is no model file of ours: its content makes no sense.") from error


def _place(path: Path, name: str, entry: Mapping[str, Any]) -> tuple[str, tuple[int, ...], int, int]:
    """Type, shape, begin and end of an array. They are checked against each other before memory is taken."""
    shape, bounds, dtype = entry["shape"], entry["data_offsets"], TYPES.get(entry["dtype"])
    fits = len(bounds) == 2 and len(shape) <= 8 and all(type(n) is int and n >= 0 for n in (*shape, *bounds))
    if dtype is None or not fits or bounds[1] - bounds[0] != math.prod(shape) * np.dtype(dtype).itemsize:
        raise ValueError(f"{path} is no model file of ours: the array {name[:80]!r} has no size that makes sense.")
    return dtype, tuple(shape), bounds[0], bounds[1]


def _unpacked(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(value, list):
        return [_unpacked(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        return arrays[value["$array"]]
    if "$complex" in value:
        pairs = arrays[value["$complex"]]
        return pairs[..., 0] + 1j * pairs[..., 1]
    if "$strings" in value:
        return _strings(value["$strings"], value["shape"])
    if "$number" in value:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["$number"]]
    return {key: _unpacked(each, arrays) for key, each in value.items()}


def _strings(values: list[str], shape: list[int]) -> np.ndarray:
    """An array of strings. A list in which one long string would make a far larger array is refused."""
    longest = max(map(len, values), default=0)
    if not all(isinstance(each, str) for each in values) or 4 * longest * len(values) > 2**31:
        raise TypeError("strings must be words")
    return np.array(values, dtype=f"<U{max(1, longest)}").reshape(shape)
