"""One self-contained HTML page: text, tables and figures, nothing fetched from anywhere."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourierwalk.reporting.files import write_text

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, sans-serif; color: #1b1f24; max-width: 62rem;
       margin: 2.5rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.9rem; margin-bottom: .2rem; } h2 { margin-top: 2.4rem; border-bottom: 1px solid #d5d9de; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .93rem; display: block; overflow-x: auto; }
th, td { padding: .28rem .8rem; text-align: right; border-bottom: 1px solid #e6e9ec; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { background: #f4f6f8; }
td.text { white-space: normal; text-align: left; }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; height: auto; }
figcaption { color: #57606a; font-size: .9rem; }
.note { color: #57606a; font-size: .92rem; } .warn { background: #fff4d6; padding: .5rem .8rem; border-radius: 4px; }
"""


@dataclass
class Page:
    """A page that grows from top to bottom and is written once.

    Examples
    --------
    >>> page = Page("Results")
    >>> page.text("Three & more").table(["K", "error"], [[16, 0.25]])
    Page(title='Results')
    >>> "<td>0.25</td>" in page.html() and "Three &amp; more" in page.html()
    True
    """

    title: str
    parts: list[str] = field(default_factory=list, repr=False)

    def heading(self, text: str) -> Page:
        """A section's heading."""
        return self._add(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str, kind: str = "") -> Page:
        """A paragraph; kind "note" is small, kind "warn" stands out."""
        return self._add(
            f'<p class="{html.escape(kind)}">{html.escape(text)}</p>' if kind else f"<p>{html.escape(text)}</p>"
        )

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Page:
        """A table; cells are shown as they are."""
        head = "".join(f"<th>{html.escape(str(cell))}</th>" for cell in header)
        body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
        return self._add(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    def figure(self, figure: Any, caption: str) -> Page:
        """A matplotlib figure, embedded."""
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight")
        encoded = base64.b64encode(buffer.getvalue()).decode("ascii")
        image = f'<img alt="{html.escape(caption)}" src="data:image/png;base64,{encoded}">'
        return self._add(f"<figure>{image}<figcaption>{html.escape(caption)}</figcaption></figure>")

    def html(self) -> str:
        """The whole page."""
        title = html.escape(self.title)
        head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
        body = "\n".join([f"<h1>{title}</h1>", *self.parts])
        style = f"<style>{STYLE}</style>"
        return f'<!doctype html>\n<html lang="en"><head>{head}{style}</head>\n<body>\n{body}\n</body></html>\n'

    def write(self, path: Path | str) -> Path:
        """Write the page in one stroke."""
        return write_text(path, self.html())

    def _add(self, part: str) -> Page:
        self.parts.append(part)
        return self


def _cell(cell: Any) -> str:
    text = html.escape(str(cell))
    words = len(text) > 40 or re.search("[a-z]{3}", text)
    return f'<td class="text">{text}</td>' if words else f"<td>{text}</td>"
