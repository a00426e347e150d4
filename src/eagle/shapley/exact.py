"""Shapley values from all coalitions, each asked with every row of the background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from eagle._values.arrays import Array
from eagle.shapley.coalitions import all_coalitions, exact_values
from eagle.shapley.correction import Corrected, adding_up


@final
@dataclass(frozen=True, eq=False)
class Enumerated:
    """The Shapley values of the rows of a survey, shape (n, d), with nothing left to know."""

    values: Array
    base: float

    @classmethod
    def of(cls, players: int, answers: Array, own: Array, behind: Array) -> Enumerated:
        """From answers of shape (n, coalitions × background rows)."""
        every, base = all_coalitions(players), float(behind.mean())
        worth = answers.reshape(len(own), len(every), len(behind)).mean(axis=2)
        return cls(exact_values(every, worth, np.full(len(own), base), own), base)

    def row(self, i: int, answer: float) -> Corrected:
        """The Shapley values of row i, whose answer is known."""
        d = self.values.shape[1]
        none = np.zeros((d, d))
        return Corrected(adding_up(self.values[i], none, answer - self.base), none, np.inf)
