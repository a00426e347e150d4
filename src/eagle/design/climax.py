"""CLIMAX's sound part: as many rows on one side of the boundary as on the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle.design.law import by_kernel
from eagle.types import NOTHING, Array, Kernel, Points, Seen, Space


@final
@dataclass(frozen=True)
class BothLabels:
    """Half the budget independently; then, by halves of what is left, rows near the rarer label.

    Such a row takes each of its coordinates from a row already known to have that label, or, with
    equal chance, from a fresh draw.
    """

    needs: ClassVar = NOTHING
    balanced: ClassVar = False

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_kernel(space, kernel, features)

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        n = (left + 1) // 2
        points = space.draw(n, rng)
        if not len(seen):
            points[0] = space.origin
            return points
        label = seen.y >= 0.5
        rare = np.flatnonzero(label if label.mean() < 0.5 else ~label)
        if not len(rare):
            return points
        raw = np.asarray(rng.bit_generator.random_raw(n))
        parent = seen.points[rare[(raw % np.uint64(len(rare))).astype(np.intp)]]
        coins = np.asarray(rng.bit_generator.random_raw(points.size)).reshape(points.shape)
        return np.where(coins >> np.uint64(63) == 1, parent, points)
