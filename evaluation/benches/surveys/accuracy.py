"""Surveys beside plans for each row, at equal numbers of rows in all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from eagle import Method, methods
from eagle._engine.method import Choice
from eagle.contracts import Array
from eagle.explanations import Explanations
from eagle.metrics.stability import chance, jaccard
from eagle.metrics.truth import agreement, relative_error
from evaluation.benches.honest import CONVERGED
from evaluation.benches.surveys.cases import FAR, Case

TOP: Final = 5
LIMITS: Final = 3
"""So many surveys of 65,536 rows make the converged explanation."""

CHECKED: Final = 3
"""For so many rows of each table the converged explanation is made by plans of their own, too."""

CHECK_ROWS: Final = 32_769
CHECK_SEEDS: Final = 2
SURVEYS: Final = 4
"""Rows of a survey err together, so what they hold is taken over so many times the seeds."""

EACH: Final = 500
"""Rows of a plan for one row that are usual."""

SAYS: Final = f"""\
The converged explanation is the mean of {LIMITS} surveys of {FAR:,} rows. *Agreement* is the mean
Jaccard similarity of the k strongest features with the converged ones, *stability* that between
seeds, *error* the relative error of the scores. Then how many 90% intervals hold the converged
score; how many of those of the three strongest features; how often all joint 90% intervals hold at
once; how many 99% intervals miss; how wide 90% intervals are, in units of the row's largest
converged score; and how many rows of equal weight a row of the survey is worth, as a share: its
median and its least. *Rows in all* are those of the survey and its supplements, in the mean, or
those of all plans. Plans are those of `methods.DEFAULT`: as many rows for each row explained as
make the same number in all, and {EACH} each; with too few rows they have no intervals (–). With
fewer than 1,280 rows they draw rare changes more often, which moves what they converge to a little:
*balanced plans* (`methods.EAGLE_BALANCED`) have the same limit as surveys.

*The two limits*: the converged explanation beside that of plans, {CHECK_SEEDS} seeds of
{CHECK_ROWS:,} balanced rows each for {CHECKED} of the rows. *Apart* is the root mean square of the
difference of the two, *noise* what the spread between the seeds of both predicts for it, each
beside that of the scores.
"""

HEAD: Final = """\
| table | rows in all | agreement | stability | error | 90% | strongest | joint | 99% miss | \
width | worth |
|---|---|---|---|---|---|---|---|---|---|---|"""


class Figures(NamedTuple):
    """What is measured of one way to explain, over seeds and rows."""

    rows: float
    agreed: float
    stable: float
    error: float
    held: float
    strongest: float
    joint: float
    missed: float
    width: float
    worth: tuple[float, float] | None

    def line(self, title: str) -> str:
        first = f"{self.agreed:.2f} | {self.stable:.2f} | {self.error:.3f}"
        held = f"{self.held:.2f} | {self.strongest:.2f} | {self.joint:.2f} | {self.missed:.3f}"
        worth = "" if self.worth is None else "{:.2f}, {:.2f}".format(*self.worth)
        cells = f"{self.rows:,.0f} | {first} | {held} | {self.width:.2f} | {worth}"
        return f"| {title} | {cells.replace('nan', '–')} |"


class Limits(NamedTuple):
    """How far the limits of surveys and plans are apart, and how far noise alone puts them."""

    apart: float
    noise: float

    def line(self, title: str) -> str:
        return f"| {title} | | apart {self.apart:.4f} | noise {self.noise:.4f} |" + " |" * 7


def measured(case: Case, rows: Sequence[int], seeds: int) -> Iterator[tuple[str, Figures | Limits]]:
    """Figures by what they are of; last, how the two limits differ."""
    limits = case.limits(LIMITS)
    limit, n = limits.mean(axis=0), len(case.rows)
    k = min(TOP, max(1, case.d // 2))
    for many in rows:
        made = [case.survey(many, seed) for seed in range(SURVEYS * seeds)]
        runs = [one.explain_many(case.rows, predictions=case.own, progress=False) for one in made]
        asked = float(np.mean([one.cost.rows for one in made]))
        worth = np.array([run.table.effective for run in runs]) / many
        least = float(np.median(worth)), float(worth.min())
        yield f"survey of {many:,}", figures(runs, limit, k, asked, least)
        each = max(many // n, 1)
        yield f"plans of {each:,} each", figures(_plans(case, each, seeds), limit, k, each * n)
    yield f"plans of {EACH} each", figures(_plans(case, EACH, seeds), limit, k, EACH * n)
    balanced = _plans(case, EACH, seeds, methods.EAGLE_BALANCED)
    yield f"balanced plans of {EACH} each", figures(balanced, limit, k, EACH * n)
    yield "the two limits", same_limit(case, limits)


def _plans(
    case: Case, rows: int, seeds: int, method: Method | Choice = methods.DEFAULT
) -> list[Explanations]:
    return [
        case.explainer.with_options(method, budget=rows, random_state=seed).explain_many(
            case.rows, progress=False
        )
        for seed in range(seeds)
    ]


def figures(
    runs: Sequence[Explanations],
    limit: Array,
    k: int,
    rows: float,
    worth: tuple[float, float] | None = None,
) -> Figures:
    scores = np.array([run.scores for run in runs]).swapaxes(0, 1)
    each = list(zip(scores, limit, strict=True))
    held: list[Array] = []
    strongest, joint, missed, width = [], [], [], []
    for run in runs:
        for i, truth in enumerate(limit):
            sure = run.table.posterior(i)
            if sure is None:
                continue
            moved = sure.std > 0
            interval = sure.interval(0.9)
            inside = _inside(interval, truth)
            held.append(inside[moved])
            strongest.append(inside[np.argsort(-np.abs(truth))[:3]].mean())
            joint.append(_inside(sure.interval(0.9, joint=True), truth).all())
            missed.append(~_inside(sure.interval(0.99), truth)[moved])
            width.append(np.diff(interval)[moved].mean() / np.abs(truth).max())
    return Figures(
        rows,
        float(np.mean([agreement(s, t, k) for s, t in each])),
        float(np.mean([jaccard(s, k) for s in scores])),
        float(np.mean([relative_error(s, t) for s, t in each])),
        _mean(np.concatenate(held or [np.empty(0)])),
        _mean(strongest),
        _mean(joint),
        _mean(np.concatenate(missed or [np.empty(0)])),
        _mean(width),
        worth,
    )


def _mean(values: Any) -> float:
    """The mean of those that are known."""
    known = np.asarray(values, dtype=np.float64)
    return float(np.nanmean(known)) if np.isfinite(known).any() else float("nan")


def _inside(interval: Array, truth: Array) -> Any:
    return (interval[:, 0] <= truth) & (truth <= interval[:, 1])


def same_limit(case: Case, limits: Array) -> Limits:
    """The limit of surveys beside that of plans of their own, for some of the rows."""
    some = case.rows.iloc[:CHECKED]
    plans = np.array(
        [
            case.explainer.with_options(CONVERGED, budget=CHECK_ROWS, random_state=seed)
            .explain_many(some, progress=False)
            .scores
            for seed in range(CHECK_SEEDS)
        ]
    )
    ours = limits[:, : len(some)]
    size = float(np.sqrt(np.mean(ours.mean(axis=0) ** 2)))
    apart = ours.mean(axis=0) - plans.mean(axis=0)
    noise = sum(a.var(axis=0, ddof=1) / len(a) for a in (ours, plans))
    return Limits(float(np.sqrt(np.mean(apart**2))) / size, float(np.sqrt(np.mean(noise))) / size)


def show(case: Case, rows: Sequence[int], seeds: int) -> dict[str, Figures | Limits]:
    """Print a table's lines, and hand the figures on."""
    k = min(TOP, max(1, case.d // 2))
    print(
        f"| **{case.name}**, d = {case.d}, k = {k} | | chance {chance(case.d, k):.2f} |" + " |" * 8
    )
    found: dict[str, Figures | Limits] = {}
    for what, figure in measured(case, rows, seeds):
        found[what] = figure
        print(figure.line(what), flush=True)
    return found


def mean(several: Sequence[Figures | Limits]) -> Figures | Limits:
    """The mean over tables; of the least worth the least."""
    limits = [one for one in several if isinstance(one, Limits)]
    if limits:
        return Limits(*np.mean(limits, axis=0).tolist())
    every = [one for one in several if isinstance(one, Figures)]
    worth = [one.worth for one in every if one.worth is not None]
    ends = (_mean([m for m, _ in worth]), min(least for _, least in worth)) if worth else None
    names = [name for name in Figures._fields if name != "worth"]
    numbers = {name: _mean([one._asdict()[name] for one in every]) for name in names}
    return Figures(**numbers, worth=ends)


def verdict(found: dict[str, list[Figures | Limits]]) -> str:
    """In a sentence, the longest survey beside plans of the usual rows for each row."""
    longest = [what for what in found if what.startswith("survey")][-1]
    ours, plans = (
        [one for one in found[what] if isinstance(one, Figures)]
        for what in (longest, f"plans of {EACH} each")
    )
    pairs = list(zip(ours, plans, strict=True))
    more = sum(one.agreed > other.agreed for one, other in pairs)
    less = [one.error / other.error for one, other in pairs]
    return (
        f"A {longest} rows in all agrees more than plans of {EACH} rows for each on {more} of "
        f"{len(pairs)} tables, with {min(less):.2f} to {max(less):.2f} of their error."
    )
