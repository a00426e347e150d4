"""DLIME: the rows of the background in the instance's cluster, instead of random rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from eagle._engine.method import Method
from eagle._tables.neighbours import NeighbourSpace
from eagle._values.arrays import Points
from eagle._values.checks import check_flags, integer
from eagle.contracts import Kernel, Need, Planned, Space
from eagle.errors import InputError
from eagle.kernels import Exponential
from eagle.surrogates.ridge import Ridge


@final
@dataclass(frozen=True)
class Cluster(Planned):
    """The instance, then the rows in the cluster of its nearest neighbour, the nearest first.

    All rows of the cluster are asked; a cluster larger than the budget is an error. With
    `nearest`, as many rows are asked as the budget allows. Nothing is random.
    """

    clusters: int = 2
    nearest: bool = False
    needs: ClassVar = frozenset({Need.ROWS, Need.MATCHES, Need.TABLE})

    def __post_init__(self) -> None:
        check_flags(nearest=self.nearest)
        integer(self.clusters, "the number of clusters", 1)

    def longest(self, space: Space, budget: int) -> int:
        """The rows of the background and the instance, up to the budget."""
        return min(budget, space.steps + 1)

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
                "raise the budget, or ask the nearest of them first (eagle.peers.DLIME_NEAREST)"
            )
        return np.concatenate([[-1], inside])[:budget, None]


DLIME: Final = Method("DLIME", Cluster(), Exponential(), Ridge(), budget=1_000_000)
"""All background rows in the cluster of the instance's nearest neighbour; nothing is random.

The reference compares raw values for equality, so numbers hardly ever match; here it is by bins.
"""

DLIME_NEAREST: Final = Method("DLIME (nearest)", Cluster(nearest=True), Exponential(), Ridge())
"""DLIME within a budget: the nearest rows of the cluster first."""
