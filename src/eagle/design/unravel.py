"""UnRAvEL: ask where a Gaussian process is unsure, near a point trembling about the instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.design.law import by_kernel
from eagle.surrogate.gaussian import Covariance, Regression, Scaled, tuned
from eagle.ties import TIE
from eagle.types import NOTHING, Array, InputError, Kernel, Points, Seen, Space, finite

MARGIN: Final = 0.01
"""By how much an improvement must beat the lowest answer so far, in standard deviations."""


@final
@dataclass(frozen=True, eq=False)
class Belief:
    """What is known of candidates before they are asked: arrays of shape (n,), and one number.

    Answers are in standard deviations about their mean.
    """

    mean: Array
    std: Array
    far: Array
    """The distance to x0 + ε/ln n, in the units of the features."""
    lowest: float
    """The lowest answer so far."""


Acquisition = Callable[[Belief], Array]
"""Candidates to scores, shape (n,): the largest is asked."""


def fur(belief: Belief) -> Array:
    """Faithful uncertainty reduction: s − ‖x − x0 − σ̄ε/ln n‖₂, where offsets have σ̄ = 1."""
    return belief.std - belief.far


def ur(belief: Belief) -> Array:
    """Uncertainty reduction: s, blind to locality."""
    return belief.std


def ucb(belief: Belief) -> Array:
    """The upper confidence bound m + 2s: where answers may be high."""
    return belief.mean + 2 * belief.std


def lcb(belief: Belief) -> Array:
    """The lower confidence bound, −(m − 2s): where answers may be low."""
    return 2 * belief.std - belief.mean


def mpi(belief: Belief) -> Array:
    """The probability that the answer is below the lowest so far."""
    from scipy.special import ndtr

    return np.asarray(ndtr(_improvement(belief)))


def ei(belief: Belief) -> Array:
    """By how much, in expectation, the answer is below the lowest so far."""
    from scipy.special import ndtr

    u = _improvement(belief)
    density = np.exp(-0.5 * u**2) / math.sqrt(2 * math.pi)
    return np.asarray(belief.std * (u * ndtr(u) + density))


def _improvement(belief: Belief) -> Array:
    std = np.maximum(belief.std, 1e-10)
    return np.asarray((belief.lowest - MARGIN - belief.mean) / std)


@final
@dataclass(frozen=True)
class Unravel:
    """The instance, then row by row the best of a fresh pool, by a process tuned on all answers.

    Offsets stay within `interval` standard deviations; matches and masks keep their own law.
    Answers choose the rows, so each round is a call. Each round tunes anew, from one fixed start
    by at most `most` steps: what is asked is a function of what was seen and of nothing else.
    Within a `batch` rows are the best under the same process.
    """

    acquisition: Acquisition = fur
    interval: float = 1.0
    batch: int = 1
    pool: int = 1000
    most: int = 30
    needs: ClassVar = NOTHING
    balanced: ClassVar = False

    def __post_init__(self) -> None:
        if not (finite(self.interval) and self.interval > 0):
            raise InputError(f"the interval must be a positive number, not {self.interval!r}")
        sizes = {"batch": self.batch, "pool": self.pool, "most": self.most}
        for name, value in sizes.items():
            if not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name} must be an integer of at least 1, not {value!r}")
        if self.batch > self.pool:
            raise InputError(f"a batch of {self.batch} cannot be chosen from a pool of {self.pool}")

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_kernel(space, kernel, features)

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        """The next rows, best first; the instance before all."""
        if not len(seen):
            return space.origin[None]
        candidates = within(space, self.interval, space.draw(self.pool, rng))
        shift = float(rng.standard_normal()) / math.log(len(seen) + 1)  # n counts from 2
        first, _ = space.distinct(np.concatenate([seen.points, candidates]))
        fresh = first[first >= len(seen)] - len(seen)
        if not len(fresh):  # all known: asked again, they bring nothing, and a new pool is drawn
            return candidates[:1]
        candidates = candidates[fresh]
        score = self.acquisition(self._belief(seen, space, space.features(candidates), shift))
        return np.asarray(candidates[best(score, min(self.batch, left))])

    def _belief(self, seen: Seen, space: Space, features: Array, shift: float) -> Belief:
        anchor = space.features(space.origin[None])[0]
        scaled = Scaled.of(seen.y)
        if scaled.flat:  # nothing to tune by
            start = Covariance.start(len(anchor))
            process = Regression.on(start, seen.rows.features, scaled.values)
        else:
            process = tuned(seen.rows.features, scaled.values, 1, self.most)
        mean, variance = process.predict(features)
        # A distance for each candidate: the reference takes the norm of all of them together.
        far = np.linalg.norm(features - anchor - shift, axis=1)
        return Belief(mean, np.sqrt(variance), far, float(scaled.values.min()))


def within(space: Space, interval: float, points: Points) -> Points:
    """The points with every offset in the box: the law of its steps, cut to |offset| ≤ interval.

    What could not move inside it, as a number of two values, keeps its own law.
    """
    steps = np.arange(space.steps, dtype=space.origin.dtype)
    every = space.features(np.repeat(steps[:, None], len(space.origin), axis=1))
    anchor = space.features(space.origin[None])[0]
    out = points.copy()
    for j in np.flatnonzero(anchor == 0):  # a match is 1 at the instance, an offset is 0
        near = np.abs(every[:, j]) <= interval
        inside = steps if (every[near, j] == 0).all() else steps[near]
        # Steps are equally likely, so one among all becomes one among those inside.
        out[:, j] = inside[points[:, j].astype(np.intp) * len(inside) // space.steps]
    return out


def best(score: Array, k: int) -> NDArray[np.intp]:
    """The places of the k largest scores, the largest first and the earlier of equal ones."""
    left = score.astype(np.float64)
    picks = np.empty(min(k, len(score)), dtype=np.intp)
    for i in range(len(picks)):
        top = left.max()
        picks[i] = (left >= top - TIE * max(1.0, abs(top))).argmax()
        left[picks[i]] = -np.inf
    return picks
