"""Which method is the default."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from eagle.metrics.truth import agreement
from evaluation.measure import budgets
from evaluation.report import paper
from evaluation.report.page import Page, bold, number, spread
from evaluation.report.records import BALANCED, DEFAULT, PRINTED, SPOKEN, Records, mean
from evaluation.report.stability import TOP, Row, row

LIME = "LIME"
COLUMNS = ("to_lime", "stability", "error", "covered", "covered_top", "wide")
TUNED = ("compas", "german", "adult", "magic")
"""Data sets used while designs and intervals were developed."""

LEAST, MOST = 0.88, 0.92
"""A 90% interval that covers less, or more, is named."""


def default(records: Records) -> Page:
    """The page that compares candidates for the default."""
    page = Page("default", records.experiment.title)
    page.say(
        f"Each candidate explains {records.predictions()} from {records.budget} rows, "
        f"{records.experiment.runs} times each (left alone, the default would ask 20 rows a column "
        f"where that is more). *Agreement* is the overlap of its {TOP} strongest "
        "features with those of LIME's limit, *stability* that between its own runs, *error* the "
        "distance from its own limit, *covers* how often its 90% intervals hold its own limit, "
        f"over all features and over the {TOP} strongest. "
        "The tables " + ", ".join(paper.SETS.get(p, p) for p in TUNED) + " were looked at while "
        "designs and intervals were made; the others were not, and have other black boxes: "
        "networks, logistic regression, gradient boosting, a support vector machine."
    )
    table: dict[tuple[str, str], Row] = {}
    for problem in records.problems():
        lines = []
        for method in records.methods(problem):
            r = row(records, problem, method)
            if np.isfinite(r.stability[0]):
                table[problem, method] = r
                lines.append(r)
        if lines:
            _section(page, problem, lines, records.experiment.metrics)
    _means(page, records, table)
    _soon(page, records)
    page.say(_verdict(records, table))
    return page


def _section(page: Page, problem: str, rows: list[Row], metrics: Sequence[str]) -> None:
    best = {
        name: max(
            (getattr(r, name)[0] for r in rows if np.isfinite(getattr(r, name)[0])), default=np.nan
        )
        for name in ("to_lime", "stability")
    }
    page.say(f"## {paper.SETS.get(problem, problem)}")
    columns: list[tuple[str, str, list[str]]] = [
        ("", "method", [r.method for r in rows]),
        (
            "agreement",
            "agreement",
            [bold(spread(*r.to_lime), r.to_lime[0] == best["to_lime"]) for r in rows],
        ),
        (
            "stability",
            "stability",
            [bold(spread(*r.stability), r.stability[0] == best["stability"]) for r in rows],
        ),
        ("error", "error", [number(r.error[0], 2) for r in rows]),
        ("coverage", "covers", [spread(*r.covered, 2) for r in rows]),
        ("coverage", f"covers top {TOP}", [number(r.covered_top[0], 2) for r in rows]),
        ("width", "width", [number(r.wide[0], 2) for r in rows]),
        ("rows", "rows", [f"{r.rows:.0f}" for r in rows]),
        ("calls", "calls", [f"{r.calls:.0f}" for r in rows]),
    ]
    page.columns(columns, metrics)


def _means(page: Page, records: Records, table: dict[tuple[str, str], Row]) -> None:
    page.say("## Means over data sets")
    lines = []
    for label, some in (
        ("all", records.problems()),
        ("not looked at", [p for p in records.problems() if p not in TUNED]),
    ):
        for method in records.experiment.methods:
            rows = [table[p, method] for p in some if (p, method) in table]
            if rows:
                cells = [mean([getattr(r, name)[0] for r in rows])[0] for name in COLUMNS]
                lines.append([label, method, *[number(c, 3) for c in cells]])
    page.table(
        [
            "data sets",
            "method",
            "agreement",
            "stability",
            "error",
            "covers",
            f"covers top {TOP}",
            "width",
        ],
        lines,
    )


@cache
def reach(records: Records, problem: str) -> tuple[float, float]:
    """The agreement of paper-mode EAGLE at full budget, and the default's rows that reach it."""
    printed, curve = [], []
    for i in records.instances(problem):
        truth = records.converged(problem, i)
        theirs = records.scores(problem, PRINTED, i)
        grown = records.grown(problem, DEFAULT, i, "ranks")
        if truth is None or theirs is None or grown is None:
            continue
        printed.append(agreement(theirs, truth, TOP))
        curve.append([agreement(runs, truth, TOP) for runs in grown])
    if not curve:
        return float("nan"), float("nan")
    long = max(
        map(len, curve)
    )  # a short text has few masks; its curve is extended by its last value
    heights = np.mean([c + c[-1:] * (long - len(c)) for c in curve], axis=0)
    level = float(np.mean(printed))
    there = np.flatnonzero(heights >= level)
    return level, float(budgets(records.budget)[there[0]]) if len(there) else float("nan")


def _soon(page: Page, records: Records) -> None:
    lines = []
    for problem in records.problems():
        level, rows = reach(records, problem)
        if np.isfinite(level):
            lines.append([paper.SETS.get(problem, problem), number(level), number(rows, 0)])
    page.say(
        f"## Rows for what EAGLE as printed agrees at {records.budget}\n\nThe first length of the "
        "default's plan at which the mean agreement with LIME's limit is as high."
    )
    page.table(["data set", "agreement of EAGLE as printed", f"rows of {SPOKEN[DEFAULT]}"], lines)


def _verdict(records: Records, table: dict[tuple[str, str], Row]) -> str:
    def over(method: str, name: str) -> float:
        values = [
            getattr(table[p, method], name)[0] for p in records.problems() if (p, method) in table
        ]
        return mean(values)[0]

    rivals = (LIME, PRINTED, BALANCED)
    gains = [over(DEFAULT, "to_lime") - over(m, "to_lime") for m in rivals]
    there = [p for p in records.problems() if (p, DEFAULT) in table]
    beaten = [
        paper.SETS[p]
        for p in there
        if (value := paper.stability(PRINTED, p)) is not None
        and table[p, DEFAULT].stability[0] > value
    ]
    asked = [p for p in there if p in paper.SETS]
    rows = [rows for level, rows in (reach(records, p) for p in there) if np.isfinite(level)]
    soon = sum(r <= 200 for r in rows)  # NaN where it never agrees as much
    return (
        f"Verdict: over all data sets the agreement of the default is {gains[0]:+.3f} beside "
        f"LIME, {gains[1]:+.3f} beside EAGLE as printed and {gains[2]:+.3f} beside balanced rows "
        f"under the kernel's own law. {_lost(records, table)} Its "
        f"stability is above the paper's row of EAGLE on {len(beaten)} of {len(asked)} of its "
        f"data sets ({', '.join(beaten) or 'none'}). What EAGLE as printed agrees at "
        f"{records.budget} rows, it agrees within 200 on {soon} of {len(rows)}. {_held(table)}"
    )


def _lost(records: Records, table: dict[tuple[str, str], Row]) -> str:
    """Where another method agrees more than the default, in words."""
    lost, there = [], [p for p in records.problems() if (p, DEFAULT) in table]
    there = [p for p in there if np.isfinite(table[p, DEFAULT].to_lime[0])]
    for p in there:
        rows = [table[p, m] for m in records.experiment.methods if (p, m) in table]
        best = max(rows, key=lambda r: np.nan_to_num(r.to_lime[0], nan=-1.0))
        own = table[p, DEFAULT]
        if best.to_lime[0] > own.to_lime[0]:
            name, rival = paper.SETS.get(p, p), SPOKEN.get(best.method, best.method)
            lost.append(f"{name} ({rival} {best.to_lime[0]:.3f} to {own.to_lime[0]:.3f})")
    if not lost:
        return "No other method agrees more on any data set."
    return (
        f"It agrees most on {len(there) - len(lost)} of {len(there)}, and loses on "
        f"{', '.join(lost)}."
    )


def _held(table: dict[tuple[str, str], Row]) -> str:
    """Where the default's intervals do not hold what they say, in words."""
    out: list[str] = []
    near: list[str] = []
    for (p, method), r in table.items():
        covered, error = r.covered
        if method == DEFAULT and np.isfinite(covered) and not LEAST <= round(covered, 2) <= MOST:
            within = LEAST - 2 * error <= covered <= MOST + 2 * error
            (near if within else out).append(
                f"{paper.SETS.get(p, p)} ({spread(covered, error, 2)})"
            )
    return (
        "Its 90% intervals cover 88% to 92% "
        + (f"but on {', '.join((*out, *near))}" if (out or near) else "everywhere")
        + (f", of which {', '.join(near)} within two standard errors." if near else ".")
    )
