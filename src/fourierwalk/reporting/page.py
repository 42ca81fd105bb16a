"""One self-contained HTML page: text, tables, claims, figures and films, nothing fetched from anywhere."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from fourierwalk.reporting import claims as claim_lists
from fourierwalk.reporting import vector
from fourierwalk.reporting.colors import variables
from fourierwalk.reporting.files import write_text

HEAD, CELL = 'th scope="row" role="rowheader"', 'td role="cell"'
MANY, CROWDED = 6, 12
"""Tables of at least this many columns are stacked in narrow windows, not only on phones, and their cells may wrap."""


@dataclass
class Page:
    """A page that grows from top to bottom and is written once.

    Examples
    --------
    >>> page = Page("Results")
    >>> page.text("Three & more").table("Errors", ["K", "error (%)"], [[16, 0.25]])
    Page(title='Results')
    >>> ">0.25</td>" in page.html() and "Three &amp; more" in page.html()
    True
    """

    title: str
    parts: list[str] = field(default_factory=list, repr=False)
    headings: list[str] = field(default_factory=list, repr=False)
    n_figures: int = field(default=0, repr=False)

    def heading(self, text: str) -> Page:
        """A heading of a section. The contents list it."""
        self.headings.append(text)
        return self._add(f'<h2 id="{_place(len(self.headings))}">{html.escape(text)}</h2>')

    def text(self, text: str, kind: str = "") -> Page:
        """A paragraph; kind "note" is small, kind "warn" stands out."""
        return self._add(
            f'<p class="{html.escape(kind)}">{html.escape(text)}</p>' if kind else f"<p>{html.escape(text)}</p>"
        )

    def table(self, caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Page:
        """A table. Cells are shown as they are. The first cell of a row is its name."""
        cells = [[str(cell) for cell in row] for row in rows]
        kinds = [_kind([row[i] for row in cells]) for i in range(len(columns))]
        head = "".join(
            f'<th scope="col" role="columnheader"{kind}>{html.escape(name)}</th>'
            for name, kind in zip(columns, kinds, strict=True)
        )
        body = "".join(_row(columns, kinds, row) for row in cells)
        size = "many" if len(columns) >= MANY else "few" if len(columns) > 2 else "pair"
        size += " crowded" if len(columns) >= CROWDED else ""
        return self._add(
            f'<div class="table {size}"><table role="table"><caption>{html.escape(caption)}</caption>'
            f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{body}</tbody>'
            "</table></div>"
        )

    def claims(self, claims: Sequence[claim_lists.Judged]) -> Page:
        """Claims, each with a coloured and worded verdict."""
        return self._add(claim_lists.shown(claims))

    def figure(self, panels: Any, caption: str) -> Page:
        """A matplotlib figure as vector graphics, or several figures side by side where there is room."""
        several = list(panels) if isinstance(panels, Sequence) else [panels]
        drawn = []
        for number, panel in enumerate(several):
            self.n_figures += 1
            words = caption if len(several) == 1 else f"Panel {number + 1} of {len(several)}. {caption}"
            drawn.append(vector.inline(panel, f"figure-{self.n_figures}", words))
        kind = "panels" if len(several) > 1 else "panel"
        told = f"<figcaption>{html.escape(caption)}</figcaption>"
        return self._add(f'<figure><div class="{kind}">{"".join(drawn)}</div>{told}</figure>')

    def fragment(self, markup: str) -> Page:
        """HTML as it is, such as a film's."""
        return self._add(markup)

    def html(self) -> str:
        """The whole page."""
        title = html.escape(self.title)
        head = (
            '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>{title}</title><link rel="icon" href="data:,">'
            f"<style>{variables()}\n{asset('page.css')}\n{vector.DRAWN}</style>"
        )
        main = "\n".join([f"<h1>{title}</h1>", *self.parts])
        body = f'{self._contents()}<main>{main}</main><div id="tip" role="status" hidden></div>'
        script = f"<script>{asset('page.js')}</script>"
        return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n{script}\n</body></html>\n'

    def write(self, path: Path | str) -> Path:
        """Write the page atomically."""
        return write_text(path, self.html())

    def _contents(self) -> str:
        items = "".join(
            f'<li><a href="#{_place(number)}">{html.escape(text)}</a></li>'
            for number, text in enumerate(self.headings, start=1)
        )
        return f'<nav aria-label="Contents"><strong>Contents</strong><ol>{items}</ol></nav>' if items else ""

    def _add(self, part: str) -> Page:
        self.parts.append(part)
        return self


def asset(name: str) -> str:
    """The text of a style sheet or script in this folder."""
    return resources.files("fourierwalk.reporting").joinpath(name).read_text(encoding="utf-8").strip()


def _place(number: int) -> str:
    return f"section-{number}"


def _row(columns: Sequence[str], kinds: Sequence[str], row: Sequence[str]) -> str:
    cells = [
        f'<{tag}{kind} data-label="{html.escape(name)}">{html.escape(text)}</{tag[:2]}>'
        for tag, name, kind, text in zip([HEAD, *[CELL] * len(row)], columns, kinds, row, strict=False)
    ]
    return f'<tr role="row">{"".join(cells)}</tr>'


def _kind(cells: Sequence[str]) -> str:
    """A column of words stands on the left, one of numbers on the right."""
    words = [len(text) > 40 or re.search("[a-z]{3}", text) is not None for text in cells if text]
    return ' class="text"' if 2 * sum(words) > len(words) else ""
