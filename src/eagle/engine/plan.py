"""Plans: the points to ask, and everything else that needs no answers.

A `Planner` prepares points for instances, once for each law. A `Plan` is what was prepared for one
instance. It can be printed, priced, saved, sent to a paid API, and answered later.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from threading import Lock
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from eagle.engine import room
from eagle.engine.method import Choice, Method
from eagle.evidence import Bill
from eagle.explanation import Explanation
from eagle.models.box import Box
from eagle.subject import Subject
from eagle.surrogate.fit import Fitter, Surrogate
from eagle.table.moves import Moves
from eagle.targets import Target
from eagle.types import (
    Array,
    InputError,
    Instances,
    ModelError,
    Need,
    Planned,
    Points,
    Rows,
    Space,
    told,
    warn_renamed,
)


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a method knows of an instance before any answer."""

    points: Points
    rows: Rows
    fitter: Fitter

    def answered(self, answers: Array, surrogate: Surrogate) -> tuple[Prepared, Array]:
        """The plan and the answers without the rows whose answers are NaN."""
        known = answered_rows(answers)
        if known.all():
            return self, answers
        rows = self.rows.take(known)
        return Prepared(self.points[known], rows, surrogate.on(rows)), answers[known]

    @property
    def nbytes(self) -> int:
        """How much memory it holds."""
        return self.points.nbytes + self.rows.features.nbytes + self.fitter.nbytes


def answered_rows(answers: Array) -> NDArray[np.bool_]:
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
class Memory:
    """A cache of the latest plans of this process, up to `most` bytes."""

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

PLAN_BYTES = 4 << 30
"""The largest size of a plan's inputs, which are all made at once."""

LONGEST = 16
"""The longest plan of masks as a multiple of the budget. It grows to have enough distinct masks."""


@final
@dataclass(frozen=True)
class Planner:
    """Plans for each law: instances of one law share points, weights and matrices.

    A plan depends on method, budget, seed and law alone, not on earlier or other plans. So plans
    are cached for the whole process, and explainers of similar tables share them.
    """

    method: Method
    budget: int
    seed: int

    def prepare(self, spaces: Sequence[Space]) -> list[Prepared]:
        """For each space its points, and everything about them that needs no answers."""
        ready: dict[Hashable, Prepared] = {}
        fresh: dict[Hashable, Space] = {}
        for space in spaces:
            law = space.law
            known = ready.get(law) or MEMORY.get(self._key(space))
            if known is None:
                fresh[law] = space
            else:
                ready[law] = known
        for alike in by_size(fresh.values()):
            self.refuse_large(alike[0])
            for space, points in zip(alike, self._plans(alike), strict=True):
                ready[space.law] = self._prepared(space, points, np.ones(len(points)))
                MEMORY.put(self._key(space), ready[space.law])
        return [self._deduplicated(ready[space.law], space) for space in spaces]

    def plan(self, instances: Instances, box: Box) -> Plan:
        """The plan for the first instance, with all that the model is to be asked."""
        (prepared,) = self.prepare([instances.space(0)])
        size = len(prepared.points) * instances.row_bytes
        if size > PLAN_BYTES:
            raise InputError(
                f"the {len(prepared.points)} {box.asked}s of this plan would take "
                f"{size / 2**30:.1f} GiB: use explain, which makes them as they are asked, or a "
                "smaller budget"
            )
        plan = Plan.of(instances, 0, prepared, self.method, self.seed, box)
        return replace(plan, inputs=instances.inputs([0], [prepared.points]))

    def _plans(self, spaces: Sequence[Space]) -> list[Points]:
        kernel = self.method.kernel_in(spaces[0])
        plans = self._design.plan(spaces, kernel, self.budget, self.generator())
        pairs = list(zip(spaces, plans, strict=True))
        for space, points in pairs:
            self._refuse_other(space, points)
        if not spaces[0].masks:
            return plans
        return [self._filled(space, points) for space, points in pairs]

    def _refuse_other(self, space: Space, points: Points) -> None:
        """Refuse what is no plan: points of the space, of which the first is the instance."""
        origin, name = space.origin, type(self.method.design).__name__
        fits = points.ndim == 2 and points.shape[1:] == origin.shape and len(points) > 0
        if not fits or points.dtype != origin.dtype:
            raise InputError(
                f"{self.method.name}: a plan of {name} must have points of shape (n, "
                f"{len(origin)}) and dtype {origin.dtype}, as its space has, not {told(points)}"
            )
        if (points[0] != origin).any():
            raise InputError(
                f"{self.method.name}: the first point of a plan must be the instance, "
                f"space.origin, and that of {name} is not"
            )

    def _filled(self, space: Space, points: Points) -> Points:
        """A plan of masks that is long enough for `budget` distinct ones, or for all there are.

        Masks may repeat. The plan is never shorter than the budget, so that plans are nested.
        """
        n, d = self.budget, len(space.origin)
        most = self.budget if d >= 63 else min(self.budget, 2**d)
        while len(first := space.distinct(points)[0]) < most and n < LONGEST * self.budget:
            n *= 2
            replace(self, budget=n).refuse_large(space)
            plan = self._design.plan([space], self.method.kernel_in(space), n, self.generator())
            points = plan[0]
        if len(first) < most:
            return points
        return points[: max(self.budget, int(first[most - 1]) + 1)]

    def refuse_large(self, space: Space) -> tuple[int, int]:
        """The most rows and features of a plan. Refuse one that does not fit into memory."""
        rows = self.method.design.longest(space, self.budget)
        d = space.features(space.origin[None]).shape[1]
        room.refuse_plan(rows, d, self.method.surrogate)
        return rows, d

    def generator(self) -> np.random.Generator:
        """The one source of random numbers, new for each plan and each instance."""
        return np.random.Generator(np.random.PCG64(self.seed))

    @property
    def _design(self) -> Planned:
        if not isinstance(self.method.design, Planned):
            raise InputError(
                f"{self.method.name} chooses rows by the answers to those before, so there is "
                "nothing to plan: use explain"
            )
        return self.method.design

    def _key(self, space: Space) -> Hashable:
        return self, type(space), space.law

    def _prepared(self, space: Space, points: Points, often: Array) -> Prepared:
        features = space.features(points)
        weight = self.method.weight(space, features) * often
        seen = self.method.fitted_on(space, points, features)
        balanced, law = self.method.design.balanced, self.method.law(space)
        return self.ready(points, Rows(seen, weight, often, balanced, law, points))

    def ready(self, points: Points, rows: Rows) -> Prepared:
        """Points with all that the surrogate can do before the answers."""
        fitter = self.method.surrogate.on(rows)
        # Several explanations share these arrays, so nobody may write to them.
        for shared in (points, rows.features, rows.weight, rows.often, *fitter.shared):
            shared.flags.writeable = False
        return Prepared(points, rows, fitter)

    def _deduplicated(self, shared: Prepared, space: Space) -> Prepared:
        """Each distinct row once: a deterministic model would give the same answer again.

        A row that was planned several times keeps that weight in the line, but it counts as one
        observation: repeated answers would make intervals too narrow.
        """
        first, often = space.distinct(shared.points)
        if len(first) == len(shared.points) and Need.VALUES not in self.method.needs:
            return shared
        return self._prepared(space, shared.points[first], often.astype(np.float64))


@final
@dataclass(frozen=True)
class Planning:
    """How instances are planned: by one method, or by a choice of methods."""

    method: Method | Choice
    budget: int
    seed: int

    @property
    def planned(self) -> bool:
        """Whether all points are known before any answer."""
        return self.method.planned

    def planner(self, space: Space, growing: bool = False) -> Planner:
        """The planner for a space. Growing plans must be nested."""
        return Planner(self.method.of(space, self.budget, growing), self.budget, self.seed)


def by_size(spaces: Iterable[Space]) -> list[list[Space]]:
    """Spaces in groups of the same number of features, which varies between texts."""
    groups: dict[int, list[Space]] = {}
    for space in spaces:
        groups.setdefault(len(space.origin), []).append(space)
    return list(groups.values())


@final
@dataclass(frozen=True, eq=False)
class Plan:
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
    prepared: Prepared
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
        prepared: Prepared,
        method: Method,
        seed: int,
        box: Box,
    ) -> Plan:
        """What is known of instance i, and what was prepared for it."""
        return cls(
            names=instances.names(i),
            conditions=instances.conditions(i),
            data=instances.own(i),
            contrast=instances.contrast(i),
            prepared=prepared,
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
        return len(self.prepared.points)

    @property
    def values(self) -> tuple[Any, ...]:
        """The old name of `data`."""
        warn_renamed("Plan")
        return self.data

    def __repr__(self) -> str:
        return f"<Plan of {self.rows} rows for {len(self.names)} features by {self.method}>"

    def fit(self, answers: Any, target: Target = None) -> Explanation:
        """The explanation, now that the model has answered: one row of outputs for each input."""
        from eagle.engine import run  # which knows plans

        checked = self.box.read(answers, self.rows)
        return run.fit(self, checked, target, Bill(self.rows, 0, 0.0, 0.0))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan, without its inputs, as JSON with a checksum."""
        from eagle.files import plans

        plans.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Plan:
        """Read what `save` wrote. Nothing in the file is ever run."""
        from eagle.files import plans

        return plans.load(path)
