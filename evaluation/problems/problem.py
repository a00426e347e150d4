"""What a problem is: data, a black box, and what is to be explained."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from eagle.explainer import Explainer
from eagle.models.box import Task
from eagle.types import Array

Truth: TypeAlias = Callable[[Any, float], Array]
"""The line that fits a function best around x, if offsets are normal of so many units."""


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """A data set with its black box, ready to be explained.

    `model`, `data`, `task` and `outputs` are what `Explainer` takes. `instances` are held-out rows,
    pictures or texts in a fixed order, `labels` what they are, `known` what the rows of `data` are,
    if they can be learnt by another black box; `target` is the output to explain or None for the
    predicted class. `rows` counts what was learnt from, 0 if nothing was learnt here;
    `d` is how many features there are, about, None if that differs with the instance.

    `accuracy` is the share of held-out instances told right, or R² of a regression; `published` is
    what the paper has for it. `note` says what stands in for what. `truth` gives the slopes of the
    continuous view that independent rows without end would find, where they are known.
    """

    name: str
    kind: Literal["table", "image", "text"]
    model: Any
    data: Any
    instances: Any
    labels: Any
    rows: int
    d: int | None
    accuracy: float
    target: Any = None
    task: Task | None = None
    outputs: Sequence[Hashable] | None = None
    published: float | None = None
    note: str = ""
    truth: Truth | None = None
    known: Any = None

    def explainer(self, **settings: Any) -> Explainer:
        """An explainer of the black box, with any settings that `Explainer` takes."""
        return Explainer(
            self.model, self.data, **{"task": self.task, "outputs": self.outputs, **settings}
        )

    def instance(self, i: int) -> Any:
        """The i-th instance as `Explainer.explain` takes it."""
        rows: Any = self.instances
        return rows.iloc[[i]] if hasattr(rows, "iloc") else rows[i]

    def __str__(self) -> str:
        features = "d by instance" if self.d is None else f"d = {self.d}"
        rows = f"{self.rows:,} rows" if self.rows else "trained elsewhere"
        measure = "R²" if self.task == "regression" else "accuracy"
        paper = "" if self.published is None else f" (paper {self.published:.2%})"
        return (
            f"{self.name}: {features}, {rows}, {len(self.instances):,} held out, "
            f"{measure} {self.accuracy:.2%}{paper}"
        )
