"""An explanation of a series: its curves, and below each the scores of its segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.packages import package
from eagle._values.posterior import LEVEL
from eagle._values.subject import Curves
from eagle._values.text import short
from eagle.display.colours import GREY
from eagle.display.sheet import MAX_CHANNELS, NOT_SURE, Shown, likeliest, strongest_channels
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.plot.drawing import plot_function
from eagle.plot.page import (
    PLAIN_TEXT,
    SOFT_OPACITY,
    below,
    cautions,
    fold,
    one,
    pale,
    plain_ticks,
    several_axes,
    sides,
    whiskers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_WIDTH, PANEL_HEIGHT = 7.2, 1.55
"""The width of a figure of our own, and the height of each panel, in inches."""

SCORES_SHARE = 0.36
"""The share of a panel that its scores take."""

MAX_OPACITY, UNSURE_OPACITY = 0.65, 0.1
"""The opacity of the strongest segment, and of one whose sign is not sure."""


@plot_function
def series(
    explanation: Explanation,
    axes: Any = None,
    *,
    level: float = LEVEL,
    max_display: int = MAX_CHANNELS,
) -> NDArray[np.object_]:
    """A panel for each channel: the curve, and below it the segments' scores with intervals.

    Segments that push the answer up are blue, those that push it down orange, the stronger the
    deeper; grey where the sign is not sure. All panels have the same scale of scores. The
    `max_display` strongest channels are drawn. `axes` are as many axes to draw on; the axes drawn
    on are returned. Warnings of the explanation are written below the last.
    """
    e = one(explanation, "series")
    if not isinstance(e.subject, Curves):
        raise InputError("series draws explanations of series: attribution draws any other")
    plt = package("matplotlib.pyplot", "series", "plot")
    curves, own = e.subject, None
    shown = Shown.of(e, level)
    drawn = strongest_channels(shown, curves, integer(max_display, "max_display", 1))
    if axes is None:
        size = (FIGURE_WIDTH, PANEL_HEIGHT * len(drawn) + 0.7)
        own, axes = plt.subplots(len(drawn), squeeze=False, figsize=size, layout="constrained")
    panels = several_axes(axes, len(drawn), "series")[: len(drawn)]
    reach = _reach(e, level)
    for ax, channel in zip(panels, drawn, strict=True):
        _panel(ax, e, curves, channel, level, reach)
    for ax in panels[:-1]:
        ax.tick_params(labelbottom=False)
    title = panels[0].set_title("", loc="left", fontsize="medium", weight="bold", **PLAIN_TEXT)
    box = panels[0].get_window_extent()
    fold(title, short(e.title, 160), box.width / panels[0].figure.dpi)
    below(own, panels[-1], _lines(e, curves, len(drawn), level))
    return panels


def _lines(e: Explanation, curves: Curves, drawn: int, level: float) -> list[str]:
    """What is written below all panels."""
    hidden = len(curves.channels) - drawn
    doubt = e.doubtful(level).any()
    words = whiskers([e], level, "Whiskers", f"; grey: {NOT_SURE}" if doubt else "")
    if not np.ptp(e.interval_or_nan(level), axis=1).any():
        words = ["Every mask was asked: scores are exact"]
    words += [f"… and {hidden} more channel{'s' if hidden > 1 else ''}"] if hidden else []
    words += [likeliest(e)]
    return [line for line in (*words, *cautions([e])) if line]


def _reach(e: Explanation, level: float) -> tuple[float, float]:
    """The lowest and the highest score or interval, with room around them."""
    ends = np.append(np.concatenate([e.scores, e.interval_or_nan(level).ravel()]), 0.0)
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def _panel(
    ax: Axes, e: Explanation, curves: Curves, channel: int, level: float, reach: tuple[float, float]
) -> None:
    mine = slice(channel * curves.segments, (channel + 1) * curves.segments)
    scores, interval = e.scores[mine], e.interval_or_nan(level)[mine]
    depth = np.abs(scores) / (float(np.abs(e.scores).max()) or 1.0)
    doubts = e.doubtful(level)[mine]
    colours = [GREY if d else c for c, d in zip(sides(e, scores), doubts, strict=True)]
    ink = ax.yaxis.label.get_color()
    for start, end, colour, share, doubt in zip(
        curves.edges[:-1], curves.edges[1:], colours, depth, doubts, strict=True
    ):
        shade = UNSURE_OPACITY if doubt else MAX_OPACITY * float(share)
        ax.axvspan(start, end, ymin=SCORES_SHARE, facecolor=colour, alpha=shade, linewidth=0)
    ax.vlines(
        curves.edges[1:-1],
        SCORES_SHARE,
        1,
        ink,
        transform=ax.get_xaxis_transform(),
        lw=0.4,
        alpha=0.25,
    )
    many = len(curves.times) > 200
    ax.plot(curves.times, curves.values[:, channel], color=ink, lw=0.9 if many else 1.3, zorder=3)
    _frame(ax, curves, channel)
    _scores(ax, curves, scores, interval, colours, reach)


def _frame(ax: Axes, curves: Curves, channel: int) -> None:
    """The curve in the upper part of the panel, with its own ticks."""
    values = curves.values[:, channel]
    low, high = float(values.min()), float(values.max())
    margin = 0.08 * (high - low) or max(abs(low), 1.0)
    low, high = low - margin, high + margin
    ax.set_xlim(curves.edges[0], curves.edges[-1])
    ax.set_ylim(low - (high - low) * SCORES_SHARE / (1 - SCORES_SHARE), high)
    if curves.dates:
        ax.xaxis_date()
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(3).tick_values(low, high)
    ax.set_yticks([tick for tick in ticks if low + margin <= tick <= high])
    plain_ticks(ax.yaxis)
    ax.tick_params(labelsize="x-small")
    ax.xaxis.get_offset_text().set_fontsize("x-small")
    ax.spines[["top", "right"]].set_visible(False)
    name = short(curves.channels[channel], 18)
    ax.set_ylabel(name, y=(1 + SCORES_SHARE) / 2, fontsize="small", **PLAIN_TEXT)


def _scores(
    ax: Axes,
    curves: Curves,
    scores: Array,
    interval: Array,
    colours: list[str],
    reach: tuple[float, float],
) -> None:
    """The scores as bars below their segments, with their intervals."""
    under = ax.inset_axes((0, 0, 1, SCORES_SHARE), sharex=ax)
    under.patch.set_alpha(0)
    ink = ax.yaxis.label.get_color()
    middle, width = (curves.edges[:-1] + curves.edges[1:]) / 2, np.diff(curves.edges)
    filled = [pale(c) if c == GREY else c for c in colours]
    under.bar(middle, scores, width=0.8 * width, color=filled, edgecolor=colours, linewidth=0.5)
    if np.isfinite(interval).any() and np.ptp(interval, axis=1).any():
        low, high = interval.T
        under.vlines(middle, low, high, ink, linewidth=1.0)
    under.axhline(0, color=ink, linewidth=0.6)
    under.set_ylim(*reach)
    under.set_xlim(curves.edges[0], curves.edges[-1])
    largest = max(abs(reach[0]), abs(reach[1]))
    step = float(f"{largest / 1.4:.0e}") or 1.0
    under.set_yticks([t for t in (-step, 0.0, step) if reach[0] <= t <= 0.9 * reach[1]])
    plain_ticks(under.yaxis)
    under.tick_params(axis="y", labelsize="xx-small", length=2)
    under.tick_params(axis="x", labelbottom=False, length=0)
    under.spines[["top", "right", "bottom"]].set_visible(False)
    under.set_ylabel("score", fontsize="xx-small", alpha=SOFT_OPACITY)
