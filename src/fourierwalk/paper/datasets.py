"""Handwritten digits for Case 4: MNIST, whose checksums are verified, or scikit-learn's small digits."""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["FOLDER_VARIABLE", "MNIST", "Archive", "File", "LabelledImages", "load", "read"]

FOLDER_VARIABLE = "FOURIERWALK_DATA"


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """Images as rows of pixels between 0 and 1, and their labels."""

    name: str
    train_images: NDArray[Any]  # (N, pixels)
    train_labels: NDArray[np.int64]  # (N,)
    test_images: NDArray[Any]
    test_labels: NDArray[np.int64]


class File(NamedTuple):
    """A gzipped idx file and the checksum of its compressed bytes."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Archive:
    """Four files, and the addresses that offer all of them."""

    name: str
    mirrors: tuple[str, ...]
    train_images: File
    train_labels: File
    test_images: File
    test_labels: File


MNIST = Archive(
    name="mnist",
    mirrors=("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"),
    train_images=File("train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
    train_labels=File("train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
    test_images=File("t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
    test_labels=File("t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
)


def load(name: str, data_dir: str | os.PathLike[str] | None = None, dtype: DTypeLike = np.float64) -> LabelledImages:
    """Load a data set by name.

    Parameters
    ----------
    name : {"mnist", "digits"}
        MNIST (60,000 and 10,000 images of 784 pixels, divided by 255 and not standardised, as in Case 4), or
        scikit-learn's digits (1,437 and 360 images of 64 pixels, divided by 16), which need no file.
    data_dir : path, optional
        Folder that holds MNIST's four gz files, directly or under `mnist`. Without it the environment variable
        FOURIERWALK_DATA is used, and without both the files are downloaded once into the user's cache folder.
    dtype : float64 or float32
        Of the images.

    Examples
    --------
    >>> digits = load("digits")
    >>> digits.name, digits.train_images.shape, digits.test_images.shape
    ('digits', (1437, 64), (360, 64))
    """
    if name == "mnist":
        return read(MNIST, data_dir, dtype=dtype)
    if name == "digits":
        return _digits(dtype)
    raise ValueError(f"there is no data set {name!r}: the names are 'mnist' and 'digits'")


def read(
    archive: Archive,
    data_dir: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    dtype: DTypeLike = np.float64,
) -> LabelledImages:
    """Read an archive from `data_dir`, from FOURIERWALK_DATA's folder, or from the mirrors through `cache_dir`.

    Examples
    --------
    >>> read(MNIST, data_dir="no-such-folder")
    Traceback (most recent call last):
        ...
    FileNotFoundError: train-images-idx3-ubyte.gz is neither in no-such-folder nor in no-such-folder/mnist
    """
    folder = data_dir or os.environ.get(FOLDER_VARIABLE)

    def contents(file: File) -> bytes:
        return _checked(_found(archive, file, Path(folder)) if folder else _fetched(archive, file, cache_dir), file)

    def part(images: File, labels: File) -> tuple[NDArray[Any], NDArray[np.int64]]:
        pixels, digits = _idx(contents(images), 3, images.name), _idx(contents(labels), 1, labels.name)
        if len(pixels) != len(digits):
            raise ValueError(f"{labels.name} holds {len(digits)} labels for the {len(pixels)} images of {images.name}")
        return _scaled(pixels.reshape(len(pixels), -1), 255, dtype), digits.astype(np.int64)

    train, test = part(archive.train_images, archive.train_labels), part(archive.test_images, archive.test_labels)
    return LabelledImages(archive.name, *train, *test)


def _digits(dtype: DTypeLike) -> LabelledImages:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    split = train_test_split(_scaled(images, 16, dtype), labels, test_size=360, random_state=0, stratify=labels)
    return LabelledImages("digits", split[0], split[2].astype(np.int64), split[1], split[3].astype(np.int64))


def _scaled(images: NDArray[Any], largest: int, dtype: DTypeLike) -> NDArray[Any]:
    result = images.astype(dtype)
    result /= largest
    return result


def _found(archive: Archive, file: File, folder: Path) -> Path:
    candidates = [folder.expanduser() / file.name, folder.expanduser() / archive.name / file.name]
    for path in candidates:
        if path.is_file():
            return path
    raise FileNotFoundError(f"{file.name} is neither in {candidates[0].parent} nor in {candidates[1].parent}")


def _fetched(archive: Archive, file: File, cache_dir: str | os.PathLike[str] | None) -> Path:
    """The file in the cache. pooch keeps a download under another name until its checksum is right."""
    retrieve, cache = _pooch()
    folder = (Path(cache_dir) if cache_dir else cache("fourierwalk")) / archive.name
    failures: dict[str, Exception] = {}
    for mirror in archive.mirrors:
        try:
            return Path(retrieve(mirror + file.name, f"sha256:{file.sha256}", fname=file.name, path=folder))
        except (OSError, ValueError) as error:  # no connection, or a wrong checksum
            failures[mirror] = error
    reasons = " or ".join(f"{mirror} ({_reason(error)})" for mirror, error in failures.items())
    raise ConnectionError(
        f"{file.name} could not be downloaded from {reasons}: "
        f"to use files that you have, name their folder by data_dir or the environment variable {FOLDER_VARIABLE}"
    ) from next(iter(failures.values()), None)


def _reason(error: Exception) -> str:
    """A wrong checksum in full; a failed connection by its kind, because its text has several lines."""
    return str(error) if isinstance(error, ValueError) else type(error).__name__


def _pooch() -> tuple[Callable[..., str], Callable[[str], Path]]:
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            "downloading needs pooch: pip install 'fourierwalk[paper]', "
            f"or name a folder that holds the files by data_dir or the environment variable {FOLDER_VARIABLE}"
        ) from error
    return pooch.retrieve, pooch.os_cache


def _checked(path: Path, file: File) -> bytes:
    """The decompressed contents of the bytes whose checksum was verified."""
    compressed = path.read_bytes()
    sha256 = hashlib.sha256(compressed).hexdigest()
    if sha256 != file.sha256:
        raise ValueError(f"{path} has {len(compressed)} bytes of sha256 {sha256}, expected sha256 {file.sha256}")
    try:
        return gzip.decompress(compressed)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is no complete gzip file: expected one, got {error}") from error


def _idx(contents: bytes, n_dimensions: int, name: str) -> NDArray[np.uint8]:
    """An idx file: the magic number 0x800 + n_dimensions, the shape as big-endian 32-bit numbers, unsigned bytes."""
    expected, start = 0x800 + n_dimensions, 4 * (1 + n_dimensions)
    magic, *shape = (int.from_bytes(contents[i : i + 4], "big") for i in range(0, start, 4))
    if magic != expected:
        raise ValueError(f"{name} begins with the magic number {magic}, expected {expected}")
    if len(contents) != start + math.prod(shape):
        raise ValueError(f"{name} has {len(contents)} bytes, expected {start + math.prod(shape)} of shape {shape}")
    return np.frombuffer(contents, np.uint8, offset=start).reshape(shape)
