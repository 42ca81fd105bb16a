"""Files that were damaged, cut, spliced, or forged with a checksum that fits."""

import hashlib
import io
import json
import zipfile

import numpy as np

from fourierwalk.files import container

JUNK = (
    None,
    True,
    -1,
    0,
    7,
    10**30,
    1e308,
    -1e-300,
    "",
    "x",
    "x" * 5000,
    [],
    {},
    [[]],
    [1, "a", None],
    {"$array": "model.frequencies"},
    {"$array": "nowhere"},
    {"$complex": "model.offset"},
    {"$number": "nan"},
    {"$number": "x"},
    {"$strings": ["a", 3], "shape": [2]},
    {"$strings": ["a"], "shape": [10**12]},
    {"is": "Metropolis", "fields": {}},
    {"is": "__import__", "fields": {"name": "os"}},
    {"is": "tuple", "of": 3},
    "__import__('os').system('true')",
)
TEXTS = (
    b",",
    b";",
    b"\t",
    b'"',
    b"'",
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"inf",
    b"nan",
    b"1e999",
    b"-",
    b"1,2,3",
    b"2024-13-45",
    b"9" * 400,
    b"x" * 140_000,
    "Ω".encode(),
)


def damaged(data, rng):
    """Bytes that were changed, cut out, doubled, moved or put in."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at, n = int(rng.integers(len(data) + 1)), int(rng.integers(1, 20))
        kind = int(rng.integers(6))
        if kind == 0 and at < len(data):
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at : at + n]
        elif kind == 3:
            data[at:at] = data[at : at + 50 * n]
        elif kind == 4:
            data[at:at] = rng.integers(0, 256, n, dtype=np.uint8).tobytes()
        else:
            data[at:at] = TEXTS[int(rng.integers(len(TEXTS)))]
    return bytes(data)


def forged(data, rng):
    """A model's file with a value changed somewhere in its JSON or its arrays, and a checksum that fits."""
    begin = 8 + int.from_bytes(data[:8], "little")
    header, arrays = json.loads(data[8:begin]), bytearray(data[begin:])
    about = header["__metadata__"]
    kind = int(rng.integers(5))
    if kind == 0:
        header = changed(header, rng)
    elif kind == 1:
        at = int(rng.integers(len(arrays)))
        arrays[at : at + 8] = rng.integers(0, 256, 8, dtype=np.uint8).tobytes()
    else:
        about["content"] = json.dumps(changed(json.loads(about["content"]), rng))
    about = header.get("__metadata__") if isinstance(header, dict) else None
    if isinstance(about, dict):
        about["sha256"] = container.NO_SUM
    text = json.dumps(header).encode()
    parts = [len(text).to_bytes(8, "little"), text, bytes(arrays)]
    said = hashlib.sha256(b"".join(parts)).hexdigest()
    parts[1] = text.replace(container.NO_SUM.encode(), said.encode(), 1)
    return b"".join(parts)


def changed(tree, rng):
    """The tree with one node replaced by junk, left out or doubled."""
    if isinstance(tree, dict) and tree and rng.random() < 0.85:
        key = list(tree)[int(rng.integers(len(tree)))]
        if rng.random() < 0.1:
            return {name: value for name, value in tree.items() if name != key}
        if rng.random() < 0.05:
            return {**tree, f"{key}2": tree[key]}
        return {**tree, key: changed(tree[key], rng)}
    if isinstance(tree, list) and tree and rng.random() < 0.7:
        at = int(rng.integers(len(tree)))
        return [*tree[:at], changed(tree[at], rng), *tree[at + 1 :]]
    return JUNK[int(rng.integers(len(JUNK)))]


def forged_npz(data, rng):
    """An NPZ file with a header of an array that claims something else."""
    out = io.BytesIO()
    claims = ("(999999999999,)", "(-1,)", "(3, 10000000000)", "('a',)", "(1e3,)", "()", "__import__('os')")
    kinds = ("'<f8'", "'|O'", "'<U9999'", "'<c16'", "'<M8[s]'", "'x'", "3")
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            shape, kind = claims[int(rng.integers(len(claims)))], kinds[int(rng.integers(len(kinds)))]
            header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
            forged = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + old.read(name)[128:]
            new.writestr(name, forged if rng.random() < 0.7 else old.read(name))
    return out.getvalue()


def forged_parquet(data, rng):
    """A Parquet file with some bytes changed in the footer that describes its columns; lengths stay as they were."""
    data, footer = bytearray(data), int.from_bytes(data[-8:-4], "little")
    for _ in range(int(rng.integers(1, 4))):
        at = len(data) - 8 - footer + int(rng.integers(footer))
        data[at] = int(rng.integers(256)) if rng.random() < 0.5 else data[at] ^ (1 << int(rng.integers(8)))
    return bytes(data)
