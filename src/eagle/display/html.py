"""Explanations and comparisons as parts of a page. Everything shown is escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from eagle._values.subject import Curves, Image, Passage
from eagle._values.text import clean, short
from eagle.comparison import Comparison
from eagle.display import tables
from eagle.display.colours import GREY
from eagle.display.curves import drawing
from eagle.display.features import features
from eagle.display.panels import figures
from eagle.display.sheet import (
    MAX_FACT_CHARACTERS,
    MAX_FEATURES,
    Shown,
    hue,
    pieces,
)
from eagle.display.sheet import sheet as sheet_of
from eagle.display.style import STYLE
from eagle.explanation import Explanation

SIDES, MAX_BYTES = (224, 160, 128, 112, 96, 80, 64, 48), 27_000
"""Pixels of an image's side on a page: the largest of these whose PNGs have at most `MAX_BYTES`
bytes."""


def explanation(e: Explanation) -> str:
    """A page fragment without scripts, for light and dark. With a photograph it has under 60 kB."""
    sheet = sheet_of(e)
    return (
        f'<div class="eagle"><style>{STYLE}</style>'
        f'<div class="title">{escape(short(sheet.title, 200))}</div>{_subject(sheet.shown)}'
        f"{features(sheet, MAX_FEATURES, MAX_FEATURES)}"
        + "".join(f'<div class="warn">{escape(short(w, 400))}</div>' for w in sheet.warnings)
        + "".join(f'<div class="note">{escape(short(n, 400))}</div>' for n in sheet.notes)
        + "".join(
            f'<div class="fact">{escape(short(f, MAX_FACT_CHARACTERS))}</div>' for f in sheet.facts
        )
        + "</div>"
    )


def _subject(shown: Shown) -> str:
    """The image, text or series itself, as part of a page."""
    if isinstance(shown.subject, Passage):
        return f'<div class="words" dir="auto">{_words(shown, shown.subject)}</div>'
    if isinstance(shown.subject, Image):
        return figures(shown, shown.subject, SIDES, MAX_BYTES)
    if isinstance(shown.subject, Curves):
        return drawing(shown, shown.subject)
    return ""


def _words(shown: Shown, passage: Passage) -> str:
    out = []
    for text, k in pieces(passage, shown.scores):
        if k is None:
            out.append(escape(lines(text.strip("\n") if passage.labels else text)))
            continue
        if passage.labels:
            out.append(_part(shown, k, passage.labels[k], lines(text)))
            continue
        colour = hue(shown, k)
        pale = 0.4 if shown.unsure[k] else 0.75
        kind = ' class="unsure"' if shown.unsure[k] else ""
        share = round(pale * abs(float(shown.depth[k])), 2)
        frame = round(3 * float(shown.doubt[k]), 1)
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        out.append(
            f'<span{kind} title="{escape(shown.text(k))}" '
            f'style="background:rgba({red},{green},{blue},{share});border-width:{frame}px;border-color:{colour}">'
            f"{escape(lines(text))}</span>"
        )
    return "".join(out)


def _part(shown: Shown, k: int, label: str, text: str) -> str:
    """A part of a prompt under its name, score and interval; grey where zero is inside."""
    colour = GREY if shown.unsure[k] else hue(shown, k)
    share = 0.12 if shown.unsure[k] else round(0.06 + 0.5 * abs(float(shown.depth[k])), 2)
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return (
        f'<span class="part" style="background:rgba({red},{green},{blue},{share});'
        f'border-color:{colour}"><small><b>{escape(short(label, 48))}</b> '
        f"{escape(shown.text_with_interval(k))}</small>\n{escape(text)}</span>"
    )


def lines(text: str) -> str:
    """A text that any page can show, with its lines."""
    return "\n".join(clean(line) for line in text.splitlines()) + "\n" * text.endswith("\n")


def comparison(c: Comparison) -> str:
    """The cost and the scores of each method, with notes."""
    parts = [f'<div class="title">{escape(tables.title(c))}</div>']
    parts += [_table(tables.costs(c)), _table(tables.scores(c))]
    parts += [f'<div class="fact">{escape(note)}</div>' for note in tables.notes(c)]
    return f'<div class="eagle"><style>{STYLE}</style>{"".join(parts)}</div>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = [[escape(cell) for cell in row] for row in rows]
    lines = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in body)
    return f"<table><tr><th>{'</th><th>'.join(head)}</th></tr>{lines}</table>"
