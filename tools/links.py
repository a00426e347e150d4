"""Checks a built site: its links and pictures are there, and it asks nothing of other hosts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

LOADS: Final = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src")}
"""What a browser loads by itself, without a click."""
ELSEWHERE: Final = ("canonical", "prev", "next", "alternate")
"""Links of a page's head that a browser does not load."""


class Page(HTMLParser):
    """The addresses that a page names, and the places in it that others can name."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.places |= {known[name] for name in ("id", "name") if name in known}
        for name in ("src", "href"):
            if name in known and known.get("rel", "") not in ELSEWHERE:
                loaded = (tag, name) in LOADS
                (self.loads if loaded else self.leads).append(known[name])


@cache
def parsed(file: Path) -> Page:
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def faults(site: Path) -> Iterator[str]:
    """What is wrong with the links of a site, a sentence each."""
    for file in sorted(site.rglob("*.html")):
        name, page = file.relative_to(site), parsed(file)
        for address in page.loads:
            if urlsplit(address).netloc:
                yield f"{name}: loads {address} from another host"
        for address in [*page.loads, *page.leads]:
            if not urlsplit(address).scheme and not urlsplit(address).netloc:
                yield from lost(site, file, address)


def lost(site: Path, file: Path, address: str) -> Iterator[str]:
    parts = urlsplit(address)
    base = site if parts.path.startswith("/") else file.parent
    target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else file
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        yield f"{file.relative_to(site)}: {address} is not there"
    elif parts.fragment and target.suffix == ".html" and unplaced(target, parts.fragment):
        yield f"{file.relative_to(site)}: {address} has no such place"


def unplaced(file: Path, fragment: str) -> bool:
    return unquote(fragment) not in parsed(file).places
