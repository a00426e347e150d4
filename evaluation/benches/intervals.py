"""What the interval means, in one figure: docs/pictures/intervals.png, and its numbers.

    python -m evaluation bench intervals [--quick]

Left: one score of one patient, explained many times from different balanced rows, with each run's
90% interval and the score's limit, from 32,769 rows. Right: over instances, seeds and features, the
share of 90% intervals that contain the limit, and their width, against the number of rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, PercentFormatter
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import eagle
from eagle._engine.method import Method
from eagle.surrogates.bayes import BayesLinear
from eagle.surrogates.robust import Robust
from evaluation.benches.figures import PICTURES
from evaluation.benches.honest import (
    BALANCED,
    CONVERGED,
    INDEPENDENT,
    LEVEL,
    Held,
    covered,
    explained,
)
from evaluation.benches.tables import Black, fitted, forest

BLUE, VERMILLION, GREEN, PINK, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
INK, SOFT, BAND = "#333333", "#888888", (0.88, 0.92)
ROWS: Final = (50, 100, 200, 500, 1000, 2000)
ONE: Final = 200
"""Rows of each run in the panel of one score."""


class Kind(NamedTuple):
    """One kind of interval on rows of one design, and its style."""

    name: str
    method: Method
    surrogate: Any
    style: dict[str, Any]


KINDS: Final = (
    Kind(
        "posterior, independent rows", INDEPENDENT, BayesLinear(), {"color": ORANGE, "marker": "s"}
    ),
    Kind("robust, independent rows", INDEPENDENT, Robust(), {"color": BLUE, "marker": "^"}),
    Kind(
        "posterior, balanced rows",
        BALANCED,
        BayesLinear(),
        {"color": PINK, "marker": "D", "linestyle": "--"},
    ),
    Kind(
        "robust, balanced rows",
        BALANCED,
        BALANCED.surrogate,
        {"color": GREEN, "marker": "o", "linewidth": 2.6},
    ),
)

Found = dict[int, list[Held]]


def measured(black: Black, view: str, instances: int, seeds: int, far: int) -> Found:
    """The coverage and width of each kind, for each number of rows."""
    x = black.held[:: len(black.held) // instances][:instances]
    (truth,) = explained(black, view, CONVERGED, far, x, 1)
    out: Found = {}
    print(f"\n{black.name}, {view}: coverage / width", *(k.name for k in KINDS), sep="\n  ")
    for rows in ROWS:
        runs = {m: explained(black, view, m, rows, x, seeds) for m in (INDEPENDENT, BALANCED)}
        out[rows] = [covered(runs[k.method], truth, k.surrogate) for k in KINDS]
        print(f"  {rows:>5}", *(f"{h.share:.2f}/{h.width:.2f}" for h in out[rows]), flush=True)
    return out


def one_score(ax: Axes, black: Black, view: str, runs: int, far: int, names: list[str]) -> None:
    """The interval of each run for the strongest score of one instance, and its limit."""
    x = black.held[:1]
    ((truth,),) = explained(black, view, CONVERGED, far, x, 1)
    j = int(np.abs(truth.scores).argmax())
    limit = truth.scores[j]
    many = [run[0] for run in explained(black, view, BALANCED, ONE, x, runs)]
    missed = [draw(ax, place, e, j, limit) for place, e in enumerate(many)]
    ax.axvline(limit, color=INK, linewidth=1.2, zorder=0)
    ax.set(yticks=[], ylim=(-1.5, runs + 2.5), xlabel=f"score of {names[j]}")
    ax.text(limit, runs + 0.6, "  its limit", color=INK)
    ax.set_title(
        f"One score in {runs} runs of {ONE} rows:\n"
        f"{sum(missed)} of {runs} intervals of {LEVEL:.0%} miss its limit"
    )
    print(f"\n{black.name}, {view}: {sum(missed)} of {runs} runs miss {names[j]} = {limit:.3f}")


def draw(ax: Axes, place: int, e: eagle.Explanation, j: int, limit: float) -> bool:
    """One interval, thick and red if it misses."""
    low, high = e.interval(LEVEL)[j]
    miss = not low <= limit <= high
    colour, width = (VERMILLION, 2.2) if miss else (GREEN, 1.2)
    ax.plot([low, high], [place, place], color=colour, linewidth=width, solid_capstyle="round")
    ax.plot(e.scores[j], place, "o", color=colour, markersize=4 if miss else 3)
    return miss


def curves(hits: Axes, widths: Axes, measured: Found, name: str) -> None:
    """Coverage with its target band, and width, against rows."""
    hits.axhspan(*BAND, color=SOFT, alpha=0.25, linewidth=0)
    hits.axhline(LEVEL, color=SOFT, linewidth=0.8)
    for i, kind in enumerate(KINDS):
        hit, width, _ = np.array([measured[rows][i] for rows in ROWS]).T
        look: dict[str, Any] = {"linewidth": 1.6, "markersize": 5.5, **kind.style}
        hits.plot(ROWS, hit, label=kind.name, zorder=3 + i, clip_on=False, **look)
        widths.plot(ROWS, width, label=kind.name, zorder=3 + i, **look)
    hits.set(ylim=(0.8, 1.0), title=f"{name}:\nintervals of {LEVEL:.0%} that hold the limit")
    hits.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    hits.yaxis.set_major_locator(FixedLocator([0.8, 0.85, 0.9, 0.95, 1.0]))
    widths.set(yscale="log", title="their mean width,\nin units of the largest score")
    widths.yaxis.set_major_locator(FixedLocator([0.05, 0.1, 0.2, 0.5, 1, 2]))
    widths.yaxis.set_major_formatter("{x:g}")
    for ax in (hits, widths):
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(ROWS))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_minor_formatter(NullFormatter())


def page() -> tuple[Figure, Axes, list[tuple[Axes, Axes]]]:
    """A tall panel on the left, and two rows of two panels."""
    mpl.rcParams.update(
        {
            "font.size": 9,
            "axes.titlesize": 9.5,
            "axes.titlelocation": "left",
            "text.color": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": SOFT,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.labelcolor": INK,
        }
    )
    figure = Figure(figsize=(10.6, 6.6), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=[1.0, 1.1, 1.1])
    left = figure.add_subplot(grid[:, 0])
    left.spines["left"].set_visible(False)
    right = [(figure.add_subplot(grid[i, 1]), figure.add_subplot(grid[i, 2])) for i in (0, 1)]
    return figure, left, right


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench intervals", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    instances, seeds, far = (4, 3, 8193) if parser.parse_args(argv).quick else (10, 10, 32_769)
    patients = load_diabetes()
    boosted = fitted(
        "diabetes, boosting",
        GradientBoostingRegressor(random_state=0),
        patients.data,
        patients.target,
    )
    cancer = fitted("cancer, forest", forest(), *load_breast_cancer(return_X_y=True))
    print(f"{instances} instances, {seeds} seeds")
    figure, left, right = page()
    one_score(left, boosted, "continuous", 50, far, patients.feature_names)
    for axes, black, view in zip(right, (boosted, cancer), ("continuous", "binned"), strict=True):
        curves(*axes, measured(black, view, instances, seeds, far), f"{black.name} ({view})")
    for ax in right[1]:
        ax.set_xlabel("rows asked")
    handles, labels = right[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(PICTURES / "intervals.png", dpi=110)
