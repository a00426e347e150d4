"""Table 1: stability with its chance level, agreement and coverage."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.ties import rank
from eagle.metrics.stability import chance, jaccard
from eagle.metrics.truth import agreement, coverage, relative_error, width
from evaluation.consistency import consistency
from evaluation.report import paper
from evaluation.report.page import Page, bold, listed, number, spread
from evaluation.report.records import DEFAULT, SPOKEN, Records, mean
from evaluation.report.style import COLOURS, MARKERS, figure, shared_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAN = float("nan")
TOP = 5


@final
@dataclass(frozen=True)
class Row:
    """A method on a data set: means over predictions with their standard errors."""

    method: str
    stability: tuple[float, float]
    to_lime: tuple[float, float]
    to_own: tuple[float, float]
    error: tuple[float, float]
    covered: tuple[float, float]
    covered_top: tuple[float, float]
    covered_lime: tuple[float, float]
    wide: tuple[float, float]
    consistent: tuple[float, float]
    fits: tuple[float, float]
    rows: float
    calls: float


@cache
def row(records: Records, problem: str, method: str) -> Row:
    """All figures of a method on a data set."""
    columns: dict[str, list[float]] = {}
    for instance in records.instances(problem):
        scores = records.scores(problem, method, instance)
        if scores is None or len(scores) < 2:
            continue
        for name, value in _figures(records, problem, method, instance, scores).items():
            columns.setdefault(name, []).append(value)
    means = {name: mean(values) for name, values in columns.items()}
    if not means:
        nothing = dict.fromkeys([f.name for f in fields(Row)[1:-2]], (NAN, NAN))
        return Row(method, rows=NAN, calls=NAN, **nothing)
    rows, calls = (means.pop(name, (NAN, NAN))[0] for name in ("rows", "calls"))
    return Row(method, rows=rows, calls=calls, **means)


def _figures(
    records: Records, problem: str, method: str, instance: int, scores: Array
) -> dict[str, float]:
    lime, own = records.converged(problem, instance), records.limit(problem, method, instance)
    intervals = records.intervals(problem, method, instance)
    runs = records.runs(problem, method, instance)
    several, largest = len(scores) > 1, None if own is None else float(np.abs(own).max())
    held = [r.get("r2_held_out", NAN) for r in runs]
    if intervals is not None and not np.isfinite(intervals).all():
        intervals = None
    return {
        "stability": jaccard(scores, TOP) if several else NAN,
        "to_lime": NAN if lime is None else agreement(scores, lime, TOP),
        "to_own": NAN if own is None else agreement(scores, own, TOP),
        "error": NAN if own is None else relative_error(scores, own),
        "covered": covered(intervals, own),
        "covered_top": covered(intervals, own, TOP),
        "covered_lime": covered(intervals, lime),
        "wide": float(width(intervals).mean() / largest)
        if intervals is not None and largest
        else NAN,
        "consistent": consistency(scores) if several and runs[0]["signed"] else NAN,
        "fits": float(np.mean(held)),
        "rows": float(np.mean([r["rows"] for r in runs])),
        "calls": float(np.mean([r["calls"] for r in runs])),
    }


def covered(intervals: Array | None, reference: Array | None, top: int | None = None) -> float:
    """The share of intervals that contain the reference, of all features or of its strongest.

    Features that never moved are left out: their score is 0 without uncertainty.
    """
    if intervals is None or reference is None:
        return NAN
    moved = np.asarray((intervals[..., 1] > intervals[..., 0]).any(axis=0))
    order = rank(np.abs(reference))
    order = order[moved[order]][:top]
    return float(coverage(intervals, reference)[order].mean()) if len(order) else NAN


def stability(records: Records) -> Page:
    """The page of table 1."""
    page = Page("table1", records.experiment.title)
    page.say(
        f"Each method explains the same predictions {records.experiment.runs} times with seeds and "
        f"plans of its own, from {records.budget} rows ({_slower(records)}). *Stability* is the "
        f"mean Jaccard similarity of the {TOP} strongest features between runs, *chance* what "
        f"{TOP} random features would have. *LIME's* is the same similarity with what LIME "
        f"converges to ({records.experiment.references:,} independent rows, free intercept), *own* "
        "with what the method itself converges to, *error* the relative distance from its own "
        "limit. *Covers* is how often its 90% intervals hold its own limit, and LIME's; *width* is "
        "theirs, in units of the largest score. *CCM* is (1 − sign entropy) × rank similarity over "
        "different runs. ± is a standard error over predictions; a dash is what does not exist, or "
        "was not run."
    )
    for problem in records.problems():
        _section(page, records, problem)
    _summary(page, records)
    page.draw(
        "truth",
        cloud(records),
        "Stability against agreement with LIME's limit, both above chance, one dot for each method "
        "and data set. To the right of the line, stability is higher than agreement.",
    )
    return page


def _slower(records: Records) -> str:
    slow = records.experiment.slower
    few = {m: n for m, n in records.experiment.fewer.items() if m in records.experiment.methods}
    said = [f"{m} from {n}" for m, n in slow.items()]
    said += [f"{m} on the first {n} predictions" for m, n in few.items()]
    return listed(said) if said else "all of them"


def _section(page: Page, records: Records, problem: str) -> None:
    rows = [row(records, problem, m) for m in records.methods(problem)]
    rows = [r for r in rows if np.isfinite(r.stability[0])]
    if not rows:
        return
    d = [r["d"] for r in records.each if r["problem"] == problem and "d" in r]
    size = f"d = {min(d)}" if min(d) == max(d) else f"d from {min(d)} to {max(d)}"
    luck = float(np.mean([chance(k, TOP) for k in d]))
    name = paper.SETS.get(problem, problem)
    predictions = len(records.instances(problem))
    page.say(f"## {name}\n\n{size}, {predictions} predictions, chance {luck:.3f}.")
    if fewer := _fewer(records, problem, [r.method for r in rows]):
        page.say(fewer)
    best, right = (
        max(r.stability[0] for r in rows),
        max((r.to_lime[0] for r in rows if np.isfinite(r.to_lime[0])), default=NAN),
    )
    columns: list[tuple[str, str, list[str]]] = [
        ("", "method", [r.method for r in rows]),
        ("", "paper", [number(paper.stability(r.method, problem)) for r in rows]),
        (
            "stability",
            "stability",
            [bold(spread(*r.stability), r.stability[0] == best) for r in rows],
        ),
        ("agreement", "LIME's", [bold(spread(*r.to_lime), r.to_lime[0] == right) for r in rows]),
        ("agreement", "own", [spread(*r.to_own) for r in rows]),
        ("error", "error", [number(r.error[0], 2) for r in rows]),
        ("coverage", "covers own", [number(r.covered[0], 2) for r in rows]),
        ("coverage", "covers LIME's", [number(r.covered_lime[0], 2) for r in rows]),
        ("width", "width", [number(r.wide[0], 2) for r in rows]),
        ("consistency", "CCM", [number(r.consistent[0], 2) for r in rows]),
        ("fit", "R² held out", [_fit(r.fits[0]) for r in rows]),
        ("rows", "rows", [f"{r.rows:.0f}" for r in rows]),
        ("calls", "calls", [f"{r.calls:.0f}" for r in rows]),
    ]
    page.columns(columns, records.experiment.metrics)
    page.say(verdict(rows, problem, name))


def _fewer(records: Records, problem: str, methods: list[str]) -> str:
    """What was run on fewer predictions, or fewer times, than the others, as a sentence."""
    instances = records.instances(problem)
    planned = records.experiment.runs
    told = []
    for method in methods:
        runs = [records.scores(problem, method, i) for i in instances]
        times = [len(r) for r in runs if r is not None and len(r) > 1]
        if len(times) < len(instances) or min(times) < planned:
            often = f"{min(times)}" if min(times) == max(times) else f"{min(times)} to {max(times)}"
            told.append(f"{method}: {len(times)} predictions, {often} runs")
    limits = sum(records.converged(problem, i) is not None for i in instances)
    if 0 < limits < len(instances):
        told.append(f"LIME's limit: {limits} predictions")
    return f"Not all was run. {'; '.join(told)}." if told else ""


def _fit(r2: float) -> str:
    return "< −1" if r2 < -1 else number(r2, 2)


def verdict(rows: list[Row], problem: str, name: str) -> str:
    """Sentences about the table."""
    by = {r.method: r for r in rows}
    most = max(rows, key=lambda r: r.stability[0])
    stable = SPOKEN.get(most.method, most.method)
    said = [f"Verdict: the most stable here is {stable} ({most.stability[0]:.3f})"]
    judged = [r for r in rows if np.isfinite(r.to_lime[0])]
    if judged:
        right = max(judged, key=lambda r: r.to_lime[0])
        nearest = SPOKEN.get(right.method, right.method)
        said[0] += f", the nearest to LIME's limit {nearest} ({right.to_lime[0]:.3f})"
    printed = by.get("EAGLE (paper)")
    published = paper.stability("EAGLE (paper)", problem)
    if printed is not None and published is not None:
        apart = printed.stability[0] - published
        error = printed.stability[1]
        same = np.isfinite(error) and abs(apart) <= 2 * error
        how = (
            "within two standard errors of"
            if same
            else f"{abs(apart):.3f} {'above' if apart > 0 else 'below'}"
        )
        said.append(
            f"EAGLE as printed has {printed.stability[0]:.3f}, {how} the paper's {published:.3f}"
        )
        if np.isfinite(printed.to_lime[0]):
            said.append(
                f"its agreement with LIME's limit is {printed.to_lime[0]:.3f}, "
                f"{'less' if printed.to_lime[0] < printed.stability[0] else 'no less'} than its "
                "stability"
            )
    far = [
        f"{r.method} ({r.stability[0]:.2f} for {value:.2f})"
        for r in rows
        if (value := paper.stability(r.method, problem)) is not None
        and r.method != "EAGLE (paper)"
        and abs(r.stability[0] - value) > max(0.1, 2 * _zero(r.stability[1]))
    ]
    if far:
        said.append(f"more than 0.1 from the paper: {listed(far)}")
    return "; ".join(said) + "."


def _zero(value: float) -> float:
    return value if np.isfinite(value) else 0.0


def _summary(page: Page, records: Records) -> None:
    """Means over all data sets that a method was run on."""
    names = list(dict.fromkeys(m for p in records.problems() for m in records.methods(p)))
    lines = []
    for method in names:
        rows = [row(records, p, method) for p in records.problems() if method in records.methods(p)]
        rows = [r for r in rows if hasattr(r, "stability") and np.isfinite(r.stability[0])]
        if rows:
            cells = [mean([getattr(r, name)[0] for r in rows])[0] for name in _COLUMNS]
            lines.append([method, str(len(rows)), *[number(c, 3) for c in cells]])
    page.say("## All data sets\n\nMeans over the data sets on which a method makes sense.")
    page.table(
        ["method", "sets", "stability", "LIME's", "own", "error", "covers own", "covers LIME's"],
        lines,
    )


_COLUMNS = ("stability", "to_lime", "to_own", "error", "covered", "covered_lime")


def cloud(records: Records) -> Figure:
    """Stability against agreement, both corrected for chance."""
    made, axes = figure(1, 1, 7.2, 5.2)
    ax = axes[0]
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=1)
    names = list(dict.fromkeys(m for p in records.problems() for m in records.methods(p)))
    for k, method in enumerate(names):
        xs, ys = [], []
        for p in records.problems():
            r = row(records, p, method) if method in records.methods(p) else None
            if r is None or not np.isfinite([r.stability[0], r.to_lime[0]]).all():
                continue
            luck = float(
                np.mean(
                    [
                        chance(int(s["d"]), TOP)
                        for s in records.each
                        if s["problem"] == p and "d" in s
                    ]
                )
            )
            if luck < 1:
                xs.append((r.stability[0] - luck) / (1 - luck))
                ys.append((r.to_lime[0] - luck) / (1 - luck))
        ax.scatter(
            xs,
            ys,
            s=100 if method == DEFAULT else 44,
            color=COLOURS[k % len(COLOURS)],
            marker=MARKERS[k % len(MARKERS)],
            label=method,
            zorder=3,
            edgecolor="black" if method == DEFAULT else "white",
            linewidth=1.2 if method == DEFAULT else 0.6,
        )
    ax.set_xlabel("stability between runs, above chance")
    ax.set_ylabel("agreement with LIME's limit, above chance")
    shared_legend(made, ax)
    return made
