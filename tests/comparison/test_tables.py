"""Files of users: what is read, and one sentence for what cannot be."""

import numpy as np
import pytest

from fourierwalk.comparison.tables import read_folder, read_npz, read_table

CSV = "a, b,c\n1,2,x\n3,4,y\n5,6,x\n"


def written(path, text):
    path.write_text(text)
    return path


def folder_with(folder, **changes):
    files = {"data": "1 2 3\n4 5 6\n7 8 9\n", "index_features": "0\n2\n", "index_target": "1\n"}
    files |= {"index_train_0": "0.0\n1.0\n", "index_test_0": "2\n", "index_train_1": "2\n", "index_test_1": "0\n"}
    for name, text in (files | changes).items():
        if text is not None:
            (folder / f"{name}.txt").write_text(text)
    return folder


def test_a_table_takes_the_last_column_or_the_named_one(tmp_path):
    path = written(tmp_path / "t.csv", CSV)
    last = read_table(path)
    assert last.task == "classification"
    np.testing.assert_array_equal(last.x, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(last.y, [0, 1, 0])
    numbers = written(tmp_path / "n.csv", "a,b\n1,2\n3,4\n7,9\n")
    named = read_table(numbers, "a")
    assert named.task == "regression"
    np.testing.assert_array_equal(named.x, [[2], [4], [9]])
    np.testing.assert_array_equal(named.y, [1, 3, 7])
    assert named.sha256 != last.sha256


def test_words_and_empty_fields_make_a_table(tmp_path):
    found = read_table(written(tmp_path / "t.csv", "make,doors,price,id\naudi,2,10,1\n,4,20,1\nbmw,,30,1\n"), "price")
    assert found.task == "regression"
    assert found.x.names == ("make", "doors")
    assert found.x.columns[0].tolist() == ["audi", None, "bmw"]
    np.testing.assert_array_equal(found.x.columns[1], [2, 4, np.nan])
    assert found.said == "'id' is left out: it is constant."


def test_mistakes_are_those_of_fit(tmp_path):
    with pytest.raises(ValueError, match=r"must hold finite numbers in column 'a', got 'inf' in line 3\."):
        read_table(written(tmp_path / "t.csv", "a,b\n1,2\ninf,3\n"))


def test_npz_with_and_without_test_rows(tmp_path):
    x, y = np.arange(6.0).reshape(3, 2), np.array(["no", "yes", "no"])
    np.savez(tmp_path / "t.npz", X=x, y=y)
    found = read_npz(tmp_path / "t.npz")
    assert found.task == "classification"
    assert found.train == ()
    np.testing.assert_array_equal(found.y, [0, 1, 0])
    np.savez(tmp_path / "t.npz", X=x, y=x[:, 0], X_test=x[:1] + 9, y_test=[7.0])
    found = read_npz(tmp_path / "t.npz")
    assert found.task == "regression"
    np.testing.assert_array_equal(found.x[found.test[0]], x[:1] + 9)
    np.testing.assert_array_equal(found.y[found.test[0]], [7.0])
    np.testing.assert_array_equal(found.train[0], [0, 1, 2])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.ones((2, 1))}, r"must hold the arrays X and y, got \['X'\]"),
        ({"X": np.ones((2, 1)), "y": np.ones(3)}, r"got \(2, 1\) and \(3,\)"),
        ({"X": np.array([[1.0], [np.inf]]), "y": np.ones(2)}, "must be finite, but 'X' is inf in row 2"),
        ({"X": np.ones((2, 1)), "y": np.array([1, np.nan])}, "must be finite, but 'y' is nan in row 2"),
        ({"X": np.ones((2, 1)), "y": np.ones(2), "X_test": np.ones((1, 1))}, "X_test and y_test together"),
        ({"X": np.array([["a"], ["b"]]), "y": np.ones(2)}, "real numbers in 'X'"),
        ({"X": np.array([[object()]]), "y": np.ones(1)}, "'X' holds pickled objects"),
    ],
)
def test_mistakes_in_npz(tmp_path, arrays, words):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(ValueError, match=words):
        read_npz(tmp_path / "t.npz")


def test_missing_values_of_npz_make_a_table(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([[1.0, np.nan], [2.0, 3.0]]), y=np.array([0.5, 2]))
    assert read_npz(tmp_path / "t.npz").x.names == ("x0", "x1")


def test_a_text_file_is_no_npz(tmp_path):
    with pytest.raises(ValueError, match="cannot be read as NPZ"):
        read_npz(written(tmp_path / "t.npz", CSV))


def test_a_folder_has_columns_and_splits(tmp_path):
    found = read_folder(folder_with(tmp_path))
    np.testing.assert_array_equal(found.x, [[1, 3], [4, 6], [7, 9]])
    np.testing.assert_array_equal(found.y, [2, 5, 8])
    assert [split.tolist() for split in found.train] == [[0, 1], [2]]
    assert [split.tolist() for split in found.test] == [[2], [0]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": "1 x\n"}, r"data\.txt must hold rows of numbers"),
        ({"data": "1 nan 3\n4 5 6\n7 8 9\n"}, "must be finite"),
        ({"index_target": "1\n2\n"}, r"index_target\.txt names 2 columns"),
        ({"index_train_0": "0\n3\n"}, r"index_train_0\.txt must name rows from 0 to 2"),
        ({"index_features": "5\n"}, r"index_features\.txt must name columns from 0 to 2"),
        ({"index_train_0": None, "index_train_1": None}, r"index_train_0\.txt is not there"),
    ],
)
def test_mistakes_in_a_folder(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words):
        read_folder(folder_with(tmp_path, **changes))


def test_a_missing_file_of_a_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold index_test_1\.txt"):
        read_folder(folder_with(tmp_path, index_test_1=None))


def saved(path, **arrays):
    np.savez(path, **{"X": np.arange(8.0).reshape(4, 2), "y": np.array([0, 1, 0, 1]), **arrays})
    return path


def test_npz_may_say_its_task_and_its_splits(tmp_path):
    path = tmp_path / "t.npz"
    assert read_npz(saved(path)).task == "classification"
    assert read_npz(saved(path, y=np.array([0.5, 1, 2, 7]))).task == "regression"
    said = read_npz(saved(path, task=np.array("classification"), test=np.eye(4, 3, dtype=bool)))
    assert said.task == "classification"
    assert [test.tolist() for test in said.test] == [[0], [1], [2]]
    assert [train.tolist() for train in said.train] == [[1, 2, 3], [0, 2, 3], [0, 1, 3]]
    assert read_npz(path, "regression").task == "regression"  # the command line's word stands before the file's
    one = read_npz(saved(path, test=np.array([True, False, False, True])))
    assert (one.train[0].tolist(), one.test[0].tolist()) == ([1, 2], [0, 3])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"task": np.array("ranking")}, "must hold as task one word of regression, classification, got 'ranking'"),
        ({"task": np.array(["regression"])}, "must hold as task one word"),
        ({"test": np.zeros(4)}, r"must hold test as Booleans of shape \(4,\) or \(4, n_splits\), got float64"),
        ({"test": np.zeros((3, 4), bool)}, r"got bool of shape \(3, 4\)"),
        ({"test": np.zeros((4, 0), bool)}, r"got bool of shape \(4, 0\)"),
        ({"test": np.array([[1, 0]] * 4, bool)}, "must have training and test rows in every split, not so in 0"),
        (
            {"test": np.eye(4, dtype=bool), "X_test": np.zeros((1, 2)), "y_test": np.zeros(1)},
            "must hold either test or X_test, got both",
        ),
    ],
)
def test_wrong_tasks_and_splits_of_npz_are_one_sentence(tmp_path, arrays, words):
    with pytest.raises(ValueError, match=words):
        read_npz(saved(tmp_path / "t.npz", **arrays))
