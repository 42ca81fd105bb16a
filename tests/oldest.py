"""The oldest versions that pyproject.toml allows, as constraints for pip: `python tests/oldest.py > oldest.txt`."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
LATEST = {"ruff", "mypy", "fourierwalk"}  # lint runs on the newest versions only; our own extras have no version
BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[.*\])?>=(?P<version>[0-9.]+)$")


def requirements(project: dict) -> list[str]:
    """What the package and all its extras require, without repetitions."""
    extras = project["optional-dependencies"].values()
    return sorted({*project["dependencies"], *(line for extra in extras for line in extra)})


def constraints(project: dict) -> list[str]:
    """`name==version` for every lower bound."""
    bounds = [BOUND.match(line.split(";")[0].strip()) for line in requirements(project)]
    return [f"{bound['name']}=={bound['version']}" for bound in bounds if bound and bound["name"] not in LATEST]


if __name__ == "__main__":
    print("\n".join(constraints(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"])))
