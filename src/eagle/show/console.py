"""Explanations and comparisons for a rich console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle.comparison import Comparison
from eagle.explanation import Explanation
from eagle.show import tables
from eagle.show.sheet import (
    DOWN,
    GREEN_RED,
    SHOWN,
    UP,
    Shown,
    heading,
    hue,
    interval,
    pieces,
    rest,
    right_to_left,
    signed_number,
    strips,
    sureness,
    turned,
)
from eagle.show.sheet import sheet as sheet_of
from eagle.subject import Curves, Passage
from eagle.types import clean, short

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text


def explanation(e: Explanation) -> Group:
    """A table for a rich console."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    sheet = sheet_of(e)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("feature")
    table.add_column("score", justify="right")
    table.add_column(heading(sheet), justify="center")
    table.add_column("P(sign)", justify="right")
    for bar in sheet.bars[:SHOWN]:
        style = (UP if bar.score > 0 else DOWN) if bar.clear else "dim"
        table.add_row(
            Text(turned(short(bar.label, 40))),
            Text(signed_number(bar.score), style=style),
            Text(interval(bar), style="" if bar.clear and bar.known else "dim"),
            Text(sureness(bar.sure)),
        )
    more = rest(sheet)
    return Group(
        Text(short(sheet.title, 200), style="bold"),
        *([_coloured(sheet.shown)] if isinstance(sheet.shown.subject, Passage) else []),
        *([_strips(sheet.shown)] if isinstance(sheet.shown.subject, Curves) else []),
        table,
        *([Text(more, style="dim")] if more else []),
        *[Text(short(f, 200), style="dim") for f in sheet.facts],
        *[Text(f"Warning: {short(w, 400)}", style="yellow") for w in sheet.warnings],
    )


def comparison(c: Comparison) -> Group:
    """The cost and the scores of each method for a rich console, with notes."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shown: list[Table | Text] = []
    for rows in (tables.costs(c), tables.scores(c)):
        table = Table(box=None, pad_edge=False, header_style="bold")
        for k, name in enumerate(rows[0]):
            table.add_column(Text(name), justify="right" if k else "left")
        for row in rows[1:]:
            table.add_row(*map(Text, row))
        shown += [table, Text("")]
    notes = [Text(note, style="dim") for note in tables.notes(c)]
    return Group(Text(tables.title(c), style="bold"), Text(""), *shown, *notes)


def _coloured(shown: Shown) -> Text:
    """The text for a rich console."""
    from rich.text import Text

    assert isinstance(shown.subject, Passage)
    out = Text(justify="right" if right_to_left(shown.subject.text) else None)
    for text, k in pieces(shown.subject, shown.scores):
        strong = k is not None and abs(float(shown.depth[k])) > 0.25
        style = "" if k is None else hue(shown, k, GREEN_RED) if strong else "dim"
        if strong:
            style = (
                f"bold {style}" if shown.clear[k] else f"dim {style}" if shown.unsure[k] else style
            )
        out.append(clean(text), style=style)
    return out


def _strips(shown: Shown) -> Text:
    """The channels of a series for a rich console, a coloured mark for each segment."""
    from rich.text import Text

    assert isinstance(shown.subject, Curves)
    each, out = strips(shown, shown.subject), Text()
    wide = max(len(name) for name, _ in each)
    for k, (name, marks) in enumerate(each):
        out.append("\n" * (k > 0) + name.ljust(wide + 2 * (wide > 0)))
        for mark in marks:
            out.append(mark, style={"▲": UP, "▼": DOWN}.get(mark, "dim"))
    return out
