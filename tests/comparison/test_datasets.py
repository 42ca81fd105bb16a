"""Every embedded set, and the splits of files."""

import numpy as np
import pytest

from fourierwalk.comparison.datasets import EMBEDDED, Dataset, Options, find
from fourierwalk.comparison.surrogates import three_inputs

SIZES = {
    "diabetes": (353, 89, 10),
    "digits": (1437, 360, 64),
    "breast-cancer": (455, 114, 30),
    "wine": (142, 36, 13),
    "borehole": (2000, 4000, 8),
    "piston": (2000, 4000, 7),
    "wing-weight": (2000, 4000, 10),
    "otl-circuit": (2000, 4000, 6),
    "robot-arm": (2000, 4000, 8),
    "friedman1": (2000, 4000, 10),
    "case1": (10_000, 10_000, 1),
    "case2": (10_000, 10_000, 5),
    "case3": (10_000, 10_000, 2),
    "noisy-4": (2000, 4000, 4),
    "noisy-20": (2000, 4000, 20),
}


def test_every_embedded_set_is_listed():
    assert set(EMBEDDED) == {*SIZES, "mnist"}


@pytest.mark.parametrize("name", SIZES)
def test_embedded_sets(name):
    dataset = find(name)
    one, again, other = dataset.splits(0), dataset.splits(0), dataset.splits(1)
    n, n_test, d = SIZES[name]
    assert (one.x.shape, one.x_test.shape) == ((n, d), (n_test, d))
    assert (one.y.shape, one.y_test.shape) == ((n,), (n_test,))
    np.testing.assert_array_equal(one.x, again.x)
    np.testing.assert_array_equal(one.y_test, again.y_test)
    assert not np.array_equal(one.x, other.x)
    assert not {row.tobytes() for row in one.x_test[:50]} & {row.tobytes() for row in one.x}
    classes = dataset.task == "classification"
    assert classes == np.issubdtype(one.y.dtype, np.integer)
    assert list(dataset.numbers(None)) == [0, 1, 2, 3, 4]
    assert list(dataset.numbers(7)) == list(range(7))


def test_noise_sets_are_tested_without_noise():
    split = find("noisy-4").splits(0)
    np.testing.assert_array_equal(split.y_test, three_inputs(split.x_test))
    assert np.std(split.y - three_inputs(split.x)) == pytest.approx(1, abs=0.05)
    assert np.std(split.y) == pytest.approx(2**0.5, abs=0.1)
    assert "free of noise" in find("noisy-20").note


def test_files_are_split_four_to_one_and_stratified(tmp_path):
    rows = "".join(f"{i},{'yes' if i % 5 == 0 else 'no'}\n" for i in range(50))
    (tmp_path / "my table.csv").write_text("a,b\n" + rows)
    dataset = find(str(tmp_path / "my table.csv"))
    assert (dataset.name, dataset.task, dataset.n_splits) == ("my-table", "classification", 5)
    split = dataset.splits(3)
    assert (split.x.shape, split.x_test.shape) == ((40, 1), (10, 1))
    assert np.sum(split.y_test) == 2
    assert len(dataset.settings["sha256"]) == 64
    (tmp_path / "my table.csv").write_text("a,b\n" + rows.replace("49", "50"))
    assert find(str(tmp_path / "my table.csv")).settings["sha256"] != dataset.settings["sha256"]


def test_given_splits_are_used(tmp_path):
    x = np.arange(4.0)[:, None]
    np.savez(tmp_path / "given.npz", X=x, y=x[:, 0], X_test=x + 10, y_test=x[:, 0])
    dataset = find(str(tmp_path / "given.npz"))
    assert list(dataset.numbers(None)) == [0]
    assert list(dataset.numbers(3)) == [0, 1, 2]
    np.testing.assert_array_equal(dataset.splits(2).x_test, x + 10)
    folder = tmp_path / "uci"
    folder.mkdir()
    files = {"data": "1 2\n3 4\n5 6\n", "index_features": "0", "index_target": "1"}
    files |= {f"index_{kind}_{i}": str(i + (kind == "test")) for kind in ("train", "test") for i in range(2)}
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    dataset = find(str(folder))
    assert (dataset.name, dataset.n_splits) == ("uci", 2)
    assert list(dataset.numbers(9)) == [0, 1]
    np.testing.assert_array_equal(dataset.splits(1).x, [[3.0]])
    np.testing.assert_array_equal(dataset.splits(1).y_test, [6.0])


def test_mistakes_name_the_argument(tmp_path):
    with pytest.raises(
        ValueError, match=r"DATASET must be one of borehole, .*wing-weight, or a file \(\.csv.* got 'bore'"
    ):
        find("bore")
    with pytest.raises(FileNotFoundError, match=r"DATASET .*no\.csv is not there"):
        find(str(tmp_path / "no.csv"))
    with pytest.raises(FileNotFoundError, match=r"must hold data\.txt"):
        find(str(tmp_path))
    with pytest.raises(FileNotFoundError, match="train-images"):
        find("mnist", Options(data_dir=str(tmp_path))).splits(0)


def test_splits_can_begin_anywhere():
    anything = Dataset("any", "regression", lambda _: None)
    assert list(anything.numbers(2, first=3)) == [3, 4]
    given = Dataset("given", "regression", lambda _: None, n_splits=5, most_splits=5)
    assert list(given.numbers(None)) == [0, 1, 2, 3, 4]
    assert list(given.numbers(None, first=4)) == [4]
