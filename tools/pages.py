"""Runs the code of a page, and writes what it printed and drew below it.

Every fenced block of `python` is run, from the top of the page to its end, in one namespace and in
a temporary folder. The site (`tools/site.py`) and the tests (`tests/system/test_pages.py`) both
run pages by this file. A page that fails says where: page, line, error.
"""

from __future__ import annotations

import io
import re
import textwrap
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

FENCE: Final = re.compile(
    r"^(?P<indent>[ ]*)```python\b[^\n]*\n(?P<code>.*?)^(?P=indent)```[ ]*$", re.M | re.S
)
FRONT: Final = re.compile(r"\A---\n(?P<lines>.*?)^---\n", re.M | re.S)

NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "native": ("xgboost", "lightgbm", "catboost"),
    "ray": ("ray",),
    "servers": ("mlserver", "mlflow"),
    "torch": ("torch",),
    "web": ("starlette",),
}
"""What a page may need, by name, and the modules that this is."""

LIGHT: Final[dict[str, Any]] = {"figure.dpi": 100, "savefig.dpi": 160}
DARK: Final[dict[str, Any]] = LIGHT | {
    "figure.facecolor": "#0b0c0f",
    "axes.facecolor": "#0b0c0f",
    "savefig.facecolor": "#0b0c0f",
}


class PageError(Exception):
    """Code of a page failed: page, line and error."""


@dataclass(frozen=True)
class Block:
    """A fenced block of Python."""

    code: str
    line: int
    """The line of the page on which the code begins."""
    end: int
    """The place in the page's text just after the block."""
    indent: str


@dataclass(frozen=True)
class Figure:
    """A figure as PNG, on white and on dark ground."""

    light: bytes
    dark: bytes | None
    title: str
    width: int


@dataclass(frozen=True)
class Shown:
    """What a block printed and drew."""

    printed: str
    figures: tuple[Figure, ...]


def needs(text: str) -> tuple[str, ...]:
    """What the front matter of a page says that it needs: `needs: [torch]`."""
    front = FRONT.match(text)
    listed = re.search(r"^needs: *\[(.*)\] *$", front["lines"], re.M) if front else None
    return tuple(need.strip() for need in listed[1].split(",")) if listed else ()


def lacking(text: str) -> tuple[str, ...]:
    """Those needs of a page that are not installed here."""
    unknown = [need for need in needs(text) if need not in NEEDS]
    if unknown:
        raise PageError(f"a page needs {unknown[0]!r}; tools/pages.py knows {', '.join(NEEDS)}")
    return tuple(n for n in needs(text) if not all(find_spec(module) for module in NEEDS[n]))


def blocks(text: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start("code")) + 1
        yield Block(textwrap.dedent(found["code"]), line, found.end(), found["indent"])


def run(page: Path, dark: bool = False) -> list[Shown]:
    """What each block of the page shows. Warnings are errors, but for those of deprecation.

    With `dark` a block that draws is run a second time, for its figure on dark ground.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    found = blocks(page.read_text(encoding="utf-8"))
    with TemporaryDirectory() as folder, chdir(folder), quiet():
        return [show(block, page, namespace, dark) for block in found]


def show(block: Block, page: Path, namespace: dict[str, Any], dark: bool) -> Shown:
    printed = io.StringIO()
    with plt.style.context(LIGHT), redirect_stdout(printed):
        execute(block, page, namespace)
        light = drawn()
    night: list[tuple[bytes, str, int]] = []
    if dark and light:
        with plt.style.context(["dark_background", DARK]), redirect_stdout(io.StringIO()):
            execute(block, page, namespace)
            night = drawn()
    figures = (
        Figure(png, night[place][0] if night else None, title, width)
        for place, (png, title, width) in enumerate(light)
    )
    return Shown(printed.getvalue(), tuple(figures))


def execute(block: Block, page: Path, namespace: dict[str, Any]) -> None:
    """Run a block. Its lines keep their numbers in the page."""
    try:
        code = "\n" * (block.line - 1) + block.code
        exec(compile(code, str(page), "exec", dont_inherit=True), namespace)
    except Exception as error:
        places = [
            f.lineno
            for f in traceback.extract_tb(error.__traceback__)[1:]
            if f.filename == str(page)
        ]
        line = error.lineno if isinstance(error, SyntaxError) else (places or [block.line])[-1]
        raise PageError(f"{page}:{line}: {type(error).__name__}: {error}") from error


def drawn() -> list[tuple[bytes, str, int]]:
    """All open figures as PNG, with a title and a width in pixels; they are closed."""
    found = []
    for number in plt.get_fignums():
        figure, png = plt.figure(number), io.BytesIO()
        figure.savefig(png, bbox_inches="tight")
        title = next(
            (t for ax in figure.axes for t in (ax.get_title("left"), ax.get_title()) if t), ""
        )
        width = int.from_bytes(png.getvalue()[16:20], "big") * 100 // LIGHT["savefig.dpi"]
        found.append((png.getvalue(), title, width))
    plt.close("all")
    return found


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ignored in (DeprecationWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", ignored)
        yield


def written(text: str, shown: list[Shown], names: list[list[tuple[str, str]]]) -> str:
    """The page with what its blocks showed below them; `names` are those of the pictures."""
    parts, last = [], 0
    for block, result, pictures in zip(blocks(text), shown, names, strict=True):
        below = []
        if result.printed.strip():
            below.append("``` { .text .output }\n" + result.printed.strip("\n") + "\n```")
        for figure, (light, dark) in zip(result.figures, pictures, strict=True):
            alt = re.sub(r"[\[\]\n]", " ", figure.title) or "Drawn by the code above"
            size = f'{{ width="{figure.width}" }}'
            ground = "#only-light" if dark else ""
            below.append(
                f"![{alt}]({light}{ground}){size}"
                + (f"\n![{alt}]({dark}#only-dark){size}" if dark else "")
            )
        added = "".join(f"\n\n{part}" for part in below)
        parts += [text[last : block.end], textwrap.indent(added, block.indent)]
        last = block.end
    return "".join([*parts, text[last:]])
