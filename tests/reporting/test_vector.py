"""Figures as vector graphics: texts stay texts, colours follow the reader, every file is the same in every run."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from fourierwalk.reporting import vector
from fourierwalk.reporting.colors import LIGHT, NAMES
from fourierwalk.reporting.plots import COLORS, INK, QUIET, legend, new_figure


def figure():
    drawn, (axis,) = new_figure()
    (line,) = axis.plot([1, 2, 3], [1, 4, 2], color=COLORS[0], marker="o", label="α & β")
    vector.tell(line, ["first", "second <2>", "third"])
    axis.plot([1, 3], [0, 100], color=INK)  # leaves the axes: it must be clipped
    axis.set_ylim(0, 5)
    axis.annotate("name", (2, 4), color=QUIET, gid=vector.HALO)
    axis.set_xlabel("x")
    legend(drawn)
    return drawn


def test_colours_are_variables_and_texts_are_texts():
    text = vector.inline(figure(), "f", "a <figure>")
    root = ElementTree.fromstring(text)
    assert root.get("aria-label") == "a <figure>"
    words = {"".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"α & β", "x", "name"} <= words
    assert {"var(--series-0)", "var(--quiet)", "var(--ink)"} <= set(re.findall(r"var\(--[\w-]+\)", text))
    assert not set(re.findall(r"#[0-9a-f]{6}", text)) & set(LIGHT.values())
    assert 'class="halo"' in text


def test_every_reference_leads_somewhere():
    text = vector.inline(figure(), "f", "")
    ids = set(re.findall(r' id="([^"]+)"', text))
    used = set(re.findall(r"#([\w-]+)[\")]", text))
    assert used == ids
    assert all(each.startswith("f-") for each in ids)
    assert 'clip-path="url(#f-' in text


def test_points_tell_in_order():
    text = vector.inline(figure(), "f", "")
    assert re.findall(r"<title>([^<]*)</title>", text) == ["first", "second &lt;2&gt;", "third"]


def test_as_many_texts_as_points():
    drawn, (axis,) = new_figure()
    (line,) = axis.plot([1, 2, 3], [1, 4, 2], marker="o")
    vector.tell(line, ["one too few", "of them"])
    with pytest.raises(ValueError, match="zip"):
        vector.inline(drawn, "f", "")


def test_a_file_is_the_same_in_every_run(tmp_path):
    one, two = (vector.write(figure(), tmp_path / name / "f.svg").read_bytes() for name in ("a", "b"))
    assert one == two


def test_a_file_stands_alone_in_light_and_dark(browser, tmp_path):
    path = vector.write(figure(), tmp_path / "f.svg")
    shades = {}
    for scheme in ("light", "dark"):
        browser.open(path, 500, scheme=scheme)
        assert browser.complaints() == []
        style = "getComputedStyle(document.documentElement).backgroundColor"
        ink = "getComputedStyle([...document.querySelectorAll('text')].find(t => t.textContent == 'x')).fill"
        shades[scheme] = browser.evaluate(f"[{style}, {ink}]")
    sums = {scheme: [sum(map(int, re.findall(r"\d+", each))) for each in both] for scheme, both in shades.items()}
    assert sums["light"][0] > 600 > 200 > sums["light"][1]
    assert sums["dark"][0] < 200 < 600 < sums["dark"][1]


def test_colours_have_one_name_each():
    assert len(NAMES) == len(LIGHT)
    assert np.unique(list(LIGHT.values())).size == len(LIGHT)
