"""What the tests import from the package is there: pytest skips a file that cannot be imported, and says little."""

import ast
import importlib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def missing(source):
    """The names that a source imports from fourierwalk, and that are not there; what needs an extra is passed over."""
    gone = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("fourierwalk"):
            continue
        for alias in node.names:
            try:
                module = importlib.import_module(node.module)
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")
            except ModuleNotFoundError as error:
                if (error.name or "").startswith("fourierwalk"):
                    gone.append(f"{node.module}.{alias.name}")
    return gone


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_what_a_file_imports_is_there(path):
    assert missing(path.read_text(encoding="utf-8")) == []


def test_a_name_that_has_gone_is_noticed():
    source = "from fourierwalk.training.watching import watch\nfrom fourierwalk.training.assembly import {}"
    assert missing(source.format("watch")) == ["fourierwalk.training.assembly.watch"]
    assert missing(source.format("Fit")) == []
    assert missing("from fourierwalk.nothing import at, all") == ["fourierwalk.nothing.at", "fourierwalk.nothing.all"]
