"""An explanation of a text: words coloured by score, framed by the width of the interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eagle.explanation import Explanation, short
from eagle.plot.page import LITERAL, SOFT, fold, one, page, per_cent, unsure
from eagle.show.sheet import BLUE_ORANGE, GREEN_RED
from eagle.subject import Passage
from eagle.types import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE, LINE = 6.2, 0.34
"""Inches of a figure's width, and of each line of text."""

APART, TOGETHER = 0.1, 0.045
"""Inches between words, and between pieces that no space separates."""

MOST = 400
"""The largest number of parts of a text that are drawn."""


def text(
    explanation: Explanation,
    ax: Axes | None = None,
    *,
    level: float = 0.9,
    blue: bool = False,
) -> Axes:
    """The text, its words green where they push the answer up and red where they push it down.

    The stronger the score, the deeper the colour; the thicker the frame, the wider the interval.
    With `blue` the colours are blue and orange.
    """
    e = one(explanation, "text")
    if not isinstance(e.subject, Passage):
        raise InputError("text draws explanations of texts: attribution draws any other")
    parts = _parts(e.subject)
    p = page(ax, WIDE, LINE * (1 + sum(len(word) + 2 for word, _, _ in parts) // 62), "text")
    up, down = BLUE_ORANGE if blue else GREEN_RED
    reach = float(np.abs(e.scores).max()) or 1.0
    width, clear = _frames(e, level)
    p.ax.set_axis_off()
    p.ax.set_xlim(0, p.width)
    p.ax.set_ylim(p.height, 0)
    x, y = 0.0, LINE / 2
    for word, feature, gap in parts:
        style: dict[str, Any] = {"pad": 2.0, "facecolor": "none", "edgecolor": "none"}
        if feature is not None:
            score = float(e.scores[feature])
            colour = (up if score > 0 else down) if e.signed else "#777777"
            edge = colour if clear[feature] else "#999999"
            style |= {
                "facecolor": _mixed(colour, abs(score) / reach),
                "edgecolor": edge,
                "linewidth": width[feature],
            }
        x += gap if x > 0 else 0.0
        drawn = p.ax.text(x, y, word, va="center", fontsize="medium", bbox=style, **LITERAL)
        long = drawn.get_window_extent().width / p.ax.figure.dpi
        if x > 0 and x + long > p.width:
            x, y = 0.0, y + LINE
            drawn.set_position((x, y))
        x += long
    bottom = y + LINE / 2
    p.ax.set_ylim(max(bottom, p.height) if ax is not None else bottom, 0)
    p.title(e.title)
    says = "Deeper colour: stronger"
    if e.posterior is not None:
        says += f"; thicker frame: wider {per_cent(level)} interval, grey if it contains zero"
    note = p.ax.annotate(
        "",
        (0, 0),
        xytext=(0, -4),
        xycoords="axes fraction",
        fontsize="small",
        textcoords="offset points",
        va="top",
        alpha=SOFT,
        annotation_clip=False,
        **LITERAL,
    )
    fold(note, says + (f". {e.subject.note}" if e.subject.note else ""), p.width)
    if p.own is None:
        return p.ax
    p.own.set_layout_engine("none")
    high = bottom + 1.0
    p.own.set_size_inches(p.width + 0.4, high)
    p.ax.set_position(
        (0.2 / (p.width + 0.4), 0.55 / high, p.width / (p.width + 0.4), bottom / high)
    )
    return p.ax


def _parts(passage: Passage) -> list[tuple[str, int | None, float]]:
    """Words, and the text between them, each with its feature and the gap before it, in inches."""
    out: list[tuple[str, int | None, float]] = []
    at = 0

    def add(piece: str, feature: int | None, start: int) -> None:
        apart = (
            passage.text[max(start - 1, 0) : start + 1].strip()
            != passage.text[max(start - 1, 0) : start + 1]
        )
        out.append((piece, feature, APART if apart else TOGETHER))

    for start, end, feature in passage.spans[:MOST]:
        between = passage.text[at:start]
        if between.strip():
            add(short(between.strip(), 30), None, at + len(between) - len(between.lstrip()))
        add(short(passage.text[start:end], 60), feature, start)
        at = end
    more = len(passage.spans) - MOST
    rest = f"… and {more} more" if more > 0 else short(passage.text[at:].strip(), 30)
    if rest:
        add(rest, None, at)
    return out


def _frames(e: Explanation, level: float) -> tuple[list[float], list[bool]]:
    """The thickness of each feature's frame, in points, and whether its sign is sure."""
    if e.posterior is None:
        return [0.0] * len(e.scores), [True] * len(e.scores)
    interval = e.interval(level)
    wide = np.ptp(interval, axis=1) / (float(np.abs(e.scores).max()) or 1.0)
    return [0.3 + 2.7 * min(float(w), 1.0) for w in wide], [not u for u in unsure(interval)]


def _mixed(colour: str, share: float) -> tuple[float, float, float, float]:
    from matplotlib.colors import to_rgba

    return to_rgba(colour, 0.75 * min(share, 1.0))
