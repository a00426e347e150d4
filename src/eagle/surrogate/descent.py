"""Minimise a smooth function within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from eagle.types import Array

Loss = Callable[[Array], tuple[float, Array]]
"""A function from a point, shape (d,), to its loss and gradient. The loss is infinite where the
point is excluded."""

ENOUGH: Final = 1e-5
"""The search ends where no free component of the gradient is larger than this."""

SMALL: Final = 1e-10
"""The search ends after a step with a smaller relative gain."""

TRIALS: Final = 20
"""Backtracking steps along one direction without a gain after which the search ends."""

LONGEST: Final = 2.0
"""The farthest that a coordinate moves in a step: farther away the quadratic model is useless."""


def descend(loss: Loss, start: Array, low: Array, high: Array, most: int) -> tuple[Array, float]:
    """The best place within the bounds after at most `most` steps, and the loss there.

    BFGS on the coordinates that are free to move; the others stay at their bounds. It uses numpy
    alone: scipy's L-BFGS-B calls a BLAS of its own, and its threads and numpy's wait for one
    another. On two cores that made tuning ten times slower.
    """
    x = np.clip(start, low, high)
    value, slope = loss(x)
    curve = np.eye(len(x))
    scaled = False
    for _ in range(most):
        stuck = ((x <= low) & (slope > 0)) | ((x >= high) & (slope < 0))
        free = np.flatnonzero(~stuck)
        if not len(free) or np.abs(slope[free]).max() <= ENOUGH:
            break
        step = np.zeros(len(x))
        step[free] = -curve[np.ix_(free, free)] @ slope[free]
        step *= min(1.0, LONGEST / np.abs(step).max())
        length = 1.0
        for _ in range(TRIALS):
            there = np.clip(x + length * step, low, high)
            lower, other = loss(there)
            drop = float(slope @ (there - x))
            if lower <= value + 1e-4 * drop:
                break
            # To the minimum of the parabola through both values, within limits.
            length *= min(max(-drop / (2 * (lower - value - drop)), 0.1), 0.5)
        else:
            break
        moved, turned, gained = there - x, other - slope, value - lower
        x, value, slope = there, lower, other
        bend = float(moved @ turned)
        if bend > 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(turned)):
            if not scaled:  # the first guess of the curvature had the wrong size
                curve *= bend / float(turned @ turned)
                scaled = True
            reach = curve @ turned
            curve += np.outer(moved, moved) * ((bend + float(turned @ reach)) / bend**2)
            curve -= (np.outer(reach, moved) + np.outer(moved, reach)) / bend
        if gained <= SMALL * max(abs(value), 1.0):
            break
    return x, value
