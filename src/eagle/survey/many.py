"""All rows of a table explained from one survey. Rows of equal states share a line."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.progress import Progress
from eagle._questions.errors import MAX_CORRELATED_ROWS, spread_over
from eagle._values.arrays import Array
from eagle._values.packages import one_thread
from eagle._values.targets import Target, answers_of
from eagle.explanation import Explanation
from eagle.explanations import Explanations, LazyExplanations, Stacked
from eagle.surrogates.reweighted import Answers, Buffers, Pulls
from eagle.survey.errors import KEPT_BYTES, Kept, Lines, SurveyErrors, slab
from eagle.survey.surveyed import Supplements, Surveyed


@final
@dataclass(frozen=True, eq=False)
class Numbers:
    """Arrays that the fits of rows are written into, a row each."""

    scores: Array
    spread: Array
    df: Array
    local: Array
    intercept: Array
    r2: Array
    r2_held_out: Array
    effective: Array

    @classmethod
    def empty(cls, rows: int, d: int) -> Numbers:
        return cls(np.empty((rows, d)), np.empty((rows, d)), *np.empty((6, rows)))

    def put(self, i: int, pulls: Pulls) -> None:
        self.scores[i], self.spread[i] = pulls.scores, pulls.spread
        self.df[i], self.effective[i] = pulls.df, pulls.line.effective
        self.local[i], self.intercept[i] = pulls.local, pulls.intercept
        self.r2[i], self.r2_held_out[i] = pulls.r2, pulls.held


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
    many: Surveyed, own: Array, known: Supplements, target: Target, asked: bool, silent: bool
) -> Explanations:
    """The numbers of all rows are computed now, and the explanation of a row when it is read."""
    return explanations_about(many, own, known, many.targets(own, target), asked, silent)


def explanations_about(
    many: Surveyed,
    own: Array,
    known: Supplements,
    targets: tuple[Target, ...],
    asked: bool,
    silent: bool,
) -> Explanations:
    """As `explanations`, with a target for each row."""
    alike = groups(many, targets)
    first = np.unique(alike, return_index=True)[1]
    numbers, buffers = Numbers.empty(len(first), many.states.shape[1]), Buffers()
    kept = allocate(many, alike, first)
    place = {} if kept.lines is None else {n: k for k, n in enumerate(kept.lines.numbers.tolist())}
    answers: dict[Target, Answers] = {}
    line = Progress("explained", len(first), silent=silent)
    with closing(line), one_thread():
        for at, i in enumerate(first.tolist()):
            weighed, more = many.line(i, known, buffers)
            aim = targets[i]
            if aim not in answers:
                answers[aim] = many.answers(aim)
            pulls = weighed.pulls(many.answers(aim, more) if more else answers[aim])
            numbers.put(at, pulls)
            if kept.lines is not None and at in place:
                kept.lines.put(place[at], pulls, more)
            line.at(at + 1)
    errors = SurveyErrors(many, known, targets, alike, first, kept, np.arange(len(many)))
    return _put_together(many, own, known, targets, numbers, alike, asked, errors)


def allocate(many: Surveyed, alike: NDArray[np.intp], first: NDArray[np.intp]) -> Kept:
    """Memory for the lines that statements about all rows need, as many as may be kept."""
    d, rows = many.states.shape[1], many.survey.rows
    numbers = np.unique(alike[spread_over(len(many), MAX_CORRELATED_ROWS)])[
        : slab(rows, d, KEPT_BYTES)
    ]
    return Kept(Lines.empty(numbers, many.states[first[numbers]], rows))


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


def _put_together(
    many: Surveyed,
    own: Array,
    known: Supplements,
    targets: tuple[Target, ...],
    numbers: Numbers,
    alike: NDArray[np.intp],
    asked: bool,
    errors: SurveyErrors,
) -> Explanations:
    s = many.survey
    link = s.setting.box.link
    predictions = np.full(len(many), np.nan)
    for aim in dict.fromkeys(targets):
        rows = np.array([target == aim for target in targets])
        predictions[rows] = answers_of(own[rows], s.outputs, aim, link)
    d = many.states.shape[1]
    stacked = Stacked(
        many.tables[0][0].names(0),
        many.values,
        many.conditions,
        np.zeros((len(many), d), dtype=bool),
        numbers.scores[alike],
        numbers.spread[alike],
        numbers.df[alike],
        predictions,
        numbers.local[alike],
        numbers.intercept[alike],
        numbers.r2[alike],
        numbers.r2_held_out[alike],
        np.ones((len(many), d)),
        numbers.effective[alike],
        "robust, rows of a survey",
        True,
        True,
    )
    return Explanations(
        LazyExplanations(
            range(len(many)), RowMaker(many, own, known, targets, asked), survey=many.survey
        ),
        many.ids,
        targets,
        s.outputs,
        s.task,
        s.method,
        s.seed,
        link,
        stacked,
        errors,
        difference=s.difference,
    )
