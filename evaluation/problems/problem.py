"""A problem: data, a black box, and instances to explain."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from eagle import Table
from eagle.contracts import Array
from eagle.explainer import Explainer
from eagle.models.native import Task

Truth: TypeAlias = Callable[[Any, float], Array]
"""The best line of a function around x for normal offsets of a given scale."""


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """A data set with its black box, ready to be explained.

    `model`, `data`, `task` and `outputs` are arguments of `Explainer`. `instances` are held-out
    rows, images or texts in a fixed order, and `labels` are their labels. `known` are the labels of
    the rows of `data`, if another black box can be trained on them. `target` is the output to
    explain, or None for the predicted class. `rows` is the number of training rows, 0 if nothing
    was trained here. `d` is about the number of features, None if it differs between instances.

    `accuracy` is that on held-out instances, or R² in a regression; `published` is the paper's.
    `note` says what replaces what the paper used. `truth` gives the exact slopes of the continuous
    view from infinitely many independent rows, if they are known.
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
        """An explainer of the black box, with any settings that `Explainer` takes, and a view."""
        view = settings.pop("view", None)
        data = self.data if view is None else Table(self.data, view=view)
        return Explainer(
            self.model, data, **{"task": self.task, "outputs": self.outputs, **settings}
        )

    def instance(self, i: int) -> Any:
        """The i-th instance in the form that `Explainer.explain` takes."""
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
