"""Independent draws, as in LIME. All other designs are measured against this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from eagle._values.arrays import Array, Points
from eagle.contracts import Kernel, Planned, Space
from eagle.designs.law import Tilt, check_tilt, draw_with_instance, quantile, uniforms


@final
@dataclass(frozen=True)
class Independent(Planned):
    """The instance, then points drawn independently of one another.

    With a `law`, offsets follow it instead of the space's own law; matches still follow the
    space's own law. The kernel weighs the rows in either case.
    """

    law: Tilt | None = None

    def __post_init__(self) -> None:
        if self.law is not None:
            check_tilt(self.law)

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the draws."""
        if not spaces:
            return []
        if self.law is not None and not spaces[0].masks:
            uniform = uniforms(spaces[0], budget, rng)
            return [self._draw_tilted(space, kernel, uniform) for space in spaces]
        return [draw_with_instance(spaces[0], budget, rng)] * len(spaces)

    def _draw_tilted(self, space: Space, kernel: Kernel, uniform: Array) -> Points:
        assert self.law is not None
        points = quantile(self.law.tilt(space, kernel), uniform).astype(space.origin.dtype)
        points[0] = space.origin
        return points
