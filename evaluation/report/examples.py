"""Figure 1, and the supplement's attributions and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eagle._values.ties import rank
from evaluation.report import paper
from evaluation.report.page import Page, number
from evaluation.report.records import Records
from evaluation.report.style import COLOURS, figure
from evaluation.trial import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 10
"""The largest number of features drawn."""


def samples(records: Records) -> Page:
    """The page of figure 1."""
    page = Page("figure1", records.experiment.title)
    page.say(
        "One prediction of a random forest on two moons, and the rows that each method asks about "
        "it, coloured by the forest's answer: the probability of the class that it predicts at the "
        "star. DLIME asks rows of the data themselves, from the binned view."
    )
    page.draw("figure1", _scatter(records), "Where each method asks.")
    rows = []
    for method in records.methods("moons"):
        record = _record(records, method)
        if record is None:
            continue
        at = np.reshape(record["inputs"], (-1, 2))
        away = np.linalg.norm((at - at[0])[1:], axis=1)
        answers = np.array(record["answers"])
        other = float(np.mean(answers < 0.5))
        rows.append(
            [
                method,
                f"{len(at)}",
                number(float(np.median(away)), 2),
                number(float(np.max(away)), 2),
                f"{other:.0%}",
            ]
        )
    page.table(["method", "rows", "median distance", "largest", "beyond the boundary"], rows)
    order = sorted(rows, key=lambda row: float(row[2]))
    page.say(
        f"Verdict: {order[0][0]} stays nearest (half of its rows within {order[0][2]}), "
        f"{order[-1][0]} goes farthest (half beyond {order[-1][2]}). Far rows teach a line most, "
        "if the model is a line that far."
    )
    return page


def _record(records: Records, method: str) -> Record | None:
    runs = records.runs("moons", method, 0, view="continuous")
    return runs[0] if runs else None


def _scatter(records: Records) -> Figure:
    methods = [m for m in records.methods("moons") if _record(records, m) is not None]
    columns = min(5, len(methods))
    rows = -(-len(methods) // columns)
    made, axes = figure(rows, columns, 2.5 * columns + 0.8, 2.5 * rows)
    drawn, corners = None, []
    for ax, method in zip(axes, methods, strict=False):
        record = _record(records, method)
        assert record is not None
        at = np.reshape(np.array(record["inputs"]), (-1, 2))
        corners += [at.min(axis=0), at.max(axis=0)]
        drawn = ax.scatter(
            *at.T,
            c=record["answers"],
            cmap="PuOr",
            vmin=0,
            vmax=1,
            s=9,
            edgecolor="0.35",
            linewidth=0.2,
        )
        ax.plot(*at[0], marker="*", color="#D55E00", markersize=12, markeredgecolor="white")
        ax.set_title(method, fontsize="medium")
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    margin = 0.04 * (high - low)
    for ax in axes[: len(methods)]:  # the same limits for all, wide enough for all rows
        ax.set(
            xlim=(low[0] - margin[0], high[0] + margin[0]),
            ylim=(low[1] - margin[1], high[1] + margin[1]),
        )
    for ax in axes[len(methods) :]:
        ax.set_axis_off()
    if drawn is not None:
        made.colorbar(drawn, ax=axes, shrink=0.7, label="the forest's answer")
    return made


def attributions(records: Records) -> Page:
    """Scores with 90% intervals of the Bayesian methods, one prediction of each problem."""
    page = Page(records.experiment.name, records.experiment.title)
    page.say(
        f"Scores with their 90% intervals, {records.budget} rows, one run. Intervals speak of the "
        "sampling alone, and of a model that is a line nearby; whether they cover is in "
        "[table 1](table1.md)."
    )
    widths = []
    for problem in records.problems():
        for instance in records.instances(problem):
            name = f"{records.experiment.name}-{problem}-{instance}"
            about = f"{paper.SETS.get(problem, problem)}, prediction {instance + 1}"
            page.draw(name, _bars(records, problem, instance), about)
            widths += _widths(records, problem, instance)
    page.table(
        [
            "prediction",
            "method",
            "mean width of the 90% intervals",
            "in units of the largest score",
        ],
        widths,
    )
    means = {
        m: float(np.mean([float(row[3]) for row in widths if row[1] == m]))
        for m in records.experiment.methods
        if any(row[1] == m for row in widths)
    }
    narrow = min(means, key=lambda m: means[m])
    page.say(
        f"Verdict: beside their scores the intervals of {narrow} are the narrowest "
        f"({means[narrow]:.2f} of the largest score, in the mean). A narrow interval is not a sure "
        "one: shrinkage narrows it, too."
    )
    return page


def _widths(records: Records, problem: str, instance: int) -> list[list[str]]:
    rows = []
    for method in records.methods(problem):
        intervals, scores = (
            f(problem, method, instance) for f in (records.intervals, records.scores)
        )
        if intervals is not None and scores is not None:
            wide = float(np.mean(intervals[0, :, 1] - intervals[0, :, 0]))
            rows.append(
                [
                    f"{paper.SETS.get(problem, problem)}, {instance + 1}",
                    method,
                    f"{wide:.4f}",
                    number(wide / float(np.abs(scores).max()), 2),
                ]
            )
    return rows


def _bars(records: Records, problem: str, instance: int) -> Figure:
    """A panel for each method; features are in the order of the first method's sizes."""
    methods = records.methods(problem)
    runs = {m: records.runs(problem, m, instance)[0] for m in methods}
    total = sum(np.abs(np.array(r["scores"])) / np.abs(r["scores"]).max() for r in runs.values())
    order = rank(np.asarray(total))[:MOST]
    names = np.array(next(iter(runs.values()))["names"])[order]
    made, axes = figure(1, len(methods), 2.3 * len(methods) + 2.2, 0.32 * len(order) + 1.1)
    places = np.arange(len(order))[::-1]
    for k, (ax, method) in enumerate(zip(axes, methods, strict=True)):
        r = runs[method]
        scores, low, high = (np.array(r[name])[order] for name in ("scores", "low", "high"))
        ax.barh(places, scores, color=COLOURS[0], alpha=0.35, height=0.7)
        ax.errorbar(
            scores,
            places,
            xerr=[scores - low, high - scores],
            fmt="o",
            markersize=3,
            color="0.15",
            linewidth=1.2,
            capsize=2,
        )
        ax.axvline(0, color="0.3", linewidth=0.8)
        ax.set_title(method, fontsize="medium")
        ax.set_yticks(places, [str(n)[:28] for n in names] if k == 0 else [""] * len(places))
        ax.locator_params(axis="x", nbins=4)
    return made
