"""UnRAvEL: ask where a Gaussian process is uncertain, near a random shift of the instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from eagle._engine.method import Method
from eagle._values.arrays import Array, Points
from eagle._values.checks import check_function, integer, number
from eagle._values.text import finite, short_repr
from eagle._values.ties import TIE
from eagle.contracts import NOTHING, Adaptive, Kernel, Rows, Seen, Space
from eagle.designs.law import check_batch, check_sizes
from eagle.errors import InputError
from eagle.kernels import Unit
from eagle.peers.gaussian import STARTS, Covariance, Regression, Scaled, tune
from eagle.surrogates.fit import DeferredFit, Fit, Fitter, weighted_r2

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
class Unravel(Adaptive):
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
        check_function(self.acquisition, "an acquisition, such as eagle.peers.unravel.ei,")
        if not (finite(self.interval) and self.interval > 0):
            raise InputError(
                f"the interval must be a positive number, not {short_repr(self.interval)}"
            )
        check_sizes(batch=self.batch, pool=self.pool, most=self.most)
        check_batch(self.batch, self.pool)

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
            process = tune(seen.rows.features, scaled.values, 1, self.most)
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


Importance = Literal["lengthscale", "relevance"]


@final
@dataclass(frozen=True)
class Process:
    """A Gaussian process with a length for each feature, tuned by its marginal likelihood.

    A feature scores 1/length, or its `relevance`; the largest score is 1, and none has a sign.
    Relevance is how far the prediction at a row moves when the feature alone moves by ±`delta`:
    √(2 KL)/δ, averaged over rows (Paananen et al. 2019). A feature that never moved scores 0, and
    if answers are equal all features do.

    All rows count the same, since UnRAvEL has no kernel. Weights are used only in the R².
    """

    importance: Importance = "lengthscale"
    delta: float = 1.0
    restarts: int = len(STARTS)
    most: int = 200
    needs: ClassVar = NOTHING

    def __post_init__(self) -> None:
        if not isinstance(self.importance, str) or self.importance not in get_args(Importance):
            raise InputError(
                f"importance is 'lengthscale' or 'relevance', not {short_repr(self.importance)}"
            )
        number(self.delta, "delta", above=0.0)
        if integer(self.restarts, "restarts", 1) > len(STARTS):
            raise InputError(
                f"restarts go from 1 to {len(STARTS)}, not {short_repr(self.restarts)}"
            )
        integer(self.most, "the most steps of tuning", 1)

    def memory(self, n: int, d: int) -> int:
        """Numbers held besides the rows: matrices of rows by rows."""
        return 8 * n * n

    def on(self, rows: Rows) -> Fitter:
        return DeferredFit.of(self, rows)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        scaled = Scaled.of(y)
        moved = np.ptp(features, axis=0) > 0
        scores = np.zeros(features.shape[1])
        if scaled.flat or not moved.any():
            middle = scaled.middle
            predicted = np.full(len(y), middle)
            return Fit(scores, math.nan, middle, weighted_r2(y, predicted, weight), signed=False)
        process = tune(features[:, moved], scaled.values, self.restarts, self.most)
        if self.importance == "lengthscale":
            sizes = 1.0 / process.covariance.lengths
        else:
            sizes = relevance(process, self.delta)
        scores[moved] = sizes / max(float(sizes.max()), np.finfo(np.float64).tiny)
        predicted = scaled.back(process.predict(process.features)[0])
        r2 = weighted_r2(y, predicted, weight)
        return Fit(scores, math.nan, float(predicted[0]), r2, signed=False)


def relevance(process: Regression, delta: float) -> Array:
    """√(2 KL)/δ of each feature, averaged over the process's rows and both directions, shape (d,).

    KL is between the predictions, with noise, at a row and at the row moved by δ.
    """
    x, noise = process.features, process.covariance.noise
    mean, variance = process.predict(x)
    out = np.zeros(x.shape[1])
    for j in range(len(out)):
        for sign in (-1.0, 1.0):
            there = x.copy()
            there[:, j] += sign * delta
            other, wide = process.predict(there)
            ratio = (variance + noise) / (wide + noise)
            twice = ratio - 1 - np.log(ratio) + (other - mean) ** 2 / (wide + noise)
            out[j] += 0.5 * float(np.sqrt(np.maximum(twice, 0.0)).mean()) / delta
    return out


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

UNRAVEL_RELEVANCE: Final = Method(
    "UnRAvEL (relevance)", Unravel(), Unit(), Process("relevance"), budget=100
)
"""UnRAvEL with scores by how much predictions change with a feature, not by length alone.

The reference divides variances by standard deviations here.
"""


def unravel_by(acquisition: Acquisition = fur, importance: Importance = "lengthscale") -> Method:
    """UnRAvEL that asks by another acquisition, such as `eagle.peers.unravel.ei`."""
    check_function(acquisition, "an acquisition, such as eagle.peers.unravel.ei,")
    parts = Unravel(acquisition), Process(importance)
    named = getattr(acquisition, "__name__", type(acquisition).__name__)
    how = ", ".join([named] + ["relevance"] * (importance == "relevance"))
    return replace(UNRAVEL, name=f"UnRAvEL ({how})", design=parts[0], surrogate=parts[1])
