"""BayesSHAP: coalitions of features, each as likely as any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle.design.law import by_players, coalitions, uniforms
from eagle.types import Array, Kernel, Need, Points, Space


@final
@dataclass(frozen=True)
class Coalitions:
    """The instance, a row that matches it nowhere, then rows whose matches are fair coins.

    The frequencies of bins and levels play no part. BayesSHAP's reference draws by these
    frequencies, but the Shapley kernel assumes that every player joins with the same probability.

    With `singles`, the rows that match in exactly one feature come before the random ones.
    """

    singles: bool = False
    needs: ClassVar = frozenset({Need.MATCHES})
    balanced: ClassVar = False

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def plan(
        self, spaces: Sequence[Space], kernel: Kernel, budget: int, rng: np.random.Generator
    ) -> list[Points]:
        """For each space its points, shape (budget, d). All spaces share the uniforms."""
        if not spaces:
            return []
        uniform = uniforms(spaces[0], budget, rng)
        return [coalitions(space, uniform, self.singles) for space in spaces]

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_players(space, kernel, features)
