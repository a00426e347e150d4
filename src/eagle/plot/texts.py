"""An explanation of a text: words coloured by score, framed by the width of the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final
from unicodedata import bidirectional, combining

import numpy as np

from eagle._values.posterior import LEVEL
from eagle._values.subject import Passage
from eagle._values.text import short
from eagle.display.colours import DOWN, GREY, UP
from eagle.display.numbers import at_level
from eagle.display.sheet import (
    NOT_SURE,
    likeliest,
    pieces,
    right_to_left,
)
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.plot.drawing import plot_function
from eagle.plot.page import PLAIN_TEXT, SOFT_OPACITY, Page, cautions, fold, one, page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

FIGURE_WIDTH, LINE_HEIGHT = 6.2, 0.34
"""Inches of a figure's width, and of each line of text."""

WORD_GAP, PIECE_GAP = 0.1, 0.045
"""Inches between words, and between pieces that no space separates."""

MAX_WORD_CHARACTERS = 60
"""A word of more characters is cut."""

MIRROR = str.maketrans("()[]{}<>«»", ")(][}{><»«")
"""Brackets as they stand in a text that runs from right to left."""

UNSURE_OPACITY, SURE_OPACITY = 0.3, 0.75
"""The opacity of the strongest word: where its sign is not sure, and where it is."""


@plot_function
def text(
    explanation: Explanation,
    ax: Axes | None = None,
    *,
    level: float = LEVEL,
) -> Axes:
    """The text, its words blue where they push the answer up, orange where they push it down.

    The stronger the score, the deeper the colour; the thicker the frame, the wider the interval.
    Where the sign is not sure, the colour is pale and the frame dashed. Of a long text the
    strongest parts are drawn. Warnings of the explanation are written below.
    """
    e = one(explanation, "text")
    if not isinstance(e.subject, Passage):
        raise InputError("text draws explanations of texts: attribution draws any other")
    parts = _parts(e.subject, e)
    p = page(
        ax,
        FIGURE_WIDTH,
        LINE_HEIGHT * (1 + sum(len(part.word) + 2 for part in parts) // 62),
        "text",
    )
    p.ax.set_axis_off()
    p.ax.set_xlim(0, p.width)
    p.ax.set_ylim(p.height, 0)
    looks = _looks(e, level)
    rtl = right_to_left(e.subject.text)
    leftward = _directions([_direction(part.word) for part in parts], rtl)
    drawn = [
        _word(p, part, left, None if part.feature is None else looks[part.feature])
        for part, left in zip(parts, leftward, strict=True)
    ]
    bottom = _lay_out(p, parts, drawn, leftward, rtl)
    p.ax.set_ylim(max(bottom, p.height) if ax is not None else bottom, 0)
    p.title(e.title)
    notes = [_key(e, level), *([said] if (said := likeliest(e)) else []), *cautions([e])]
    return write_notes(p, notes, bottom)


@final
@dataclass(frozen=True)
class Piece:
    """A word to be drawn, its feature, if it has one, and the gap before it, in inches."""

    word: str
    feature: int | None
    gap: float


def _parts(passage: Passage, e: Explanation) -> list[Piece]:
    """Words, and what is between them. Parts of several words are drawn word by word."""
    out: list[Piece] = []
    spaced = True
    for piece, feature in pieces(passage, e.scores):
        spaced |= piece[:1].isspace()
        for word in piece.split():
            cut = short(word, MAX_WORD_CHARACTERS)
            out.append(Piece(cut, feature, WORD_GAP if spaced else PIECE_GAP))
            spaced = True
        if piece:
            spaced = piece[-1].isspace()
    return out


def _looks(e: Explanation, level: float) -> list[dict[str, Any]]:
    """The frame and the colour of each feature."""
    from matplotlib.colors import to_rgba

    reach = float(np.abs(e.scores).max()) or 1.0
    interval = e.interval_or_nan(level)
    wide = np.nan_to_num(np.ptp(interval, axis=1)) / reach
    out = []
    for score, width, doubt in zip(e.scores, wide, e.doubtful(level), strict=True):
        colour = (UP if score > 0 else DOWN) if e.signed else GREY
        share = (UNSURE_OPACITY if doubt else SURE_OPACITY) * min(abs(float(score)) / reach, 1.0)
        known = e.posterior is not None
        out.append(
            {
                "pad": 2.0,
                "facecolor": to_rgba(colour, share),
                "edgecolor": "#999999" if doubt else colour,
                "linewidth": 0.3 + 2.7 * min(float(width), 1.0) if known else 0.0,
                "linestyle": "--" if doubt else "-",
            }
        )
    return out


def _word(p: Page, part: Piece, leftward: bool, look: dict[str, Any] | None) -> Text:
    style = look or {"pad": 2.0, "facecolor": "none", "edgecolor": "none"}
    shaped = _visual_text(part.word)
    if leftward and _direction(part.word) is None:
        shaped = shaped.translate(MIRROR)
    return p.ax.text(0, 0, shaped, va="center", fontsize="medium", bbox=style, **PLAIN_TEXT)


def _lay_out(
    p: Page, parts: Sequence[Piece], drawn: Sequence[Text], leftward: Sequence[bool], rtl: bool
) -> float:
    """Put the words into lines; return the height that they take, in inches."""
    widths = [artist.get_window_extent().width / p.ax.figure.dpi for artist in drawn]
    lines: list[list[int]] = [[]]
    x = 0.0
    for k, (part, long) in enumerate(zip(parts, widths, strict=True)):
        gap = part.gap if lines[-1] else 0.0
        if lines[-1] and x + gap + long > p.width:
            lines.append([])
            x = gap = 0.0
        lines[-1].append(k)
        x += gap + long
    for row, line in enumerate(lines):
        order = _visual_order([leftward[k] for k in line], rtl)
        total = sum(widths[k] for k in line) + sum(parts[k].gap for k in line[1:])
        x = p.width - total if rtl else 0.0
        for at, i in enumerate(order):
            if at:  # the gap between two neighbours is that before the later of them
                x += parts[line[max(i, order[at - 1])]].gap
            drawn[line[i]].set_position((x, LINE_HEIGHT * (row + 0.5)))
            x += widths[line[i]]
    return LINE_HEIGHT * len(lines)


def _directions(directions: Sequence[bool | None], rtl: bool) -> list[bool]:
    """Which words run from right to left: marks between two words of one direction take theirs,
    others that of the text."""
    out: list[bool] = []
    for k, direction in enumerate(directions):
        if direction is not None:
            out.append(direction)
            continue
        follows = next((d for d in directions[k:] if d is not None), rtl)
        out.append(follows if out and out[-1] == follows else rtl)
    return out


def _visual_order(leftward: Sequence[bool], rtl: bool) -> list[int]:
    """The places of words from left to right: runs of the other direction are turned round."""
    out: list[int] = []
    run: list[int] = []
    for k, left in enumerate(leftward):
        if left != rtl:
            run.append(k)
            continue
        out += [*reversed(run), k]
        run = []
    out += reversed(run)
    return out[::-1] if rtl else out


def _direction(word: str) -> bool | None:
    """Whether a word runs from right to left; None for marks, which follow their neighbours."""
    kinds = {bidirectional(c) for c in word}
    if kinds & {"R", "AL"}:
        return True
    return False if kinds & {"L", "EN", "AN"} else None


def _visual_text(word: str) -> str:
    """The word in the order in which it is drawn: matplotlib before 3.11 draws left to right."""
    import matplotlib as mpl

    if _direction(word) is not True or mpl.__version_info__[:2] >= (3, 11):
        return word
    clusters: list[str] = []
    for c in word:
        if combining(c) and clusters:
            clusters[-1] += c
        else:
            clusters.append(c)
    return "".join(reversed(clusters))


def _key(e: Explanation, level: float) -> str:
    says = "Deeper colour: stronger"
    if e.posterior is not None:
        says += f"; thicker frame: wider {at_level(level)} interval, dashed and pale: {NOT_SURE}"
    cut = e.subject.cut if isinstance(e.subject, Passage) else ""
    return says + (f". Parts: {cut}" if cut else "")


def write_notes(p: Page, notes: Sequence[str], bottom: float) -> Axes:
    """Small print below the text. A figure of our own grows with both."""
    note = p.ax.annotate(
        "",
        (0, 0),
        xytext=(0, -4),
        xycoords="axes fraction",
        fontsize="small",
        textcoords="offset points",
        va="top",
        alpha=SOFT_OPACITY,
        linespacing=1.35,
        annotation_clip=False,
        **PLAIN_TEXT,
    )
    fold(note, "\n".join(short(line, 400) for line in notes), p.width)
    if p.own is None:
        return p.ax
    p.own.set_layout_engine("none")
    below = 0.2 + note.get_window_extent().height / p.own.dpi
    lines = 1 + p.ax.get_title(loc="left").count("\n")
    above = 0.25 + 0.2 * lines
    high, wide = above + bottom + below, p.width + 0.4
    p.own.set_size_inches(wide, high)
    p.ax.set_position((0.2 / wide, below / high, p.width / wide, bottom / high))
    return p.ax
