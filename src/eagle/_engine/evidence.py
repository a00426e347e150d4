"""What an explanation rests on: the rows asked, with their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

from eagle._tables.moves import Moves
from eagle._values.arrays import Array, Points
from eagle.contracts import Law, Need, Rows
from eagle.surrogates.fit import Surrogate


class Evidence(Protocol):
    """What was asked and answered, row by row; the first row is the instance itself.

    Rows of a survey are those of all its explanations: there the instance has the weight 0.
    """

    @property
    def points(self) -> Points:
        """The rows in the encoding of their space, shape (n, d)."""

    @property
    def features(self) -> Array:
        """What the surrogate was fitted on, shape (n, d): for a tree these are the values asked."""

    @property
    def weight(self) -> Array:
        """How much each row counts, shape (n,)."""

    @property
    def answers(self) -> Array:
        """All outputs of the model, shape (n, outputs)."""

    @property
    def repeats(self) -> Array:
        """Multiplicity of each row in the plan, shape (n,). `weight` already includes it."""

    @property
    def moves(self) -> Moves | None:
        """The values that the steps of a table's points stand for; None if features are enough."""

    @property
    def law(self) -> Law | None:
        """The law that scores are about, if the surrogate needs it."""

    def rows(self, surrogate: Surrogate, n: int | None = None) -> Rows:
        """The first n rows, or all, as the surrogate of the explanation was put on them."""


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """Evidence that is held as arrays: what was asked for one instance."""

    points: Points
    features: Array
    weight: Array
    answers: Array
    repeats: Array
    moves: Moves | None = None
    law: Law | None = None

    def rows(self, surrogate: Surrogate, n: int | None = None) -> Rows:
        balanced = Need.BALANCED in surrogate.needs  # a method checks this when it is composed
        rows = self.features[:n], self.weight[:n], self.repeats[:n]
        return Rows(*rows, balanced, self.law, self.points[:n])
