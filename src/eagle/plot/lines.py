"""How one explanation changes as rows are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.posterior import LEVEL
from eagle.display.numbers import at_level
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
    wrap_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":", "-.")


@plot_function
def convergence(
    explanation: Explanation,
    ax: Axes | None = None,
    *,
    level: float = LEVEL,
    max_display: int = 5,
    steps: int = 25,
) -> Axes:
    """How the scores and their credible intervals settle as rows are added.

    Plans are nested: the first n rows are what a budget of n would have asked. So about `steps`
    prefixes are fitted again, without asking the model. The `max_display` strongest features of the
    whole explanation are drawn. Warnings of the explanation are written below.
    """
    e = one(explanation, "convergence")
    order = e.order()[: integer(max_display, "max_display", 1)]
    counts = _counts(len(e.evidence.features), len(e.names), integer(steps, "steps", 2))
    grown = _scores_by_count(e, counts, level)[:, order]
    p = page(ax, WIDTH, 3.0, "convergence")
    p.ax.axhline(0, color=p.ink, linewidth=0.8, zorder=1.5)
    for i, (score, low, high) in enumerate(grown.transpose(1, 2, 0)):
        colour, style = p.colour(i), STYLES[i // p.colours % len(STYLES)]
        p.ax.fill_between(counts, low, high, color=colour, alpha=0.15, linewidth=0)
        p.ax.plot(counts, score, style, color=colour, linewidth=1.6)
        p.ax.plot(counts[-1], score[-1], "o", color=colour, markersize=3.5)
    p.ax.margins(x=0.02)
    if len(counts) == 1:
        p.ax.set_xlim(0, 1.02 * counts[0])
    p.ax.locator_params(axis="x", integer=True)
    p.ax.spines[["top", "right"]].set_visible(False)
    p.ax.grid(axis="y", color=p.ink, alpha=0.12, linewidth=0.6)
    p.title(e.title)
    p.x_label("Rows asked", meaning([e]))
    p.ax.set_ylabel(f"Score and its {at_level(level)} interval", fontsize="small", **PLAIN_TEXT)
    p.small_ticks("y")
    _labels(p, float(counts[-1]), grown[-1, :, 0], wrap_labels(e.conditions[j] for j in order))
    if notes := cautions([e]):
        p.note(notes)
    return p.finish()


def _counts(rows: int, d: int, steps: int) -> NDArray[np.intp]:
    """Lengths of prefixes; short ones lie closer together, since they differ more."""
    first = max(1, min(max(d + 2, 10), rows // 2))
    return np.unique(np.rint(np.geomspace(first, rows, steps)).astype(np.intp))


def _scores_by_count(e: Explanation, counts: NDArray[np.intp], level: float) -> Array:
    """Score, low and high of each feature after each count of rows, shape (counts, d, 3)."""
    out = np.empty((len(counts), len(e.names), 3))
    for k, n in enumerate(counts):
        fit = e.fit_to_first(int(n))
        out[k, :, 0] = fit.scores
        out[k, :, 1:] = np.nan if fit.posterior is None else fit.posterior.interval(level)
    return out


def _labels(p: Page, x: float, ends: Array, labels: Sequence[str]) -> None:
    """Name the lines at their right ends, moved apart where they would overlap."""
    from matplotlib.font_manager import FontProperties

    bottom, top = p.ax.get_ylim()
    p.ax.set_ylim(bottom, top)  # label places are computed for these limits
    place = 72 * p.height * (ends - bottom) / (top - bottom)
    lines = 1.35 * max(label.count("\n") + 1 for label in labels)
    # The layout of the caller's figure may still lower the axes' height.
    lines *= 1.25 if p.own is None else 1.0
    apart = spread(place, lines * FontProperties(size="small").get_size_in_points())
    for i, label in enumerate(labels):
        p.ax.annotate(
            label,
            (x, ends[i]),
            xytext=(16, apart[i] - place[i]),
            textcoords="offset points",
            va="center",
            fontsize="small",
            annotation_clip=False,
            **PLAIN_TEXT,
            arrowprops={
                "arrowstyle": "-",
                "color": p.colour(i),
                "linewidth": 1.2,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def spread(wanted: Array, gap: float) -> Array:
    """The places nearest to those wanted that keep their order and a gap between neighbours."""
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    out = np.empty(len(wanted))
    out[order] = isotonic_regression(wanted[order] - steps).x + steps
    return out
