"""Parquet files, by pyarrow."""

import datetime
import sys

import numpy as np
import pytest

from fourierwalk.reading.parquet import Parquet
from fourierwalk.reading.source import BLOCK_ROWS, whole

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def path(tmp_path):
    days = [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)]
    table = {"n": [1, None, 3], "w": ["x", None, "y"], "d": days, "b": [True, False, None]}
    parquet.write_table(pyarrow.table(table), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_rows_come_in_blocks(tmp_path):
    parquet.write_table(pyarrow.table({"n": np.arange(BLOCK_ROWS + 3.0)}), tmp_path / "many.parquet")
    blocks = list(Parquet.of(tmp_path / "many.parquet").blocks(["n"], ["numbers"]))
    assert [len(block.table) for block in blocks] == [BLOCK_ROWS, 3]
    assert blocks[1].lines.tolist() == [BLOCK_ROWS + 1, BLOCK_ROWS + 2, BLOCK_ROWS + 3]
    assert blocks[1].table.columns[0].tolist() == [BLOCK_ROWS, BLOCK_ROWS + 1, BLOCK_ROWS + 2]


def test_columns_are_numbers_words_and_dates(path):
    found = Parquet.of(path)
    kinds = [kind.name for kind in found.kinds()]
    assert kinds == ["numbers", "words", "moments", "words"]
    assert found.rows() == 3
    block = whole(found, ["b", "n", "d"], ["words", "numbers", "moments"])
    assert block.table.columns[0].tolist() == ["True", "False", None]
    np.testing.assert_array_equal(block.table.columns[1], [1, np.nan, 3])
    assert np.isnat(block.table.columns[2][1])
    assert block.lines.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="must hold numbers in column 'w'"):
        whole(found, ["w"], ["numbers"])


def test_what_is_none_is_a_sentence(tmp_path, path, monkeypatch):
    (tmp_path / "a.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        Parquet.of(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"needs pyarrow: pip install 'fourierwalk\[files\]'"):
        Parquet.of(path)


def test_a_name_that_is_no_text_is_damage(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"qqqq": [1.0, 2.0], "y": [1.0, 2.0]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"qqqq", b"qqq\xc2"))
    with pytest.raises(ValueError, match="cannot be read as Parquet: it is damaged, or something else"):
        Parquet.of(path)


def test_bytes_are_named_with_their_column(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"name": [b"a", b"b"], "y": [1.0, 2.0]}), path)
    with pytest.raises(ValueError, match=r"rows.parquet must hold numbers, words or dates in column 'name', got bytes"):
        list(Parquet.of(path).blocks(["name"], ["words"]))
