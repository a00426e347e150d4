"""Every row's scores as a swarm of points for each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import check_flags
from eagle._values.posterior import LEVEL
from eagle.display.colours import GREY
from eagle.display.many import title
from eagle.display.numbers import at_level
from eagle.display.sheet import NOT_SURE
from eagle.explanations import Explanations
from eagle.plot.drawing import plot_function
from eagle.plot.many import (
    MAX_VECTOR_POINTS,
    MISSING,
    FeatureValues,
    cell_of,
    feature_labels,
    keys,
    label,
    pale,
    ramp,
    row_colours,
    score_label,
    several,
    stack_points,
    strongest_features,
    thin_cells,
)
from eagle.plot.page import PLAIN_TEXT, WIDTH, Page, page, tall

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW: Final = 0.36
"""The height of a feature, in inches."""

ROOM: Final = 0.84
"""The share of it that points take."""

DOT: Final = 2.6
"""The diameter of a point, in points."""

MAX_STACK: Final = 28
"""Maximum number of points in a stack; more could not be told apart."""

MAX_KEY_CHARACTERS: Final = 34
"""Maximum number of characters of the level names beside a feature, all together."""


@plot_function
def beeswarm(
    explanations: Explanations,
    ax: Axes | None = None,
    *,
    level: float = LEVEL,
    max_display: int = 15,
    key: bool = True,
) -> Axes:
    """A point for each row and feature, at the row's score; points that would overlap are stacked.

    The colour is the row's own value: by rank for numbers, by level for levels, grey where missing;
    the key to the right says which. A point is pale where its sign is not sure. The `max_display`
    features with the largest mean size of scores are drawn, and the others are counted. Where
    rows crowd, evenly chosen ones are drawn for all; outliers always are.
    """
    e = several(explanations, "beeswarm")
    check_flags(key=key)
    order = strongest_features(e, max_display)
    labels, more = feature_labels(e.labels, order)
    p = page(ax, WIDTH, tall(labels, ROW, more), "beeswarm")
    doubt = e.doubtful(level)[:, order]
    scores = e.scores[:, order]
    apart = max(int(72 * p.width / DOT), 10)
    cells = cell_of(scores.ravel(), apart).reshape(scores.shape)
    high = 72 * p.height / (len(order) + (1 if more else 0))  # of a feature, in points
    drawn = 0
    for y, j in enumerate(order.tolist()):
        values = FeatureValues.of(e.data[:, j])
        shown = thin_cells(cells[:, y], _vertical(values), MAX_STACK)
        lift = stack_points(cells[:, y], shown, DOT / high, ROOM)
        _points(p, scores[shown, y], y - lift, row_colours(p, values)[shown], doubt[shown, y])
        drawn += len(shown)
        if key:
            _key(p, y, values)
    if drawn > MAX_VECTOR_POINTS:
        for points in p.ax.collections:
            points.set_rasterized(True)
    p.rows(labels, more)
    p.title(title(e))
    p.x_label(score_label(e), *_notes(bool(doubt.any()), drawn < scores.size, level))
    return p.finish()


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
        c=pale(p, colours, doubt)[order],
        linewidths=0,
        zorder=2,
    )


def _notes(doubt: bool, fewer: bool, level: float) -> list[str]:
    lines = [f"Pale: {NOT_SURE}, at {at_level(level)}"] if doubt else []
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
    parts, left = [], MAX_KEY_CHARACTERS
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

    return TextArea(text, textprops={"color": colour, "size": "x-small", **PLAIN_TEXT})


def _strip(colours: Any) -> Any:
    from matplotlib.offsetbox import DrawingArea
    from matplotlib.patches import Rectangle

    area = DrawingArea(24, 5)
    for k in range(12):
        area.add_artist(Rectangle((2 * k, 0), 2.2, 5, color=colours(k / 11), linewidth=0))
    return area
