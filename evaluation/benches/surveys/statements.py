"""What surveys say of a whole table, and whether their intervals hold it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._questions.statements import Means
from eagle._values.arrays import Array
from eagle.explanations import Explanations
from eagle.metrics.validate import strongest
from evaluation.benches.surveys.cases import Case

LEVEL: Final = 0.9
TOP: Final = 3
LIMITS: Final = 3
MAX_GROUPS: Final = 2
LEAST: Final = 10
"""Rows of a group."""

SAYS: Final = f"""\
{{rows}} rows of each table are explained about one class, with {{seeds}} seeds. 90% intervals, with
`sample=False`, are held against the same statements about the converged scores, the mean of
{LIMITS} surveys of 65,536 rows: the mean size of scores (importance), the mean score, the
share of rows in which a feature is among the {TOP} strongest, and the differences of mean scores
between two groups, which hold if those of all features do at once. In brackets: what intervals
would hold if the errors of rows were taken as independent. *Wide*: the mean width of an interval,
beside the largest value of its kind.
"""

HEAD: Final = """\
| table | survey | importance | wide | mean score | wide | top-k share | wide | groups at once |
|---|---|---|---|---|---|---|---|---|"""


@final
@dataclass(frozen=True, eq=False)
class Independent:
    """Errors as they would be if each row had been explained by rows of its own."""

    scores: Array
    spread: Array
    df: Array

    def deviation(self, factor: Array) -> tuple[Array, float]:
        return np.sqrt(((factor * self.spread) ** 2).sum(axis=0)), float(np.median(self.df))

    def draws(self, count: int) -> Iterator[tuple[int, Array]]:
        rng = np.random.default_rng(0)
        for i, (scores, spread) in enumerate(zip(self.scores, self.spread, strict=True)):
            yield i, scores + rng.standard_normal((count, len(scores))) * spread

    def take(self, index: NDArray[np.intp]) -> Independent:
        return Independent(self.scores[index], self.spread[index], self.df[index])


def alone(e: Explanations) -> Explanations:
    """The same scores, their errors taken as independent."""
    return replace(e, errors=Independent(e.scores, e.table.spread, e.table.df))


def show(case: Case, rows: Sequence[int], seeds: int) -> None:
    """Print a line for each number of rows."""
    target = target_of(case)
    limit = case.limits(LIMITS, target).mean(axis=0)
    parts = groups(case)
    for many in rows:
        found: dict[str, list[float]] = {}
        for seed in range(seeds):
            survey = case.survey(many, seed)
            e = survey.explain_many(case.rows, target, predictions=case.own, progress=False)
            for suffix, one in (("", e), (" alone", alone(e))):
                for name, value in judged(one, limit, parts):
                    found.setdefault(name + suffix, []).append(value)
        print(_line(f"{case.name}, d = {case.d} | {many:,}", found), flush=True)


def _line(title: str, found: dict[str, list[float]]) -> str:
    mean = {name: float(np.mean(values)) for name, values in found.items()}
    cells = [title]
    for name in ("importance", "mean_score", "share", "groups"):
        cells.append(f"{mean[name]:.2f} ({mean[name + ' alone']:.2f})")
        if name != "groups":
            cells.append(f"{mean[name + ' wide']:.3f}")
    return f"| {' | '.join(cells)} |"


def target_of(case: Case) -> Any:
    """One output for all rows: the class that is predicted most, or the only one there is."""
    most = np.bincount(case.own.argmax(axis=1)).argmax()
    return case.survey(64, 0).outputs[int(most)]


def groups(case: Case) -> list[NDArray[np.bool_]]:
    """Parts of the rows: where the first columns that allow it are above their median state."""
    states = case.survey(64, 0).instances(case.rows).states
    parts = [column > np.median(column) for column in states.T]
    return [one for one in parts if LEAST <= one.sum() <= len(one) - LEAST][:MAX_GROUPS]


def judged(
    e: Explanations, limit: Array, parts: Sequence[NDArray[np.bool_]]
) -> Iterator[tuple[str, float]]:
    """Which shares of intervals hold what is true of the limit, by name, and how wide they are."""
    kinds = {
        "importance": (e.importance(LEVEL, sample=False), np.abs(limit).mean(axis=0)),
        "mean_score": (e.mean_score(LEVEL, sample=False), limit.mean(axis=0)),
        "share": (e.top_k_share(TOP, LEVEL, sample=False), strongest(limit, TOP).mean(axis=0)),
    }
    for name, (means, truth) in kinds.items():
        yield name, float(_inside(means, truth).mean())
        yield f"{name} wide", float((means.high - means.low).mean() / np.abs(truth).max())
    for part in parts:
        frame = e.compare_groups({"one": part, "other": ~part}, LEVEL, sample=False)
        truth = limit[part].mean(axis=0) - limit[~part].mean(axis=0)
        yield "groups", float(((frame.low <= truth) & (truth <= frame.high)).all())


def _inside(means: Means, truth: Array) -> NDArray[np.bool_]:
    return np.asarray((means.low <= truth) & (truth <= means.high))
