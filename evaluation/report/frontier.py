"""Stability against agreement and against rows, for priors of several strengths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, final

import numpy as np

from eagle.metrics.stability import chance, jaccard
from eagle.metrics.truth import agreement, relative_error
from evaluation.measure import PRIORS
from evaluation.report import paper
from evaluation.report.page import Page, number, spread
from evaluation.report.records import BALANCED, PRINTED, Records, mean
from evaluation.report.stability import TOP, covered
from evaluation.report.style import COLOURS, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = 1.0
"""The prior of balanced rows."""


@final
@dataclass(frozen=True)
class Spot:
    """A prior and a number of rows on a data set: means over predictions."""

    prior: float
    rows: int
    stable: tuple[float, float]
    right: tuple[float, float]
    error: float
    covered: float


@cache
def spots(records: Records, problem: str, rows: int) -> tuple[Spot, ...]:
    """All priors, weakest first, fitted to the same answers."""
    table: dict[float, list[tuple[float, float, float, float]]] = {}
    for i in records.instances(problem):
        runs = records.runs(problem, BALANCED, i, rows)
        limit = records.limit(problem, BALANCED, i)
        if len(runs) < 2 or limit is None:
            continue
        names = ("prior_scores", "prior_low", "prior_high")
        fits = np.array([[np.reshape(r[n], (len(PRIORS), -1)) for n in names] for r in runs])
        for k, prior in enumerate(PRIORS):
            scores, intervals = fits[:, 0, k], np.moveaxis(fits[:, 1:, k], 1, -1)
            table.setdefault(prior, []).append(
                (
                    jaccard(scores, TOP),
                    agreement(scores, limit, TOP),
                    relative_error(scores, limit),
                    covered(intervals, limit),
                )
            )
    out = []
    for prior, values in table.items():
        stable, right, error, held = (mean(list(column)) for column in zip(*values, strict=True))
        out.append(Spot(prior, rows, stable, right, error[0], held[0]))
    return tuple(out)


def frontier(records: Records) -> Page:
    """The page."""
    page = Page("frontier", records.experiment.title)
    page.say(
        "Could balanced rows be as stable as the paper says EAGLE is? The same answers to them "
        f"are fitted with priors of other strength (λ; `EAGLE_BALANCED` has {OURS:g}), and more "
        f"rows are asked. There are {records.predictions()}, {records.experiment.runs} runs each. "
        f"*Right* is the overlap of the {TOP} strongest features with those of the method's own "
        "limit, which is "
        "LIME's; *error* the relative distance from it, *covers* how often 90% intervals hold it. "
        "A prior is bias: it makes runs alike whatever the answers."
    )
    page.draw(
        "frontier",
        drawn(records),
        "Stability against agreement as λ grows (dots from light to dark); squares: "
        "λ = 1, as it is. Dashed: the stability that the paper has for EAGLE.",
    )
    lines, said = [], []
    for problem in records.problems():
        name, bar = paper.SETS.get(problem, problem), paper.stability(PRINTED, problem)
        for rows in records.experiment.budgets:
            for s in spots(records, problem, rows):
                lines.append(
                    [
                        name,
                        number(bar),
                        str(rows),
                        f"{s.prior:g}",
                        spread(*s.stable),
                        spread(*s.right),
                        number(s.error, 2),
                        number(s.covered, 2),
                    ]
                )
        said.append(_said(records, problem, name, bar))
    page.table(
        ["data set", "paper's EAGLE", "rows", "λ", "stability", "right", "error", "covers"], lines
    )
    page.say("Verdict: " + " ".join((*filter(None, said), _best(records), WHY)))
    return page


def _best(records: Records) -> str:
    """The prior that agrees most, for each data set."""
    few = min(records.experiment.budgets)
    best = {
        paper.SETS.get(p, p): max(known, key=lambda s: s.right[0]).prior
        for p in records.problems()
        if (known := spots(records, p, few))
    }
    said = f"At {few} rows agreement is highest at " + ", ".join(
        f"λ = {prior:g} on {name}" for name, prior in best.items()
    )
    return said + (": no one prior serves all." if len(set(best.values())) > 1 else ".")


WHY = (
    "A prior is no way to what is right, and from some strength on intervals do not cover. What is "
    "left of instability at λ = 1 is ties: the fifth and the sixth feature are nearly as "
    "strong, so that the smallest error swaps them, and only more rows make the error smaller."
)


def _said(records: Records, problem: str, name: str, bar: float | None) -> str:
    if bar is None:
        return ""
    few = min(records.experiment.budgets)
    by = {s.prior: s for s in spots(records, problem, few)}
    own = by.get(OURS)
    if own is None:
        return ""
    gap = own.stable[0] - bar
    error = own.stable[1]
    if gap > 0:
        return f"{name}: {own.stable[0]:.3f} for the paper's {bar:.3f}, above."
    near = np.isfinite(error) and -gap <= 2 * error
    text = f"{name}: {own.stable[0]:.3f} for {bar:.3f}"
    text += ", within two standard errors" if near else ""
    stronger = [s for p, s in by.items() if p > OURS and s.stable[0] > bar]
    if stronger:
        s = min(stronger, key=lambda s: s.prior)
        text += (
            f"; λ = {s.prior:g} is above, with an error of {s.error:.2f} in place of "
            f"{own.error:.2f} and intervals that hold {s.covered:.0%}"
        )
    else:
        text += "; no λ is above"
    more = [
        s
        for rows in sorted(records.experiment.budgets)
        for s in spots(records, problem, rows)
        if rows > few and s.prior == OURS and s.stable[0] > bar
    ]
    return text + (f"; {more[0].rows:,} rows are." if more else "; more rows are not, either.")


def drawn(records: Records) -> Figure:
    """A panel for each data set."""
    problems = records.problems()
    made, axes = figure(1, len(problems), 2.9 * len(problems), 3.2)
    for ax, problem in zip(axes, problems, strict=True):
        for k, rows in enumerate(sorted(records.experiment.budgets)):
            path = spots(records, problem, rows)
            x, y = ([getattr(s, name)[0] for s in path] for name in ("stable", "right"))
            ax.plot(x, y, color=COLOURS[k], linewidth=1, zorder=2, label=f"{rows:,} rows")
            for s, a, b in zip(path, x, y, strict=True):
                shade = 0.25 + 0.75 * path.index(s) / max(len(path) - 1, 1)
                ax.plot(
                    a,
                    b,
                    "s" if s.prior == OURS else "o",
                    color=COLOURS[k],
                    alpha=shade,
                    markersize=8 if s.prior == OURS else 5,
                    zorder=3,
                )
        bar = paper.stability(PRINTED, problem)
        if bar is not None:
            ax.axvline(bar, color="0.4", linestyle="--", linewidth=1)
        d = [r["d"] for r in records.each if r["problem"] == problem]
        luck = float(np.mean([chance(int(k), TOP) for k in d]))
        ax.set_title(f"{paper.SETS.get(problem, problem)} (chance {luck:.2f})", fontsize="medium")
        ax.set_xlabel("stability", fontsize="small")
    axes[0].set_ylabel("agreement with the limit", fontsize="small")
    axes[0].legend(frameon=False, fontsize="small", loc="best")
    return made
