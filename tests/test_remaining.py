import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = {
    "test_always.py": "def test_one(): pass",
    "test_sometimes.py": """
import pytest
@pytest.mark.parametrize("name", ["os", "later"])
def test_two(name): pytest.importorskip(name)
""",
    "test_not_collected.py": """
import pytest
pytest.importorskip("later")
def test_three(): pass
def test_four(): pytest.skip("never")
""",
}


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "xdist"])
def test_what_is_installed_later_runs_later_and_nothing_else(tmp_path, workers):
    for name, source in SUITE.items():
        (tmp_path / name).write_text(source)

    def outcome(*options):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "remaining", *workers, *options]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "PYTEST_ADDOPTS": ""}
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout.splitlines()[-1].partition(" in ")[0]

    assert outcome() == "2 passed, 2 skipped"
    (tmp_path / "later.py").write_text("")
    assert outcome("--remaining").startswith("2 passed, 1 skipped")
    assert outcome("--remaining").startswith("1 skipped")
    assert outcome() == "4 passed, 1 skipped"
