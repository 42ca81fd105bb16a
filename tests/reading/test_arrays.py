"""NPZ files: columns, and headers that claim what is not there."""

import zipfile

import numpy as np
import pytest

from fourierwalk.reading.arrays import Arrays, read_arrays


def test_a_matrix_or_columns(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=np.eye(2), y=np.array([1, 2]), names=np.array(["a", "b"]))
    assert Arrays.of(path).names == ("a", "b", "y")
    np.savez_compressed(path, when=np.array(["2024-01-01", "NaT"], "M8[D]"), what=np.array(["x", "y"]), n=np.arange(2))
    found = Arrays.of(path)
    assert [kind.name for kind in found.kinds()] == ["moments", "words", "numbers"]
    block = next(found.blocks(["n", "what"], ["words", "words"]))
    assert [column.tolist() for column in block.table.columns] == [["0", "1"], ["x", "y"]]
    assert block.lines.tolist() == [1, 2]
    with pytest.raises(ValueError, match="must hold numbers in 'what', got 'x' in row 1"):
        list(found.blocks(["what"], ["numbers"]))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.ones(3)}, r"must hold X of shape \(n, d\), got \(3,\)"),
        ({"X": np.ones((2, 2)), "names": np.array(["a"])}, "as many names as X has columns, 2, got 1"),
        ({"a": np.ones(2), "b": np.ones(3)}, r"got 'b' of shape \(3,\)"),
        ({"a": np.ones((2, 2))}, r"got 'a' of shape \(2, 2\)"),
        ({"a": np.array([1.0, np.inf])}, "must hold finite numbers in 'a', got infinity in row 1"),
        ({"a": np.array([1j])}, "must hold numbers, words or dates in 'a', got complex128"),
        ({"a": np.array([object()])}, "'a' holds pickled objects, which can run code"),
        ({}, "got none"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, arrays, words):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=words):
        Arrays.of(tmp_path / "a.npz")


def test_a_header_that_claims_a_petabyte_takes_no_memory(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999999,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("a.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8))
    with pytest.raises(ValueError, match="its array 'a' claims more than it holds"):
        read_arrays(tmp_path / "a.npz")


def test_a_bomb_takes_no_memory(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", b"small")
    data = bytearray((tmp_path / "a.npz").read_bytes())
    at = data.index(b"PK\x01\x02") + 24  # the size that the directory claims
    data[at : at + 4] = (2**32 - 2).to_bytes(4, "little")
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(ValueError, match=r"is damaged|GB of memory"):
        read_arrays(tmp_path / "a.npz")
