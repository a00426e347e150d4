"""Plan, query, fit: from instances to what a method has learnt about each of them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, final

import numpy as np

from eagle.surrogate.bayes import BayesLinear, Line
from eagle.types import AnswerError, Array, Instances, Kernel, Planned, Points, Space


@final
@dataclass(frozen=True)
class Method:
    """A way to explain: a design picks the points, a kernel weighs them, a surrogate is fitted."""

    name: str
    design: Planned
    kernel: Kernel
    surrogate: BayesLinear


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a method knows of an instance before any answer."""

    points: Points
    features: Array
    weight: Array
    line: Line

    @property
    def nbytes(self) -> int:
        """How much memory it holds."""
        return self.points.nbytes + self.features.nbytes + self.line.nbytes


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


@final
class Memory:
    """The plans made last in this process, up to so many bytes of them."""

    def __init__(self, most: int) -> None:
        self._most, self._size, self._lock = most, 0, Lock()
        self._plans: OrderedDict[Hashable, Prepared] = OrderedDict()

    def get(self, key: Hashable) -> Prepared | None:
        with self._lock:
            if key in self._plans:
                self._plans.move_to_end(key)
            return self._plans.get(key)

    def put(self, key: Hashable, plan: Prepared) -> None:
        with self._lock:
            if key not in self._plans:
                self._size += plan.nbytes
                self._plans[key] = plan
            while self._size > self._most and len(self._plans) > 1:
                self._size -= self._plans.popitem(last=False)[1].nbytes

    def clear(self) -> None:
        with self._lock:
            self._plans.clear()
            self._size = 0


MEMORY = Memory(64 << 20)


@final
@dataclass(frozen=True)
class Planner:
    """Plans by law: instances of one law share points, weights and algebra.

    Method, budget, seed and law alone decide a plan; what was planned before, or together, never
    does. So plans are remembered for the whole process: explainers of tables alike share them.
    """

    method: Method
    budget: int
    seed: int

    def prepare(self, spaces: Sequence[Space]) -> list[Prepared]:
        """For each space its points, and everything about them that needs no answers."""
        found: dict[Hashable, Prepared] = {}
        fresh: dict[Hashable, Space] = {}
        for space in spaces:
            law = space.law
            known = found.get(law) or MEMORY.get(self._key(space))
            if known is None:
                fresh[law] = space
            else:
                found[law] = known
        if fresh:
            plans = self.method.design.plan(
                list(fresh.values()), self.method.kernel, self.budget,
                np.random.Generator(np.random.PCG64(self.seed)),
            )  # fmt: skip
            for (law, space), points in zip(fresh.items(), plans, strict=True):
                found[law] = self._prepared(space, points)
                MEMORY.put(self._key(space), found[law])
        return [self._own(found[space.law], space) for space in spaces]

    def _key(self, space: Space) -> Hashable:
        return self, type(space), space.law

    def _prepared(self, space: Space, points: Points, often: Any = 1) -> Prepared:
        features = space.features(points)
        weight = self.method.kernel(features, space.features(space.origin[None])[0]) * often
        line = self.method.surrogate.line(features, weight)
        # Explanations show these arrays, and others will stand on them: nobody may write there.
        for shared in (points, features, weight, line.factor):
            shared.flags.writeable = False
        return Prepared(points, features, weight, line)

    def _own(self, shared: Prepared, space: Space) -> Prepared:
        """Each row once: asked again, a deterministic model says nothing new.

        A row that was planned several times keeps that weight in the line, but it is one
        observation: replicates would narrow intervals without teaching anything.
        """
        first, often = space.distinct(shared.points)
        if len(first) == len(shared.points):
            return shared
        return self._prepared(space, shared.points[first], often)


def ask(
    planner: Planner,
    instances: Instances,
    query: Callable[[Any, int], Array],
    batch_rows: int,
) -> Iterator[Asked]:
    """Explain instances together: their plans are stacked, so the model sees full batches.

    `query(inputs, n)` gives checked answers, shape (n, outputs). No call has more rows than
    `batch_rows`: a plan that is longer is asked in parts.
    """
    size = max(1, batch_rows // max(planner.budget, 1))
    for start in range(0, len(instances), size):
        rows = range(start, min(start + size, len(instances)))
        began = time.perf_counter()
        prepared = planner.prepare([instances.space(i) for i in rows])
        points = [p.points for p in prepared]
        inside = 0.0
        answers: list[Array] = []
        for part, parts in _parts(rows, points, batch_rows):
            inputs = instances.inputs(part, parts)
            asked = time.perf_counter()
            try:
                answers.append(query(inputs, sum(map(len, parts))))
            except AnswerError as error:
                error.answers = np.concatenate(answers) if answers else None
                raise
            inside += time.perf_counter() - asked
        own = time.perf_counter() - began - inside
        replies = np.split(np.concatenate(answers), np.cumsum([len(p) for p in points])[:-1])
        for i, p, reply in zip(rows, prepared, replies, strict=True):
            yield Asked(i, p, reply, len(answers), inside / len(rows), own / len(rows))


def _parts(
    rows: Sequence[int], points: Sequence[Points], most: int
) -> Iterator[tuple[Sequence[int], Sequence[Points]]]:
    """What goes into one call each: all together, or a single long plan in parts."""
    if len(rows) > 1 or len(points[0]) <= most:
        yield rows, points
        return
    for start in range(0, len(points[0]), most):
        yield rows, [points[0][start : start + most]]
