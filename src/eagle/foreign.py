"""Methods of other packages: they ask the model themselves, and we keep the bill."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np

from eagle.explanation import Bill, Evidence, Explanation
from eagle.models.box import Box
from eagle.surrogate.posterior import Posterior
from eagle.table.neighbours import Neighbours
from eagle.targets import Target, aimed_at, answers_of, explained
from eagle.types import AnswerError, Array, InputError, Instances, Need

Query = Callable[[Any, int], Array]
"""Inputs and how many there are, to checked answers, shape (n, outputs)."""


@final
@dataclass(frozen=True, eq=False)
class Told:
    """What another package says: a score for each feature, and what it adds up from."""

    scores: Array
    base: float = float("nan")
    posterior: Posterior | None = None
    signed: bool = True


@final
@dataclass(frozen=True)
class Foreign:
    """A method of another package. `run` asks a `Question` and returns what it was `Told`.

    `budget` is how many rows the model is asked at most, the background's included.
    """

    name: str
    run: Callable[[Question], Told]
    budget: int = 500
    needs: frozenset[Need] = frozenset({Need.ROWS, Need.TABLE})
    planned: ClassVar = False
    by_value: ClassVar = True


@final
@dataclass(eq=False)
class Question:
    """One row and its background as numbers, and a model of such numbers that keeps the bill.

    Categories are codes, in `categories` by column; the target is one output, or one minus
    another; None until the first answers have shown the predicted class. The instance goes along
    with the first call. No row is asked twice, every one the model sees is counted, and none
    beyond the budget is asked.
    """

    instances: Neighbours
    i: int
    box: Box
    query: Query
    target: Target
    budget: int
    seed: int
    batch_rows: int
    rows: list[Array] = field(default_factory=list)
    replies: list[Array] = field(default_factory=list)
    calls: int = 0
    seconds: float = 0.0
    known: dict[bytes, int] = field(default_factory=dict)

    @classmethod
    def of(cls, instances: Instances, *rest: Any) -> Question:
        """About one of several instances, which must be rows among those of their background."""
        if not isinstance(instances, Neighbours):
            raise InputError(f"a method of another package needs {Need.ROWS.value}")
        return cls(instances, *rest)

    @property
    def x(self) -> Array:
        """The row to explain, shape (d,)."""
        return np.asarray(self.instances.table.values[self.i])

    @property
    def data(self) -> Array:
        """The background's rows, shape (n, d)."""
        return self.instances.rows.values

    @property
    def names(self) -> tuple[str, ...]:
        return self.instances.names(self.i)

    @property
    def categories(self) -> list[int]:
        """The columns, of the d explained, that are levels."""
        background = self.instances.table.background
        return [
            k for k, j in enumerate(background.moved) if background.columns[j].levels is not None
        ]

    @property
    def whole(self) -> list[int]:
        """The columns, of the d explained, that hold integers."""
        background = self.instances.table.background
        return [k for k, j in enumerate(background.moved) if background.columns[j].integer]

    @property
    def left(self) -> int:
        """How many rows may still be asked."""
        return self.budget - sum(map(len, self.rows))

    def answers(self, values: Array) -> Array:
        """All outputs for rows of numbers, shape (n, outputs)."""
        values = np.atleast_2d(np.array(values, dtype=np.float64))
        values[:, self.whole] = np.rint(values[:, self.whole])  # as the model is asked them
        if not self.known:
            return self._told(np.concatenate([self.x[None], values]))[1:]
        return self._told(values)

    def _told(self, values: Array) -> Array:
        """The answers to rows, of which only those that are new are asked."""
        known, keys, fresh = self.known, [row.tobytes() for row in values], []
        for k, key in enumerate(keys):
            if key not in known:
                known[key] = len(known)
                fresh.append(k)
        if fresh:
            try:
                self._asked(values[fresh])
            except Exception:
                for k in fresh:  # not answered, so not known
                    del known[keys[k]]
                raise
        return np.concatenate(self.replies)[[known[key] for key in keys]]

    def _asked(self, values: Array) -> None:
        if len(values) > self.left:
            raise InputError(
                f"a budget of {self.budget} rows is not enough: {len(values)} more are wanted "
                f"where {self.left} are left"
            )
        parts = []
        for start in range(0, len(values), self.batch_rows):
            part = values[start : start + self.batch_rows]
            inputs = self.instances.written(self.i, part)
            began = time.perf_counter()
            try:
                parts.append(self.query(inputs, len(part)))
            except AnswerError as error:
                paid = self.replies + parts
                error.answers = np.concatenate(paid) if paid else None
                raise
            self.seconds += time.perf_counter() - began
            self.calls += 1
        self.rows.append(values)
        self.replies.append(np.concatenate(parts))

    def model(self, values: Array) -> Array:
        """The number to be explained, for rows of numbers, shape (n,)."""
        answers = self.answers(values)
        _, outputs = self.understood()
        explained(np.concatenate(self.replies), outputs, self.target)
        return answers_of(answers, outputs, self.target)

    def understood(self) -> tuple[str, tuple[Any, ...]]:
        """The task and the names of the outputs, by the first answers; these settle the target."""
        task, outputs = self.box.understood(self.replies[0])
        self.target = aimed_at(self.target, self.replies[0], task, outputs)
        return task, outputs


def explain(method: Foreign, question: Question) -> Explanation:
    """The explanation that another package gives, in our form; the first row is the instance."""
    began = time.perf_counter()
    told = method.run(question)
    answers, rows = np.concatenate(question.replies), np.concatenate(question.rows)
    task, outputs = question.understood()
    prediction = float(explained(answers, outputs, question.target)[0])
    own = time.perf_counter() - began - question.seconds
    i, instances = question.i, question.instances
    added = told.base + float(told.scores.sum())
    return Explanation(
        names=question.names,
        conditions=instances.conditions(i),
        values=instances.own(i),
        scores=told.scores,
        posterior=told.posterior,
        signed=told.signed,
        intercept=told.base,
        prediction=prediction,
        local_prediction=added if np.isfinite(added) else prediction,
        target=question.target,
        outputs=outputs,
        task=task,
        contrast=np.ones(len(told.scores)),
        r2=float("nan"),
        r2_held_out=float("nan"),
        evidence=Evidence(rows, rows, np.ones(len(rows)), answers, np.ones(len(rows))),
        bill=Bill(len(rows), question.calls, question.seconds, own),
        method=method.name,
        surrogate=None,
        seed=question.seed,
    )
