"""Folders import downwards only, and every public name says what it is."""

import ast
import importlib
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import fourierwalk

ROOT = Path(fourierwalk.__file__).parent
REFERENCE = (Path(__file__).parents[1] / "docs" / "api.rst").read_text(encoding="utf-8")
FILES = sorted(path for path in ROOT.rglob("*.py"))

# Each folder, or file beside them, with all that it may import from.
CORE = {"arrays", "data", "sampling", "solving"}
BELOW = {
    "version": set(),
    "parameters": set(),
    "arrays": set(),
    "files": {"arrays", "parameters", "version"},
    "data": {"arrays", "files", "parameters"},
    "sampling": {"arrays"},  # the algorithm sees neither rows nor how they are solved
    "solving": {"arrays", "data"},
    "weights": {"arrays"},
    "tables": {"arrays", "data", "parameters", "weights"},
    "chunks": {"arrays", "data", "parameters", "tables"},
    "calculus": {"arrays", "data"},
    "exporting": {"arrays", "data", "files", "parameters", "version"},
    "model": {"arrays", "calculus", "data", "exporting", "files", "solving"},
    "uncertainty": {"arrays", "data", "files", "model", "reporting", "solving"},
    "training": {*CORE, "chunks", "files", "model", "parameters", "uncertainty"},
    "checkpoints": {*CORE, "files", "parameters", "training", "version"},
    "planning": {*CORE, "parameters", "training"},
    "settings": {*CORE, "checkpoints", "training"},
    "inputs": {*CORE, "chunks", "files", "model", "parameters", "tables", "training", "weights"},
    "parts": {"arrays", "inputs", "training", "weights"},
    "callbacks": {"training"},
    "estimators": {
        *CORE,
        "callbacks",
        "checkpoints",
        "chunks",
        "exporting",
        "files",
        "model",
        "parameters",
        "tables",
        "training",
        "inputs",
        "parts",
        "planning",
        "settings",
        "uncertainty",
    },
    "distilling": {"arrays", "estimators", "inputs", "parameters", "tables"},
    "loading": {"estimators", "files", "model"},
    "operators": {*CORE, "calculus", "inputs", "model", "parameters", "reporting", "training"},
    "converters": {"estimators", "exporting"},
    "__init__": {
        "checkpoints",
        "distilling",
        "estimators",
        "loading",
        "model",
        "operators",
        "solving",
        "tables",
        "version",
    },
    "reading": {"arrays", "tables"},
    "reporting": {"files"},
}
LIBRARY = {*BELOW}
BELOW |= {
    "paper": LIBRARY,
    "comparison": {*LIBRARY, "paper"},
    "benchmarks": {*LIBRARY, "paper", "comparison"},
    "commands": {*LIBRARY, "paper", "comparison", "benchmarks"},
    "cli": {*LIBRARY, "commands"},
    "__main__": {"cli"},
}


def module_of(path):
    """A file's dotted name below the package: ``sampler``, ``paper.run``, ``paper`` for paper/__init__.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_of(path): path for path in FILES}


def top(module):
    return module.partition(".")[0]


def imports_of(source):
    """The package's own modules that a source imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {own(alias.name) for alias in node.names if top(alias.name) == "fourierwalk"}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if top(node.module) == "fourierwalk":
                found |= {own(f"{node.module}.{alias.name}") for alias in node.names}
    return found


def own(dotted):
    """The module of an imported name: ``data.rows`` for ``fourierwalk.data.rows.Rows``."""
    parts = dotted.split(".")[1:]
    while parts and ".".join(parts) not in MODULES:
        parts = parts[:-1]
    return ".".join(parts) or "__init__"


IMPORTS = {module: imports_of(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}
every_module = pytest.mark.parametrize("module", MODULES)


def test_imports_are_found():
    """The other tests can fail only if these are seen."""
    assert imports_of("from fourierwalk.data.rows import Rows\nimport numpy") == {"data.rows"}
    assert imports_of("import fourierwalk.sampling.sampler") == {"sampling.sampler"}
    assert imports_of("from fourierwalk.data import features as kinds") == {"data.features"}
    assert imports_of("from fourierwalk import __version__") == {"__init__"}
    assert imports_of("def late():\n    from fourierwalk.model import FourierModel") == {"model"}
    assert {"sampling.sampler", "estimators", "arrays.library"} <= MODULES.keys()
    assert "sampling.proposals" in IMPORTS["sampling.sampler"]
    assert "training.training" in IMPORTS["estimators.base"]


@every_module
def test_folders_import_from_below(module):
    folder = top(module)
    assert folder in BELOW, f"say in BELOW what {folder} may import from"
    assert {top(name) for name in IMPORTS[module]} <= {folder, *BELOW[folder]}


def test_imports_make_no_circle():
    order = TopologicalSorter({module: names - {module} for module, names in IMPORTS.items()}).static_order()
    assert set(order) >= IMPORTS.keys()  # an order there is: a circle would raise


def public_definitions(path):
    """Public functions, classes and their public methods, with their dotted names."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def documented(node):
    """By a docstring, or in a class by one that is put together."""
    assigned = {ast.unparse(target) for one in node.body if isinstance(one, ast.Assign) for target in one.targets}
    return ast.get_docstring(node) is not None or (isinstance(node, ast.ClassDef) and "__doc__" in assigned)


@every_module
def test_everything_public_is_documented(module):
    path = MODULES[module]
    source = path.read_text(encoding="utf-8")
    assert not source.strip() or ast.get_docstring(ast.parse(source)), f"{module} has no docstring"
    silent = [name for name, node in public_definitions(path) if not documented(node)]
    assert silent == [], f"{module} has public names without a docstring"


def test_no_two_classes_have_one_name():
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in FILES)
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("folder", ["chunks", "data", "planning", "sampling", "solving", "uncertainty"])
def test_the_folders_names_are_all_in_the_reference(folder):
    module = importlib.import_module(f"fourierwalk.{folder}")
    section = REFERENCE.partition(f"currentmodule:: fourierwalk.{folder}\n")[2].partition("currentmodule::")[0]
    assert module.__all__ == sorted(module.__all__)
    for name in set(module.__all__) - set(fourierwalk.__all__):
        assert getattr(module, name).__doc__
        assert f"\n   {name}\n" in section, f"{name} is not in docs/api.rst"


def test_public_names():
    assert set(fourierwalk.__all__) == {
        "AdaptiveFourierClassifier",
        "AdaptiveFourierFeatures",
        "AdaptiveFourierRegressor",
        "AdaptiveFourierSolver",
        "Checkpoint",
        "FourierModel",
        "Solver",
        "distill",
        "load",
        "TableEncoder",
    }
    for name in fourierwalk.__all__:
        assert getattr(fourierwalk, name).__doc__
