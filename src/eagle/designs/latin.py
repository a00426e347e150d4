"""Latin hypercubes: rows for more features than balanced rows can keep apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from eagle._values.arrays import Array, Points
from eagle._values.checks import check_flags
from eagle.contracts import Kernel, Need, Planned, Space
from eagle.designs.law import Absorbed, Tilt, check_tilt, mean_weight, quantile, raw


@final
@dataclass(frozen=True)
class Latin(Planned):
    """The instance, then a Latin hypercube of the space's law times the kernel.

    Each of n equally probable parts of a feature's law has one of n rows, in a random order for
    each feature. So every feature alone is as even as possible, and two features correlate no more
    than in independent rows, however many there are. (A Sobol' sequence of a few hundred rows
    repeats columns beyond about a hundred features.) Interactions do not average out sooner, so
    intervals are those of independent rows. A shorter plan is not the beginning of a longer one.
    """

    law: Tilt = field(default_factory=Absorbed)
    mass: bool = True

    def __post_init__(self) -> None:
        check_tilt(self.law)
        check_flags(mass=self.mass)

    @property
    def needs(self) -> frozenset[Need]:
        return self.law.needs | {Need.WHOLE, Need.TABLE}

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the uniforms."""
        if not spaces:
            return []
        uniform = hypercube(budget - 1, len(spaces[0].origin), rng)
        return [self._points(space, kernel, uniform) for space in spaces]

    def _points(self, space: Space, kernel: Kernel, uniform: Array) -> Points:
        points = quantile(self.law.tilt(space, kernel), np.insert(uniform, 0, 0.0, axis=1))
        return np.concatenate([space.origin[None], points.astype(space.origin.dtype)])

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """The same for every row, shape (n,)."""
        mean = mean_weight(space, kernel, self.law) if self.mass else 1.0
        return np.full(len(features), mean)


def hypercube(n: int, d: int, rng: np.random.Generator) -> Array:
    """n points in (0, 1), shape (n, d): each of n equal parts of a coordinate has one point."""
    if n < 1 or d < 1:
        return np.empty((max(n, 0), d))
    chance = raw(rng, n * d).reshape(n, d)
    # All 64 random bits decide the order, and the lower 32 the place inside a part. Ties of all
    # bits are too rare to matter.
    place = np.argsort(np.argsort(chance, axis=0), axis=0)
    inside = ((chance & np.uint64(0xFFFFFFFF)).astype(np.float64) + 0.5) * 2.0**-32
    return np.asarray((place + inside) / n)
