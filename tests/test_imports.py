"""What the tests import from the package is there: pytest skips a file that cannot be imported, and says little."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src"


def missing(source):
    """The names that a source imports from fourierwalk, and that are in no line of the module."""
    gone = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fourierwalk"):
            place = SOURCE.joinpath(*node.module.split("."))
            files = [path for path in (place.with_suffix(".py"), place / "__init__.py") if path.exists()]
            text = "".join(path.read_text(encoding="utf-8") for path in files)
            submodules = {path.stem for path in place.glob("*")}
            known = {*re.findall(r"\w+", text), *submodules}
            gone += [f"{node.module}.{alias.name}" for alias in node.names if alias.name not in known]
    return gone


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_what_a_file_imports_is_there(path):
    assert missing(path.read_text(encoding="utf-8")) == []


def test_a_name_that_has_gone_is_noticed():
    source = "from fourierwalk.training.watching import watch\nfrom fourierwalk.training.assembly import {}"
    assert missing(source.format("watch")) == ["fourierwalk.training.assembly.watch"]
    assert missing(source.format("Fit")) == []
    assert missing("from fourierwalk.nothing import at, all") == ["fourierwalk.nothing.at", "fourierwalk.nothing.all"]
