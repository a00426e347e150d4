"""Methods of other packages. They choose what to ask; we count their rows and calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from eagle.engine.run import PlacedExplanations, Request
from eagle.evidence import Asked, Bill
from eagle.explanation import Explanation
from eagle.models.box import Box
from eagle.surrogate.posterior import Posterior
from eagle.table.neighbours import Neighbours
from eagle.targets import Target, aimed_at, answers_of, explained
from eagle.types import AnswerError, Array, InputError, Instances, Kind, Need

Query: TypeAlias = Callable[[Any, int], Array]
"""Inputs and how many there are, to checked answers, shape (n, outputs)."""


@final
@dataclass(frozen=True, eq=False)
class ForeignScores:
    """The result of another package: a score for each feature, and the base they add to."""

    scores: Array
    base: float = float("nan")
    posterior: Posterior | None = None
    signed: bool = True


@final
@dataclass(frozen=True)
class Foreign:
    """A method of another package. `run` takes a `Question` and returns `ForeignScores`.

    `budget` is the largest number of rows the model is asked, those of the background included.
    """

    name: str
    run: Callable[[Question], ForeignScores]
    budget: int = 500
    needs: frozenset[Need] = frozenset({Need.ROWS, Need.TABLE})
    planned: ClassVar = False
    by_value: ClassVar = True

    def where(self, dear: bool) -> Foreign:
        """The same where each row is paid for."""
        return self

    def rows(self, features: int | None) -> int:
        """How many rows are asked unless the caller says otherwise."""
        return self.budget

    def describe(self, kind: Kind, rows: int) -> str:
        """Its name."""
        return self.name


@final
@dataclass(eq=False)
class Question:
    """One row and its background as numbers, and a model of such numbers that counts its rows.

    Categories are codes; `categories` lists their columns. The target is one output, or one minus
    another; it is None until the first answers have shown the predicted class. The first call
    includes the instance. No row is asked twice, every row that the model sees is counted, and no
    row beyond the budget is asked.
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
        """The question about one of several instances, whose background must have rows."""
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
        return self.instances.values

    @property
    def names(self) -> tuple[str, ...]:
        return self.instances.names(self.i)

    @property
    def categories(self) -> list[int]:
        """Which of the d explained columns are categories."""
        background = self.instances.table.background
        return [
            k for k, j in enumerate(background.moved) if background.columns[j].levels is not None
        ]

    @property
    def integers(self) -> list[int]:
        """Which of the d explained columns hold integers."""
        background = self.instances.table.background
        return [k for k, j in enumerate(background.moved) if background.columns[j].integer]

    @property
    def left(self) -> int:
        """How many rows may still be asked."""
        return self.budget - sum(map(len, self.rows))

    def answers(self, values: Array) -> Array:
        """All outputs for rows of numbers, shape (n, outputs)."""
        values = np.atleast_2d(np.array(values, dtype=np.float64))
        values[:, self.integers] = np.rint(values[:, self.integers])  # the model is asked integers
        if not self.known:
            return self._replies_to(np.concatenate([self.x[None], values]))[1:]
        return self._replies_to(values)

    def _replies_to(self, values: Array) -> Array:
        """The answers to rows. Only rows that were not asked before are asked."""
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
        explained(np.concatenate(self.replies), outputs, self.target, self.box.link)
        return answers_of(answers, outputs, self.target, self.box.link)

    def understood(self) -> tuple[str, tuple[Any, ...]]:
        """The task and the outputs, as the first answers show them. This also sets the target."""
        task, outputs = self.box.understood(self.replies[0])
        self.target = aimed_at(self.target, self.replies[0], task, outputs)
        return task, outputs


def explain(
    method: Foreign, budget: int, seed: int, instances: Instances, request: Request
) -> PlacedExplanations:
    """Another package explains one instance after the other."""
    box, query, target, most = request.box, request.meter.ask, request.target, request.batch_rows
    for i in range(len(instances)):
        question = Question.of(instances, i, box, query, target, budget, seed, most)
        yield i, told_by(method, question)


def told_by(method: Foreign, question: Question) -> Explanation:
    """The explanation that another package gives, in our form; the first row is the instance."""
    began = time.perf_counter()
    foreign = method.run(question)
    answers, rows = np.concatenate(question.replies), np.concatenate(question.rows)
    task, outputs = question.understood()
    prediction = float(explained(answers, outputs, question.target, question.box.link)[0])
    own = time.perf_counter() - began - question.seconds
    i, instances = question.i, question.instances
    added = foreign.base + float(foreign.scores.sum())
    return Explanation(
        names=question.names,
        conditions=instances.conditions(i),
        data=instances.own(i),
        scores=foreign.scores,
        posterior=foreign.posterior,
        signed=foreign.signed,
        intercept=foreign.base,
        prediction=prediction,
        local_prediction=added if np.isfinite(added) else prediction,
        target=question.target,
        outputs=outputs,
        task=task,
        contrast=np.ones(len(foreign.scores)),
        r2=float("nan"),
        r2_held_out=float("nan"),
        evidence=Asked(rows, rows, np.ones(len(rows)), answers, np.ones(len(rows))),
        bill=Bill(len(rows), question.calls, question.seconds, own),
        method=method.name,
        surrogate=None,
        seed=question.seed,
        link=question.box.link,
    )
