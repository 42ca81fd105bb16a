"""The page is self-contained, and a browser shows it."""

import re
import shutil
import subprocess

import pytest

from fourierwalk.reporting.page import Page
from fourierwalk.reporting.plots import new_figure

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def page_with_everything():
    figure, (axis,) = new_figure()
    axis.plot([0, 1], [0, 1])
    page = Page("A < B").heading("Numbers & words").text("x < y", "warn")
    return page.table(["method", "K"], [["adaptive & more", 16]]).figure(figure, "a line")


def test_text_is_escaped_and_nothing_is_fetched():
    html = page_with_everything().html()
    assert "<title>A &lt; B</title>" in html
    assert "Numbers &amp; words" in html
    assert '<p class="warn">x &lt; y</p>' in html
    assert not re.search(r'(src|href)="(?!data:)', html)


def test_words_stand_left_and_numbers_right():
    html = page_with_everything().html()
    assert '<td class="text">adaptive &amp; more</td><td>16</td>' in html


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_shows_table_and_figure(tmp_path):
    path = page_with_everything().write(tmp_path / "page.html")
    probe = "document.title = [...document.images].map(i => i.naturalWidth > 100).join()"
    path.write_text(path.read_text() + f"<script>window.onload = () => {{ {probe} }}</script>")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    flags += [
        "--disable-background-networking",
        "--disable-component-update",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    command = [CHROMIUM, *flags, "--dump-dom", path.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "<title>true</title>" in shown.stdout
    assert "adaptive &amp; more" in shown.stdout
