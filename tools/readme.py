"""The README for a package index, where links into the repository lead nowhere.

With the address of the documentation, `[project.urls] Documentation` in pyproject.toml, links
lead to its pages. Without one, links become their plain words, and pictures are left out.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

LINK: Final = re.compile(
    r"(?P<mark>!?)\[(?P<words>[^\[\]]*)\]\((?P<to>[^)\s:#]+)(?P<at>#[^)\s]*)?\)"
)


def published(text: str, address: str | None) -> str:
    """The README with links that lead somewhere from anywhere."""

    def link(found: re.Match[str]) -> str:
        place = page(found["to"])
        if address is None or place is None:
            return "" if found["mark"] else found["words"]
        to = f"{address.rstrip('/')}/{place}{found['at'] or ''}"
        return f"{found['mark']}[{found['words']}]({to})"

    return LINK.sub(link, text)


def page(path: str) -> str | None:
    """Where the site has a file of the repository; None if it does not."""
    place = PurePosixPath(path)
    if place.suffix != ".md":
        return path.removeprefix("docs/") if path.startswith("docs/") else None
    if len(place.parts) == 1:
        return f"project/{place.stem.lower()}/"
    inside = place.relative_to("docs")
    folder = inside.parent if inside.stem in ("index", "README") else inside.with_suffix("")
    return "" if str(folder) == "." else f"{folder}/"
