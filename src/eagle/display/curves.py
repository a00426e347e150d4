"""A series on a page: its curves, and below each the scores of its segments, as SVG."""

from __future__ import annotations

from html import escape
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.subject import Curves
from eagle._values.text import short
from eagle.display.sheet import MAX_CHANNELS, NOT_SURE, Shown, strongest_channels, ways

POINTS: Final = 1800
"""Maximum number of points of all curves of a page together, so that pages stay small."""

PARTS: Final = 400
"""Maximum number of segments drawn over all channels. One channel is always drawn whole."""

DRAWING_WIDTH, CURVE, SCORES = 600, 56, 30
"""Units of a drawing: its width, the height of the curve, and that of the scores below it."""

HEIGHT_STYLE: Final = f'style="height:{CURVE + SCORES}px"'
"""How high a drawing is on a page."""

MAX_OPACITY, SHADES = 0.65, 8
"""The opacity of the strongest segment, and how many shades there are up to it."""


def drawing(shown: Shown, curves: Curves, tall: str = HEIGHT_STYLE) -> str:
    """The strongest channels of a series, one below the other, and what the colours mean.

    `tall` is the attribute that gives a drawing its height.
    """
    most = int(np.clip(PARTS // curves.segments, 1, MAX_CHANNELS))
    drawn = strongest_channels(shown, curves, most)
    thin = curves.thin(POINTS // len(drawn))
    ends = np.append(np.nan_to_num(np.append(shown.scores, shown.interval.ravel())), 0.0)
    low, high = float(ends.min()), float(ends.max())
    if high <= low:
        low, high = -1.0, 1.0
    hidden = len(curves.channels) - len(drawn)
    said = [ways([shown.slopes])] * shown.signed
    said += [f"Grey: {NOT_SURE}."] * bool(shown.unsure.any())
    said += [f"… and {hidden} more channel{'s' if hidden > 1 else ''}."] * (hidden > 0)
    each = (_channel(shown, thin, c, (low, high), tall) for c in drawn)
    return f'{"".join(each)}<div class="fact">{" ".join(said)}</div>'


def _channel(
    shown: Shown, curves: Curves, channel: int, ends: tuple[float, float], tall: str
) -> str:
    """A channel's name, its curve on shaded segments, and the scores of these with intervals."""
    low, high = ends
    name = escape(short(curves.channels[channel], 48))
    label = f'<div class="fact"><bdi>{name}</bdi></div>' if name else ""
    mine = slice(channel * curves.segments, (channel + 1) * curves.segments)
    down = CURVE + 3 + (SCORES - 5) * (high - np.append(shown.scores[mine], 0.0)) / (high - low)
    return (
        f'{label}<svg viewBox="0 0 {DRAWING_WIDTH} {CURVE + SCORES}" preserveAspectRatio="none" '
        'role="img" '
        f'{tall} aria-label="{name} by segment">'
        f"{_segments(shown, curves, mine, down)}"
        f'<path d="M0 {down[-1]:.1f}H{DRAWING_WIDTH}" stroke="currentColor" stroke-opacity=".4"/>'
        f"{_whiskers(shown.interval[mine], curves, low, high)}"
        f'<polyline points="{_points(curves, channel)}" fill="none" stroke="currentColor" '
        'stroke-width="1.2" vector-effect="non-scaling-stroke"/></svg>'
    )


def _segments(shown: Shown, curves: Curves, mine: slice, down: Array) -> str:
    """The shades behind the curve and the bars below it: a path for each colour and shade."""
    edges = _across(curves, curves.edges)
    left, wide = edges[:-1], np.diff(edges)
    score, doubt = shown.scores[mine], shown.unsure[mine]
    side = np.where(score > 0, "var(--up)", "var(--down)")
    colours = np.where(doubt | (not shown.signed), "#888", side)
    shade = np.where(doubt, 1, np.rint(SHADES * np.abs(shown.depth[mine]))).astype(int)
    out = []
    for colour in sorted(set(colours.tolist())):
        for level in range(1, SHADES + 1):
            here = (colours == colour) & (shade == level)
            tall = np.full(len(score), float(CURVE))
            out.append(_path(here, left, wide, np.zeros_like(tall), tall, colour, level / SHADES))
        for clear in (True, False):
            here = (colours == colour) & (doubt != clear)
            bars = left + 0.1 * wide, 0.8 * wide, np.minimum(down[:-1], down[-1])
            opacity = (0.85 if clear else 0.35) / MAX_OPACITY
            out.append(_path(here, *bars, np.abs(down[:-1] - down[-1]), colour, opacity))
    return "".join(out)


def _path(
    here: NDArray[np.bool_], x: Array, wide: Array, y: Array, tall: Array, colour: str, share: float
) -> str:
    """Some rectangles as one path."""
    boxes = "".join(
        f"M{x[k]:.4g} {y[k]:.4g}h{wide[k]:.4g}v{tall[k]:.4g}h-{wide[k]:.4g}z"
        for k in np.flatnonzero(here)
    )
    opacity = round(MAX_OPACITY * share, 2)
    return f'<path d="{boxes}" fill="{colour}" fill-opacity="{opacity}"/>' if boxes else ""


def _whiskers(interval: Array, curves: Curves, low: float, high: float) -> str:
    """The intervals that are known and have a width, as one path."""
    edges = _across(curves, curves.edges)
    middle = (edges[:-1] + edges[1:]) / 2
    down = CURVE + 3 + (SCORES - 5) * (high - interval) / (high - low)
    there = np.flatnonzero(np.isfinite(interval).all(axis=1) & (interval[:, 0] < interval[:, 1]))
    lines = "".join(f"M{middle[k]:.4g} {down[k, 0]:.4g}V{down[k, 1]:.4g}" for k in there)
    look = 'stroke="currentColor" vector-effect="non-scaling-stroke"'
    return f'<path d="{lines}" {look}/>' if lines else ""


def _points(curves: Curves, channel: int) -> str:
    """The curve as points of a polyline."""
    values = curves.values[:, channel] / 2  # so that the range of any floats is one
    low, high = float(values.min()), float(values.max())
    span = high - low
    down = (high - values) / span if span > 0 else np.full(len(values), 0.5)
    places = zip(_across(curves, curves.times), 3 + (CURVE - 6) * down, strict=True)
    return " ".join(f"{x:.4g},{y:.3g}" for x, y in places)


def _across(curves: Curves, at: Array) -> Array:
    """Times as places from left to right."""
    first, last = float(curves.edges[0]), float(curves.edges[-1])
    return np.asarray(DRAWING_WIDTH * (at - first) / (last - first))
