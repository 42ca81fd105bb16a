"""A matplotlib figure as SVG. Its colours follow light and dark mode; its points show their cells."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fourierwalk.reporting.colors import NAMES, variables
from fourierwalk.reporting.files import write_text

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HALO = "halo"
"""The gid of a text with a rim of the background's colour, which keeps it readable on top of lines."""

DRAWN = ".halo text { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }"
FONT = "font-family: system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def tell(line: Any, words: Sequence[str]) -> None:
    """Set the text that a reader sees who points at a point of a line.

    Parameters
    ----------
    line : matplotlib.lines.Line2D
        A line with markers.
    words : sequence of str
        One text for each of its points; several lines of text are allowed.
    """
    line.set_gid(json.dumps(list(words)))


def inline(figure: Any, name: str, label: str) -> str:
    """The figure as an SVG element for a page that sets the colours' variables.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What is drawn.
    name : str
        A prefix that keeps the element's ids apart from those of other figures of the page.
    label : str
        What a screen reader says.
    """
    root = _drawn(figure, name)
    root.set("role", "img")
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def write(figure: Any, path: Path | str) -> Path:
    """Write the figure as an SVG file of its own, which follows light and dark mode."""
    path = Path(path)
    root = _drawn(figure, path.stem)
    style = ElementTree.Element("style")
    style.text = f"{variables()}\nsvg {{ {FONT}; background: var(--paper); }} text {{ fill: var(--ink); }} {DRAWN}"
    root.insert(0, style)
    return write_text(path, ElementTree.tostring(root, encoding="unicode") + "\n")


def _drawn(figure: Any, name: str) -> Any:
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", _saved(figure, name)))
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
        if target := element.attrib.pop(f"{{{LINK}}}href", None):
            element.set("href", target)
    for old in [*root.findall("metadata"), *(each for each in root.findall("defs") if each.find("style") is not None)]:
        root.remove(old)
    root.attrib.pop("version", None)
    root.set("xmlns", SVG)
    for side in ("width", "height"):
        root.set(side, root.attrib[side].removesuffix("pt"))
    _tell(root)
    _rename(root, name)
    for element in root.iter():
        for key, shorten in (("style", _themed), ("d", _rounded), ("x", _rounded), ("y", _rounded)):
            if key in element.attrib:
                element.set(key, shorten(element.attrib[key]))
    return root


def _saved(figure: Any, name: str) -> str:
    """Settings that keep text as text, and make ids the same in every run."""
    from matplotlib import rc_context

    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), io.StringIO() as buffer:
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
        return buffer.getvalue()


def _tell(root: Any) -> None:
    """Put each text of `tell` into its point."""
    for group in root.iter("g"):
        if not group.get("id", "").startswith("["):
            continue
        marks = list(group.iter("use"))
        for mark, words in zip(marks, json.loads(html.unescape(group.get("id"))), strict=True):
            mark.set("class", "point")
            ElementTree.SubElement(mark, "title").text = words


def _rename(root: Any, name: str) -> None:
    """Keep only ids that are referred to, prefixed with the figure's name, and turn the halo into a class."""
    used = set(re.findall(r"#([\w.-]+)", " ".join(v for e in root.iter() for v in e.attrib.values())))
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", f"{name}-{own}")
        elif own == HALO:
            element.set("class", HALO)
        for key in ("href", "clip-path"):
            if key in element.attrib:
                element.set(key, element.attrib[key].replace("#", f"#{name}-"))


def _rounded(numbers: str) -> str:
    """A number rounded to a hundredth of a point, finer than a screen shows."""
    return re.sub(r"-?\d+\.\d{3,}", lambda hit: f"{float(hit[0]):.2f}", " ".join(numbers.split()))


def _themed(style: str) -> str:
    """Colours as variables, and the page's font."""
    style = re.sub(r"font-family:[^;]*;?\s*", "", style)
    return re.sub(r"#[0-9a-f]{6}", lambda hit: f"var(--{NAMES[hit[0]]})" if hit[0] in NAMES else hit[0], style)
