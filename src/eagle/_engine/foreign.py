"""A method that asks the model itself, such as another package's explainer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from eagle._engine.metering import MeteredModel
from eagle._values.targets import Target
from eagle.contracts import Instances, Kind, Need
from eagle.explanation import Explanation
from eagle.models.box import Box


class ForeignMethod(ABC):
    """A method without a design and a surrogate of ours: it has no plan, and scores are about
    values. A subclass has a `name`, a `budget` of rows, and what it `needs`."""

    name: str
    budget: int
    needs: frozenset[Need]
    planned: ClassVar = False
    by_value: ClassVar = True

    @abstractmethod
    def explain(
        self,
        budget: int,
        seed: int,
        batch_rows: int,
        group: Instances,
        box: Box,
        model: MeteredModel,
        target: Target,
    ) -> Iterator[tuple[int, Explanation]]:
        """Explains one instance after the other: each with its place in the group."""

    def where(self, dear: bool) -> ForeignMethod:
        """The same where each row is paid for."""
        return self

    def rows(self, features: int | None) -> int:
        """How many rows are asked unless the caller says otherwise."""
        return self.budget

    def describe(self, kind: Kind, rows: int) -> str:
        """Its name."""
        return self.name
