"""The way down a smooth function within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from eagle.types import Array

Loss = Callable[[Array], tuple[float, Array]]
"""A place, shape (d,), to the loss there and its gradient; an infinite loss bars the place."""

ENOUGH: Final = 1e-5
"""Where no free slope is steeper than this, it is flat."""

SMALL: Final = 1e-10
"""A step that gains less, relatively, is the last."""

TRIALS: Final = 20
"""A direction in which so many ever shorter steps do not lead down leads nowhere."""

LONGEST: Final = 2.0
"""No coordinate moves farther in a step: far away the model of the loss means nothing."""


def descend(loss: Loss, start: Array, low: Array, high: Array, most: int) -> tuple[Array, float]:
    """The lowest place reached within the bounds by at most so many steps, and the loss there.

    BFGS on the coordinates that are free to move; the others stay at their bounds. In numpy alone:
    scipy's L-BFGS-B calls a BLAS of its own, whose threads and numpy's wait for one another: on
    two cores that made tuning ten times slower.
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
            found, other = loss(there)
            drop = float(slope @ (there - x))
            if found <= value + 1e-4 * drop:
                break
            # To the bottom of the parabola through what is known, but not too far back.
            length *= min(max(-drop / (2 * (found - value - drop)), 0.1), 0.5)
        else:
            break
        moved, turned, gained = there - x, other - slope, value - found
        x, value, slope = there, found, other
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
