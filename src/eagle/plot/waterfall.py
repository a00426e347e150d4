"""From the base value to one prediction, a bar for each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.posterior import LEVEL
from eagle.display.colours import DOWN, UP
from eagle.display.numbers import number, plural
from eagle.display.sheet import NOT_SURE, bars_of
from eagle.display.steps import Steps
from eagle.explanation import Explanation
from eagle.plot.bars import HATCH
from eagle.plot.drawing import plot_function
from eagle.plot.page import (
    PLAIN_TEXT,
    SOFT_OPACITY,
    WIDTH,
    Page,
    cautions,
    meaning,
    one,
    page,
    pale,
    tall,
    whiskers,
    wrap_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBER_INCHES: Final = 0.62
"""Inches on either side for the numbers beside bars."""


@plot_function
def waterfall(
    explanation: Explanation, ax: Axes | None = None, *, level: float = LEVEL, max_display: int = 9
) -> Axes:
    """From the base value, at the bottom, to the prediction, at the top: a bar for each feature.

    The strongest feature is on top, and those not among the `max_display` strongest are one bar.
    Blue leads up, vermillion down. Whiskers are the interval of a bar's length, drawn at its
    end. A bar is pale and hatched where its sign is not sure. Scores that share out the distance
    from the average begin at the average; those of a line at what it leaves, as in
    `Explanation.to_shap`.
    """
    e = one(explanation, "waterfall")
    steps = Steps.of(e, integer(max_display, "max_display", 1), level)
    labels = [bar.full_label for bar in bars_of(e, level)[: len(steps.order)]]
    names = [e.names[j] for j in steps.order]
    if steps.others:
        labels.append(plural(steps.others, "other feature"))
        names.append("")
    p = page(ax, WIDTH, 1.0, "waterfall")
    wrapped = wrap_labels(labels, p, names)
    p = p.with_height(tall(wrapped, 0.3, 0))
    _bars(p, steps)
    p.rows(wrapped, zero=False)
    p = p.fit_to_layout()
    _ends(p, steps, "average" if e.additive else "start")
    _limits(p, steps)
    p.title(e.title, above=14)
    hint = f"; hatched: {NOT_SURE}" if steps.doubtful.any() else ""
    p.x_label(meaning([e]), *whiskers([e], level, "Whiskers", hint))
    if notes := cautions([e]):
        p.note(notes)
    return p.finish()


def _bars(p: Page, steps: Steps) -> None:
    """The bars with their whiskers and numbers, and the lines that lead from one to the next."""
    given, places, written = steps.given, range(len(steps.given)), steps.numbers
    colours = [UP if one > 0 else DOWN for one in given]
    p.ax.barh(
        places,
        given,
        left=steps.starts,
        height=0.62,
        edgecolor=colours,
        linewidth=0.8,
        color=[pale(c) if u else c for c, u in zip(colours, steps.doubtful, strict=True)],
        hatch=[HATCH if u else "" for u in steps.doubtful],
    )
    reach = np.stack([given - steps.low, steps.high - given])
    if np.isfinite(reach).any():
        p.ax.errorbar(
            steps.ends,
            places,
            xerr=np.maximum(np.nan_to_num(reach), 0),
            fmt="none",
            ecolor=p.ink,
            elinewidth=1.1,
            capsize=2.2,
            capthick=1.1,
        )
    for y, (x, value) in enumerate(zip(steps.ends, given, strict=True)):
        if y:
            p.ax.plot([x, x], [y - 0.69, y - 0.31], color=p.ink, linewidth=0.6, alpha=0.5)
        low, high = _reach(steps, y)
        p.ax.annotate(
            written.signed(float(value)),
            (high if value >= 0 else low, y),
            xytext=(3 if value >= 0 else -3, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
            fontsize=min(p.label_size, p.small_size),
            annotation_clip=False,
            **PLAIN_TEXT,
        )


def _reach(steps: Steps, y: int) -> tuple[float, float]:
    """The ends of a bar together with its whiskers."""
    start, end = float(steps.starts[y]), float(steps.ends[y])
    every = [start, end, start + steps.low[y], start + steps.high[y]]
    known = [one for one in every if np.isfinite(one)]
    return min(known), max(known)


def _ends(p: Page, steps: Steps, what: str) -> None:
    """Where the way begins, and where it ends."""
    style: dict[str, Any] = {"color": p.ink, "linewidth": 0.8, "linestyle": ":", "zorder": 1.5}
    for x in (steps.base, steps.prediction):
        p.ax.axvline(x, alpha=SOFT_OPACITY, **style)
    up = steps.prediction >= steps.base
    for x, text, at_left in (
        (steps.base, f"{what} {number(steps.base)}", up),
        (steps.prediction, f"prediction {number(steps.prediction)}", not up),
    ):
        p.ax.annotate(
            text,
            (x, 1.0),
            xytext=(2 if at_left else -2, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right" if at_left else "left",
            va="bottom",
            fontsize=p.small_size,
            annotation_clip=False,
            **PLAIN_TEXT,
        )


def _limits(p: Page, steps: Steps) -> None:
    """An axis that has all bars and whiskers, and the numbers beside them."""
    every: Array = np.array([_reach(steps, y) for y in range(len(steps.given))])
    low, high = float(every.min()), float(every.max())
    unit = (high - low or 1.0) / max(p.width - 2 * NUMBER_INCHES, 0.3)
    left = NUMBER_INCHES * unit if (steps.given < 0).any() else 0.1 * unit
    right = NUMBER_INCHES * unit if (steps.given >= 0).any() else 0.1 * unit
    p.ax.set_xlim(low - left, high + right)
