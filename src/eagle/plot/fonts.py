"""Chooses fonts that cover a plot's characters, and reports characters that no font has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, Final, ParamSpec, TypeVar, final
from unicodedata import category

from eagle.comparison import Comparison
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.show.sheet import pieces
from eagle.subject import Passage
from eagle.targets import target_text

P = ParamSpec("P")
R = TypeVar("R")

BOX: Final = "\u25a1"
"""What stands for a character that no font has."""

FIRST: Final = 1000
"""Number of rows that are checked for whether a column holds texts."""

UNFIT: Final = ("Last Resort", "Color Emoji", "Emoji Color")
"""Fonts that draw boxes, or that matplotlib cannot draw."""


@final
@dataclass(frozen=True)
class Glyphs:
    """Families of fonts to draw with beside the usual ones, and characters that none has."""

    families: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()


_NOW: ContextVar[Glyphs | None] = ContextVar("glyphs", default=None)


def legible(draw: Callable[P, R]) -> Callable[P, R]:
    """A function that draws, with fonts for all that its first argument would write."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            import matplotlib as mpl
        except ImportError:
            return draw(*args, **kwargs)  # it says itself what is missing
        glyphs = glyphs_for("".join(_written(args[0] if args else None)))
        token = _NOW.set(glyphs)
        try:
            with mpl.rc_context({"font.family": [*mpl.rcParams["font.family"], *glyphs.families]}):
                return draw(*args, **kwargs)
        finally:
            _NOW.reset(token)

    return drawn


def visible(text: str) -> str:
    """The text, with boxes where no font has a character."""
    glyphs = _NOW.get()
    if glyphs is None or not glyphs.missing:
        return text
    return "".join(BOX if c in glyphs.missing else c for c in text)


def cautions(explanations: Iterable[Explanation]) -> list[str]:
    """The warnings that a plot of scores must carry, each once."""
    out = dict.fromkeys(f"Warning: {w}" for e in explanations for w in e.warnings)
    glyphs = _NOW.get()
    if glyphs is not None and glyphs.missing:
        some = sorted(glyphs.missing)
        listed = ", ".join(f"U+{ord(c):04X}" for c in some[:5])
        more = f" and {len(some) - 5} more" if len(some) > 5 else ""
        out[
            f"{BOX} stands for characters that no font here has: {listed}{more}. A font such as "
            "Noto would show them"
        ] = None
    return list(out)


def glyphs_for(text: str) -> Glyphs:
    """The fonts that a text needs, and its characters that no font has."""
    wanted = {c for c in text if not c.isspace() and category(c)[0] != "C" and c != "\ufe0f"}
    wanted -= {c for c in wanted if c.isascii()}
    if not wanted:
        return Glyphs()
    import matplotlib as mpl
    from matplotlib import font_manager

    wanted |= {BOX}
    for family in mpl.rcParams["font.family"]:
        wanted -= _has(font_manager.findfont(font_manager.FontProperties(family=[family])))
    families = []
    for entry in font_manager.fontManager.ttflist if wanted else ():
        if any(word in entry.name for word in UNFIT) or entry.style != "normal":
            continue
        if here := wanted & _has(entry.fname):
            families.append(entry.name)
            wanted -= here
    return Glyphs(tuple(families), frozenset(wanted - {BOX}))


@cache
def _has(path: str) -> frozenset[str]:
    """The characters of a font; none if it cannot be read."""
    from matplotlib import font_manager

    try:
        return frozenset(map(chr, font_manager.get_font(path).get_charmap()))
    except Exception:  # fonts of a machine may be anything
        return frozenset()


def _written(drawn: Any) -> Iterable[str]:
    """What a plot of it may write."""
    match drawn:
        case Explanation():
            yield from (drawn.title, *drawn.conditions, *drawn.warnings)
            if isinstance(drawn.subject, Passage):
                yield from (piece for piece, _ in pieces(drawn.subject, drawn.scores))
        case Comparison():
            yield from (drawn.title, *drawn.names)
            for compared in drawn.methods:
                yield from _written(compared.first)
        case Explanations():
            yield from (*drawn.names, *map(target_text, dict.fromkeys(drawn.targets)))
            for column in drawn.data.T.tolist():
                if any(isinstance(value, str) for value in column[:FIRST]):
                    yield from {str(value) for value in column}
        case tuple():
            yield from map(str, drawn)
        case Mapping():
            yield from map(str, drawn)
            for one in drawn.values():
                yield from _written(one)
