"""What an explanation of a survey rests on: the survey's rows, seen from one instance.

Arrays of rows are not stored besides those of the survey: they are computed when they are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from eagle._tables.moves import Moves
from eagle._values.arrays import Array, Points
from eagle.contracts import Rows
from eagle.surrogates.fit import Surrogate
from eagle.survey.law import Indices
from eagle.survey.rows import Drawn
from eagle.survey.weigh import Supplement, Weights


@final
@dataclass(frozen=True, eq=False)
class SurveyEvidence:
    """The rows of a survey and of an instance's supplements, the instance itself first.

    The instance has the weight 0: it is no row of the survey. Its answers are `own`, NaN if the
    model was not asked. `survey`, shape (rows, outputs), are the answers of the survey's rows.
    """

    drawn: Drawn
    survey: Array
    weights: Weights
    supplements: tuple[Supplement, ...]
    states: Indices
    values: Array
    own: Array

    def __len__(self) -> int:
        return 1 + len(self.drawn) + sum(len(one.drawn) for one in self.supplements)

    @property
    def points(self) -> Points:
        """Steps, shape (n, d): 0 is the instance's own value, others count from 1."""
        parts = [self.drawn.steps + 1]
        for one in self.supplements:
            steps = one.drawn.steps + 1
            if one.unseen:
                steps[:, one.column] = 0
            parts.append(steps)
        first = np.zeros((1, len(self.states)), dtype=np.intp)
        return np.concatenate([first, *parts]).astype(np.uint16)

    @property
    def _rows_and_answers(self) -> tuple[Array, Array]:
        return self.weights.of(self.states, self.supplements)

    @property
    def features(self) -> Array:
        first = np.ones((1, len(self.states)))
        return np.concatenate([first, self._rows_and_answers[0].T])

    @property
    def weight(self) -> Array:
        weight = self._rows_and_answers[1]
        return np.insert(weight / weight.mean(), 0, 0.0)

    @property
    def answers(self) -> Array:
        parts = [one.answers for one in self.supplements]
        return np.concatenate([self.own[None], self.survey, *parts])

    @property
    def repeats(self) -> Array:
        return np.ones(len(self))

    @property
    def moves(self) -> Moves:
        background = self.drawn.background
        columns = [background.columns[j] for j in background.moved_columns]
        tables = [np.concatenate([[np.nan], *column.values]) for column in columns]
        return Moves(tuple(tables), self.values, tuple(c.levels is not None for c in columns))

    @property
    def law(self) -> None:
        """A survey's surrogate is told weights, not a law."""
        return None

    def rows(self, surrogate: Surrogate, n: int | None = None) -> Rows:
        """The first n rows, or all, for the line of a survey."""
        if n is not None:  # to the last bit those of the explanation's file
            few = np.ascontiguousarray(self.features)[:n], self.weight[:n], self.repeats[:n]
            return Rows(*few, balanced=True)
        # The line scales weights itself: it is given those that lines of many rows are given.
        weight = np.insert(self._rows_and_answers[1], 0, 0.0)
        return Rows(self.features, weight, self.repeats, balanced=True)
