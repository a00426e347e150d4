"""The mean size of scores over a table, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.posterior import LEVEL
from eagle.display.colours import DOWN, GREY, UP
from eagle.display.many import title
from eagle.display.numbers import at_level
from eagle.display.sheet import sides_of
from eagle.explanations import Explanations
from eagle.plot.drawing import plot_function
from eagle.plot.many import feature_labels, score_label, several
from eagle.plot.page import WIDTH, Page, page, pale, tall

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@plot_function
def importance(
    explanations: Explanations,
    ax: Axes | None = None,
    *,
    level: float = LEVEL,
    max_display: int = 15,
    sample: bool = True,
) -> Axes:
    """The mean size of each feature's score as a bar, the largest on top, with an interval.

    The blue part of a bar is from rows where the feature pushes the answer up, the vermillion part
    from rows where it pushes it down; of slopes, where the answer rises and falls with it. A bar is
    pale and hatched where the interval reaches zero. `max_display` features are drawn, and the
    others are counted. `sample` is as in `Explanations.importance`.
    """
    e = several(explanations, "importance")
    means = e.importance(level, sample=sample)
    order = means.order()[: integer(max_display, "max_display", 1)]
    labels, more = feature_labels(e.labels, order)
    p = page(ax, WIDTH, tall(labels, 0.27, more), "importance")
    none = means.low[order] <= 0
    up = np.maximum(e.scores[:, order], 0).mean(axis=0)
    if e.table.signed:
        _bars(p, up, np.zeros(len(order)), UP, none)
        _bars(p, means.value[order] - up, up, DOWN, none)
    else:
        _bars(p, means.value[order], np.zeros(len(order)), GREY, none)
    ends = np.stack([means.value - means.low, means.high - means.value])[:, order]
    p.ax.errorbar(
        means.value[order],
        range(len(order)),
        xerr=np.where(np.isfinite(ends), np.maximum(ends, 0), 0),
        fmt="none",
        ecolor=p.ink,
        elinewidth=1.1,
        capsize=2.2,
        capthick=1.1,
    )
    p.rows(labels, more)
    p.title(title(e))
    sides = [sides_of(e.table.signed, e.table.slopes, "vermillion")] if e.table.signed else []
    hint = "; hatched where it reaches zero" if none.any() else ""
    p.x_label(
        f"Mean size of the score{score_label(e).removeprefix('Score')}",
        *sides,
        f"Whiskers: {at_level(level)} interval{hint}",
    )
    return p.finish()


def _bars(p: Page, wide: Array, left: Array, colour: str, none: NDArray[np.bool_]) -> None:
    bars = p.ax.barh(
        range(len(wide)),
        wide,
        left=left,
        height=0.64,
        edgecolor=colour,
        linewidth=0.8,
        color=[pale(colour) if n else colour for n in none],
        hatch=["/////" if n else "" for n in none],
    )
    for bar in bars:
        bar.sticky_edges.x.clear()  # so that the zero line keeps a margin
