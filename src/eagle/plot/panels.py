"""Several methods on one prediction, one panel for each, since their units differ."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle._values.checks import integer
from eagle._values.packages import package
from eagle._values.posterior import LEVEL
from eagle._values.text import short, short_repr
from eagle.comparison import Compared, Comparison
from eagle.display.numbers import at_level, count, share
from eagle.errors import InputError
from eagle.plot.drawing import plot_function
from eagle.plot.page import (
    PLAIN_TEXT,
    SOFT_OPACITY,
    cautions,
    pale,
    plain_ticks,
    sides,
    wrap_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS_PER_ROW = 5
"""Panels in a row."""


@plot_function
def compare_methods(
    comparison: Comparison, *, level: float = LEVEL, max_display: int = 10
) -> NDArray[np.object_]:
    """A panel for each method: its scores as bars, with intervals where it has them.

    Dots are the scores of all runs: where they scatter, the method is not stable. A bar is pale
    where its sign is not sure. Below each name are its stability over runs and its rows.
    Warnings are written below all.
    The axes are returned, one for each method.
    """
    plt = package("matplotlib.pyplot", "compare_methods", "plot")
    if not isinstance(comparison, Comparison):
        raise InputError(f"compare_methods draws a Comparison, not {short_repr(comparison)}")
    order = comparison.order()[: integer(max_display, "max_display", 1)]
    count = len(comparison.methods)
    wide, high = min(count, PANELS_PER_ROW), -(-count // PANELS_PER_ROW)
    tall = 0.27 * len(order) + 1.1
    labels = wrap_labels(comparison.labels[j] for j in order)
    figure, axes = plt.subplots(
        high,
        wide,
        sharey=True,
        squeeze=False,
        layout="constrained",
        figsize=(1.6 + 1.75 * wide, tall * high + 0.7),
    )
    drawn = axes.ravel()[:count]
    for ax, compared in zip(drawn, comparison.methods, strict=True):
        _panel(ax, compared, order, level)
    for ax in axes.ravel()[count:]:
        ax.set_visible(False)
    for ax in axes[:, 0]:
        ax.set_yticks(range(len(order)), labels, **PLAIN_TEXT)
        ax.set_ylim(len(order) - 0.5, -0.5)
    figure.suptitle(
        comparison.title, x=0.01, ha="left", fontsize="medium", weight="bold", **PLAIN_TEXT
    )
    said = [_note(comparison, level), *(_wrap(w, 11 * wide + 12) for w in _warnings(comparison))]
    figure.supxlabel(
        "\n".join(said), x=0.01, ha="left", fontsize="small", alpha=SOFT_OPACITY, **PLAIN_TEXT
    )
    lines = sum(line.count("\n") + 1 for line in said) - 2
    figure.set_figheight(figure.get_figheight() + 0.17 * lines)
    return np.asarray(drawn)


def _panel(ax: Axes, compared: Compared, order: list[int], level: float) -> None:
    e = compared.first
    scores, interval = e.scores[order], e.interval_or_nan(level)[order]
    rows, ink = np.arange(len(order)), ax.yaxis.label.get_color()
    colours = sides(e, scores)
    filled = [pale(c) if u else c for c, u in zip(colours, e.doubtful(level)[order], strict=True)]
    ax.barh(rows, scores, height=0.62, color=filled, edgecolor=colours, linewidth=0.6)
    if e.posterior is not None:
        reach = np.maximum(np.abs(interval.T - scores), 0.0)
        ax.errorbar(scores, rows, xerr=reach, fmt="none", ecolor=ink, elinewidth=1.0, capsize=1.8)
    if len(compared.runs) > 1:
        every: Any = np.array([run.scores[order] for run in compared.runs])
        ax.plot(every.T, rows, ".", color=ink, markersize=3, alpha=0.55)
    ax.axvline(0, color=ink, linewidth=0.7)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize="x-small")
    ax.locator_params(axis="x", nbins=3)
    plain_ticks(ax.xaxis)
    ax.set_title(short(compared.method, 26), loc="left", fontsize="small", pad=26, **PLAIN_TEXT)
    ax.annotate(
        _facts(compared),
        (0, 1),
        xytext=(0, 3),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize="x-small",
        alpha=SOFT_OPACITY,
    )


def _warnings(comparison: Comparison) -> list[str]:
    """The warnings of the methods' first runs, each once, with the methods that it is about."""
    told: dict[str, list[str]] = {}
    for compared in comparison.methods:
        for warning in cautions([compared.first]):
            told.setdefault(warning, []).append(short(compared.method, 26))
    whole = len(comparison.methods)
    return [
        short(w if len(which) == whole else f"{', '.join(which)}: {w}", 400)
        for w, which in told.items()
    ]


def _wrap(line: str, width: int) -> str:
    return "\n".join(wrap(line, width))


def _facts(compared: Compared) -> str:
    known = [f"{count(compared.rows)} rows"]
    if not np.isnan(compared.stability):
        known.append(f"stable {share(compared.stability)}")
    if not np.isnan(compared.agreement):
        known.append(f"agrees {share(compared.agreement)}")
    return f"{known[0]}\n{', '.join(known[1:])}"


def _note(comparison: Comparison, level: float) -> str:
    dots = "Dots: scores of all runs. " if len(comparison.methods[0].runs) > 1 else ""
    right = (
        ""
        if comparison.converged is None
        else (f"; agrees: the same with LIME's from {count(comparison.converged.cost.rows)} rows")
    )
    return (
        f"{dots}Whiskers: {at_level(level)} intervals, where a method has them.\n"
        f"Stable: overlap of the {comparison.k} strongest features between runs "
        f"(chance {share(comparison.chance)}){right}. Each panel has its own units."
    )
