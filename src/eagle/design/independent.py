"""Independent draws, as in LIME. All other designs are measured against this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle.design.law import Tilt, by_kernel, draw_with_instance, quantile, uniforms
from eagle.types import NOTHING, Array, Kernel, Points, Space


@final
@dataclass(frozen=True)
class Independent:
    """The instance, then points drawn independently of one another.

    With a `law`, offsets follow it instead of the space's own law; matches still follow the
    space's own law. The kernel weighs the rows in either case.
    """

    law: Tilt | None = None
    needs: ClassVar = NOTHING
    balanced: ClassVar = False

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_kernel(space, kernel, features)

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the draws."""
        if not spaces:
            return []
        if self.law is not None and not spaces[0].masks:
            uniform = uniforms(spaces[0], budget, rng)
            return [self._tilted(space, kernel, uniform) for space in spaces]
        return [draw_with_instance(spaces[0], budget, rng)] * len(spaces)

    def _tilted(self, space: Space, kernel: Kernel, uniform: Array) -> Points:
        assert self.law is not None
        points = quantile(self.law.tilt(space, kernel), uniform).astype(space.origin.dtype)
        points[0] = space.origin
        return points
