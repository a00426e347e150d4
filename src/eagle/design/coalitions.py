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
    """The instance, a row that matches it nowhere, then coalitions: every match a fair coin.

    The shares of bins and levels have no say in it. BayesSHAP's reference draws by these, but the
    Shapley kernel belongs to coalitions whose players all come by the same coin.

    With `singles`, the rows that match in one feature alone come before the others.
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
