from sizes import HEADS, measured

SOURCE = '''"""A docstring
of two lines."""

import math  # counts


class Noun:
    """No code."""

    def short(self):
        """No code either."""
        # nor this

        return math.pi


def outer():
    text = """three

lines"""
    def inner():
        return text
    return inner
'''


def test_lines_of_code_alone_are_counted(tmp_path):
    (tmp_path / "noun.py").write_text(SOURCE)
    (tmp_path / "empty.py").write_text('"""Nothing."""\n')
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_noun.py").write_text("assert True\n")
    sizes = measured(tmp_path)
    assert sizes.files == [11]
    assert {name.rpartition(" ")[2]: length for name, length in sizes.functions.items()} == {
        "short": 2,
        "outer": 7,
        "inner": 2,
    }
    row = sizes.row("package")
    assert row == ["package", "1", "11", "11", "11", "3", "2", "2", "7", "67%", "0"]
    assert len(row) == len(HEADS)
