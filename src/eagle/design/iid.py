"""Independent draws: what LIME does, and what every cleverer design is measured against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from eagle.types import Kernel, Points, Space


@final
@dataclass(frozen=True)
class Independent:
    """The instance, then points drawn independently of one another."""

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the draws."""
        if not spaces:
            return []
        points = spaces[0].draw(budget, rng)
        points[0] = spaces[0].origin
        return [points] * len(spaces)
