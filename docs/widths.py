"""Whether built pages fit a phone, in Chromium: `PYTHONPATH=tests python docs/widths.py FOLDER`.

Code and tables may scroll within their own boxes. A page must not scroll sideways, and no figure may be wider than it.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from browser import CHROMIUM, Browser

WIDTH = 400
MEASURE = """
(() => {
  const wide = document.documentElement.clientWidth, found = [];
  const scrolls = e => getComputedStyle(e).overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1;
  for (const e of document.querySelectorAll("html, body, main, .bd-article-container, article, section"))
    if (e.scrollWidth > wide + 1 || scrolls(e)) {
      found.push(`${e.tagName.toLowerCase()} is ${e.scrollWidth} pixels wide`);
      break;
    }
  for (const e of document.querySelectorAll("article :is(img, svg, iframe)")) {
    const end = e.getBoundingClientRect().right;
    if (e.checkVisibility() && end > wide + 1) found.push(`a figure ends at ${end} pixels`);
  }
  for (const e of document.querySelectorAll("article img"))
    if (e.complete && !e.naturalWidth) found.push(`a picture is broken: ${e.getAttribute("src")}`);
  return found;
})()
"""


def too_wide(folder: Path) -> Iterator[str]:
    """A sentence for each page that does not fit."""
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            for page in sorted(folder.rglob("*.html")):
                if "_static" not in page.parts:
                    for found in browser.open(page, WIDTH).evaluate(MEASURE):
                        yield f"{page.relative_to(folder)}: {found}"
        finally:
            browser.close()


if __name__ == "__main__":
    if CHROMIUM is None:
        sys.exit(print("Chromium is not here: nobody has looked whether the pages fit a phone."))
    found = list(too_wide(Path(sys.argv[1])))
    print("\n".join(found) if found else f"Every page fits {WIDTH} pixels.")
    sys.exit(bool(found))
