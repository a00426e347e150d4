"""Every row's scores as a swarm of points for each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle.explanations import Explanations
from eagle.plot.fonts import cautions, legible
from eagle.plot.many import (
    MISSING,
    RASTER,
    FeatureValues,
    cell_of,
    coloured,
    counted,
    intervals,
    keys,
    label,
    paled,
    ramp,
    said,
    several,
    stacked_up,
    strongest_features,
    thinned,
    unclear,
)
from eagle.plot.page import GREY, LITERAL, WIDTH, Page, page, per_cent, tall
from eagle.show.many import title
from eagle.surrogate.posterior import LEVEL
from eagle.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW: Final = 0.36
"""The height of a feature, in inches."""

ROOM: Final = 0.84
"""The share of it that points take."""

DOT: Final = 2.6
"""The diameter of a point, in points."""

STACK: Final = 28
"""Maximum number of points in a stack; more could not be told apart."""

KEY: Final = 34
"""Maximum number of characters of the level names beside a feature, all together."""


@legible
def beeswarm(
    explanations: Explanations,
    ax: Axes | None = None,
    *,
    level: float = LEVEL,
    most: int = 15,
    key: bool = True,
) -> Axes:
    """A point for each row and feature, at the row's score; points that would overlap are stacked.

    The colour is the row's own value: by rank for numbers, by level for levels, grey where missing;
    the key to the right says which. A point is pale where its interval contains zero. The `most`
    features with the largest mean size of scores are drawn, and the others are counted. Where
    rows crowd, evenly chosen ones are drawn for all; outliers always are.
    """
    e = several(explanations, "beeswarm")
    order = strongest_features(e, most)
    labels, more = counted(e.names, order)
    p = page(ax, WIDTH, tall(labels, ROW, more), "beeswarm")
    doubt = unclear(intervals(e, order, level))
    scores = e.scores[:, order]
    apart = max(int(72 * p.width / DOT), 10)
    cells = cell_of(scores.ravel(), apart).reshape(scores.shape)
    high = 72 * p.height / (len(order) + (1 if more else 0))  # of a feature, in points
    drawn = 0
    for y, j in enumerate(order.tolist()):
        values = FeatureValues.of(e.data[:, j])
        shown = thinned(cells[:, y], _vertical(values), STACK)
        lift = stacked_up(cells[:, y], shown, DOT / high, ROOM)
        _points(p, scores[shown, y], y - lift, coloured(p, values)[shown], doubt[shown, y])
        drawn += len(shown)
        if key:
            _key(p, y, values)
    if drawn > RASTER:
        for points in p.ax.collections:
            points.set_rasterized(True)
    p.rows(labels, more)
    p.title(title(e))
    p.x_label(said(e), *_notes(bool(doubt.any()), drawn < scores.size, level))
    if notes := cautions(()):
        p.note(notes)
    return p.done()


def _vertical(values: FeatureValues) -> Array:
    """What points of equal score are stacked by: the value, and missing ones at the bottom."""
    return np.nan_to_num(values.rank, nan=-1.0)


def _points(p: Page, x: Array, y: Array, colours: Array, doubt: NDArray[np.bool_]) -> None:
    """Pale points first, so that the others are on top."""
    order = np.argsort(~doubt, kind="stable")
    p.ax.scatter(
        x[order],
        y[order],
        s=DOT**2,
        c=paled(p, colours, doubt)[order],
        linewidths=0,
        zorder=2,
    )


def _notes(doubt: bool, fewer: bool, level: float) -> list[str]:
    lines = [f"Pale: the {per_cent(level)} interval contains zero"] if doubt else []
    return [*lines, "Where rows crowd, some stand for all"] if fewer else lines


def _key(p: Page, y: int, values: FeatureValues) -> None:
    """What the colours of a feature mean, to its right."""
    from matplotlib.offsetbox import AnnotationBbox, HPacker

    parts = _numbers(p, values) if values.levels is None else _levels(p, values)
    packed = HPacker(children=parts, pad=0, sep=3, align="center")
    box = AnnotationBbox(
        packed,
        (1.02, y),
        xycoords=p.ax.get_yaxis_transform(),
        box_alignment=(0, 0.5),
        frameon=False,
        pad=0,
        annotation_clip=False,
    )
    p.ax.add_artist(box)


def _numbers(p: Page, values: FeatureValues) -> list[Any]:
    parts = []
    if not values.missing.all():
        colours, (low, high) = ramp(p.ax), values.ends
        parts += [_text(low, p.ink), _strip(colours), _text(high, p.ink)]
    return parts + ([_text(MISSING, GREY)] if values.missing.any() else [])


def _levels(p: Page, values: FeatureValues) -> list[Any]:
    parts, left = [], KEY
    for name, colour in keys(p, values):
        text = label(name, 14)
        if len(text) > left:
            parts.append(_text("…", p.ink))
            break
        parts.append(_text(text, colour))
        left -= len(text) + 1
    return parts


def _text(text: str, colour: Any) -> Any:
    from matplotlib.offsetbox import TextArea

    return TextArea(text, textprops={"color": colour, "size": "x-small", **LITERAL})


def _strip(colours: Any) -> Any:
    from matplotlib.offsetbox import DrawingArea
    from matplotlib.patches import Rectangle

    area = DrawingArea(24, 5)
    for k in range(12):
        area.add_artist(Rectangle((2 * k, 0), 2.2, 5, color=colours(k / 11), linewidth=0))
    return area
