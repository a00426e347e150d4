"""Rare and unseen levels of Adult: what a survey knows of them, with supplements and without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

import eagle
from eagle._values.arrays import Array
from eagle.surrogates.reweighted import Buffers
from eagle.survey.many import explanations
from eagle.survey.rows import supplement
from eagle.survey.survey import Survey
from eagle.survey.surveyed import Surveyed
from eagle.survey.weigh import Supplement
from evaluation.benches import untouched
from evaluation.benches.surveys.cases import FAR, FIRST_FAR, Case, slopes
from evaluation.problems import data

SURVEY: Final = 4096
LONG: Final = 16_384
"""Rows of each supplement of the converged explanation."""

LIMITS: Final = 2
TESTED: Final = 2000
"""Rows whose supplements are counted."""

BACKGROUNDS: Final = (1000, 20_000)

SAYS: Final = f"""\
Adult with its levels as they are, under gradient boosting; surveys of {SURVEY:,} rows. First, what
{TESTED:,} held-out rows need: how many of them need any supplement, how many levels are asked more
of, and how many model rows that takes in all. Then {{count}} of those rows, {{seeds}} seeds: of the
features that need a supplement, how many claim anything without it (fewer than 12 matches claim
nothing, and say so), the error of those scores beside the row's largest score, and how many of
their 90% intervals hold; and the same with supplements. The converged explanation is the mean of
{LIMITS} surveys of {FAR:,} rows with supplements of {LONG:,}.
"""

HEAD: Final = """\
| rows of the background | rows that need any | levels | rows in all | without: claimed | error | \
90% | with: claimed | error | 90% |
|---|---|---|---|---|---|---|---|---|---|"""


@final
@dataclass(frozen=True, eq=False)
class Adult:
    """Rows of Adult, the model's answer to some of them, and those held out."""

    model: Any
    known: Any
    held: Any

    @classmethod
    def read(cls, kind: str) -> Adult:
        """With a model of that kind, on four rows of five."""
        table, labels = adult()
        order = np.random.default_rng(0).permutation(len(table))
        cut = len(table) * 4 // 5
        seen, held = order[:cut], order[cut:]
        model = untouched.fitted(kind, table.iloc[seen], labels[seen])
        return cls(model, table.iloc[seen], table.iloc[held])

    def case(self, background: int, rows: Any) -> Case:
        explainer = eagle.Explainer(
            self.model, eagle.Table(self.known.iloc[:background], view="binned")
        )
        return Case(f"{background:,}", explainer, rows)


def adult() -> tuple[Any, Any]:
    """All columns of Adult, levels as categories, and the labels."""
    raw = data.adult()
    table = raw.drop(columns="income")
    words = [c for c in table if table[c].dtype.kind not in "iuf"]
    return table.astype(dict.fromkeys(words, "category")), raw.income.to_numpy()


Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class Rare(NamedTuple):
    """Of features that need a supplement: how many claim anything, their errors, what holds."""

    claimed: float
    error: float
    held: float

    def __str__(self) -> str:
        return f"{self.claimed:.2f} | {self.error:.3f} | {self.held:.2f}"


def show(count: int, seeds: int) -> None:
    """Print a line for each size of the background."""
    both = Adult.read("boosting")
    for size in BACKGROUNDS:
        whole = both.case(size, both.held.iloc[:TESTED])
        needy = whole.survey(SURVEY, 0).instances(whole.rows)
        rare = np.flatnonzero((needy.counts > 0).any(axis=1))
        asked = sum(rows for rows, _ in needy.supplements_needed.values())
        case = both.case(size, whole.rows.iloc[rare[:count]])
        without, supplemented = judged(case, seeds)
        print(
            f"| {size:,} | {len(rare):,} | {len(needy.supplements_needed)} | {asked:,} | "
            f"{without} | "
            f"{supplemented} |",
            flush=True,
        )


def judged(case: Case, seeds: int) -> tuple[Rare, Rare]:
    """Without supplements, and with them."""
    limit = np.mean([_far(case, FIRST_FAR + k) for k in range(LIMITS)], axis=0)
    largest = np.abs(limit).max(axis=1, keepdims=True)
    found: dict[bool, list[Parts]] = {False: [], True: []}
    for seed in range(seeds):
        survey = case.survey(SURVEY, seed)
        many = survey.instances(case.rows)
        for ask, parts in found.items():  # without them first: a survey keeps what it asked
            if ask:
                survey.supplement(many)
            known = survey.known if ask else {}
            e = explanations(
                many, case.own, known, many.targets(case.own, None), asked=True, silent=True
            )
            low, high = np.moveaxis(e.interval(0.9), 2, 0)
            there = np.stack([many.line(i, known)[0].known_features for i in range(len(many))])
            rare = many.counts > 0
            inside = (low <= limit) & (limit <= high)
            apart = np.abs(e.scores - limit) / largest
            parts.append((there[rare], apart[rare], inside[rare & there]))
    return _rare(found[False]), _rare(found[True])


def _rare(parts: list[Parts]) -> Rare:
    claimed, error, held = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Rare(*(float(np.mean(a)) if len(a) else float("nan") for a in (claimed, error, held)))


def _far(case: Case, seed: int) -> Array:
    """Scores from a survey of many rows, with long supplements for all that are rare."""
    survey = case.survey(FAR, seed)
    many = survey.instances(case.rows)
    short = case.survey(SURVEY, seed).instances(case.rows)
    known = dict(_long(survey, short))
    buffers, out = Buffers(), []
    for i, aim in enumerate(many.targets(case.own, None)):
        more = [known[one.column, one.value] for one in short.supplements(i, known)]
        z, weight = survey.weights.of(many.states[i], more, buffers)
        out.append(slopes(z, weight, many.about(aim, more), buffers))
    return np.stack(out)


def _long(survey: Survey, many: Surveyed) -> Iterator[tuple[tuple[int, str], Supplement]]:
    """The supplements that a short survey needs, with many rows."""
    law = survey.setting.law
    for (k, value), (_, i) in many.supplements_needed.items():
        state = int(many.states[i, k])
        drawn = supplement(survey.background, law, LONG, survey.seed, k, state, value)
        answers = survey.setting.box.ask(many.with_value(i, k, drawn)(0, LONG), LONG)
        unseen = bool(law.unseen(many.states)[i, k])
        yield (k, value), Supplement(k, value, unseen, drawn, answers)
