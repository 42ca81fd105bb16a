"""CSV and TSV: what is inferred, and lines as an editor counts them."""

import numpy as np
import pytest

from fourierwalk.reading.delimited import Delimited
from fourierwalk.reading.source import BLOCK_ROWS, whole


def source(tmp_path, text, written_in="utf-8", **options):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(written_in))
    return Delimited.of(path, **options)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    found = source(tmp_path, "a,b,c\n1,2 3,4\n".replace(",", delimiter))
    assert found.delimiter == delimiter


def test_a_delimiter_in_quotes_is_text(tmp_path):
    found = source(tmp_path, 'a;b\n"x, y, z";1\n"u, v, w";2\n')
    assert (found.delimiter, found.names) == (";", ("a", "b"))


def test_kinds_are_of_all_rows(tmp_path):
    many = "1,2024-01-01,x,1,\n" * BLOCK_ROWS
    found = source(tmp_path, f"n,d,w,late,empty\n{many},2024-01-02,y,2,\n3,,z,x,\n")
    assert [kind.name for kind in found.kinds()] == ["numbers", "moments", "words", "words", "numbers"]


def test_a_word_among_numbers_is_remarked_on(tmp_path):
    text = "a,b\n" + "".join(f"{i},{i}\n" for i in range(20)) + "1,oops\n"
    assert source(tmp_path, text).kinds()[1].remark == "holds 'oops' in line 22 among numbers"


def test_lines_are_those_of_the_file(tmp_path):
    more = "3,y\n" * BLOCK_ROWS
    found = source(tmp_path, f'a,b\n1,"two\nlines"\n\n2,x\n{more}')
    block = whole(found, ["a", "b"], ["numbers", "words"])
    assert block.lines.tolist() == [2, 5, *range(6, 6 + BLOCK_ROWS)]
    assert block.table.columns[1].tolist() == ["two\nlines", "x", *["y"] * BLOCK_ROWS]
    assert [len(part.lines) for part in found.blocks(["a"], ["numbers"])] == [BLOCK_ROWS, 2]
    with pytest.raises(ValueError, match=r"must hold numbers in column 'b', got 'x' in line 5"):
        list(source(tmp_path, "a,b\n1,1\n\n\n2,x\n").blocks(["b"], ["numbers"]))


def test_a_row_without_a_value_is_a_row(tmp_path):
    block = whole(source(tmp_path, "a,b\n1,2\n,\n\n3,4\n"), ["a"], ["numbers"])
    np.testing.assert_array_equal(block.table.columns[0], [1, np.nan, 3])
    assert block.lines.tolist() == [2, 3, 5]


def test_some_columns_in_another_order(tmp_path):
    block = next(source(tmp_path, "a,b,c\n1,2,3\n").blocks(["c", "a"], ["numbers", "words"]))
    assert block.table.names == ("c", "a")
    assert [column.tolist() for column in block.table.columns] == [[3.0], ["1"]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_files_tell(tmp_path, encoding):
    found = source(tmp_path, "größe,b\n1,2\n", encoding)
    assert found.names == ("größe", "b")


def test_other_encodings_are_said(tmp_path):
    assert source(tmp_path, "größe,b\n1,2\n", "latin-1", encoding="latin-1").names == ("größe", "b")
    with pytest.raises(ValueError, match="cannot be read as utf-8 text in line 1: say --encoding latin-1"):
        source(tmp_path, "größe,b\n1,2\n", "latin-1")
    late = source(tmp_path, "a,b\n" + "1,2\n" * 50_000 + "ü,1\n", "latin-1")
    with pytest.raises(ValueError, match="in line 50002"):
        list(late.blocks(["a"], ["words"]))


def test_a_column_without_a_name_has_a_number(tmp_path):
    assert source(tmp_path, ",b\n0,2\n").names == ("column 1", "b")


def test_rows_are_estimated(tmp_path):
    assert source(tmp_path, "a,b\n" + "1,2\n" * 1000).rows() == pytest.approx(1000, rel=0.01)


def test_decimal_commas(tmp_path):
    found = source(tmp_path, "a;b\n1.234,5;x\n0,25;y\n")
    np.testing.assert_array_equal(next(found.blocks(["a"], ["numbers"])).table.columns[0], [1234.5, 0.25])
