"""One file of JSON and arrays: what was written comes back, and whatever is wrong with a file is one sentence."""

import hashlib
import json
import math
import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fourierwalk.files import container

TREE = {
    "frequencies": np.arange(6.0).reshape(2, 3),
    "amplitudes": np.array([[1 + 2j], [3 - 4j]]),
    "labels": np.array(["a", "βγ", ""]),
    "deep": {"flags": np.array([True, False]), "list": [1, None, "x", np.float64(0.5), np.arange(2, dtype=np.int32)]},
    "limit": math.inf,
}


@pytest.fixture
def path(tmp_path):
    return container.write(tmp_path / "a.fw", "Kind", TREE)


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other or (one != one and other != other)


def test_what_was_written_comes_back(path):
    content = container.read(path)
    assert content.kind == "Kind"
    assert same(content.tree, TREE)


@given(
    values=st.recursive(
        st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text().filter(lambda key: key[:1] != "$"), inner)
        ),
        max_leaves=8,
    ),
    array=arrays.arrays(
        st.sampled_from([np.dtype(name) for name in ("f8", "f4", "i8", "i4", "?", "c16")]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0),
    ),
)
def test_any_tree_comes_back(values, array, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "a.fw"
    container.write(path, "Kind", {"values": values, "array": array})
    assert same(container.read(path).tree, {"values": values, "array": array})


def test_the_safetensors_library_reads_it(path):
    numpy = pytest.importorskip("safetensors.numpy")
    found = numpy.load_file(path)
    np.testing.assert_array_equal(found["frequencies"], TREE["frequencies"])
    np.testing.assert_array_equal(found["amplitudes"][..., 1], TREE["amplitudes"].imag)
    assert set(found) == {"frequencies", "amplitudes", "deep.flags", "deep.list.4"}


def test_the_checksum_is_of_the_file_with_zeros_in_its_place(path):
    data, said = path.read_bytes(), container.read(path).sha256
    assert hashlib.sha256(data.replace(said.encode(), b"0" * 64)).hexdigest() == said


def test_every_altered_byte_is_seen(path):
    data = path.read_bytes()
    for place in range(len(data)):
        altered = bytearray(data)
        altered[place] ^= 1
        path.write_bytes(altered)
        with pytest.raises(ValueError, match=r"\.$"):
            container.read(path)


def test_every_cut_is_seen(path):
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"cut short|no model file"):
            container.read(path)


def forged(path, change):
    """The file with a header that was changed, and a checksum that fits."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    change(header)
    header["__metadata__"]["sha256"] = container.NO_SUM
    text = json.dumps(header).encode()
    parts = [len(text).to_bytes(8, "little"), text, data[begin:]]
    said = hashlib.sha256(b"".join(parts)).hexdigest()
    parts[1] = text.replace(container.NO_SUM.encode(), said.encode(), 1)
    path.write_bytes(b"".join(parts))


def about(**changes):
    return lambda header: header["__metadata__"].update(changes)


def entry(**changes):
    return lambda header: header["frequencies"].update(changes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (about(format="other"), "says 'other' as its format"),
        (about(format_version="2"), "has format version 2, and this version of fourierwalk reads up to 1: upgrade"),
        (about(format_version="x"), "says 'x' as its version"),
        (about(content="{"), "its content makes no sense"),
        (about(content='{"a": {"$array": "gone"}}'), "makes no sense"),
        (about(content='{"a": {"$complex": "frequencies"}, "b": {"$strings": ["a"], "shape": [2]}}'), "no sense"),
        (about(content='{"a": {"$strings": [' + '"a",' * 50000 + '"' + "b" * 50000 + '"], "shape": [50001]}}'), "no"),
        (about(content="[" * 100_000), "makes no sense"),
        (about(kind=3), "makes no sense"),
        (lambda header: header.pop("__metadata__") and header.update(__metadata__={}), "no model file"),
        (entry(shape=[10**15]), "the array 'frequencies' has no size that makes sense"),
        (entry(shape=[10**15], data_offsets=[0, 8 * 10**15]), "cut short"),
        (entry(dtype="OBJECT"), "has no size that makes sense"),
        (entry(shape=[-2, -3]), "has no size that makes sense"),
        (entry(shape="ab"), "no size|makes no sense"),
        (entry(data_offsets=[8, 56]), "do not fill it|cut short"),
        (lambda header: header.update(extra=header["frequencies"]), "its arrays do not fill it"),
    ],
)
def test_a_forged_file_is_a_sentence(path, change, words):
    forged(path, change)
    with pytest.raises(ValueError, match=words) as caught:
        container.read(path)
    assert str(caught.value).endswith(".")


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return (os.mkdir, ("bomb",))


def test_other_files_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    others = {
        "empty": (b"", "it is empty"),
        "pickle": (pickle.dumps(Bomb()) + bytes(20), "it looks like a pickle, which can run code"),
        "text": (b"a,b,c\n1,2,3\n4,5,6\n", "is no model file of ours"),
        "short": (b"abc", "is no model file of ours"),
    }
    for name, (data, words) in others.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=words):
            container.read(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("bomb.npy", bytes(10_000_000))
    with pytest.raises(ValueError, match="it is a zip file"):
        container.read(tmp_path / "zip")
    with pytest.raises(FileNotFoundError, match=r"The model file .*gone is not there"):
        container.read(tmp_path / "gone")
    with pytest.raises(ValueError, match="must be a file, got a folder"):
        container.read(tmp_path)
    assert not (tmp_path / "bomb").exists()


def test_a_file_larger_than_memory_is_not_read(path):
    data = path.read_bytes()
    with path.open("r+b") as file:
        file.truncate(1 << 42)  # sparse: it takes no place
    with pytest.raises(ValueError, match="GB of memory"):
        container.read(path)
    path.write_bytes(data)
    assert container.read(path)


def test_what_is_no_data_is_refused(tmp_path):
    for tree in ({"a": object()}, {"a": np.array([object()])}, {"$a": 1}, {1: 1}):
        with pytest.raises(TypeError, match="to be saved"):
            container.write(tmp_path / "a.fw", "Kind", tree)
    assert not list(tmp_path.iterdir())
