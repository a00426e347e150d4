"""The licences of the packages that eagle needs, from what is installed: `make licences`.

It follows the requirements of eagle-xai and of its extras through the packages that are installed
here, and writes docs/licences.md. A package that is not installed here is named as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "licences.md"
LEFT_OUT = ("dev", "docs", "test", "bench", "native")
"""Extras that only work on the library itself needs."""

REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:\[([\w, -]+)\])?")
EXTRA = re.compile(r"extra\s*==\s*[\"']([\w-]+)[\"']")
ELSEWHERE = re.compile(r"(python_version|sys_platform|platform_|implementation_name|os_name)")


def plain(name: str) -> str:
    """A name as packages are compared by it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(of: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The packages that one needs, with some of its extras; those of other systems left out."""
    for line in of.requires or ():
        wanted, _, marker = line.partition(";")
        found, extra = REQUIREMENT.match(wanted.strip()), EXTRA.search(marker)
        if found is None or ELSEWHERE.search(marker) or (extra and extra[1] not in extras):
            continue
        more = frozenset(filter(None, (found[2] or "").replace(" ", "").split(",")))
        yield plain(found[1]), more


def every(extras: frozenset[str]) -> dict[str, Distribution | None]:
    """All packages that eagle-xai with these extras leads to; None where one is not installed."""
    known: dict[str, Distribution | None] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    ahead = [("eagle-xai", extras)]
    while ahead:
        name, more = ahead.pop()
        if (name, more) in seen:
            continue
        seen.add((name, more))
        try:
            known[name] = distribution(name)
        except PackageNotFoundError:
            known[name] = None
            continue
        ahead += needed(distribution(name), more)
    del known["eagle-xai"]
    return known


def licence(of: Distribution) -> str:
    """What a package says of its licence: an expression, a classifier, or the first line."""
    said = of.metadata
    if said["License-Expression"]:
        return str(said["License-Expression"])
    classes = [c for c in said.get_all("Classifier") or () if c.startswith("License")]
    if classes:
        return ", ".join(c.split(" :: ")[-1] for c in classes)
    return next(iter((said["License"] or "not said").strip().splitlines()))[:60]


def page() -> str:
    """docs/licences.md."""
    own = distribution("eagle-xai").metadata
    extras = frozenset(own.get_all("Provides-Extra") or ()) - set(LEFT_OUT)
    core, all_of_them = every(frozenset()), every(extras)
    lines = [
        "# Licences",
        "",
        "`eagle-xai` is under the MIT licence and contains no code of other packages. What it "
        "needs is listed here with the licence that each package states in its metadata, as "
        "installed when `make licences` wrote this page; packages for other systems may come "
        "beside them.",
        "",
        "| package | licence | needed by |",
        "|---|---|---|",
    ]
    for name, found in sorted(all_of_them.items()):
        where = "the core" if name in core else "an extra"
        told = "not installed when this was written" if found is None else licence(found)
        lines.append(f"| {name} | {told} | {where} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
