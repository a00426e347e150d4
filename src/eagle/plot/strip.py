"""What pushes one prediction up and what pushes it down, as a strip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from eagle._values.checks import integer
from eagle._values.posterior import LEVEL
from eagle._values.text import middle
from eagle.display.colours import DOWN, UP
from eagle.display.numbers import number
from eagle.display.sheet import NOT_SURE, bars_of
from eagle.display.steps import Steps
from eagle.explanation import Explanation
from eagle.plot.bars import HATCH
from eagle.plot.drawing import plot_function
from eagle.plot.page import PLAIN_TEXT, SOFT_OPACITY, Page, cautions, meaning, one, page, pale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES: Final = 7.5
"""The width of a figure of its own."""

MIN_LABELLED_INCHES: Final = 0.42
"""A part of the strip that is narrower has no label."""


@plot_function
def strip(
    explanation: Explanation, ax: Axes | None = None, *, level: float = LEVEL, max_display: int = 12
) -> Axes:
    """One strip: what leads up to the prediction from the left, what leads down from the right.

    The two sides meet at the prediction; a line marks the base value. Each part is as long as its
    feature's contribution, the strongest nearest to the prediction, and its label says the
    contribution and half of the width of its interval. Features not among the `max_display`
    strongest are one part. A part is pale and hatched where its sign is not sure.
    """
    e = one(explanation, "strip")
    steps = Steps.of(e, integer(max_display, "max_display", 1), level)
    labels = [bar.full_label for bar in bars_of(e, level)[: len(steps.order)]]
    labels += [f"{steps.others} others"] if steps.others else []
    p = page(ax, INCHES, 1.7, "strip")
    ends = [_side(p, steps, up) for up in (True, False)]
    low, high = min(ends[0], steps.base), max(ends[1], steps.base)
    rim = 0.02 * (high - low) or 0.5
    p.ax.set_xlim(low - rim, high + rim)
    _labels(p, steps, labels)
    start, at_right = "average" if e.additive else "start", steps.prediction >= steps.base
    for x, what, main in (
        (steps.prediction, f"prediction {number(steps.prediction)}", True),
        (steps.base, f"{start} {number(steps.base)}", False),
    ):
        p.ax.plot([x, x], [-0.75, 0.75], color=p.ink, linewidth=1.4 if main else 0.9, zorder=3)
        p.ax.annotate(
            what,
            (x, 0.75),
            xytext=(-2 if main == at_right else 2, 3),
            textcoords="offset points",
            ha="left" if main == at_right else "right",
            va="bottom",
            fontsize=p.small_size,
            weight="bold" if main else "normal",
            annotation_clip=False,
            **PLAIN_TEXT,
        )
    p.ax.set_ylim(-3.2, 1.5)
    p.ax.set_yticks([])
    p.ax.spines[["left", "top", "right"]].set_visible(False)
    p.title(e.title)
    doubt = f"Hatched: {NOT_SURE}. " if steps.doubtful.any() else ""
    p.x_label(meaning([e]), f"{doubt}Blue leads up, vermillion down")
    if notes := cautions([e]):
        p.note(notes)
    return p.finish()


def _spans(steps: Steps, up: bool) -> list[tuple[int, float, float]]:
    """The parts of one side, from the prediction outwards: place, left end, width."""
    out, at = [], steps.prediction
    for k in np.argsort(-np.abs(steps.given), kind="stable").tolist():
        value = float(steps.given[k])
        if value and (value > 0) == up:
            out.append((k, at - value if up else at, abs(value)))
            at -= value
    return out


def _side(p: Page, steps: Steps, up: bool) -> float:
    """Draw one side of the strip, and return where it ends."""
    colour, end = UP if up else DOWN, steps.prediction
    for k, left, width in _spans(steps, up):
        doubt = bool(steps.doubtful[k])
        p.ax.barh(
            0,
            width,
            left=left,
            height=1.0,
            color=pale(colour) if doubt else colour,
            edgecolor=colour if doubt else p.ax.get_facecolor(),
            hatch=HATCH if doubt else "",
            linewidth=0.8,
        )
        end = left if up else left + width
    return end


def _labels(p: Page, steps: Steps, labels: list[str]) -> None:
    """Name the parts that are wide enough, slanting down from their middle."""
    low, high = p.ax.get_xlim()
    written = steps.numbers
    for up in (True, False):
        for k, left, width in _spans(steps, up):
            if width / (high - low) * p.width < MIN_LABELLED_INCHES:
                continue
            half = (steps.high[k] - steps.low[k]) / 2
            said = written.signed(float(steps.given[k]))
            said += f" ± {written.plain(float(half))}" if np.isfinite(half) else ""
            p.ax.annotate(
                f"{middle(labels[k], 26)}\n{said}",
                (left + width / 2, -0.55),
                xytext=(0, -3),
                textcoords="offset points",
                ha="right",
                va="top",
                rotation=28,
                rotation_mode="anchor",
                fontsize="x-small",
                alpha=1.0 if not steps.doubtful[k] else SOFT_OPACITY,
                annotation_clip=False,
                **PLAIN_TEXT,
            )
