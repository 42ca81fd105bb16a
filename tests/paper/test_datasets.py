import dataclasses
import gzip
import hashlib
import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fourierwalk.paper.datasets import FOLDER_VARIABLE, MNIST, Archive, File, load, read

REAL_FOLDERS = [os.environ.get(FOLDER_VARIABLE), Path(__file__).parents[2].parent / "shared" / "data"]
NO_MIRROR = "http://127.0.0.1:9/"  # the discard port: nothing answers


@pytest.fixture(autouse=True)
def _no_folder_from_outside(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)


def idx(array, magic=None):
    header = [0x800 + array.ndim if magic is None else magic, *array.shape]
    return b"".join(n.to_bytes(4, "big") for n in header) + array.astype(np.uint8).tobytes()


def tiny(n_rows, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (n_rows, 2, 3)), rng.integers(0, 10, n_rows)


TRAIN, TEST = tiny(5, seed=0), tiny(3, seed=1)
CONTENTS = {
    "train_images": idx(TRAIN[0]),
    "train_labels": idx(TRAIN[1]),
    "test_images": idx(TEST[0]),
    "test_labels": idx(TEST[1]),
}


def write(folder, mirrors=(), **changed):
    """Four small files in a folder and the archive that describes them, some with other contents."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for role, contents in (CONTENTS | changed).items():
        compressed = gzip.compress(contents, mtime=0)
        (folder / f"{role}.gz").write_bytes(compressed)
        files[role] = File(f"{role}.gz", hashlib.sha256(compressed).hexdigest())
    return Archive("tiny", tuple(mirrors), **files)


def assert_is_tiny(data):
    assert data.name == "tiny"
    assert_array_equal(data.train_images, TRAIN[0].reshape(5, 6) / 255)
    assert_array_equal(data.train_labels, TRAIN[1])
    assert_array_equal(data.test_images, TEST[0].reshape(3, 6) / 255)
    assert_array_equal(data.test_labels, TEST[1])


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A web server for a folder: its address, the folder, and the paths that were asked for."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder, asked = tmp_path / "served", []
    folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/", folder, asked
        http.shutdown()
        thread.join()


@pytest.mark.parametrize("below", ["", "tiny"])
def test_reads_a_folder(tmp_path, below):
    assert_is_tiny(read(write(tmp_path / below), tmp_path))


def test_reads_the_folder_of_the_environment_variable(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert_is_tiny(read(write(tmp_path)))


def test_the_argument_goes_before_the_environment_variable(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "elsewhere"))
    assert_is_tiny(read(write(tmp_path / "here"), tmp_path / "here"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_types(tmp_path, dtype):
    data = read(write(tmp_path), tmp_path, dtype=dtype)
    assert data.train_images.dtype == data.test_images.dtype == dtype
    assert data.train_labels.dtype == data.test_labels.dtype == np.int64
    assert data.train_images.flags.writeable
    assert data.train_labels.flags.writeable


def test_the_result_is_frozen(tmp_path):
    data = read(write(tmp_path), tmp_path)
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"


def damage_flip(file):
    contents = bytearray(file.read_bytes())
    contents[len(contents) // 2] ^= 1
    file.write_bytes(contents)


def damage_cut(file):
    file.write_bytes(file.read_bytes()[:-5])


def damage_empty(file):
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_flip, damage_cut, damage_empty])
@pytest.mark.parametrize("role", list(CONTENTS))
def test_a_damaged_file_is_named_with_what_was_expected_and_what_came(tmp_path, damage, role):
    archive = write(tmp_path)
    file = tmp_path / f"{role}.gz"
    damage(file)
    came = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(ValueError, match="sha256") as caught:
        read(archive, tmp_path)
    for word in (file.name, getattr(archive, role).sha256, came, f"{file.stat().st_size} bytes"):
        assert word in str(caught.value)


@pytest.mark.parametrize("role", list(CONTENTS))
def test_a_missing_file_is_named(tmp_path, role):
    archive = write(tmp_path)
    (tmp_path / f"{role}.gz").unlink()
    with pytest.raises(FileNotFoundError, match=f"{role}.gz is neither in .* nor in .*tiny"):
        read(archive, tmp_path)


BAD_CONTENTS = [
    ("train_images", idx(TRAIN[0], magic=2049), "train_images.gz begins with the magic number 2049, expected 2051"),
    ("test_labels", idx(TEST[1], magic=2051), "test_labels.gz begins with the magic number 2051, expected 2049"),
    ("test_labels", b"", "test_labels.gz begins with the magic number 0, expected 2049"),
    ("train_images", idx(TRAIN[0])[:-1], r"train_images.gz has 45 bytes, expected 46 of shape \[5, 2, 3\]"),
    ("train_images", idx(TRAIN[0]) + b"0", r"train_images.gz has 47 bytes, expected 46"),
    ("train_labels", idx(TRAIN[1][:-1]), "train_labels.gz holds 4 labels for the 5 images of train_images.gz"),
]


@pytest.mark.parametrize(("role", "contents", "sentence"), BAD_CONTENTS)
def test_contents_that_are_not_idx_are_refused_even_with_the_right_checksum(tmp_path, role, contents, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(write(tmp_path, **{role: contents}), tmp_path)


@pytest.mark.parametrize(
    "compressed", [b"not gzip", gzip.compress(CONTENTS["train_labels"], mtime=0)[:-6]], ids=["text", "cut"]
)
def test_broken_gzip_is_refused_even_with_the_right_checksum(tmp_path, compressed):
    archive = write(tmp_path)
    file = File("train_labels.gz", hashlib.sha256(compressed).hexdigest())
    (tmp_path / file.name).write_bytes(compressed)
    with pytest.raises(ValueError, match=r"train_labels.gz is no complete gzip file"):
        read(dataclasses.replace(archive, train_labels=file), tmp_path)


def test_downloads_once_from_the_first_mirror_that_answers(tmp_path, server):
    address, folder, asked = server
    archive = write(folder, [NO_MIRROR, address])
    assert_is_tiny(read(archive, cache_dir=tmp_path / "cache"))
    assert sorted(asked) == sorted(f"/{role}.gz" for role in CONTENTS)
    assert_is_tiny(read(archive, cache_dir=tmp_path / "cache"))
    assert len(asked) == 4
    assert sorted(p.name for p in (tmp_path / "cache" / "tiny").iterdir()) == sorted(f"{r}.gz" for r in CONTENTS)


def test_a_damaged_download_is_not_kept(tmp_path, server):
    address, folder, _ = server
    archive = write(folder, [address])
    damage_cut(folder / "train_images.gz")
    came = hashlib.sha256((folder / "train_images.gz").read_bytes()).hexdigest()
    with pytest.raises(ConnectionError, match=rf"train_images.gz .*{archive.train_images.sha256}.*{came}"):
        read(archive, cache_dir=tmp_path / "cache")
    assert list((tmp_path / "cache" / "tiny").iterdir()) == []


def test_a_damaged_file_in_the_cache_is_replaced(tmp_path, server):
    address, folder, _ = server
    archive = write(folder, [address])
    read(archive, cache_dir=tmp_path / "cache")
    damage_flip(tmp_path / "cache" / "tiny" / "test_images.gz")
    assert_is_tiny(read(archive, cache_dir=tmp_path / "cache"))


def test_no_network_says_how_to_name_a_folder(tmp_path, monkeypatch):
    pooch = pytest.importorskip("pooch")

    def refuse(url, *args, **kwargs):
        raise OSError("name resolution failed")

    monkeypatch.setattr(pooch, "retrieve", refuse)
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / project)
    with pytest.raises(ConnectionError) as caught:
        load("mnist")
    for word in ("train-images-idx3-ubyte.gz", *MNIST.mirrors, "OSError", "data_dir", FOLDER_VARIABLE):
        assert word in str(caught.value)
    assert "name resolution failed" in str(caught.value.__cause__)


def test_without_pooch_the_extra_is_named_and_a_folder_still_works(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"fourierwalk\[paper\]"):
        load("mnist")
    assert_is_tiny(read(write(tmp_path), tmp_path))


@pytest.mark.parametrize("name", ["cifar", "MNIST", ""])
def test_an_unknown_name_is_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match="'mnist' and 'digits'"):
        load(name)


def test_digits():
    data = load("digits")
    assert data.name == "digits"
    assert data.train_images.shape == (1437, 64)
    assert data.test_images.shape == (360, 64)
    assert data.train_labels.shape == (1437,)
    assert data.test_labels.shape == (360,)
    assert data.train_labels.dtype == np.int64
    assert (data.train_images.min(), data.train_images.max()) == (0.0, 1.0)
    assert set(np.bincount(data.test_labels)) <= {34, 35, 36, 37}
    assert_array_equal(load("digits").test_images, data.test_images)


def test_the_real_set():
    folders = [Path(f) for f in REAL_FOLDERS if f and list(Path(f).glob(f"**/{MNIST.train_images.name}"))]
    if not folders:
        pytest.skip(f"no MNIST at hand: {FOLDER_VARIABLE} names its folder")
    data = load("mnist", folders[0], dtype=np.float32)
    assert data.name == "mnist"
    assert data.train_images.shape == (60_000, 784)
    assert data.test_images.shape == (10_000, 784)
    assert (data.train_images.min(), data.train_images.max()) == (0.0, 1.0)
    assert_array_equal(np.bincount(data.test_labels), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009])
    assert_array_equal(data.train_labels[:5], [5, 0, 4, 1, 9])
    assert len(data.train_labels) == 60_000


def test_importing_the_module_does_not_import_pooch():
    code = "import sys, fourierwalk.paper.datasets; sys.exit('pooch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
