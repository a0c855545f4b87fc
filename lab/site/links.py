"""What a folder of HTML links to and does not have, and what it would fetch from other machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {
    *((tag, "src") for tag in ("script", "img", "iframe", "source", "video")),
    ("link", "href"),
    ("div", "data-figure"),
}
"""(tag, attribute) whose address a browser asks for by itself, or a script of the site for it."""
NO_FILES = ("data:", "mailto:", "javascript:")
IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = {"", "top"}
        self.targets: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value or "")
            elif name in ("href", "src", "data-figure"):
                self.targets.append((tag, name, value or ""))


@cache
def _read(path: Path, changed: float) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def read(path: Path) -> _Page:
    return _read(path, path.stat().st_mtime)


def faults(folder: Path) -> Iterator[str]:
    """One sentence for each target of a page or a style that is not there, and each that another machine would be asked for.

    folder: of a site, all of whose links are relative. Addresses that only a click asks for may lie elsewhere; nobody asks them here.
    """
    for path in sorted(folder.rglob("*.html")):
        where = path.relative_to(folder).as_posix()
        for tag, name, target in read(path).targets:
            yield from _fault(folder, path, where, target, (tag, name) in FETCHED)
    for path in sorted(folder.rglob("*.css")):
        where = path.relative_to(folder).as_posix()
        for target in IN_STYLE.findall(path.read_text(encoding="utf-8")):
            yield from _fault(folder, path, where, target, True)


def _fault(folder: Path, path: Path, where: str, target: str, fetched: bool) -> Iterator[str]:
    parts = urlsplit(target)
    if target.startswith(NO_FILES):
        return
    if parts.scheme or parts.netloc:
        if fetched:
            yield f"{where} fetches {target}; the site has what it needs in files of its own."
        return
    file = path if not parts.path else path.parent / unquote(parts.path)
    if file.is_dir():
        file = file / "index.html"
    if not file.resolve().is_relative_to(folder.resolve()) or not file.exists():
        yield f"{where} links to {target}, which is not there."
    elif parts.fragment and file.suffix == ".html" and unquote(parts.fragment) not in read(file).ids:
        yield f"{where} links to {target}; the page has no such place."
