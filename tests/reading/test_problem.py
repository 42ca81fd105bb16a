"""What is inferred from a table, and what is left out."""

import numpy as np
import pytest

from fourierwalk.reading import files, problem


def read(tmp_path, columns, **options):
    """A problem from named lists."""
    path = tmp_path / "t.csv"
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return problem.read(files.source(path), **options)


N = 40
X = [round(0.37 * i % 5, 3) for i in range(N)]
Y = [round(0.11 * i * i, 3) for i in range(N)]


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (Y, "regression"),
        (["a", "b"] * 20, "classification"),
        ([0, 1] * 20, "classification"),
        ([-3.5, 8] * 20, "classification"),
        ([0, 1, 2, 3] * 10, "classification"),
        ([1, 2, 3, 4] * 10, "classification"),
        ([3, 4, 5, 6] * 10, "regression"),
        ([4, 6, 8, 12] * 10, "regression"),
        ([True, False] * 20, "classification"),
        (list(range(N)), "regression"),
    ],
)
def test_the_task_is_inferred(tmp_path, y, task):
    found = read(tmp_path, {"x": X, "y": y}, target="y")
    assert found.task == task
    assert found.said[0].startswith(f"{task.capitalize()} of 'y': ")


def test_the_last_column_is_the_target_and_said_to_be(tmp_path):
    assert read(tmp_path, {"x": X, "y": Y}).said[0].startswith("Regression of 'y', the last column (no --target): ")
    assert read(tmp_path, {"x": X, "y": Y}, target="y").said[0].startswith("Regression of 'y': ")


def test_the_task_that_is_said_stands(tmp_path):
    assert read(tmp_path, {"x": X, "y": [0, 1] * 20}, task="regression").task == "regression"
    found = read(tmp_path, {"x": X, "y": [3, 4, 5, 6] * 10}, task="classification")
    assert sorted(set(found.y.tolist())) == [3, 4, 5, 6]


@pytest.mark.parametrize(
    ("name", "column", "why"),
    [
        ("c", ["k"] * N, "it is constant"),
        ("c", [7] * N, "it is constant"),
        ("c", [""] * N, "it is empty"),
        ("name", [f"n{i}" for i in range(N)], "it identifies rows, 40 of 40 values are different"),
        ("customer_id", list(range(100, 100 + 3 * N, 3)), "it numbers the rows"),
        ("", list(range(N)), "it numbers the rows"),
        ("c", Y, "it is a copy of the target"),
        ("c", [-2 * value + 5 for value in Y], "it is a copy of the target"),
    ],
)
def test_what_cannot_help_is_left_out_with_a_word(tmp_path, name, column, why):
    found = read(tmp_path, {name: column, "x": X, "y": Y}, target="y")
    assert found.inputs.names == ("x",)
    assert f"is left out: {why}." in found.said[1]
    kept = read(tmp_path, {"kept": column, "x": X, "y": Y}, target="y", keep=["kept"])
    assert kept.inputs.names == ("kept", "x")


def test_a_relabelled_target_is_a_copy(tmp_path):
    y = ["a", "b", "c", "a"] * 10
    words = [{"a": "A", "b": "B", "c": "C"}[label] for label in y]
    numbers = [{"a": 7, "b": 1, "c": 2}[label] for label in y]
    found = read(tmp_path, {"words": words, "numbers": numbers, "x": X, "y": y})
    assert found.inputs.names == ("x",)


@pytest.mark.parametrize("name", ["time", "year", "distance"])
def test_a_time_may_help(tmp_path, name):
    assert read(tmp_path, {name: list(range(N)), "y": Y}).inputs.names == (name,)


def test_rows_without_a_target_are_left_out(tmp_path):
    found = read(tmp_path, {"x": X, "y": ["", *Y[1:]]})
    assert found.y.size == N - 1
    assert found.lines[0] == 3
    assert "1 rows without a target are left out." in found.said
    np.testing.assert_array_equal(found.inputs.columns[0], X[1:])


def test_dropped_columns_are_no_inputs(tmp_path):
    assert read(tmp_path, {"a": X, "b": X, "y": Y}, drop=["b"]).inputs.names == ("a",)
