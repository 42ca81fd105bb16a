"""The code of README and pages runs, and what they name is there."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import browser
import oldest
import pytest

import fourierwalk

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = ["README.md", "docs/start.md", "docs/coming-from.md", "docs/how-it-works.md"]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    names: dict = {"__name__": page}
    for block in blocks:
        if "import lightgbm" in block and importlib.util.find_spec("lightgbm") is None:
            continue
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_to_files_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        made = re.match(r"(generated|auto_examples)/", link)  # by the build; docs/links.py checks them there
        assert made or "://" in link or ((ROOT / page).parent / link).exists(), f"{page} links to {link}"


def test_every_page_is_in_the_contents():
    listed = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("*.md"))
    for page in [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*.rst")]:
        assert page.stem in ("index", "sg_execution_times") or re.search(rf"^{page.stem}$", listed, re.MULTILINE), (
            f"no contents list {page.name}"
        )


def test_pictures_are_small():
    for path in [*(ROOT / "docs").glob("*.png"), *(ROOT / "docs").glob("*.svg")]:
        assert path.stat().st_size <= 200_000, path


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"]
    assert f"\nversion: {fourierwalk.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {fourierwalk.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_oldest_versions_are_the_lower_bounds():
    project = {
        "dependencies": ["a>=1.2", "b[c]>=3"],
        "optional-dependencies": {"x": ["fourierwalk[y]", "ruff>=1"], "y": ["a>=1.2", "d-e>=0.9.1"]},
    }
    assert oldest.constraints(project) == ["a==1.2", "b==3", "d-e==0.9.1"]


@pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed")
def test_pages_that_do_not_fit_a_phone_are_found(tmp_path):
    head = '<!doctype html><meta name="viewport" content="width=device-width"><body><article>'
    (tmp_path / "fits.html").write_text(head + "<p>text</p><pre style='overflow: auto'>" + "code " * 100 + "</pre>")
    (tmp_path / "wide.html").write_text(head + "<h1>" + "w" * 400 + "</h1>")
    (tmp_path / "broken.html").write_text(head + '<img src="none.png">')
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "widths.py", tmp_path],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
    )
    broken, wide = done.stdout.splitlines()
    assert broken == "broken.html: a picture is broken: none.png"
    assert re.fullmatch(r"wide.html: html is \d{4} pixels wide", wide)
    assert done.returncode == 1


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">x</a><a href="b.html#there">x</a><img src="c.png"><a href="/d">x</a><a href="https://e">x</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p>')
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "links.py", tmp_path], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "a.html: b.html#there has no such place",
        "a.html: c.png leads nowhere",
        "a.html: /d does not work from a folder",
    ]
