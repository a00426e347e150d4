"""Several explanations side by side, as dots."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.posterior import LEVEL
from eagle._values.text import short
from eagle.display.sheet import NOT_SURE
from eagle.errors import InputError
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
    tall,
    whiskers,
    wrap_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX*"
"""One more than there are colours: 56 explanations differ in colour or marker."""


@plot_function
def compare_explanations(
    explanations: Mapping[str, Explanation],
    ax: Axes | None = None,
    *,
    level: float = LEVEL,
    max_display: int = 10,
) -> Axes:
    """The scores of several named explanations: for each a dot with its credible interval.

    Features are matched by name; an explanation without a feature has no dot there. The
    `max_display` features with the largest mean size of scores are drawn, and the others are
    counted. A dot is hollow where its sign is not sure. Warnings of the explanations are written
    below.
    """
    every = _check(explanations)
    names = _strongest(every.values())
    shown = names[: integer(max_display, "max_display", 1)]
    intervals = [e.interval_or_nan(level) for e in every.values()]
    labels = wrap_labels([_label(name, every.values()) for name in shown])
    more = len(names) - len(shown)
    p = page(
        ax, WIDTH, tall(labels, max(0.27, 0.07 + 0.11 * len(every)), more), "compare_explanations"
    )
    for y in range(1, len(shown), 2):
        p.ax.axhspan(y - 0.5, y + 0.5, color=p.ink, alpha=0.05, linewidth=0)
    gap = min(0.24, 0.72 / len(every))
    hollow = False
    for i, (e, interval) in enumerate(zip(every.values(), intervals, strict=True)):
        there = [(y, e.names.index(name)) for y, name in enumerate(shown) if name in e.names]
        rows = np.array([y for y, _ in there], dtype=float) + gap * (i - (len(every) - 1) / 2)
        index = np.array([j for _, j in there], dtype=np.intp)
        doubt = e.doubtful(level)[index]
        hollow |= bool(doubt.any())
        dots(p, i, rows, e.scores[index], interval[index], doubt)
    p.rows(labels, more)
    p.title(_title(every.values()))
    hint = f"; hollow: {NOT_SURE}" if hollow else ""
    p.x_label(meaning(every.values()), *whiskers(every.values(), level, "Lines", hint))
    legend(p, list(every))
    if notes := cautions(every.values()):
        p.note(notes)
    return p.finish()


def _check(explanations: Any) -> dict[str, Explanation]:
    if not isinstance(explanations, Mapping):
        raise InputError(
            "compare_explanations draws explanations by name: give a dictionary such as "
            '{"seed 0": one, "seed 1": other}'
        )
    if not explanations:
        raise InputError("there are no explanations to compare")
    return {name: one(e, "each entry of compare_explanations") for name, e in explanations.items()}


def _strongest(explanations: Iterable[Explanation]) -> list[str]:
    """The names of all features, by decreasing mean size over the explanations that have them."""
    sizes: dict[str, list[float]] = {}
    for e in explanations:
        for name, score in zip(e.names, e.scores, strict=True):
            sizes.setdefault(name, []).append(abs(float(score)))
    return sorted(sizes, key=lambda name: -float(np.mean(sizes[name])))


def _label(name: str, explanations: Iterable[Explanation]) -> str:
    """A feature as `Explanation.labels` has it, where all explanations agree; else by its name."""
    every = {e.labels[e.names.index(name)] for e in explanations if name in e.names}
    return every.pop() if len(every) == 1 else name


def _look(i: int, p: Page) -> tuple[Any, str]:
    return p.colour(i), MARKERS[i % len(MARKERS)]


def dots(
    p: Page, i: int, rows: Array, scores: Array, interval: Array, doubt: NDArray[np.bool_]
) -> None:
    """Draw the i-th explanation: its dots are hollow where there is doubt."""
    colour, marker = _look(i, p)
    p.ax.errorbar(
        scores,
        rows,
        xerr=abs(interval.T - scores),
        fmt="none",
        ecolor=colour,
        elinewidth=1.2,
        zorder=2,
    )
    p.ax.scatter(
        scores,
        rows,
        s=20,
        marker=marker,
        edgecolors=[colour],
        linewidths=1.1,
        zorder=3,
        facecolors=[p.ax.get_facecolor() if u else colour for u in doubt],
    )


def _title(explanations: Collection[Explanation]) -> str:
    """The common title, else the common question, else the number of explanations."""
    titles = {e.title: None for e in explanations}
    targets = {e.target_name: e.difference for e in explanations}
    if len(titles) == 1:
        return next(iter(titles))
    if len(targets) == 1:
        name, what = next(iter(targets.items()))
        return f"Why {name}?" if what is None else f"What changed for {name}?"
    return f"{len(explanations)} explanations"


def legend(p: Page, names: list[str], more: str = "") -> None:
    """Names of what `dots` drew; a last line says that there are more."""
    from matplotlib.lines import Line2D

    keys = []
    for i in range(len(names)):
        colour, marker = _look(i, p)
        keys.append(Line2D([], [], color=colour, marker=marker, markersize=4.5, linewidth=1.2))
    drawn = p.ax.legend(
        keys + ([Line2D([], [], linestyle="none")] if more else []),
        [str(i) for i in range(len(names) + bool(more))],
        loc="upper left",
        bbox_to_anchor=(1.03, 1.0),
        borderaxespad=0.0,
        frameon=False,
        fontsize="small",
    )
    # Written afterwards: a legend leaves out names that begin with an underscore.
    for text, name in zip(drawn.get_texts(), [*names, *filter(None, [more])], strict=True):
        text.set(text=short(str(name), 30), **PLAIN_TEXT)
