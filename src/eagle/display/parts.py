"""Parts of a report's page: text, tables, lists. All that is shown is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan
from typing import final

from eagle._values.text import clean, short


def to_html(words: object, width: int = 400) -> str:
    """Text on one line, cut to a width, that a page shows as it is."""
    return escape(short(str(words), width))


def name(words: object, width: int = 120) -> str:
    """A name that comes from the caller's data: it cannot turn the direction of what follows."""
    return f"<bdi>{to_html(words, width)}</bdi>"


def paragraph(words: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f"<p{_class(kind)}>{to_html(words, 2000)}</p>"


def bullets(lines: Iterable[str]) -> str:
    """A list of plain sentences."""
    return f"<ul>{''.join(f'<li>{to_html(line, 2000)}</li>' for line in lines)}</ul>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of what is known: its name, and what it is."""
    each = "".join(
        f"<dt>{to_html(key)}</dt><dd>{name(told, 600)}</dd>" for key, told in pairs if told
    )
    return f"<dl>{each}</dl>"


def caution(sentences: Sequence[str]) -> str:
    """Warnings; nothing if there are none."""
    if not sentences:
        return ""
    each = "".join(f"<p>{to_html(first_up(s), 1000)}</p>" for s in sentences)
    return f'<div class="warn" role="note"><b>Before you trust it</b>{each}</div>'


def remarks(sentences: Sequence[str]) -> str:
    """Notes; nothing if there are none."""
    each = "".join(f"<p>{to_html(first_up(s), 1000)}</p>" for s in sentences)
    return f'<div class="note" role="note">{each}</div>' if each else ""


def code(lines: str) -> str:
    """Lines of code."""
    shown = "\n".join(clean(line) for line in lines.splitlines())
    return f"<pre><code>{escape(shown)}</code></pre>"


def first_up(sentence: str) -> str:
    """A sentence with a capital letter and a full stop."""
    whole = sentence[:1].upper() + sentence[1:]
    return whole if whole.endswith((".", "?", "!")) else f"{whole}."


# -- tables --------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Cell:
    """A cell of a table: its HTML, a number to sort by, its class, and its heading on phones."""

    html: str
    value: float | None = None
    kind: str = ""
    heading: str = ""

    @property
    def as_html(self) -> str:
        sort = "" if self.value is None else f' data-v="{_sort(self.value)}"'
        heading = f' data-n="{escape(self.heading)}"' if self.heading else ""
        return f'<td role="cell"{_class(self.kind)}{sort}{heading}>{self.html}</td>'


@final
@dataclass(frozen=True)
class Heading:
    """The heading of a column. One that is not `sorts` cannot be sorted by."""

    html: str
    kind: str = ""
    sorts: bool = True

    def as_html(self, at: int) -> str:
        sort = f' data-at="{at}"' if self.sorts else ""
        return f'<th role="columnheader" scope="col"{_class(self.kind)}{sort}>{self.html}</th>'


def table(
    headings: Sequence[Heading],
    rows: Iterable[Sequence[Cell]],
    label: str,
    kind: str = "",
    caption: str = "",
) -> str:
    """A table that scripts can sort, and that can be scrolled where it is too wide.

    The label says what it is to those who do not see it.
    """
    head = "".join(heading.as_html(at) for at, heading in enumerate(headings))
    body = "".join(f'<tr role="row">{"".join(cell.as_html for cell in row)}</tr>' for row in rows)
    said = f"<caption>{to_html(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{to_html(label)}">'
        f'<table role="table" data-sort{_class(kind)}>{said}'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{body}</tbody></table></div>'
    )


def details(summary: str, body: str) -> str:
    """What is folded away on a screen until it is asked for."""
    return f"<details><summary>{to_html(summary)}</summary>{body}</details>"


def _sort(value: float) -> str:
    return "NaN" if isnan(value) else repr(float(value))


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
