"""Methods of other packages. They choose what to ask; we count their rows and calls."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import numpy as np

from eagle._engine.evidence import Asked
from eagle._engine.foreign import ForeignMethod
from eagle._engine.metering import MeteredModel
from eagle._tables.neighbours import Neighbours
from eagle._values.arrays import Array, Model
from eagle._values.posterior import Posterior
from eagle._values.targets import Target, answers_of, explained_answers, resolve_target
from eagle.contracts import Instances, Need
from eagle.cost import Cost
from eagle.errors import AnswerError, InputError
from eagle.explanation import Explanation
from eagle.models.box import Box

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
class Foreign(ForeignMethod):
    """A method of another package. `run` takes a `Question` and returns `ForeignScores`.

    `budget` is the largest number of rows the model is asked, those of the background included.
    """

    name: str
    run: Callable[[Question], ForeignScores]
    budget: int = 500
    needs: frozenset[Need] = frozenset({Need.ROWS, Need.TABLE})

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
        """The package explains one instance after the other."""
        for i in range(len(group)):
            question = Question.of(group, i, box, model.ask, target, budget, seed, batch_rows)
            yield i, explain_by(self, question)


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
            k
            for k, j in enumerate(background.moved_columns)
            if background.columns[j].levels is not None
        ]

    @property
    def integers(self) -> list[int]:
        """Which of the d explained columns hold integers."""
        background = self.instances.table.background
        return [k for k, j in enumerate(background.moved_columns) if background.columns[j].integer]

    @property
    def rows_left(self) -> int:
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
                self._ask(values[fresh])
            except Exception:
                for k in fresh:  # not answered, so not known
                    del known[keys[k]]
                raise
        return np.concatenate(self.replies)[[known[key] for key in keys]]

    def _ask(self, values: Array) -> None:
        if len(values) > self.rows_left:
            raise InputError(
                f"a budget of {self.budget} rows is not enough: {len(values)} more are wanted "
                f"where {self.rows_left} are left"
            )
        parts = []
        for start in range(0, len(values), self.batch_rows):
            part = values[start : start + self.batch_rows]
            inputs = self.instances.to_table(self.i, part)
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
        _, outputs = self.output_names()
        explained_answers(np.concatenate(self.replies), outputs, self.target, self.box.link)
        return answers_of(answers, outputs, self.target, self.box.link)

    def output_names(self) -> tuple[str, tuple[Any, ...]]:
        """The task and the outputs, as the first answers show them. This also sets the target."""
        task, outputs = self.box.task_and_outputs(self.replies[0])
        self.target = resolve_target(self.target, self.replies[0], task, outputs)
        return task, outputs


def explain_by(method: Foreign, question: Question) -> Explanation:
    """The explanation that another package gives, in our form; the first row is the instance."""
    began = time.perf_counter()
    foreign = method.run(question)
    answers, rows = np.concatenate(question.replies), np.concatenate(question.rows)
    task, outputs = question.output_names()
    prediction = float(explained_answers(answers, outputs, question.target, question.box.link)[0])
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
        cost=Cost(len(rows), question.calls, question.seconds, own_seconds=own),
        method=method.name,
        surrogate=None,
        seed=question.seed,
        link=question.box.link,
    )


def in_one_call(run: Callable[[Model], ForeignScores], question: Question) -> ForeignScores:
    """Run a package so that all its rows are asked in one call.

    Its rows must not depend on answers. It is run twice: first with a model that answers 0, to
    record its rows, then with the answers to these.
    """
    wanted: list[Array] = []

    def rehearse(values: Any) -> Array:
        wanted.append(np.array(values, dtype=np.float64))
        return np.zeros(len(values))

    run(rehearse)
    question.answers(np.concatenate(wanted))
    question.model(question.x[None])  # raises now if these answers cannot be explained
    return run(question.model)


def evenly(data: Array, n: int) -> Array:
    """n evenly spaced rows; all of them if there are fewer."""
    return np.asarray(data[np.linspace(0, len(data) - 1, min(n, len(data))).round().astype(int)])


def refuse_missing(name: str, question: Question) -> None:
    """Refuse missing values, which other packages do not handle."""
    for what, values in (("a background", question.data), ("a row", question.x)):
        if np.isnan(values).any():
            raise InputError(f"{name} needs {what} without missing values: fill them, or drop them")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, which other packages use; restore its state afterwards."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


@contextmanager
def hushed(*packages: str) -> Iterator[None]:
    """Silence the warnings of packages; those of the model are kept."""
    with warnings.catch_warnings():
        for package in packages:
            warnings.filterwarnings("ignore", module=package)
        yield


def too_small(name: str, least: int, question: Question) -> InputError:
    return InputError(
        f"{name} needs a budget of at least {least} rows here, not {question.budget}: raise it, or "
        "take fewer background rows"
    )
