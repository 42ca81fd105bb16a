"""Whether the links of built pages lead somewhere, from a folder too: `python docs/links.py FOLDER`."""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """What a page links to, and the fragments that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.places.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


def read(page: Path) -> Links:
    """The links of one page."""
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


def broken(folder: Path) -> Iterator[str]:
    """A sentence for each local link that leads nowhere, and for each that works from a server only."""
    pages = {page.resolve(): read(page) for page in sorted(folder.rglob("*.html")) if "_static" not in page.parts}
    for page, links in pages.items():
        for link in links.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            if parts.path.startswith("/"):
                yield f"{page.relative_to(folder.resolve())}: {link} does not work from a folder"
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.is_file():
                yield f"{page.relative_to(folder.resolve())}: {link} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{page.relative_to(folder.resolve())}: {link} has no such place"


if __name__ == "__main__":
    found = list(broken(Path(sys.argv[1])))
    print("\n".join(found) if found else "Every local link leads somewhere.")
    sys.exit(bool(found))
