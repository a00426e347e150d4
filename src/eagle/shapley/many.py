"""Explanations by Shapley values: the numbers of all rows now, that of one row when it is read."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.evidence import Asked
from eagle._engine.progress import Progress
from eagle._engine.targets import Target, resolve_target
from eagle._values.arrays import Array
from eagle._values.packages import one_thread
from eagle._values.posterior import StudentT
from eagle._values.text import short_repr
from eagle.cost import Cost
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.explanations import Explanations, LazyExplanations, Stacked, row_ids
from eagle.shapley.answer import MAX_FITS, Fitted
from eagle.shapley.correction import Corrected
from eagle.shapley.errors import ShapleyErrors
from eagle.shapley.setting import TableRows

if TYPE_CHECKING:
    from eagle.shapley.survey import ShapleySurvey

KIND: Final = "what the proxies leave, from the row's own answers"
KIND_EXACT: Final = "none: every coalition was asked with every row of the background"


@final
@dataclass(frozen=True, eq=False)
class ShapleyRows:
    """Rows of a table as a survey sees them.

    `places` are their places in the survey, −1 for rows that it lacks. `own`, shape (n, outputs),
    are the model's answers to them, NaN where not known; `asked` are the rows it was asked about
    now.
    """

    survey: ShapleySurvey
    rows: TableRows
    given: Any
    places: NDArray[np.intp]
    own: Array
    asked: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def where(self) -> list[Any]:
        return self.rows.where

    def targets(self, target: Target) -> tuple[Target, ...]:
        """What is explained of each row."""
        task, outputs = self.survey.task, self.survey.outputs
        self.survey.check_target(target)
        if target is not None:
            return (target,) * len(self)
        if task == "classification" and np.isnan(self.own).any():
            raise InputError(
                "which class is predicted is not known without asking the model: give a target, "
                f"one of {', '.join(short_repr(o) for o in outputs[:10])}, or the predictions"
            )
        return tuple(resolve_target(None, one[None], task, outputs) for one in self.own)

    def prediction(self, i: int, target: Target) -> float:
        """The answer to row i about a target; NaN where it is not known."""
        if np.isnan(self.own[i]).any():
            return float("nan")
        return float(self.survey.about(self.own[i : i + 1], target)[0])

    def values(self, i: int, target: Target) -> tuple[Corrected, float]:
        """The Shapley values of row i about a target, and the base value."""
        fit, place = self.survey.fit(target), int(self.places[i])
        if not isinstance(fit, Fitted):
            return fit.row(place, self.prediction(i, target)), fit.base
        if place >= 0:
            return fit.row(place), fit.base
        one = self.rows.values[i : i + 1]
        columns = self.survey.ground.spread.columns(one, self.rows.levels)
        unchanged = self.survey.ground.unchanged_players(one)
        return fit.new_row(columns, unchanged, self.prediction(i, target)), fit.base

    def common(self, target: Target) -> float:
        """The share of errors that rows have in common."""
        fit = self.survey.fit(target)
        return fit.common if isinstance(fit, Fitted) else 0.0

    @property
    def kind(self) -> str:
        """What intervals are made of."""
        return KIND_EXACT if self.survey.exact else KIND

    def explanation(self, i: int, target: Target) -> Explanation:
        """The explanation of row i."""
        self.survey.fit(target)
        began = time.perf_counter()
        with one_thread():  # as those of many are made: so they are the same to the last bit
            made, base = self.values(i, target)
        table, at = self.where[i]
        s, d = self.survey, len(made.values)
        prediction = self.prediction(i, target)
        one = self.own[i : i + 1]
        return Explanation(
            names=table.names(at),
            conditions=table.conditions(at),
            data=table.own(at),
            scores=made.values,
            posterior=StudentT(made.values, made.factor, made.df, kind=self.kind),
            signed=True,
            intercept=base,
            prediction=prediction,
            local_prediction=base + float(made.values.sum()),
            target=target,
            outputs=s.outputs,
            task=s.task,
            contrast=np.ones(d),
            r2=np.nan,
            r2_held_out=np.nan,
            evidence=Asked(np.zeros((1, d)), np.ones((1, d)), np.ones(1), one, np.ones(1)),
            cost=Cost(int(self.asked[i]), own_seconds=time.perf_counter() - began, shared=s.rows),
            method=s.method,
            surrogate=None,
            seed=s.seed,
            link=s.setting.box.link,
            difference=s.difference,
            note=s.note,
        )


@final
@dataclass(frozen=True, eq=False)
class ShapleyMaker:
    """Makes the explanation of a row when it is looked at."""

    rows: ShapleyRows
    targets: tuple[Target, ...]

    def __call__(self, i: int) -> Explanation:
        return self.rows.explanation(i, self.targets[i])


def explanations(rows: ShapleyRows, targets: tuple[Target, ...], silent: bool) -> Explanations:
    """The explanations of all rows."""
    s, n, d = rows.survey, len(rows), rows.survey.ground.players
    scores, spread, shared = np.empty((n, d)), np.empty((n, d)), np.zeros((n, d))
    df, base, predictions = np.empty(n), np.empty(n), np.empty(n)
    about = list(dict.fromkeys(targets))
    with closing(Progress("proxies fitted", MAX_FITS * len(about), silent=silent)) as line:
        for k, target in enumerate(about):
            s.fit(target, line.step)
            line.at(MAX_FITS * (k + 1))
    line = Progress("explained", n, silent=silent)
    with closing(line), one_thread():
        for i, target in enumerate(targets):
            made, base[i] = rows.values(i, target)
            scores[i], df[i] = made.values, made.df
            spread[i] = np.sqrt(np.diag(made.factor))
            shared[i] = rows.common(target) * np.sign(scores[i]) * spread[i]
            predictions[i] = rows.prediction(i, target)
            line.at(i + 1)
    tables, ids = rows.rows.parts, row_ids(rows.given, n)
    data, conditions = (np.empty((n, d), dtype=object) for _ in range(2))
    for table, places in tables:
        data[list(places)] = table.everything
        conditions[list(places)] = table.every_condition
    nothing = np.full(n, np.nan)
    stacked = Stacked(
        names=tables[0][0].names(0),
        data=data,
        conditions=conditions,
        slopes=np.zeros((n, d), dtype=bool),
        scores=scores,
        spread=spread,
        df=df,
        prediction=predictions,
        local_prediction=base + scores.sum(axis=1),
        intercept=base,
        r2=nothing,
        r2_held_out=nothing,
        contrast=np.ones((n, d)),
        effective=nothing,
        kind=rows.kind,
        pooled=False,
        signed=True,
    )
    asked = rows.asked.astype(int).tolist()
    return Explanations(
        LazyExplanations(range(n), ShapleyMaker(rows, targets), asked, s),
        ids,
        targets,
        s.outputs,
        s.task,
        s.method,
        s.seed,
        s.setting.box.link,
        stacked,
        ShapleyErrors(scores, spread, shared, df),
        difference=s.difference,
    )
