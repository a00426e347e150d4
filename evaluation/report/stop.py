"""The rows and the agreement of stopping rules, compared with fixed numbers of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from eagle.metrics.stability import jaccard
from eagle.metrics.truth import agreement
from evaluation.measure import ROWS
from evaluation.report import paper
from evaluation.report.page import Page, number, spread
from evaluation.report.records import DEFAULT, Records, mean
from evaluation.report.stability import TOP

FIXED = 500


@final
@dataclass(frozen=True)
class Outcome:
    """A rule on a data set: means over predictions."""

    rule: str
    rows: float
    right: tuple[float, float]
    stable: float
    ended: float
    right_where_ended: float


def outcome(records: Records, problem: str, rule: str) -> Outcome | None:
    """The rows and results of a rule; a fixed number of rows is a rule, too."""
    rows, right, stable, ended, sure = [], [], [], [], []
    for i in records.instances(problem):
        runs = records.runs(problem, DEFAULT, i, until=rule)
        limit = records.limit(problem, DEFAULT, i)
        if not runs or limit is None:
            continue
        scores = np.array([r["scores"] for r in runs])
        there = np.array([r["rows"] < records.budget for r in runs])
        rows.append(float(np.mean([r["rows"] for r in runs])))
        right.append(agreement(scores, limit, TOP))
        stable.append(jaccard(scores, TOP) if len(scores) > 1 else np.nan)
        ended.append(float(there.mean()))
        sure.append(agreement(scores[there], limit, TOP) if there.any() else np.nan)
    if not rows:
        return None
    return Outcome(
        rule,
        float(np.mean(rows)),
        mean(right),
        mean(stable)[0],
        float(np.mean(ended)),
        mean(sure)[0],
    )


def rows_for(level: float, outcomes: list[Outcome]) -> float:
    """The mean number of rows to reach an agreement; NaN outside the measured range.

    Agreement is interpolated linearly in the logarithm of rows.
    """
    known = sorted(outcomes, key=lambda o: o.rows)
    heights = np.maximum.accumulate([o.right[0] for o in known])
    if len(known) < 2 or not heights[0] <= level <= heights[-1]:
        return float("nan")
    at = int(np.searchsorted(heights, level))
    if at == 0 or heights[at] == heights[at - 1]:
        return known[at].rows
    share = (level - heights[at - 1]) / (heights[at] - heights[at - 1])
    low, high = np.log([known[at - 1].rows, known[at].rows])
    return float(np.exp(low + share * (high - low)))


def stopping(records: Records) -> Page:
    """The page of all rules."""
    page = Page("stop", records.experiment.title)
    rules = [str(rule) for rule in records.experiment.sweep["until"]]
    page.say(
        "The default asks growing parts of one plan until a rule is met, corrected for the number "
        f"of looks, or {records.budget:,} rows are spent. `top 5` is `until=Top(5)`: the five "
        "strongest features are right with probability 0.95. `width 0.1` is `until=Width(0.1)`: "
        "every 95% interval is that narrow, in units of probability. `rows 500` asks 500 rows and "
        f"no more. There are {records.predictions()}, {records.experiment.runs} runs each. *Right* "
        f"is the overlap of the {TOP} strongest features with those of its own limit. The *share "
        "that ended* are runs that asked fewer rows than that, also those that ran out of rows "
        "that differ."
    )
    lines, saved = [], []
    for problem in records.problems():
        known = [o for rule in rules if (o := outcome(records, problem, rule)) is not None]
        fixed = [o for o in known if o.rule.startswith(ROWS)]
        widths = [o for o in known if o.rule.startswith("width")]
        for o in known:
            same = float("nan") if o in fixed else rows_for(o.right[0], fixed)
            lines.append(
                [
                    paper.SETS.get(problem, problem),
                    o.rule,
                    number(o.rows, 0),
                    spread(*o.right),
                    number(o.stable),
                    number(o.ended, 2),
                    number(o.right_where_ended),
                    number(same, 0),
                ]
            )
        for o in fixed:
            if o.rule == f"{ROWS} {FIXED}":
                saved.append((problem, o, rows_for(o.right[0], widths)))
    page.table(
        [
            "data set",
            "until",
            "rows",
            "right",
            "stability",
            "share that ended",
            "right where it ended",
            "fixed rows for as much",
        ],
        lines,
    )
    if saved:
        page.say(
            f"## At the agreement of {FIXED} rows\n\nThe rows that `Width` asks in the mean, if "
            f"its width is set so that it agrees as much as a fixed {FIXED}; between the widths "
            "that were run, agreement is taken to go as the logarithm of rows."
        )
        page.table(
            ["data set", f"right at {FIXED} rows", "rows of Width for as much"],
            [[paper.SETS.get(p, p), spread(*o.right), number(rows, 0)] for p, o, rows in saved],
        )
    page.say(_verdict(records, rules, saved))
    return page


def _verdict(records: Records, rules: list[str], saved: list[tuple[str, Outcome, float]]) -> str:
    tops = [
        o
        for p in records.problems()
        for rule in rules
        if rule.startswith("top")
        if (o := outcome(records, p, rule)) is not None
    ]
    sure = [o.right_where_ended for o in tops if np.isfinite(o.right_where_ended)]
    said = (
        f"where `top 5` ends, the overlap is {np.mean(sure):.3f} in the mean over data sets, and "
        f"{min(sure):.3f} at the lowest"
        if sure
        else "`top 5` never ended"
    )
    there = [rows / FIXED for _, _, rows in saved if np.isfinite(rows)]
    if there:
        said += (
            f". For what {FIXED} fixed rows agree, `Width` asks {np.mean(there):.2f} times as many "
            f"in the mean over {len(there)} data sets ({min(there):.2f} to {max(there):.2f})"
        )
    if there and np.mean(there) > 0.95:
        said += ": it saves none. What it gives is that nobody has to know how many rows are enough"
    return (
        f"Verdict: {said}. Ties take rows without end: where two features are "
        "nearly as strong, no number of rows makes a set of five sure, and it says so."
    )
