"""UnRAvEL: ask where a Gaussian process is uncertain, near a random shift of the instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.design.law import by_kernel, check_batch, check_sizes
from eagle.surrogate.gaussian import Covariance, Regression, Scaled, tuned
from eagle.ties import TIE
from eagle.types import NOTHING, Array, InputError, Kernel, Points, Seen, Space, finite

MARGIN: Final = 0.01
"""The least improvement on the lowest answer so far, in standard deviations."""


@final
@dataclass(frozen=True, eq=False)
class Belief:
    """The process's prediction for candidates: arrays of shape (n,), and one number.

    Answers are standardised: in standard deviations from their mean.
    """

    mean: Array
    std: Array
    far: Array
    """The distance to x0 + ε/ln n, in the units of the features."""
    lowest: float
    """The lowest answer so far."""


Acquisition = Callable[[Belief], Array]
"""A function from candidates to scores, shape (n,). The candidate of the largest is asked."""


def fur(belief: Belief) -> Array:
    """Faithful uncertainty reduction: s − ‖x − x0 − σ̄ε/ln n‖₂, where offsets have σ̄ = 1."""
    return belief.std - belief.far


def ur(belief: Belief) -> Array:
    """Uncertainty reduction: s. It ignores locality."""
    return belief.std


def ucb(belief: Belief) -> Array:
    """The upper confidence bound m + 2s: where answers may be high."""
    return belief.mean + 2 * belief.std


def lcb(belief: Belief) -> Array:
    """The lower confidence bound, −(m − 2s): where answers may be low."""
    return 2 * belief.std - belief.mean


def mpi(belief: Belief) -> Array:
    """The probability that the answer is below the lowest so far, by more than `MARGIN`."""
    from scipy.special import ndtr

    return np.asarray(ndtr(_improvement(belief)))


def ei(belief: Belief) -> Array:
    """Expected improvement: how far the answer is expected to be below the lowest so far."""
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
    """The instance, then row by row the best of a new pool, by a process tuned on all answers.

    Offsets stay within `interval` standard deviations; matches and masks keep their own law. Each
    round needs the answers of the one before, so it is a call of its own. Each round tunes the
    process from the same start by at most `most` steps, so its rows depend only on the rows and
    answers so far. The rows of a `batch` are the best under the same process.
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
        check_sizes(batch=self.batch, pool=self.pool, most=self.most)
        check_batch(self.batch, self.pool)

    def longest(self, space: Space, budget: int) -> int:
        return budget

    def weight(self, space: Space, kernel: Kernel, features: Array) -> Array:
        return by_kernel(space, kernel, features)

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        """The next rows, best first. The first round asks the instance."""
        if not len(seen):
            return space.origin[None]
        candidates = within(space, self.interval, space.draw(self.pool, rng))
        shift = float(rng.standard_normal()) / math.log(len(seen) + 1)  # n counts from 2
        first, _ = space.distinct(np.concatenate([seen.points, candidates]))
        fresh = first[first >= len(seen)] - len(seen)
        if not len(fresh):  # all were asked before: repeat one, and draw a new pool next time
            return candidates[:1]
        candidates = candidates[fresh]
        score = self.acquisition(self._belief(seen, space, space.features(candidates), shift))
        return np.asarray(candidates[k_largest(score, min(self.batch, left))])

    def _belief(self, seen: Seen, space: Space, features: Array, shift: float) -> Belief:
        anchor = space.features(space.origin[None])[0]
        scaled = Scaled.of(seen.y)
        if scaled.flat:  # equal answers: there is nothing to tune
            start = Covariance.start(len(anchor))
            process = Regression.on(start, seen.rows.features, scaled.values)
        else:
            process = tuned(seen.rows.features, scaled.values, 1, self.most)
        mean, variance = process.predict(features)
        # One distance for each candidate. The reference takes one norm of all candidates together.
        far = np.linalg.norm(features - anchor - shift, axis=1)
        return Belief(mean, np.sqrt(variance), far, float(scaled.values.min()))


def within(space: Space, interval: float, points: Points) -> Points:
    """Points with every offset in the box: the law of steps, cut to |offset| ≤ interval.

    A feature that could not move inside the box, such as a number of two values, keeps its law.
    """
    steps = np.arange(space.steps, dtype=space.origin.dtype)
    every = space.features(np.repeat(steps[:, None], len(space.origin), axis=1))
    anchor = space.features(space.origin[None])[0]
    out = points.copy()
    for j in np.flatnonzero(anchor == 0):  # a match is 1 at the instance, an offset is 0
        near = np.abs(every[:, j]) <= interval
        inside = steps if (every[near, j] == 0).all() else steps[near]
        # Steps are equally likely, so a step among all is mapped to a step among those inside.
        out[:, j] = inside[points[:, j].astype(np.intp) * len(inside) // space.steps]
    return out


def k_largest(score: Array, k: int) -> NDArray[np.intp]:
    """The places of the k largest scores, the largest first; of equal ones the earlier first."""
    left = score.astype(np.float64)
    picks = np.empty(min(k, len(score)), dtype=np.intp)
    for i in range(len(picks)):
        top = left.max()
        picks[i] = (left >= top - TIE * max(1.0, abs(top))).argmax()
        left[picks[i]] = -np.inf
    return picks
