"""The documentation as a site: `make docs`, `make docs-serve`.

    python -m tools.site build
    python -m tools.site serve

Pages of `docs`, and those of the root that belong to them, are copied to `build/pages`, with what
their code shows written below it. Zensical makes `build/site` of them. Results of code are kept in
`build/shown`, by a hash of the page's code and of the library, so that a second build is quick.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from posixpath import normpath, relpath
from typing import Final

from tools import links, pages

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
STAGED: Final = ROOT / "build" / "pages"
SHOWN: Final = ROOT / "build" / "shown"
BASE: Final = ROOT / "tools" / "mkdocs.yml"
SITE: Final = ROOT / "build" / "site"
CONFIG: Final = ROOT / "build" / "mkdocs.yml"
COPIED: Final = (".md", ".png", ".svg", ".css")

ROOTED: Final = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
}
"""Pages of the root, and where they stand in the site."""

COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
LINK: Final = re.compile(r"\[(?P<words>[^\[\]]*)\]\((?P<to>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")

SECTIONS: Final = {
    "tutorials": "Tutorials",
    "how-to": "How to",
    "coming-from": "Coming from",
    "understand": "Understand",
    "reference": "Reference",
    "results": "Results",
    "adr": "Decisions",
    "project": "Project",
}
"""Folders of pages, in the order of the site's navigation."""

PROJECT: Final = ("licences.md",)
"""Pages of other places that belong to the section of the project."""

LISTED_ELSEWHERE: Final = ("adr", "results")
"""Folders whose README lists their pages, which are too many for the navigation."""


def stage(dark: bool = True) -> None:
    """Copy all pages, with what their code shows. What is unchanged is left as it is."""
    wanted: dict[str, bytes] = {}
    for path in sorted(DOCS.rglob("*")):
        if path.suffix in COPIED:
            name = path.relative_to(DOCS).as_posix()
            wanted |= page(path, name, dark) if path.suffix == ".md" else {name: path.read_bytes()}
    for root, name in ROOTED.items():
        wanted |= page(ROOT / root, name, dark)
    text = {name: content.decode() for name, content in wanted.items() if name.endswith(".md")}
    write(
        CONFIG,
        (BASE.read_text(encoding="utf-8") + f"\nnav: {json.dumps(navigation(text))}\n").encode(),
    )
    for old in STAGED.rglob("*"):
        if old.is_file() and old.relative_to(STAGED).as_posix() not in wanted:
            old.unlink()
    for name, content in wanted.items():
        write(STAGED / name, content)


def write(place: Path, content: bytes) -> None:
    """Write a file, unless it holds this already: a server that watches it sees no change then."""
    if not place.exists() or place.read_bytes() != content:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def page(path: Path, name: str, dark: bool) -> dict[str, bytes]:
    """A page of the site and its pictures, by their names."""
    text = path.read_text(encoding="utf-8")
    lacking = pages.lacking(text)
    pictures: dict[str, bytes] = {}
    if lacking:
        text = note(text, lacking)
    elif any(pages.blocks(text)):
        shown = remembered(path, text, dark)
        names: list[list[tuple[str, str]]] = []
        for result in shown:
            names.append([])
            for figure in result.figures:
                stem = f"{Path(name).stem}-{len(pictures) + 1}"
                both = (f"{stem}.png", f"{stem}-dark.png" if figure.dark else "")
                folder = Path(name).parent
                pictures[(folder / both[0]).as_posix()] = figure.light
                if figure.dark:
                    pictures[(folder / both[1]).as_posix()] = figure.dark
                names[-1].append(both)
        text = pages.written(text, shown, names)
    source = path.relative_to(ROOT).as_posix()
    return {name: relinked(text, source, name).encode(), **pictures}


def note(text: str, lacking: tuple[str, ...]) -> str:
    """The page, with a note below its title that its code was not run here."""
    what = " and ".join(lacking)
    said = (
        f'\n\n!!! note "Code without output"\n    This page needs {what}. `make test-all` runs its '
        "code; this site was built without it, so no output is shown.\n"
    )
    return re.sub(r"^# .*$", lambda title: title[0] + said, text, count=1, flags=re.M)


def remembered(path: Path, text: str, dark: bool) -> list[pages.Shown]:
    """What the blocks show: as kept, or run now and kept."""
    code = "\0".join(f"{block.line} {block.code}" for block in pages.blocks(text))
    key = hashlib.sha256(f"{dark} {library()} {code}".encode()).hexdigest()[:32]
    kept = SHOWN / f"{key}.pickle"
    if kept.exists():
        shown: list[pages.Shown] = pickle.loads(kept.read_bytes())
        return shown
    began = time.perf_counter()
    shown = pages.run(path, dark)
    print(f"{path.relative_to(ROOT)}: run in {time.perf_counter() - began:.1f} s", flush=True)
    SHOWN.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(shown))
    return shown


@cache
def library() -> str:
    """A hash of what code on pages depends on: the library, its runner, its main packages."""
    files = [*sorted((ROOT / "src").rglob("*.py")), Path(pages.__file__)]
    found = hashlib.sha256(platform.python_version().encode())
    for package in ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib"):
        found.update(version(package).encode())
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()


def relinked(text: str, source: str, name: str) -> str:
    """The page, with links that are right where it stands in the site.

    A link to a file of the repository that is no page of the site becomes its plain words.
    """

    def link(found: re.Match[str]) -> str:
        target = normpath(f"{Path(source).parent.as_posix()}/{found['to']}")
        inside = target.startswith("docs/") and not (ROOT / target).is_dir()
        if not inside and not (ROOT / target).exists():
            return found[0]  # an address, or code that looks like a link
        place = ROOTED.get(target) or (target.removeprefix("docs/") if inside else None)
        if place is None:
            return found["words"]
        to = relpath(place, Path(name).parent.as_posix())
        return f"[{found['words']}]({to}{found['anchor'] or ''})"

    return LINK.sub(link, text)


def navigation(staged: Mapping[str, str]) -> list[dict[str, object]]:
    """The site's navigation, from the pages by name: folders in order, pages as their index says.

    A folder's index.md comes first, then the pages that it links to, in that order, then others.
    """
    found: list[dict[str, object]] = [{"Start": "index.md"}]
    for folder, says in SECTIONS.items():
        names = [name for name in staged if Path(name).parent.as_posix() == folder]
        index = next((name for name in names if Path(name).stem in ("index", "README")), None)
        if folder in LISTED_ELSEWHERE:
            found.append({says: index})
            continue
        order = re.findall(r"\]\(([\w-]+\.md)", staged[index]) if index else []
        names.sort(key=lambda name: rank(Path(name).name, order))
        entries: list[object] = [
            name if name == index else {title(staged[name]): name} for name in names
        ]
        if folder == "project":
            entries += [{title(staged[name]): name} for name in PROJECT if name in staged]
        found += [{says: entries}] if entries else []
    found += [{title(staged[name]): name} for name in ("faq.md", "glossary.md") if name in staged]
    return found


def rank(name: str, order: Sequence[str]) -> tuple[int, str]:
    if name in ("index.md", "README.md"):
        return -1, name
    return (order.index(name) if name in order else len(order)), name


def title(text: str) -> str:
    """The title of a page: that of its front matter, else its heading."""
    front = pages.FRONT.match(text)
    said = re.search(r"^title: *(.+)$", front["lines"], re.M) if front else None
    heading = said or re.search(r"^# +(.+)$", text, re.M)
    if heading is None:
        raise pages.PageError(f"a page has no heading: {text[:60]!r}")
    return heading[1].replace("`", "").strip()


def zensical(verb: str, *arguments: str) -> list[str]:
    command = str(Path(sys.executable).parent / "zensical")
    return [command, verb, "--config-file", str(CONFIG), *arguments]


def build() -> int:
    """Build the site. What Zensical warns of, and what is wrong with its links, is an error."""
    stage()
    done = subprocess.run(
        zensical("build", "--strict", "--clean"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = COLOUR.sub("", done.stdout + done.stderr)
        print(said.partition("Traceback (most recent call last)")[0], file=sys.stderr)
        return done.returncode
    wrong = list(links.faults(SITE))
    print("\n".join(wrong) or f"{SITE / 'index.html'}", file=sys.stderr if wrong else sys.stdout)
    return int(bool(wrong))


def serve() -> int:
    """Serve the site on loopback. Pages that change are run and shown again."""
    stage()
    server = subprocess.Popen(zensical("serve"), cwd=ROOT)
    seen = changed()
    try:
        while server.poll() is None:
            time.sleep(1)
            if (now := changed()) != seen:
                seen = now
                try:
                    stage()
                except pages.PageError as error:
                    print(error, file=sys.stderr)
    except KeyboardInterrupt:
        server.terminate()
    return server.wait()


def changed() -> float:
    roots = [ROOT / name for name in ROOTED]
    return max(p.stat().st_mtime for p in [*DOCS.rglob("*"), *roots] if p.is_file())


def main() -> int:
    try:
        return {"build": build, "serve": serve}[sys.argv[1]]()
    except pages.PageError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
