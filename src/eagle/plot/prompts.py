"""An explanation of a prompt: its parts coloured by score, each beside its score and interval."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from eagle._values.posterior import LEVEL
from eagle._values.subject import Passage
from eagle._values.text import clean, short
from eagle.display.colours import DOWN, GREY, UP
from eagle.display.numbers import at_level
from eagle.display.sheet import NOT_SURE, Shown, pieces
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.plot.drawing import plot_function
from eagle.plot.page import PLAIN_TEXT, SOFT_OPACITY, Page, cautions, fold, one, page
from eagle.plot.texts import write_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_WIDTH: Final = 7.4
"""Inches of a figure's width."""

SIDE: Final = 0.32
"""The share of the width that scores and intervals take."""

LINES: Final = (6, 4, 3, 2, 1)
"""Maximum number of lines of a part: the first of these for which the axes have room."""

PAD: Final = 0.07
"""Inches around the text of a part."""

MAX_OPACITY: Final = 0.5
"""The opacity of the strongest part."""

MIN_OPACITY: Final = 0.09
"""The opacity of a part that is grey, or has no effect: it is still seen to be a part."""


@plot_function
def prompt(
    explanation: Explanation,
    ax: Axes | None = None,
    *,
    level: float = LEVEL,
) -> Axes:
    """The prompt in order, its parts blue where they make the answer likelier, orange where less.

    The stronger the score, the deeper the colour. Beside each part are its score, a dot, and its
    interval, a line. A part is grey where its sign is not sure. Text that is always kept has no
    colour. Long parts are cut. Warnings of the explanation are written below.
    """
    e = one(explanation, "prompt")
    if not isinstance(e.subject, Passage) or not e.subject.labels:
        raise InputError("prompt draws explanations of prompts: text draws those of other texts")
    blocks = _blocks(e, e.subject)
    p = page(ax, FIGURE_WIDTH, 0.4 * len(blocks), "prompt")
    p.ax.set_axis_off()
    p.ax.set_xlim(0, p.width)
    for most in LINES:
        for artist in list(p.ax.texts):
            artist.remove()
        heights = [_write(p, block, most) for block in blocks]
        if p.own is not None or sum(heights) <= p.height:
            break
    bottom = sum(heights)
    p.ax.set_ylim(bottom if p.own is not None else max(bottom, p.height), 0)
    _colour(p, e, blocks, heights, level)
    p.title(e.title)
    return write_notes(p, [_key(e, level), *cautions([e])], bottom)


@final
@dataclass(frozen=True)
class PromptPiece:
    """A piece of the prompt: its text, and its feature and name if it is a part."""

    text: str
    feature: int | None
    name: str = ""


def _blocks(e: Explanation, passage: Passage) -> list[PromptPiece]:
    out = []
    for piece, k in pieces(passage, e.scores):
        text = "\n".join(clean(line) for line in piece.strip().splitlines())
        if text:
            out.append(PromptPiece(text, k, "" if k is None else short(passage.labels[k], 40)))
    return out


def _write(p: Page, block: PromptPiece, most: int) -> float:
    """Write a block at the top of the axes; the height that it takes, in inches."""
    dpi, wide = p.ax.figure.dpi, p.width * (1 - SIDE) - 3 * PAD
    bold = 0.0
    if block.name:
        head = p.ax.text(
            PAD, 0, "", va="top", fontsize="small", weight="bold", alpha=SOFT_OPACITY, **PLAIN_TEXT
        )
        fold(head, block.name, wide)
        bold = head.get_window_extent().height / dpi + 0.02
    soft = 1.0 if block.name else SOFT_OPACITY
    body = p.ax.text(PAD, bold, "", va="top", fontsize="medium", alpha=soft, **PLAIN_TEXT)
    fold(body, block.text, wide)
    lines = body.get_text().split("\n")
    if len(lines) > most:
        last = textwrap.shorten(lines[most - 1] + " …" * 9, len(lines[most - 1]), placeholder=" …")
        body.set_text("\n".join([*lines[: most - 1], last]))
    return bold + body.get_window_extent().height / dpi + (3 if block.name else 2) * PAD


def _colour(
    p: Page, e: Explanation, blocks: Sequence[PromptPiece], heights: Sequence[float], level: float
) -> None:
    """Move the blocks to their places, colour the parts, and draw their scores beside them."""
    from matplotlib.patches import Rectangle

    interval, doubt = e.interval_or_nan(level), e.doubtful(level)
    seen = np.concatenate([e.scores, interval[np.isfinite(interval)].ravel(), [0.0]])
    low, high = float(seen.min()), float(seen.max())
    left, right = p.width * (1 - SIDE) + 0.55, p.width - 0.12
    unit = (right - left) / ((high - low) or 1.0)
    shown = Shown.of(e, level)
    texts, at, strongest = iter(list(p.ax.texts)), 0.0, float(np.abs(e.scores).max()) or 1.0
    zero = left - low * unit
    p.ax.plot([zero, zero], [0, sum(heights)], color=p.ink, linewidth=0.8, alpha=0.5)
    for block, height in zip(blocks, heights, strict=True):
        for _ in range(2 if block.name else 1):
            artist = next(texts)
            artist.set_y(at + PAD + artist.get_position()[1])
        if block.feature is not None:
            k = block.feature
            score = float(e.scores[k])
            grey = doubt[k] or not e.signed
            colour = GREY if grey else UP if score > 0 else DOWN
            share = MIN_OPACITY + MAX_OPACITY * min(abs(score) / strongest, 1.0) * (not doubt[k])
            box: Any = Rectangle(
                (0, at + PAD / 2),
                p.width * (1 - SIDE),
                height - PAD,
                facecolor=colour,
                alpha=share,
                linewidth=0,
                zorder=0,
            )
            p.ax.add_patch(box)
            middle, x = at + height / 2, left + (score - low) * unit
            ends = left + (interval[k] - low) * unit
            if np.isfinite(ends).all():
                p.ax.plot(ends, [middle, middle], color=colour, linewidth=2, solid_capstyle="butt")
            p.ax.plot([x], [middle], "o", color=colour, markersize=4.5)
            p.ax.text(
                p.width * (1 - SIDE) + 0.08,
                middle,
                shown.text(k),
                va="center",
                fontsize="small",
                color=p.ink,
                alpha=SOFT_OPACITY if grey else 1.0,
                **PLAIN_TEXT,
            )
        at += height


def _key(e: Explanation, level: float) -> str:
    says = "Blue makes the answer likelier, orange less likely" if e.signed else "Deeper: matters"
    if e.posterior is not None:
        says += f"; lines: {at_level(level)} intervals; grey: {NOT_SURE}"
    return says + ". Text without a colour was always kept"
