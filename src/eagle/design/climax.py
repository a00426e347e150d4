"""CLIMAX's balance of labels: as many rows on one side of the boundary as on the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle.design.law import by_kernel, draw_with_instance
from eagle.types import NOTHING, Array, Kernel, Points, Seen, Space


@final
@dataclass(frozen=True)
class BothLabels:
    """Independent rows for half the budget, then rows near the rarer label.

    Each later round asks half of the rows that are left. Such a row takes each coordinate, with
    equal probability, from a row known to have the rarer label or from a fresh draw.
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
        if not len(seen):
            return draw_with_instance(space, n, rng)
        points = space.draw(n, rng)
        label = seen.y >= 0.5
        rare = np.flatnonzero(label if label.mean() < 0.5 else ~label)
        if not len(rare):
            return points
        raw = np.asarray(rng.bit_generator.random_raw(n))
        parent = seen.points[rare[(raw % np.uint64(len(rare))).astype(np.intp)]]
        coins = np.asarray(rng.bit_generator.random_raw(points.size)).reshape(points.shape)
        return np.where(coins >> np.uint64(63) == 1, parent, points)
