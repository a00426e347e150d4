"""DLIME: the rows of the background in the instance's cluster, instead of random rows."""

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
    """The instance, then the rows in the cluster of its nearest neighbour, the nearest first.

    All rows of the cluster are asked; a cluster larger than the budget is an error. With
    `nearest`, as many rows are asked as the budget allows. Nothing is random.
    """

    clusters: int = 2
    nearest: bool = False
    needs: ClassVar = frozenset({Need.ROWS, Need.MATCHES, Need.TABLE})
    balanced: ClassVar = False

    def __post_init__(self) -> None:
        if not isinstance(self.clusters, int | np.integer) or self.clusters < 1:
            raise InputError(f"there must be at least 1 cluster, not {self.clusters!r}")

    def longest(self, space: Space, budget: int) -> int:
        """The rows of the background and the instance, up to the budget."""
        return min(budget, space.steps + 1)

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_kernel(space, kernel, features)

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (up to budget, 1)."""
        return [self._points(space, budget) for space in spaces]

    def _points(self, space: Space, budget: int) -> Points:
        assert isinstance(space, NeighbourSpace)  # since `needs` has Need.ROWS
        labels, far = space.neighbours.rows.labels(self.clusters), space.distances
        near = np.argsort(far, kind="stable")
        inside = near[labels[near] == labels[near[0]]]
        if not self.nearest and len(inside) + 1 > budget:
            raise InputError(
                f"the cluster has {len(inside)} rows, more than the budget of {budget} allows: "
                "raise the budget, or ask the nearest of them first (eagle.methods.DLIME_NEAREST)"
            )
        return np.concatenate([[-1], inside])[:budget, None]
