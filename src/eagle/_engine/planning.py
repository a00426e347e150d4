"""How plans are made: once for each law, and each row of a plan once.

A plan depends on method, budget, seed and law alone, not on earlier or other plans. So the rows of
plans are cached for the whole process, and explainers of similar tables share them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final, final

import numpy as np

from eagle._engine import memory
from eagle._engine.method import Method
from eagle._engine.plan import PlannedRows
from eagle._values.arrays import Array, Points
from eagle._values.text import short_repr
from eagle.contracts import Need, Planned, Rows, Space
from eagle.errors import InputError

MAX_GROWTH: Final = 16
"""A plan of masks, which may repeat, has at most this many times the budget's points."""


@final
class PlanCache:
    """The latest plans, up to `max_bytes` in all."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._size, self._lock = max_bytes, 0, Lock()
        self._plans: OrderedDict[Hashable, PlannedRows] = OrderedDict()

    def get(self, key: Hashable) -> PlannedRows | None:
        with self._lock:
            if key in self._plans:
                self._plans.move_to_end(key)
            return self._plans.get(key)

    def put(self, key: Hashable, plan: PlannedRows) -> None:
        with self._lock:
            if key not in self._plans:
                self._size += plan.nbytes
                self._plans[key] = plan
            while self._size > self._max_bytes and len(self._plans) > 1:
                self._size -= self._plans.popitem(last=False)[1].nbytes

    def clear(self) -> None:
        with self._lock:
            self._plans.clear()
            self._size = 0


CACHE: Final = PlanCache(64 << 20)
"""The plans of this process."""


@final
@dataclass(frozen=True)
class Planner:
    """A method with a budget and a seed: all that decides a plan besides the law of its space."""

    method: Method
    budget: int
    seed: int

    def plan(self, spaces: Sequence[Space]) -> list[PlannedRows]:
        """For each space the rows to ask, and everything about them that needs no answers."""
        ready: dict[Hashable, PlannedRows] = {}
        fresh: dict[Hashable, Space] = {}
        for space in spaces:
            law = space.law
            known = ready.get(law) or CACHE.get(self._key(space))
            if known is None:
                fresh[law] = space
            else:
                ready[law] = known
        for alike in by_size(fresh.values()):
            for space, points in zip(alike, self._points(alike), strict=True):
                ready[space.law] = self._weigh(space, points, np.ones(len(points)))
                CACHE.put(self._key(space), ready[space.law])
        return [self._each_once(ready[space.law], space) for space in spaces]

    def refuse_large(self, space: Space) -> tuple[int, int]:
        """The most rows and features of a plan. Refuse one that does not fit into memory."""
        rows = self.method.design.longest(space, self.budget)
        d = space.features(space.origin[None]).shape[1]
        memory.refuse_plan(rows, d, self.method.surrogate)
        return rows, d

    def generator(self) -> np.random.Generator:
        """The one source of random numbers, new for each plan and each instance."""
        return np.random.Generator(np.random.PCG64(self.seed))

    def _key(self, space: Space) -> Hashable:
        return self, type(space), space.law

    @property
    def _design(self) -> Planned:
        if not isinstance(self.method.design, Planned):
            raise InputError(
                f"{self.method.name} chooses rows by the answers to those before, so there is "
                "nothing to plan: use explain"
            )
        return self.method.design

    def _points(self, spaces: Sequence[Space]) -> list[Points]:
        """The points of each space; spaces have the same number of features."""
        kernel = self.method.kernel_in(spaces[0])
        plans = self._design.plan(spaces, kernel, self.budget, self.generator())
        pairs = list(zip(spaces, plans, strict=True))
        for space, points in pairs:
            self._refuse_other(space, points)
        if not spaces[0].masks:
            return plans
        return [self._fill_up(space, points) for space, points in pairs]

    def _refuse_other(self, space: Space, points: Points) -> None:
        """Refuse what is no plan: points of the space, of which the first is the instance."""
        origin, name = space.origin, type(self.method.design).__name__
        fits = points.ndim == 2 and points.shape[1:] == origin.shape and len(points) > 0
        if not fits or points.dtype != origin.dtype:
            raise InputError(
                f"{self.method.name}: a plan of {name} must have points of shape (n, "
                f"{len(origin)}) and dtype {origin.dtype}, as its space has, not "
                f"{short_repr(points)}"
            )
        if (points[0] != origin).any():
            raise InputError(
                f"{self.method.name}: the first point of a plan must be the instance, "
                f"space.origin, and that of {name} is not"
            )

    def _fill_up(self, space: Space, points: Points) -> Points:
        """A plan of masks that is long enough for `budget` distinct ones, or for all there are.

        Masks may repeat. The plan is never shorter than the budget, so that plans are nested.
        """
        n, d = self.budget, len(space.origin)
        most = self.budget if d >= 63 else min(self.budget, 2**d)
        while len(first := space.distinct(points)[0]) < most and n < MAX_GROWTH * self.budget:
            n *= 2
            replace(self, budget=n).refuse_large(space)
            plan = self._design.plan([space], self.method.kernel_in(space), n, self.generator())
            points = plan[0]
        if len(first) < most:
            return points
        return points[: max(self.budget, int(first[most - 1]) + 1)]

    def _weigh(self, space: Space, points: Points, repeats: Array) -> PlannedRows:
        """Points that were planned so often, as rows of the surrogate."""
        method = self.method
        features = space.features(points)
        weight = method.weight(space, features) * repeats
        seen = method.surrogate_features(space, points, features)
        rows = Rows(seen, weight, repeats, method.design.balanced, method.law(space), points)
        return PlannedRows.of(points, rows, method.surrogate)

    def _each_once(self, shared: PlannedRows, space: Space) -> PlannedRows:
        """Each distinct row once: a deterministic model would give the same answer again.

        A row that was planned several times keeps that weight in the line, but it counts as one
        observation: repeated answers would make intervals too narrow.
        """
        first, repeats = space.distinct(shared.points)
        if len(first) == len(shared.points) and Need.VALUES not in self.method.needs:
            return shared
        return self._weigh(space, shared.points[first], repeats.astype(np.float64))


def by_size(spaces: Iterable[Space]) -> list[list[Space]]:
    """Spaces in groups of the same number of features, which varies between texts."""
    groups: dict[int, list[Space]] = {}
    for space in spaces:
        groups.setdefault(len(space.origin), []).append(space)
    return list(groups.values())
