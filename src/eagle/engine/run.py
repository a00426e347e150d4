"""The one loop: what all instances want next goes into one call, until none wants more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np

from eagle.engine import room
from eagle.engine.plan import Planner, Prepared, by_size
from eagle.engine.walk import Aim, Choosing, Growing, Walk, Watch, Whole
from eagle.types import Adaptive, AnswerError, Array, Instances, Points
from eagle.until import Rule

Query: TypeAlias = Callable[[Any, int], Array]
"""Inputs and how many there are, to checked answers, shape (n, outputs)."""


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """One instance with its answers, shape (n, outputs), and what they cost."""

    i: int
    prepared: Prepared
    answers: Array
    calls: int
    model_seconds: float
    own_seconds: float
    stopped: str = ""


def ask(
    planner: Planner,
    instances: Instances,
    query: Query,
    batch_rows: int,
    aim: Aim,
    until: Rule | None = None,
    watch: Watch | None = None,
) -> Iterator[Asked]:
    """Explain instances together: what they ask is stacked, so the model sees full batches.

    No call has more rows than `batch_rows`: a plan that is longer is asked in parts. `aim` tells
    an adaptive design which number of each answer is to be explained. With `until`, a plan is
    asked in growing parts until the rule is met; `watch` is told of every look.
    """
    size = max(1, batch_rows // max(planner.budget, 1))
    _refuse_large(planner, instances, batch_rows, until)
    for start in range(0, len(instances), size):
        rows = range(start, min(start + size, len(instances)))
        began = time.perf_counter()
        model = _Model(instances, query, batch_rows, len(rows))
        walks = _walks(planner, model, rows, aim, until, watch)
        _follow(walks, model)
        prepared = {i: walk.prepared for i, walk in walks.items()}
        own = (time.perf_counter() - began) / len(rows) - model.share()
        for i, walk in walks.items():
            yield Asked(i, prepared[i], walk.answers, walk.calls, model.share(), own, walk.stopped)


def _walks(
    planner: Planner,
    model: _Model,
    rows: Sequence[int],
    aim: Aim,
    until: Rule | None,
    watch: Watch | None,
) -> dict[int, Walk]:
    """How each instance is asked: by its plan, by parts of it, or by the answers."""
    spaces = [model.instances.space(i) for i in rows]
    design = planner.method.design
    walks: Sequence[Walk]
    if isinstance(design, Adaptive):
        walks = [Choosing(planner, design, space, aim) for space in spaces]
    elif until is not None:
        walks = [Growing(planner, space, aim, until, watch, model.share) for space in spaces]
    else:
        walks = [Whole(prepared) for prepared in planner.prepare(spaces)]
    return dict(zip(rows, walks, strict=True))


def _follow(walks: Mapping[int, Walk], model: _Model) -> None:
    """In rounds: what all want next is one call."""
    active = dict(walks)
    while active:
        wanted = {i: walk.next() for i, walk in active.items()}
        wanted = {i: points for i, points in wanted.items() if len(points)}
        active = {i: active[i] for i in wanted}
        if not active:
            return
        before = model.calls
        replies = model.ask(list(wanted), list(wanted.values()))
        for walk, reply in zip(active.values(), replies, strict=True):
            walk.answered(reply, model.calls - before)


def _refuse_large(
    planner: Planner, instances: Instances, batch_rows: int, until: Rule | None
) -> None:
    """What this machine has no memory for is refused before anything is planned or asked."""
    longest = planner.budget if until is None else int(min(planner.budget, until.most))
    planner, first = replace(planner, budget=longest), instances.space(0)
    rows, d = planner.refuse_large(first)
    if not first.masks:
        room.refuse_call(min(batch_rows, rows * len(instances)), d)
        return
    for alike in by_size(instances.space(i) for i in range(len(instances))):
        planner.refuse_large(alike[0])  # texts differ in how many parts they have


@final
class _Model:
    """Asks points around instances, in as few calls as may be, and keeps the time."""

    def __init__(self, instances: Instances, query: Query, most: int, together: int) -> None:
        self.instances, self._query, self._most = instances, query, most
        self._together, self._seconds = together, 0.0
        self.calls = 0
        self._paid: list[Array] = []

    def share(self) -> float:
        """The model's seconds so far, a share of each instance that is asked together."""
        return self._seconds / self._together

    def ask(self, rows: Sequence[int], points: Sequence[Points]) -> list[Array]:
        """The answers to the points around each row."""
        answers: list[Array] = []
        for part, parts in _parts(rows, points, self._most):
            inputs = self.instances.inputs(part, parts)
            asked = time.perf_counter()
            try:
                answers.append(self._query(inputs, sum(map(len, parts))))
            except AnswerError as error:
                paid = self._paid + answers
                error.answers = np.concatenate(paid) if paid else None
                raise
            self._seconds += time.perf_counter() - asked
            self.calls += 1
            del inputs  # or the next part would be made beside this one
        self._paid += answers
        return np.split(np.concatenate(answers), np.cumsum([len(p) for p in points])[:-1])


def _parts(
    rows: Sequence[int], points: Sequence[Points], most: int
) -> Iterator[tuple[Sequence[int], Sequence[Points]]]:
    """What goes into one call each: all together, or a single long plan in parts."""
    if len(rows) > 1 or len(points[0]) <= most:
        yield rows, points
        return
    for start in range(0, len(points[0]), most):
        yield rows, [points[0][start : start + most]]
