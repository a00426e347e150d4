"""Explanations and comparisons as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Final
from unicodedata import combining, east_asian_width

from eagle._values.subject import Curves, Passage
from eagle._values.text import short
from eagle.comparison import Comparison
from eagle.display import tables
from eagle.display.sheet import (
    MAX_FACT_CHARACTERS,
    MAX_FEATURES,
    Bar,
    Sheet,
    Shown,
    channel_lines,
    heading,
    mark_direction,
    pieces,
    rest,
    right_to_left,
)
from eagle.display.sheet import sheet as sheet_of
from eagle.explanation import Explanation

ZERO_WIDTH: Final = "\u200c\u200d\ufe0f"
"""Joiners and variation selectors: they take no cell of a terminal."""

MAX_LABEL_CHARACTERS: Final = 44
"""Longer labels of features lose their middle."""

MAX_LINE_WIDTH: Final = 110
"""Tables wider than this are printed in parts."""


def explanation(e: Explanation) -> str:
    """A table for a plain console."""
    sheet = sheet_of(e)
    bars = sheet.bars[:MAX_FEATURES]
    lines = [short(sheet.title, 200), ""]
    if isinstance(sheet.shown.subject, Passage):
        lines += [*_mark_words(sheet.shown), ""]
    if isinstance(sheet.shown.subject, Curves):
        lines += [*_marks(sheet.shown, sheet.shown.subject), ""]
    lines += _table(sheet, bars)
    more = rest(sheet)
    lines += [more] if more else []
    lines += ["", *[short(f, MAX_FACT_CHARACTERS) for f in sheet.facts]]
    lines += [f"Note: {short(n, 400)}" for n in sheet.notes]
    lines += [f"Warning: {short(w, 400)}" for w in sheet.warnings]
    return "\n".join(lines)


def _table(sheet: Sheet, bars: Sequence[Bar]) -> list[str]:
    """The features with their scores, and with intervals and signs where any are known."""
    labels = ["feature", *[b.short_label(MAX_LABEL_CHARACTERS) for b in bars]]
    columns = [["score", *[b.text for b in bars]]]
    if any(b.has_interval or b.idle for b in bars):
        columns.append([heading(sheet), *[b.span for b in bars]])
    if any(b.sure for b in bars):
        columns.append(["P(sign)", *[b.sure for b in bars]])
    wide = max(map(cells, labels))
    named = [f"{mark_direction(one)}{' ' * (wide - cells(one))}" for one in labels]
    right = [[one.rjust(max(map(len, column))) for one in column] for column in columns]
    return ["  ".join(row).rstrip() for row in zip(named, *right, strict=True)]


def cells(text: str) -> int:
    """How many cells of a console a text takes: Chinese characters and emoji take two each."""
    return sum(
        0 if combining(c) or c in ZERO_WIDTH else 2 if east_asian_width(c) in "WF" else 1
        for c in text
    )


def _mark_words(shown: Shown) -> list[str]:
    """The text for a plain console: ▲ and ▼ behind words that surely push up and down."""
    assert isinstance(shown.subject, Passage)
    marks = {
        k: "▲" if shown.scores[k] > 0 else "▼" for k in range(len(shown.scores)) if shown.clear[k]
    }
    text = "".join(
        t + marks.get(k, "") if k is not None else t for t, k in pieces(shown.subject, shown.scores)
    )
    rtl = right_to_left(text)
    return [f"\u2067{line}\u2069" if rtl else line for line in wrap(short(text, 8000), 100)]


def _marks(shown: Shown, curves: Curves) -> list[str]:
    """A line for each channel, with a mark for each segment."""
    each = channel_lines(shown, curves)
    wide = max(cells(name) for name, _ in each)
    lines = [f"{name}{' ' * (wide - cells(name))}  {marks}".strip() for name, marks in each]
    hidden = len(curves.channels) - len(each)
    return lines + ([f"… and {hidden} more channel{'s' if hidden > 1 else ''}"] if hidden else [])


def comparison(c: Comparison) -> str:
    """The cost and the scores of each method, with notes."""
    parts = [tables.costs(c), *_blocks(tables.scores(c))]
    shown = [line for table in parts for line in (*_lines(table), "")]
    return "\n".join([tables.title(c), "", *shown, *tables.notes(c)])


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side: the first to the left, numbers to the right."""
    wide = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    out = []
    for row in rows:
        cells = [text.rjust(w) for text, w in zip(row, wide, strict=True)]
        out.append("  ".join([row[0].ljust(wide[0]), *cells[1:]]).rstrip())
    return out


def _blocks(rows: Sequence[Sequence[str]]) -> list[list[list[str]]]:
    """A wide table as several that fit a console, each with the first column."""
    wide = [2 + max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    blocks: list[list[int]] = [[]]
    for c in range(1, len(wide)):
        if blocks[-1] and wide[0] + sum(wide[b] for b in blocks[-1]) + wide[c] > MAX_LINE_WIDTH:
            blocks.append([])
        blocks[-1].append(c)
    return [[[row[0], *[row[c] for c in block]] for row in rows] for block in blocks]
