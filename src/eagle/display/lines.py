"""Things that are a few lines of text, as parts of a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from eagle._values.text import short
from eagle.display.style import STYLE


def html(title: str, lines: Sequence[str] = ()) -> str:
    """A page fragment without scripts: a title, and lines below it. All of it is escaped."""
    facts = "".join(
        f'<div class="fact"><bdi>{escape(short(one, 200))}</bdi></div>' for one in lines
    )
    return (
        f'<div class="eagle"><style>{STYLE}</style>'
        f'<div class="title"><bdi>{escape(short(title, 200))}</bdi></div>{facts}</div>'
    )
