"""One explanation as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle.explanation import LEVEL, Explanation
from eagle.plot.fonts import cautions, legible
from eagle.plot.page import WIDTH, lined, meaning, one, page, pale, sides, tall, unsure, whiskers
from eagle.types import integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@legible
def attribution(
    explanation: Explanation, ax: Axes | None = None, *, level: float = LEVEL, most: int = 15
) -> Axes:
    """The scores as bars, the strongest on top, each with its credible interval.

    Blue pushes the answer up, vermillion down, and grey has no sign. A bar is pale and hatched
    where the interval contains zero: the sign is not sure. `most` features are drawn,
    and the others are counted. Warnings of the explanation are written below.
    """
    e = one(explanation, "attribution")
    order = e.order()[: integer(most, "most", 1)]
    scores, interval = e.scores[order], e.shown(level)[order]
    unclear = unsure(interval)
    labels, more = lined(e.conditions[j] for j in order), len(e.names) - len(order)
    p = page(ax, WIDTH, tall(labels, 0.27, more), "attribution")
    colours = sides(e, scores)
    bars = p.ax.barh(
        range(len(order)),
        scores,
        height=0.64,
        edgecolor=colours,
        linewidth=0.8,
        color=[pale(c) if u else c for c, u in zip(colours, unclear, strict=True)],
        hatch=["/////" if u else "" for u in unclear],
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
    p.title(e.title)
    hint = "; hatched where it contains zero" if any(unclear) else ""
    p.x_label(meaning([e]), *whiskers([e], level, "Whiskers", hint))
    if notes := cautions([e]):
        p.note(notes)
    return p.done()
