"""The features of an explanation as a table with bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eagle.display import strips
from eagle.display.numbers import count, plural
from eagle.display.parts import Cell, Heading, details, name, table, to_html
from eagle.display.scale import Scale
from eagle.display.sheet import Bar, Sheet, heading, rest

FIRST_FEATURES: Final = 30
"""Number of features that are shown. The others are folded away."""

MAX_LABEL_CHARACTERS: Final = 72
"""Longer labels lose their middle."""

MAX_FEATURES: Final = 400
"""Maximum number of features on the page. Weaker ones are only counted."""


def features(sheet: Sheet, first: int = FIRST_FEATURES, most: int = MAX_FEATURES) -> str:
    """Scores with intervals, strongest first."""
    shown, others = sheet.bars[:first], sheet.bars[first:most]
    body = _table(sheet, shown)
    if others:
        hidden = len(sheet.bars) - len(shown)
        left = len(sheet.bars) - len(shown) - len(others)
        more = f'<p class="soft">… and {count(left)} weaker ones.</p>' if left else ""
        body += details(
            f"{plural(hidden, 'more feature')}, weaker than these", _table(sheet, others) + more
        )
    elif counted := rest(sheet, first):
        body += f'<div class="fact">{counted}</div>'
    return body


def _table(sheet: Sheet, bars: Sequence[Bar]) -> str:
    numbers = [v for bar in sheet.bars[:FIRST_FEATURES] for v in (bar.score, bar.low, bar.high)]
    scale = Scale.over(numbers)
    known = any(bar.has_interval or bar.idle for bar in bars)
    signed = any(bar.sign == bar.sign for bar in bars)
    heads = [
        Heading("Feature", "t"),
        Heading(strips.axis(scale), "b", sorts=False),
        Heading("Score"),
    ]
    heads += [Heading(heading(sheet))] if known else []
    heads += [Heading("P(sign)")] if signed else []
    rows = [_row(bar, scale, sheet, known, signed) for bar in bars]
    return table(heads, rows, "Scores, strongest first", "bars one")


def _row(bar: Bar, scale: Scale, sheet: Sheet, known: bool, signed: bool) -> list[Cell]:
    told = f"{bar.short_label(120)}: {bar.text}"
    if bar.has_interval:
        told += f", {heading(sheet)} {bar.span}"
    look = ("up" if bar.score > 0 else "down") if sheet.shown.signed else "flat"
    look += "" if bar.clear else " p"
    cells = [
        Cell(name(bar.short_label(MAX_LABEL_CHARACTERS)), kind="t"),
        Cell(strips.bar(scale, bar.score, bar.low, bar.high, told, look), kind="b"),
        Cell(to_html(bar.text), bar.score, heading="score"),
    ]
    if known:
        cells.append(Cell(to_html(bar.span), bar.low, "n", "interval"))
    if signed:
        cells.append(Cell(to_html(bar.sure), bar.sign, heading="P(sign)"))
    return cells
