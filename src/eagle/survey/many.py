"""All rows of a table explained from one survey. Rows of equal states share a line."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from eagle.explanation import Explanation
from eagle.explanations import Explanations, LazyExplanations, Stacked
from eagle.packages import one_thread
from eagle.progress import Progress
from eagle.surrogate.fit import Fit
from eagle.surrogate.posterior import StudentT
from eagle.surrogate.reweighted import Buffers
from eagle.survey.errors import SurveyErrors
from eagle.survey.surveyed import Supplements, Surveyed
from eagle.targets import Target, answers_of
from eagle.types import Array, Range


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

    def put(self, i: int, fit: Fit, effective: float) -> None:
        assert isinstance(fit.posterior, StudentT)
        self.scores[i], self.spread[i] = fit.scores, fit.posterior.spread
        self.df[i], self.effective[i] = fit.posterior.df, effective
        self.local[i], self.intercept[i] = fit.local, fit.intercept
        self.r2[i], self.r2_held_out[i] = fit.r2, fit.r2_held_out


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
    targets = many.targets(own, target)
    alike = groups(many, targets)
    first = np.unique(alike, return_index=True)[1]
    numbers, buffers = Numbers.empty(len(first), many.states.shape[1]), Buffers()
    answers: dict[Target, Array] = {}
    bounds: dict[Target, Range] = {}
    line = Progress("explained", len(first), silent=silent)
    with closing(line), one_thread():
        for at, i in enumerate(first.tolist()):
            weighed, more = many.line(i, known, buffers)
            aim = targets[i]
            if aim not in answers:
                answers[aim], bounds[aim] = many.about(aim), many.bounds(aim)
            y = many.about(aim, more) if more else answers[aim]
            numbers.put(at, weighed.fitted(y, bounds[aim])[0], weighed.effective)
            line.at(at + 1)
    return _put_together(many, own, known, targets, numbers, alike, asked)


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
) -> Explanations:
    s = many.survey
    link = s.setting.ask.box.link
    predictions = np.full(len(many), np.nan)
    for aim in dict.fromkeys(targets):
        rows = np.array([target == aim for target in targets])
        predictions[rows] = answers_of(own[rows], s.outputs, aim, link)
    d = many.states.shape[1]
    stacked = Stacked(
        many.tables[0][0].names(0),
        many.values,
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
    errors = SurveyErrors(many, known, targets, np.arange(len(many)))
    return Explanations(
        LazyExplanations(range(len(many)), RowMaker(many, own, known, targets, asked)),
        many.ids,
        targets,
        s.outputs,
        s.task,
        s.method,
        s.seed,
        link,
        stacked,
        errors,
    )
