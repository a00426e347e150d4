"""Explanations as text, HTML and rich tables. Everything shown is escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isnan
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from rich.console import Group

SHOWN = 20
"""At most this many features are shown; the others are counted in a line."""

UP, DOWN = "#0072B2", "#D55E00"
"""Blue and vermillion of Okabe and Ito's palette: told apart by every kind of sight."""


@final
@dataclass(frozen=True)
class Bar:
    """One feature as shown: its label, score, interval, and how sure the sign is.

    NaN stands where something is not known.
    """

    label: str
    score: float
    low: float
    high: float
    sure: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves no doubt of the sign; without one, nothing doubts it."""
        return not self.low <= 0 <= self.high

    @property
    def known(self) -> bool:
        return not isnan(self.low)


@final
@dataclass(frozen=True)
class Sheet:
    """All that a rendering shows, already in words and numbers, best feature first."""

    title: str
    bars: Sequence[Bar]
    level: float | None
    facts: Sequence[str]
    warnings: Sequence[str]


def short(text: str, width: int) -> str:
    """Text cut to a width, without line breaks or control characters."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def number(value: float) -> str:
    """Four significant digits, with a true minus sign, aligned by their sign."""
    return f"{value:+.4g}".replace("-", "−")


def sureness(sure: float) -> str:
    """A probability in per cent, never rounded up to certainty."""
    if isnan(sure):
        return ""
    return ">99.9%" if sure > 0.999 else f"{100 * sure:.1f}%"


def interval(bar: Bar) -> str:
    return f"[{number(bar.low):>10}, {number(bar.high):>10}]" if bar.known else "not known"


def heading(sheet: Sheet) -> str:
    return "bounds" if sheet.level is None else f"{100 * sheet.level:g}% interval"


def rest(sheet: Sheet) -> str | None:
    hidden = len(sheet.bars) - SHOWN
    return f"… and {hidden} more feature{'s' if hidden > 1 else ''}" if hidden > 0 else None


def text(sheet: Sheet) -> str:
    """A table for a plain console."""
    bars = sheet.bars[:SHOWN]
    labels = [short(b.label, 40) for b in bars]
    wide = max([len(x) for x in labels] + [7])
    head = heading(sheet)
    lines = [short(sheet.title, 200), ""]
    lines.append(f"{'feature':<{wide}}  {'score':>10}  {head:^24}  {'P(sign)':>7}")
    for label, bar in zip(labels, bars, strict=True):
        lines.append(
            f"{label:<{wide}}  {number(bar.score):>10}  {interval(bar):^24}  "
            f"{sureness(bar.sure):>7}".rstrip()
        )
    more = rest(sheet)
    lines += [more] if more else []
    lines += ["", *[short(f, 200) for f in sheet.facts]]
    lines += [f"Warning: {short(w, 400)}" for w in sheet.warnings]
    return "\n".join(lines)


def rich(sheet: Sheet) -> Group:
    """A table for a rich console."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("feature")
    table.add_column("score", justify="right")
    table.add_column(heading(sheet), justify="center")
    table.add_column("P(sign)", justify="right")
    for bar in sheet.bars[:SHOWN]:
        style = (UP if bar.score > 0 else DOWN) if bar.clear else "dim"
        table.add_row(
            Text(short(bar.label, 40)),
            Text(number(bar.score), style=style),
            Text(interval(bar), style="" if bar.clear and bar.known else "dim"),
            Text(sureness(bar.sure)),
        )
    more = rest(sheet)
    return Group(
        Text(short(sheet.title, 200), style="bold"),
        table,
        *([Text(more, style="dim")] if more else []),
        *[Text(short(f, 200), style="dim") for f in sheet.facts],
        *[Text(f"Warning: {short(w, 400)}", style="yellow") for w in sheet.warnings],
    )


STYLE = """
.eagle{--up:#0072B2;--down:#D55E00;--line:#8884;--soft:#666;color:inherit;
font:13px/1.45 system-ui,sans-serif;max-width:64em}
@media(prefers-color-scheme:dark){.eagle{--up:#56B4E9;--down:#E69F00;--soft:#aaa}}
.eagle table{border-collapse:collapse;width:100%;margin:.4em 0;background:none;font:inherit}
.eagle th,.eagle td{padding:.15em .6em;text-align:right;border:0;
border-bottom:1px solid var(--line);background:none;white-space:nowrap;
font-variant-numeric:tabular-nums}
.eagle th:first-child,.eagle td:first-child{text-align:left}
.eagle .plot{width:30%;min-width:8em}.eagle svg{display:block;width:100%;height:1.3em}
.eagle .title{font-weight:600}.eagle .fact{color:var(--soft);font-size:12px}
.eagle .warn{border-left:3px solid var(--down);padding-left:.6em;margin:.4em 0}
"""


def html(sheet: Sheet) -> str:
    """A page fragment without scripts, for light and dark, under 30 kB."""
    bars = sheet.bars[:SHOWN]
    reach = max([abs(v) for b in bars for v in (b.low, b.high, b.score) if not isnan(v)] + [1e-300])

    def at(value: float) -> float:
        return round(100 + 98 * value / reach, 2)

    rows = []
    for b in bars:
        colour = "var(--up)" if b.score > 0 else "var(--down)"
        left, right = sorted((at(0), at(b.score)))
        line = (
            f'<line x1="{at(b.low)}" x2="{at(b.high)}" y1="8" y2="8" stroke="currentColor" '
            'stroke-width="1.6"/>'
        )
        span = f"{number(b.low)} … {number(b.high)}" if b.known else "not known"
        picture = (
            '<svg viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true">'
            '<line x1="100" x2="100" y1="0" y2="16" stroke="currentColor" stroke-opacity=".4"/>'
            f'<rect x="{left}" y="4" width="{round(right - left, 2)}" height="8" '
            f'fill="{colour}" fill-opacity="{0.85 if b.clear else 0.35}"/>'
            f"{line if b.known else ''}</svg>"
        )
        rows.append(
            f"<tr><td>{escape(short(b.label, 48))}</td><td>{number(b.score)}</td>"
            f'<td class="plot">{picture}</td>'
            f"<td>{span}</td><td>{sureness(b.sure)}</td></tr>"
        )
    more = rest(sheet)
    return (
        f'<div class="eagle"><style>{STYLE}</style>'
        f'<div class="title">{escape(short(sheet.title, 200))}</div>'
        "<table><thead><tr><th>feature</th><th>score</th><th></th>"
        f"<th>{heading(sheet)}</th><th>P(sign)</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
        + (f'<div class="fact">{more}</div>' if more else "")
        + "".join(f'<div class="warn">{escape(short(w, 400))}</div>' for w in sheet.warnings)
        + "".join(f'<div class="fact">{escape(short(f, 200))}</div>' for f in sheet.facts)
        + "</div>"
    )
