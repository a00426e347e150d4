"""The features of an explanation as a table with bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eagle._values.text import short
from eagle.display.sheet import NO_EFFECT, Bar, Sheet, heading, sureness
from eagle.reports import cell_bars
from eagle.reports.parts import Cell, Heading, details, name, table
from eagle.reports.scale import Digits, Scale

FIRST_FEATURES: Final = 30
"""Number of features that are shown. The others are folded away."""

MAX_FEATURES: Final = 400
"""Maximum number of features on the page. Weaker ones are only counted."""


def features(sheet: Sheet, first: int = FIRST_FEATURES, most: int = MAX_FEATURES) -> str:
    """Scores with intervals, strongest first."""
    shown, others = sheet.bars[:first], sheet.bars[first:most]
    body = _table(sheet, shown)
    if others:
        count = len(sheet.bars) - len(shown)
        left = len(sheet.bars) - len(shown) - len(others)
        more = f'<p class="soft">… and {left:,} weaker ones.</p>' if left else ""
        body += details(f"{count:,} more features, weaker than these", _table(sheet, others) + more)
    return body


def _table(sheet: Sheet, bars: Sequence[Bar]) -> str:
    numbers = [v for bar in sheet.bars[:FIRST_FEATURES] for v in (bar.score, bar.low, bar.high)]
    scale, digits = Scale.over(numbers), Digits.of(numbers)
    known = any(bar.has_interval for bar in bars)
    signed = any(bar.sign == bar.sign for bar in bars)
    heads = [
        Heading("Feature", "t"),
        Heading(cell_bars.axis(scale), "b", sorts=False),
        Heading("Score"),
    ]
    heads += [Heading(heading(sheet))] if known else []
    heads += [Heading("P(sign)")] if signed else []
    rows = [_row(bar, scale, digits, sheet, known, signed) for bar in bars]
    return table(heads, rows, "Scores, strongest first", "bars one")


def _row(
    bar: Bar, scale: Scale, digits: Digits, sheet: Sheet, known: bool, signed: bool
) -> list[Cell]:
    told = f"{short(bar.label, 120)}: {digits.with_sign(bar.score)}"
    if bar.has_interval:
        told += f", {heading(sheet)} {digits.with_sign(bar.low)} to {digits.with_sign(bar.high)}"
    look = ("up" if bar.score > 0 else "down") if sheet.shown.signed else "flat"
    look += "" if bar.clear else " p"
    cells = [
        Cell(name(bar.label, 200), kind="t"),
        Cell(cell_bars.bar(scale, bar.score, bar.low, bar.high, told, look), kind="b"),
        Cell(digits.with_sign(bar.score), bar.score, heading="score"),
    ]
    if known:
        span = NO_EFFECT if bar.idle else digits.span(bar.low, bar.high)
        cells.append(Cell(span, bar.low, "n", "interval"))
    if signed:
        cells.append(Cell(sureness(bar.sign), bar.sign, heading="P(sign)"))
    return cells
