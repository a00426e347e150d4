"""All rows of a table explained from one survey. Rows of equal states share a line."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.progress import Progress
from eagle._engine.targets import Target, answers_of
from eagle._values.arrays import Array
from eagle._values.packages import one_thread
from eagle.explanation import Explanation
from eagle.explanations import (
    MAX_CORRELATED_ROWS,
    Explanations,
    LazyExplanations,
    Stacked,
    spread_over,
)
from eagle.surrogates.reweighted import Answers, Buffers
from eagle.survey.errors import KEPT_BYTES, Lines, SurveyErrors, slab
from eagle.survey.surveyed import Supplements, Surveyed


@final
@dataclass(frozen=True, eq=False)
class RowMaker:
    """Makes the explanation of a row when it is looked at."""

    many: Surveyed
    own: Array
    known: Supplements
    targets: tuple[Target, ...]
    asked: bool

    def __call__(self, i: int) -> Explanation:
        return self.many.explanation(i, self.own, self.known, self.targets[i], self.asked)


def explanations(
    many: Surveyed,
    own: Array,
    known: Supplements,
    targets: tuple[Target, ...],
    asked: bool,
    silent: bool,
) -> Explanations:
    """The numbers of all rows are computed now, and the explanation of a row when it is read.

    `targets` has what is explained of each row.
    """
    survey, d = many.survey, many.states.shape[1]
    alike = groups(many, targets)
    first = np.unique(alike, return_index=True)[1]
    scores, spread = np.empty((2, len(first), d))
    df, local, intercept, r2, held, effective = np.empty((6, len(first)))
    buffers, kept = Buffers(), lines_to_keep(many, alike, first)
    places = {number: at for at, number in enumerate(kept.numbers.tolist())}
    answers: dict[Target, Answers] = {}
    line = Progress("explained", len(first), silent=silent)
    with closing(line), one_thread():
        for k, i in enumerate(first.tolist()):
            weighed, more = many.line(i, known, buffers)
            aim = targets[i]
            if aim not in answers:
                answers[aim] = many.answers(aim)
            pulls = weighed.pulls(many.answers(aim, more) if more else answers[aim])
            scores[k], spread[k], df[k] = pulls.scores, pulls.spread, pulls.df
            local[k], intercept[k] = pulls.local, pulls.intercept
            r2[k], held[k], effective[k] = pulls.r2, pulls.held, weighed.effective
            if k in places:
                kept.put(places[k], pulls, more)
            line.at(k + 1)
    stacked = Stacked(
        names=many.tables[0][0].names(0),
        data=many.values,
        conditions=many.conditions,
        slopes=np.zeros((len(many), d), dtype=bool),
        scores=scores[alike],
        spread=spread[alike],
        df=df[alike],
        prediction=_predictions(many, own, targets),
        local_prediction=local[alike],
        intercept=intercept[alike],
        r2=r2[alike],
        r2_held_out=held[alike],
        contrast=np.ones((len(many), d)),
        effective=effective[alike],
        kind="robust, rows of a survey",
        pooled=True,
        signed=True,
    )
    maker = RowMaker(many, own, known, targets, asked)
    return Explanations(
        LazyExplanations(range(len(many)), maker, survey=survey),
        many.ids,
        targets,
        survey.outputs,
        survey.task,
        survey.method,
        survey.seed,
        survey.setting.box.link,
        stacked,
        SurveyErrors(many, known, targets, alike, first, kept, np.arange(len(many))),
        difference=survey.difference,
    )


def lines_to_keep(many: Surveyed, alike: NDArray[np.intp], first: NDArray[np.intp]) -> Lines:
    """Memory for the lines that statements about all rows need, as many as may be kept."""
    d, rows = many.states.shape[1], many.survey.rows
    numbers = np.unique(alike[spread_over(len(many), MAX_CORRELATED_ROWS)])
    numbers = numbers[: slab(rows, d, KEPT_BYTES)]
    return Lines.empty(numbers, many.states[first[numbers]], rows)


def groups(many: Surveyed, targets: tuple[Target, ...]) -> NDArray[np.intp]:
    """Which rows have the same line and the same answers: equal numbers, from 0 on, shape (n,)."""
    codes = {target: k for k, target in enumerate(dict.fromkeys(targets))}
    aims = np.array([codes[target] for target in targets])
    unseen = many.survey.setting.law.unseen(many.states)
    extra = np.zeros(len(many), dtype=np.intp)
    texts: dict[tuple[str, ...], int] = {(): 0}
    for i in np.flatnonzero(unseen.any(axis=1)).tolist():
        told = tuple(many.value(i, k) for k in np.flatnonzero(unseen[i]).tolist())
        extra[i] = texts.setdefault(told, len(texts))
    every = np.column_stack([many.states, aims, extra])
    _, first, which = np.unique(every, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[which.reshape(-1)])


def _predictions(many: Surveyed, own: Array, targets: tuple[Target, ...]) -> Array:
    """What the model's own answers say about the target of each row, shape (n,)."""
    survey, out = many.survey, np.full(len(many), np.nan)
    for aim in dict.fromkeys(targets):
        rows = np.array([target == aim for target in targets])
        out[rows] = answers_of(own[rows], survey.outputs, aim, survey.setting.box.link)
    return out
