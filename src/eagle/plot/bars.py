"""One explanation as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle.explainer import whole_number
from eagle.explanation import LEVEL, Explanation
from eagle.plot.page import meaning, one, page, per_cent, unsure
from eagle.render import DOWN, UP

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def attribution(
    explanation: Explanation, ax: Axes | None = None, *, level: float = LEVEL, most: int = 15
) -> Axes:
    """The scores as bars, the strongest on top, each with its credible interval.

    Blue pushes the answer up, vermillion down. A bar is pale and hatched where the interval
    contains zero: there not even the sign is sure. `most` features are drawn, the others
    counted. What the explanation warns of stands below.
    """
    e = one(explanation, "attribution")
    order = e.order()[: whole_number(most, "most", 1)]
    scores, interval = e.scores[order], e.interval(level)[order]
    pale = unsure(interval)
    p = page(ax, 4.6, 0.27 * max(len(order) + (len(order) < len(e.names)), 2), "attribution")
    from matplotlib.colors import to_rgba

    colours = [UP if score > 0 else DOWN for score in scores]
    bars = p.ax.barh(
        range(len(order)), scores, height=0.64, edgecolor=colours, linewidth=0.8,
        color=[to_rgba(c, 0.25 if u else 1.0) for c, u in zip(colours, pale, strict=True)],
        hatch=["/////" if u else "" for u in pale],
    )  # fmt: skip
    for bar in bars:
        bar.sticky_edges.x.clear()  # the zero line keeps its distance from the frame
    p.ax.errorbar(
        scores, range(len(order)), xerr=abs(interval.T - scores), fmt="none",
        ecolor=p.ink, elinewidth=1.1, capsize=2.2, capthick=1.1,
    )  # fmt: skip
    p.rows([e.conditions[j] for j in order], len(e.names) - len(order))
    p.title(e.title)
    hint = "\nHatched: the interval contains zero" if any(pale) else ""
    p.x_label(f"{meaning([e])}, with {per_cent(level)} credible interval{hint}")
    if e.warnings:
        p.note(f"Warning: {warning}." for warning in e.warnings)
    return p.done()
