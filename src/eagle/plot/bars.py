"""One explanation as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.posterior import LEVEL
from eagle.display.colours import DOWN, GREY, UP
from eagle.display.sheet import NOT_SURE, bars_of
from eagle.explanation import Explanation
from eagle.plot.drawing import plot_function
from eagle.plot.page import (
    PLAIN_TEXT,
    WIDTH,
    Page,
    cautions,
    meaning,
    one,
    page,
    pale,
    sides,
    tall,
    whiskers,
    wrap_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

HATCH: Final = "/////"
"""Of a bar whose sign is not sure."""

NUMBER_GAP: Final = 3.0
"""How far a number stands from its bar, in points."""

HEAD_INCHES: Final = 0.4
"""Inches above the axes for a title and a legend."""


@plot_function
def attribution(
    explanation: Explanation, ax: Axes | None = None, *, level: float = LEVEL, max_display: int = 15
) -> Axes:
    """The scores as bars, the strongest on top, each with its number and its credible interval.

    Blue pushes the answer up, vermillion down; of a slope, which is named «per …», blue says that
    the answer rises with the feature. Grey has no sign. A bar is pale and hatched where the sign is
    not sure (`Explanation.sure`). The row's own value stands in brackets beside a bin or a slope.
    `max_display` features are drawn, and the others are counted. Warnings of the explanation are
    written below.
    """
    e = one(explanation, "attribution")
    shown = bars_of(e, level)[: integer(max_display, "max_display", 1)]
    order = np.array([bar.key for bar in shown])
    scores, interval = e.scores[order], e.interval_or_nan(level)[order]
    unclear = e.doubtful(level)[order]
    more = len(e.names) - len(order)
    p = page(ax, WIDTH, 1.0, "attribution")
    labels = wrap_labels([b.full_label for b in shown], p, [e.names[j] for j in order])
    p = p.with_height(tall(labels, 0.27, more))
    colours = sides(e, scores)
    bars = p.ax.barh(
        range(len(order)),
        scores,
        height=0.64,
        edgecolor=colours,
        linewidth=0.8,
        color=[pale(c) if u else c for c, u in zip(colours, unclear, strict=True)],
        hatch=[HATCH if u else "" for u in unclear],
    )
    for bar in bars:
        bar.sticky_edges.x.clear()  # so that the zero line keeps a margin
    p.ax.errorbar(
        scores,
        range(len(order)),
        xerr=abs(interval.T - scores),
        fmt="none",
        ecolor=p.ink,
        elinewidth=1.1,
        capsize=2.2,
        capthick=1.1,
    )
    p.rows(labels, more)
    p = p.fit_to_layout()
    _numbers(p, scores, interval, [bar.text for bar in shown])
    slopes = np.array(e.slopes or (False,) * len(e.names))[order]
    p.title(e.title, _legend(p, e.signed, scores, unclear, slopes))
    hint = f"; hatched: {NOT_SURE}" if any(unclear) else ""
    p.x_label(meaning([e]), *whiskers([e], level, "Whiskers", hint))
    if notes := cautions([e]):
        p.note(notes)
    return p.finish()


def _numbers(p: Page, scores: Array, interval: Array, written: Sequence[str]) -> None:
    """Write each score beyond its bar and whisker, and make room for it."""
    right = scores >= 0
    ends = np.where(right, np.fmax(scores, interval[:, 1]), np.fmin(scores, interval[:, 0]))
    texts: list[Annotation] = [
        p.ax.annotate(
            text,
            (end, y),
            xytext=(NUMBER_GAP if at_right else -NUMBER_GAP, 0),
            textcoords="offset points",
            ha="left" if at_right else "right",
            va="center",
            fontsize=min(p.label_size, p.small_size),
            annotation_clip=False,
            **PLAIN_TEXT,
        )
        for y, (text, end, at_right) in enumerate(zip(written, ends, right, strict=True))
    ]
    p.ax.set_xlim(*_room(p, ends, np.array([_inches(text) for text in texts]), interval))


def _inches(text: Annotation) -> float:
    """How much room a number takes beyond its bar."""
    figure = text.get_figure()
    assert figure is not None
    return text.get_window_extent().width / figure.dpi + 2 * NUMBER_GAP / 72


def _room(p: Page, ends: Array, wide: Array, interval: Array) -> tuple[float, float]:
    """The ends of an axis that has all bars, whiskers and numbers within it."""
    known = interval[np.isfinite(interval)]
    low, high = min(0.0, *ends, *known), max(0.0, *ends, *known)
    least, most = low, high
    for _ in range(20):  # numbers keep their size, so the scale depends on itself
        unit = (high - low or 1.0) / max(p.width, 0.3)
        beyond = np.where(ends >= 0, 1.0, -1.0) * np.minimum(wide, 0.4 * p.width) * unit
        low, high = min(least, *(ends + beyond)), max(most, *(ends + beyond))
    rim = 0.02 * (high - low) or 0.5
    return low - rim, high + rim


def _legend(
    p: Page, signed: bool, scores: Array, unclear: NDArray[np.bool_], slopes: NDArray[np.bool_]
) -> float:
    """Say what colours mean, above the axes; the height of that, in points."""
    from matplotlib.patches import Patch

    keys: dict[str, Any] = {}
    up, down = ("pushes up", "pushes down") if not slopes.all() else ("rises with it", "falls")
    if slopes.any() and not slopes.all():
        up, down = "pushes up, or rises with it", "down, or falls"
    for name, colour, there in (
        (up, UP, signed and (scores > 0).any()),
        (down, DOWN, signed and (scores < 0).any()),
        ("matters, no sign", GREY, not signed),
    ):
        if there:
            keys[name] = Patch(facecolor=colour)
    if any(unclear):
        keys["sign not sure"] = Patch(facecolor="none", edgecolor=p.ink, hatch=HATCH, linewidth=0.6)
    if not keys or p.headroom < HEAD_INCHES:
        return 0.0
    wide = p.width if p.cell is None else p.cell[0]
    drawn = p.ax.legend(
        list(keys.values()),
        list(keys),
        # A layout engine leaves little beside the labels: there it reaches back above them.
        loc="lower left" if p.cell is None else "lower right",
        bbox_to_anchor=(0.0 if p.cell is None else 1.0, 1.0),
        ncols=len(keys) if wide > 0.95 * len(keys) else 1,
        borderaxespad=0.0,
        borderpad=0.2,
        handlelength=1.1,
        handletextpad=0.4,
        columnspacing=1.1,
        labelspacing=0.2,
        frameon=False,
        fontsize=p.small_size,
    )
    figure = p.ax.figure
    return float(drawn.get_window_extent().height / figure.dpi * 72)
