"""UnRAvEL: ask where a Gaussian process is uncertain, near a random shift of the instance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from eagle._engine.method import Method
from eagle._values.arrays import Array, Points
from eagle._values.checks import integer
from eagle._values.text import finite, short_repr
from eagle._values.ties import TIE
from eagle.contracts import Adaptive, Kernel, Seen, Space
from eagle.designs.law import check_sizes
from eagle.errors import InputError
from eagle.kernels import Unit
from eagle.peers.gaussian import STARTS, Covariance, Regression, Scaled, tune
from eagle.surrogates.fit import Fit, Surrogate, weighted_r2


@final
@dataclass(frozen=True)
class Unravel(Adaptive):
    """The instance, then row by row the best of a new pool, by a process tuned on all answers.

    The best has the most faithful uncertainty reduction, s − ‖x − x0 − σ̄ε/ln n‖₂: s is the standard
    deviation of the process, in those of the answers, and offsets have σ̄ = 1.
    Offsets stay within `interval` standard deviations; matches and masks keep their own law. Each
    round needs the answers of the one before, so it is a call of its own. Each round tunes the
    process from the same start by at most `most` steps, so its rows depend only on the rows and
    answers so far.
    """

    interval: float = 1.0
    pool: int = 1000
    most: int = 30

    def __post_init__(self) -> None:
        if not (finite(self.interval) and self.interval > 0):
            raise InputError(
                f"the interval must be a positive number, not {short_repr(self.interval)}"
            )
        check_sizes(pool=self.pool, most=self.most)

    def ask(
        self, seen: Seen, space: Space, kernel: Kernel, left: int, rng: np.random.Generator
    ) -> Points:
        """The next row. The first round asks the instance."""
        if not len(seen):
            return space.origin[None]
        candidates = within(space, self.interval, space.draw(self.pool, rng))
        shift = float(rng.standard_normal()) / math.log(len(seen) + 1)  # n counts from 2
        first, _ = space.distinct(np.concatenate([seen.points, candidates]))
        fresh = first[first >= len(seen)] - len(seen)
        if not len(fresh):  # all were asked before: repeat one, and draw a new pool next time
            return candidates[:1]
        candidates = candidates[fresh]
        score = self._score(seen, space, space.features(candidates), shift)
        top = float(score.max())
        pick = int((score >= top - TIE * max(1.0, abs(top))).argmax())
        return np.asarray(candidates[[pick]])

    def _score(self, seen: Seen, space: Space, features: Array, shift: float) -> Array:
        anchor = space.features(space.origin[None])[0]
        scaled = Scaled.of(seen.y)
        if scaled.flat:  # equal answers: there is nothing to tune
            start = Covariance.start(len(anchor))
            process = Regression.on(start, seen.rows.features, scaled.values)
        else:
            process = tune(seen.rows.features, scaled.values, 1, self.most)
        _, variance = process.predict(features)
        # One distance for each candidate. The reference takes one norm of all candidates together.
        far = np.linalg.norm(features - anchor - shift, axis=1)
        return np.asarray(np.sqrt(variance) - far)


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


@final
@dataclass(frozen=True)
class Process(Surrogate):
    """A Gaussian process with a length for each feature, tuned by its marginal likelihood.

    A feature scores 1/length; the largest score is 1, and none has a sign. A feature that never
    moved scores 0, and if answers are equal all features do.

    All rows count the same, since UnRAvEL has no kernel. Weights are used only in the R².
    """

    restarts: int = len(STARTS)
    most: int = 200

    def __post_init__(self) -> None:
        if integer(self.restarts, "restarts", 1) > len(STARTS):
            raise InputError(
                f"restarts go from 1 to {len(STARTS)}, not {short_repr(self.restarts)}"
            )
        integer(self.most, "the most steps of tuning", 1)

    def memory(self, n: int, d: int) -> int:
        """Numbers held besides the rows: matrices of rows by rows."""
        return 8 * n * n

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        scaled = Scaled.of(y)
        moved = np.ptp(features, axis=0) > 0
        scores = np.zeros(features.shape[1])
        if scaled.flat or not moved.any():
            middle = scaled.middle
            predicted = np.full(len(y), middle)
            return Fit(scores, math.nan, middle, weighted_r2(y, predicted, weight), signed=False)
        process = tune(features[:, moved], scaled.values, self.restarts, self.most)
        sizes = 1.0 / process.covariance.lengths
        scores[moved] = sizes / max(float(sizes.max()), np.finfo(np.float64).tiny)
        predicted = scaled.back(process.predict(process.features)[0])
        r2 = weighted_r2(y, predicted, weight)
        return Fit(scores, math.nan, float(predicted[0]), r2, signed=False)


UNRAVEL: Final = Method("UnRAvEL", Unravel(), Unit(), Process(), budget=100)
"""Asks row by row where a Gaussian process is uncertain, near the instance. A score is 1/length.

Scores have no sign and no interval. It differs from the reference in three points. The reference
takes one norm of all candidates together, so locality does not distinguish them; here each has its
own. If all answers are equal, the reference ranks features by untuned lengths; here scores are 0.
The reference goes on with gradient ascent from the best candidates, which by its formula ends near
the line on which all features move together; here the best candidate of a pool is asked.

It is the one method here whose rows may differ between processors. The process is tuned after every
row, and where many lengths are about as likely, rounding decides which one is taken.
"""
