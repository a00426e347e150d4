"""A plan: all that is known of an explanation before the model has answered.

It can be printed, priced, saved, sent to a paid API, and answered later. How plans are made is in
`planning`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.method import Method
from eagle._engine.targets import Target
from eagle._tables.moves import Moves
from eagle._values.arrays import Array, Points
from eagle._values.subject import Subject, plain_subject
from eagle.contracts import Instances, Rows
from eagle.cost import Cost
from eagle.errors import ModelError
from eagle.explanation import Explanation
from eagle.io import container
from eagle.io.container import Key
from eagle.io.values import Saved, values_of
from eagle.models.box import Box, SavedBox
from eagle.surrogates.fit import Fitter, LazyFitter, Surrogate
from eagle.surrogates.saved import plain_surrogate


@final
@dataclass(frozen=True, eq=False)
class PlannedRows:
    """The points to ask, as rows of a surrogate, and the surrogate put on them.

    Instances of one law share these. Nothing in them depends on an answer.
    """

    points: Points
    rows: Rows
    fitter: Fitter

    @classmethod
    def of(cls, points: Points, rows: Rows, surrogate: Surrogate) -> PlannedRows:
        """Points with all that the surrogate can do before the answers."""
        fitter = surrogate.on(rows)
        # Several explanations share these arrays, so nobody may write to them.
        for shared in (points, rows.features, rows.weight, rows.repeats, *fitter.shared):
            shared.flags.writeable = False
        return cls(points, rows, fitter)

    def drop_unanswered(self, answers: Array, surrogate: Surrogate) -> tuple[PlannedRows, Array]:
        """The rows and the answers without those whose answers are NaN."""
        known = has_answer(answers)
        if known.all():
            return self, answers
        rows = self.rows.take(known)
        return PlannedRows(self.points[known], rows, surrogate.on(rows)), answers[known]

    @property
    def nbytes(self) -> int:
        """How much memory they hold."""
        return self.points.nbytes + self.rows.features.nbytes + self.fitter.nbytes


def has_answer(answers: Array) -> NDArray[np.bool_]:
    """Which rows have an answer, shape (n,). The first, the instance itself, must have one."""
    known = np.isfinite(answers).all(axis=1).reshape(len(answers))
    if not known[0]:
        raise ModelError(
            "the model gave no answer about the instance itself, so there is nothing to "
            "explain: ask again; what it answered is kept, in a ledger if it has one",
            answers=answers,
        )
    return known


@final
@dataclass(frozen=True, eq=False)
class Plan(Saved):
    """All that is known about an explanation before the model has answered.

    Examples:
        >>> plan = eagle.Explainer(None, X).plan(X[0])  # no model is asked
        >>> plan.fit(model(plan.inputs)).top(1)  # its answers, from wherever the model lives
        ['x1']

    `inputs` is the table to ask, in the model's own form; its first row is the instance. A plan
    read from a file has no inputs: they were written beside it.
    """

    names: tuple[str, ...]
    conditions: tuple[str, ...]
    data: tuple[Any, ...]
    contrast: Array
    planned: PlannedRows
    method: str
    surrogate: Surrogate
    seed: int
    box: Box
    subject: Subject | None = None
    moves: Moves | None = None
    inputs: Any = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        instances: Instances,
        i: int,
        planned: PlannedRows,
        method: Method,
        seed: int,
        box: Box,
    ) -> Plan:
        """What is known of instance i, and the rows that were planned for it."""
        return cls(
            names=instances.names(i),
            conditions=instances.conditions(i),
            data=instances.own(i),
            contrast=instances.contrast(i),
            planned=planned,
            method=method.name,
            surrogate=method.surrogate,
            seed=seed,
            box=box,
            subject=instances.subject(i),
            moves=instances.moves(i),
        )

    @property
    def rows(self) -> int:
        """How many rows the model is to answer: the price."""
        return len(self.planned.points)

    def __repr__(self) -> str:
        return f"<Plan of {self.rows} rows for {len(self.names)} features by {self.method}>"

    def fit(self, answers: Any, target: Target = None) -> Explanation:
        """The explanation, now that the model has answered: one row of outputs for each input."""
        from eagle._engine import pipeline  # which knows plans

        checked = self.box.read(answers, self.rows)
        return pipeline.fit(self, checked, target, Cost(self.rows))

    def save(self, path: str | PathLike[str], *, key: Key = None) -> None:
        """Write the plan, without its inputs, as JSON under a digest, or an HMAC with a `key`."""
        container.write(path, container.dump("plan", self, key=key))

    @classmethod
    def load(cls, path: str | PathLike[str], *, key: Key = None) -> Plan:
        """Read what `save` wrote. Nothing in the file is ever run."""
        from eagle.saved.classes import CLASSES

        made: Plan = container.load(path, CLASSES, key, "plan")
        return made

    def to_saved(self) -> dict[str, Any]:
        """What a file keeps: of the model, what it answers with."""
        box, kept = self.box, values_of(self)
        del kept["inputs"], kept["planned"], kept["box"]
        return {
            **kept,
            "surrogate": plain_surrogate(self.surrogate),
            "subject": plain_subject(self.subject),
            "points": self.planned.points,
            "rows": replace(self.planned.rows, points=None),
            "box": (box.task, box.outputs, box.margin, box.link),
        }

    @classmethod
    def of_saved(cls, points: Points, rows: Rows, box: SavedBox, **kept: Any) -> Plan:
        """What `to_saved` gave. The surrogate is put on the rows when the answers are there."""
        task, outputs, margin, link = box
        rows = replace(rows, points=points)
        planned = PlannedRows(points, rows, LazyFitter(kept["surrogate"], rows))
        model = Box(None, "a plan", task, outputs, margin, link=link)
        return cls(planned=planned, box=model, **kept)
