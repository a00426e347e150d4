"""BayesSHAP: coalitions of features, each as likely as any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from eagle.design.law import even, every_step, movable, quantile, uniforms
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
        return [self._points(space, uniform) for space in spaces]

    def _points(self, space: Space, uniform: Array) -> Points:
        away, moves = _away(space), movable(space)
        points = quantile(even(space), uniform)
        off = quantile(away, uniform)
        first = np.zeros((1, len(moves)), dtype=bool)
        if self.singles:
            first = np.concatenate([first, np.eye(len(moves), dtype=bool)[moves]])
        n = min(len(first), max(len(points) - 1, 0))
        points[1 : n + 1] = np.where(first[:n] | ~moves, 0, off[1 : n + 1])
        points[0] = space.origin
        return points.astype(space.origin.dtype)

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        """What cannot move is no player: the kernel counts the others."""
        moves = movable(space)
        return kernel(features[:, moves], np.ones(int(moves.sum())))


def _away(space: Space) -> Array:
    """The law that never matches, where a feature can move, shape (STEPS, d)."""
    match = every_step(space)[0] == 1
    return np.where(movable(space), 1.0 - match, 1.0)
