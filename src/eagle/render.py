"""Explanations as text, HTML and rich tables. Everything shown is escaped here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isnan
from textwrap import wrap
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from eagle import png
from eagle.space.subject import Passage, Picture, Subject
from eagle.types import Array, clean

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

SHOWN = 20
"""At most this many features are shown; the others are counted in a line."""

UP, DOWN = "#0072B2", "#D55E00"
"""Blue and vermillion of Okabe and Ito's palette: told apart by every kind of sight."""

GREEN_RED, BLUE_ORANGE = ("#009E73", "#D55E00"), ("#0072B2", "#E69F00")
"""For words, up and down: a green and a red, or a blue and an orange, of the same palette."""

PARTS = 400
"""So many parts of a text are shown."""

SMALLEST = 20
"""Outlines would cover pictures with fewer pixels a side."""

WIDEST = 128
"""Pixels of a picture's side on a page."""


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
@dataclass(frozen=True, eq=False)
class Shown:
    """A picture or text with its features' scores, shape (d,), and 90% intervals, (d, 2)."""

    subject: Subject | None
    scores: Array
    interval: Array
    signed: bool

    @property
    def depth(self) -> Array:
        """How strong each feature is beside the strongest, with its sign."""
        return self.scores / (float(np.abs(self.scores).max()) or 1.0)

    @property
    def doubt(self) -> Array:
        """How wide each interval is beside the strongest score, up to 1; 0 where none is known."""
        wide = np.nan_to_num(self.interval[:, 1] - self.interval[:, 0])
        return np.minimum(wide / (float(np.abs(self.scores).max()) or 1.0), 1.0)

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Which intervals leave no doubt of the sign; where none is known, none do."""
        return np.asarray((self.interval[:, 0] > 0) | (self.interval[:, 1] < 0))


@final
@dataclass(frozen=True)
class Sheet:
    """All that a rendering shows, already in words and numbers, best feature first."""

    title: str
    bars: Sequence[Bar]
    level: float | None
    facts: Sequence[str]
    warnings: Sequence[str]
    shown: Shown


def short(text: str, width: int) -> str:
    """Text cut to a width, without line breaks or control characters."""
    text = clean(text)
    return text if len(text) <= width else text[: width - 1] + "…"


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
    if isinstance(sheet.shown.subject, Passage):
        lines += [*_marked(sheet.shown), ""]
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
        *([_coloured(sheet.shown)] if isinstance(sheet.shown.subject, Passage) else []),
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
.eagle .words{line-height:2.1}.eagle .words span{border-radius:3px;padding:.1em .15em}
.eagle .words span{border-style:solid}.eagle img{image-rendering:pixelated;margin:.4em 0}
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
        f'<div class="title">{escape(short(sheet.title, 200))}</div>{_subject(sheet.shown)}'
        "<table><thead><tr><th>feature</th><th>score</th><th></th>"
        f"<th>{heading(sheet)}</th><th>P(sign)</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
        + (f'<div class="fact">{more}</div>' if more else "")
        + "".join(f'<div class="warn">{escape(short(w, 400))}</div>' for w in sheet.warnings)
        + "".join(f'<div class="fact">{escape(short(f, 200))}</div>' for f in sheet.facts)
        + "</div>"
    )


# -- pictures and texts -------------------------------------------------------------------------


def _subject(shown: Shown) -> str:
    """The picture or text itself, as part of a page."""
    if isinstance(shown.subject, Passage):
        return f'<div class="words">{_words(shown, shown.subject)}</div>'
    if isinstance(shown.subject, Picture):
        panels = _panels(shown, shown.subject)
        data = b64encode(png.encode(panels)).decode()
        wide = max(panels.shape[1], 320)
        says = "the picture, its segments by score, and by the width of their intervals"
        return f'<img alt="{says}" width="{wide}" src="data:image/png;base64,{data}">'
    return ""


def _pieces(passage: Passage) -> list[tuple[str, int | None]]:
    """The whole text in order: parts with their feature, and what is between them with none."""
    out: list[tuple[str, int | None]] = []
    at = 0
    for start, end, feature in passage.spans[:PARTS]:
        out += [(passage.text[at:start], None), (passage.text[start:end], feature)]
        at = end
    more = len(passage.spans) - PARTS
    return [*out, (f" … and {more} more" if more > 0 else passage.text[at:], None)]


def _words(shown: Shown, passage: Passage) -> str:
    out = []
    for text, k in _pieces(passage):
        if k is None:
            out.append(escape(short(text, 200)))
            continue
        hue = _hue(shown, k, GREEN_RED)
        share, frame = (
            round(0.75 * abs(float(shown.depth[k])), 2),
            round(3 * float(shown.doubt[k]), 1),
        )
        red, green, blue = (int(hue[i : i + 2], 16) for i in (1, 3, 5))
        out.append(
            f'<span title="{escape(number(float(shown.scores[k])))}" style="background:rgba({red},'
            f'{green},{blue},{share});border-width:{frame}px;border-color:{hue}">'
            f"{escape(short(text, 60))}</span>"
        )
    return "".join(out)


def _hue(shown: Shown, k: int, colours: tuple[str, str]) -> str:
    return (colours[0] if shown.scores[k] > 0 else colours[1]) if shown.signed else "#777777"


def _marked(shown: Shown) -> list[str]:
    """The text for a plain console: ▲ and ▼ behind words that surely push up and down."""
    assert isinstance(shown.subject, Passage)
    marks = {
        k: "▲" if shown.scores[k] > 0 else "▼" for k in range(len(shown.scores)) if shown.clear[k]
    }
    text = "".join(t + marks.get(k, "") if k is not None else t for t, k in _pieces(shown.subject))
    return wrap(short(text, 2000), 100)


def _coloured(shown: Shown) -> Text:
    """The text for a rich console."""
    from rich.text import Text

    assert isinstance(shown.subject, Passage)
    out = Text()
    for text, k in _pieces(shown.subject):
        strong = k is not None and abs(float(shown.depth[k])) > 0.25
        style = "" if k is None else _hue(shown, k, GREEN_RED) if strong else "dim"
        out.append(short(text, 200), style=f"bold {style}" if strong and shown.clear[k] else style)
    return out


def _panels(shown: Shown, picture: Picture) -> NDArray[np.uint8]:
    """The picture, its heat map, and its uncertainty if known, side by side, small."""
    step = -(-max(picture.labels.shape) // WIDEST)
    labels, pixels = picture.labels[::step, ::step], picture.pixels[::step, ::step]
    grey = pixels.mean(axis=2, keepdims=True)
    hues = np.array([_rgb(_hue(shown, k, (UP, DOWN))) for k in range(len(shown.scores))])
    share = 0.85 * np.abs(shown.depth)[labels][..., None]
    heat = (1 - share) * (0.5 * grey + 110) + share * hues[labels]
    parts = [pixels, heat]
    if shown.doubt.any():
        parts.append(np.repeat(255 * (1 - shown.doubt)[labels][..., None], 3, axis=2))
    edge = np.where(_edges(labels), 0.6, 1.0)[..., None]
    parts[1:] = [part * edge for part in parts[1:]]
    gap = np.full((len(labels), 4, 3), 255.0)
    beside = [piece for part in parts for piece in (part, gap)][:-1]
    return np.asarray(np.rint(np.concatenate(beside, axis=1)), dtype=np.uint8)


def _edges(labels: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Pixels whose neighbour to the right or below is of another segment."""
    found = np.zeros(labels.shape, dtype=bool)
    found[:, :-1] = labels[:, 1:] != labels[:, :-1]
    found[:-1] |= labels[1:] != labels[:-1]
    return np.asarray(found & (min(labels.shape) >= SMALLEST))


def _rgb(hue: str) -> tuple[int, int, int]:
    return int(hue[1:3], 16), int(hue[3:5], 16), int(hue[5:7], 16)
