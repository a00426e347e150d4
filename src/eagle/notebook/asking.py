"""What a view asks for: the explanation of a row, with some values changed, about an output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, final

from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.notebook.rows import ViewColumn, ViewRows
from eagle.survey.survey import Survey
from eagle.targets import Target
from eagle.types import InputError, short, told


class Asking(Protocol):
    """Explanations of rows, by number."""

    @property
    def labels(self) -> list[str]:
        """What rows are called."""

    @property
    def columns(self) -> list[ViewColumn]:
        """What can be edited; nothing if nothing can."""

    def values(self, row: int) -> list[Any]:
        """The values of a row, by column."""

    def explain(self, row: int, edits: Mapping[int, Any], target: Target) -> Explanation:
        """The explanation of a row, with some of its values changed."""


@final
@dataclass(frozen=True, eq=False)
class Live:
    """Rows that an explainer or a survey explains when they are asked for."""

    made_by: Explainer | Survey
    rows: ViewRows

    @property
    def labels(self) -> list[str]:
        return self.rows.labels

    @cached_property
    def columns(self) -> list[ViewColumn]:
        return self.rows.columns()

    def values(self, row: int) -> list[Any]:
        return self.rows.values(row)

    def explain(self, row: int, edits: Mapping[int, Any], target: Target) -> Explanation:
        changed = {place: self.columns[place].received(value) for place, value in edits.items()}
        x = self.rows.edited(row, changed)
        if isinstance(self.made_by, Survey):
            return self.made_by.explain(x, target)
        return self.made_by.explain(x, target, progress=False)


@final
@dataclass(frozen=True, eq=False)
class Kept:
    """Explanations that are there already: rows can be picked, not changed."""

    explanations: Explanations

    @property
    def labels(self) -> list[str]:
        return [short(str(one), 60) for one in self.explanations.ids]

    @property
    def columns(self) -> list[ViewColumn]:
        return []

    def values(self, row: int) -> list[Any]:
        return []

    def explain(self, row: int, edits: Mapping[int, Any], target: Target) -> Explanation:
        if edits:
            raise InputError("these explanations have no model with them: their rows are fixed")
        if not 0 <= row < len(self.explanations):
            raise InputError(f"there is no row {row}: there are {len(self.explanations)}")
        e = self.explanations[row]
        return e if target is None or target == e.target else e.about(target)


def asking(made_by: Any, X: Any) -> Asking:
    """What a view asks, by what the caller gave."""
    if isinstance(made_by, Explanations):
        if X is not None:
            raise InputError("Explanations have their rows: leave X out")
        if not len(made_by):
            raise InputError("there are no rows to look at")
        return Kept(made_by)
    if isinstance(made_by, Explainer | Survey):
        if X is None:
            raise InputError("give the rows to look at: eagle.notebook.view(explainer, X)")
        return Live(made_by, ViewRows.of(X))
    raise InputError(f"a view is of an Explainer, a Survey or Explanations, not of {told(made_by)}")
