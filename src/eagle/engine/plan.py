"""Plans: for each law its points, once, with all that needs no answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import final

import numpy as np

from eagle.engine import room
from eagle.engine.method import Method
from eagle.surrogate.fit import Fitter
from eagle.types import Array, InputError, Need, Planned, Points, Rows, Space


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a method knows of an instance before any answer."""

    points: Points
    rows: Rows
    fitter: Fitter

    @property
    def nbytes(self) -> int:
        """How much memory it holds."""
        return self.points.nbytes + self.rows.features.nbytes + self.fitter.nbytes


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

LONGEST = 16
"""A plan of masks is made at most so many times longer than the budget, to ask enough of them."""


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
        for alike in by_size(fresh.values()):
            self.refuse_large(alike[0])
            for space, points in zip(alike, self._plans(alike), strict=True):
                once = np.ones(len(points))
                found[space.law] = self._prepared(space, points, once)
                MEMORY.put(self._key(space), found[space.law])
        return [self._deduplicated(found[space.law], space) for space in spaces]

    def _plans(self, spaces: Sequence[Space]) -> list[Points]:
        kernel = self.method.kernel_in(spaces[0])
        plans = self._design.plan(spaces, kernel, self.budget, self.generator())
        if not spaces[0].masks:
            return plans
        return [self._filled(space, plan) for space, plan in zip(spaces, plans, strict=True)]

    def _filled(self, space: Space, points: Points) -> Points:
        """A plan of masks, as long as it takes to ask the budget, or all masks there are.

        Many are drawn more than once. Never shorter than the budget, so that plans are nested.
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
        """How many rows and features a plan may have; one without room is refused, unmade."""
        rows = self.method.design.longest(space, self.budget)
        d = space.features(space.origin[None]).shape[1]
        room.refuse_plan(rows, d, self.method.surrogate)
        return rows, d

    def generator(self) -> np.random.Generator:
        """The one source of chance, fresh for each plan and each instance."""
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
        return self.ready(points, Rows(seen, weight, often, self.method.design.balanced))

    def ready(self, points: Points, rows: Rows) -> Prepared:
        """Points with all that the surrogate can do before the answers."""
        fitter = self.method.surrogate.on(rows)
        # Explanations show these arrays, and others will stand on them: nobody may write there.
        for shared in (points, rows.features, rows.weight, rows.often, *fitter.shared):
            shared.flags.writeable = False
        return Prepared(points, rows, fitter)

    def _deduplicated(self, shared: Prepared, space: Space) -> Prepared:
        """Each row once, with its own values: asked again, a deterministic model says nothing new.

        A row that was planned several times keeps that weight in the line, but it is one
        observation: replicates would narrow intervals without teaching anything.
        """
        first, often = space.distinct(shared.points)
        if len(first) == len(shared.points) and Need.VALUES not in self.method.needs:
            return shared
        return self._prepared(space, shared.points[first], often.astype(np.float64))


def by_size(spaces: Iterable[Space]) -> list[list[Space]]:
    """Spaces that can be planned together: as texts have, they may differ in how many features."""
    found: dict[int, list[Space]] = {}
    for space in spaces:
        found.setdefault(len(space.origin), []).append(space)
    return list(found.values())
