"""DLIME: the instance's own cluster of the background, instead of chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle.design.law import by_kernel
from eagle.table.neighbours import NeighbourSpace
from eagle.types import Array, InputError, Kernel, Need, Points, Space


@final
@dataclass(frozen=True)
class Cluster:
    """The instance, then the rows of its nearest neighbour's cluster, the nearest first.

    The whole cluster is asked, and refused where it is larger than the budget; with `nearest`,
    as much of it as the budget allows. There is no chance in it.
    """

    clusters: int = 2
    nearest: bool = False
    needs: ClassVar = frozenset({Need.ROWS, Need.MATCHES, Need.TABLE})
    balanced: ClassVar = False

    def __post_init__(self) -> None:
        if not isinstance(self.clusters, int | np.integer) or self.clusters < 1:
            raise InputError(f"there must be at least 1 cluster, not {self.clusters!r}")

    def longest(self, space: Space, budget: int) -> int:
        """As many as there are rows, and the instance."""
        return min(budget, space.steps + 1)

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_kernel(space, kernel, features)

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (up to budget, 1)."""
        return [self._points(space, budget) for space in spaces]

    def _points(self, space: Space, budget: int) -> Points:
        assert isinstance(space, NeighbourSpace)  # as `needs` has seen to
        labels, far = space.neighbours.rows.labels(self.clusters), space.distances
        near = np.argsort(far, kind="stable")
        inside = near[labels[near] == labels[near[0]]]
        if not self.nearest and len(inside) + 1 > budget:
            raise InputError(
                f"the cluster has {len(inside)} rows, more than the budget of {budget} allows: "
                "raise the budget, or ask the nearest of them first (eagle.methods.DLIME_NEAREST)"
            )
        return np.concatenate([[-1], inside])[:budget, None]
