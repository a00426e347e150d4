"""Scores and intervals for many features and few rows, from held-out residuals.

Each row is predicted by a line that has not seen it. The variance of each feature under the law is
known, so each held-out residual gives an unbiased estimate of the scores. The scatter of these
estimates gives valid intervals, even with fewer rows than features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.checks import integer
from eagle._values.posterior import LEVEL, StudentT
from eagle._values.text import finite, short_repr
from eagle.contracts import Rows
from eagle.errors import InputError
from eagle.surrogates.fit import Fit, Fitter, Surrogate, check_answers, is_flat, weighted_r2

MIN_ROWS_CHANGED: Final = 10
"""A feature has an interval of its own if it changes in at least this many rows. A match must also
stay in at least as many."""

MIN_RIDGE: Final = 1e-12
"""The least ridge, and the least 1 − leverage that a residual is divided by."""


@final
@dataclass(frozen=True, eq=False)
class Cautious:
    """A Student-t over many scores of which most are small: t_ν(mean, variance × factor).

    Intervals are those of this t. But of a thousand features without effect, about twenty would
    have a sign that is 99% sure. So probabilities of signs look at all scores together (see
    `signs_together`). Probabilities of places use a prior N(0, τ²) that all scores share. τ² is
    estimated from the scores: their mean square minus that of their errors. A score with standard
    error s is multiplied by τ²/(τ² + s²).
    """

    mean: Array
    factor: Array
    df: float
    variance: float
    kind: ClassVar[str] = "held out"

    @property
    def plain(self) -> StudentT:
        """Without the prior that scores share."""
        return StudentT(self.mean, self.factor, self.df, self.variance, self.kind)

    @property
    def shrunk(self) -> StudentT:
        """With the prior that scores share."""
        square = np.diag(self.factor)
        trust = np.divide(1.0, square**2, out=np.zeros_like(square), where=square > 0)
        own = self.mean**2 / self.variance if self.variance > 0 else self.mean * 0.0
        shared = max(float(trust @ (own - square)) / max(float(trust.sum()), MIN_RIDGE), 0.0)
        kept = np.divide(shared, shared + square, out=np.ones_like(square), where=square > 0)
        root = np.sqrt(kept)
        factor = self.factor * np.outer(root, root)
        return StudentT(self.mean * kept, factor, self.df, self.variance, self.kind)

    @property
    def std(self) -> Array:
        return self.plain.std

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        return self.plain.interval(level, joint=joint)

    def probability_sign(self) -> Array:
        return replace(self.plain, pooled=True).probability_sign()

    def probability_top(self, k: int) -> Array:
        shrunk = self.shrunk
        if shrunk.mean.any():
            return shrunk.probability_top(k)
        integer(k, "k", 1)
        return np.full(len(self.mean), min(1.0, k / len(self.mean)))  # no score is beyond its error


@final
@dataclass(frozen=True)
class HeldOut(Surrogate):
    """A line for many features and few rows, with intervals that hold for any number of either.

    x = z − μ are the centred features of all rows but the instance. A ridge regression with λ =
    `ridge`·Σ Var z gives the slopes β, and without row i the slopes β₋ᵢ and the residual e of row
    i. The expectation of ψ = β₋ᵢ + e·x/Var z under the law is the slope of infinitely many rows,
    whatever β is. A score is the mean of ψ over the rows asked, and its variance is that of a mean.
    Scores are linear in the answers. Rows must follow their law, and have equal weights except for
    how often they were planned. The law's mean and variance are taken from the rows; a Latin
    hypercube has those of the law.

    A feature that changed in fewer than 10 rows, or a match that stayed in fewer, has no interval
    of its own: its scale is the range of all answers. Probabilities are `Cautious`. With no more
    rows than features there is no R².
    """

    ridge: float = 1.0

    def __post_init__(self) -> None:
        if not (finite(self.ridge) and self.ridge > 0):
            raise InputError(f"a ridge must be a positive number, not {short_repr(self.ridge)}")

    def memory(self, n: int, d: int) -> int:
        """Numbers held besides the rows: the smaller Gram matrix, and rows of features."""
        return 3 * min(n, d) ** 2 + 3 * n * d

    def on(self, rows: Rows) -> HeldOutLine:
        if not len(rows):
            raise InputError("a line needs at least one point")
        features, repeats = rows.features[1:], rows.repeats[1:]
        mean, variance = _moments(features, repeats)
        moved = variance > 0
        x = np.where(moved, features - mean, 0.0)
        hat = _hat(x, repeats, max(self.ridge * float(variance.sum()), MIN_RIDGE))
        left = np.maximum(1.0 - np.vecdot(x, hat.T), MIN_RIDGE)
        reach = np.divide(x, variance, out=np.zeros_like(x), where=moved) - hat.T
        return HeldOutLine(rows, mean, x, hat, left, reach, moved, moved & _moved_enough(rows))

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        """Fit answers to rows that were planned once each."""
        return self.on(Rows.each_once(features, weight)).fit(y)


@final
@dataclass(frozen=True, eq=False)
class HeldOutLine(Fitter):
    """A held-out line prepared for its rows, before the answers.

    `hat`, shape (d, n), turns answers into slopes. `left`, shape (n,), is 1 − leverage. `reach`,
    shape (n, d), is what a held-out residual of 1 adds to the slopes in ψ. `moved` features have a
    score, and `known` ones an interval of their own.
    """

    rows: Rows
    mean: Array
    x: Array
    hat: Array
    left: Array
    reach: Array
    moved: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (self.x, self.hat, self.reach))

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        y = check_answers(y, self.rows.weight)
        n, d = self.x.shape
        if n < 2 or is_flat(y):
            return _flat(float(y[0]), n, d)
        repeats = self.rows.repeats[1:]
        share = repeats / repeats.sum()
        middle = float(y[0] + share @ (y[1:] - y[0]))
        # Scaled to a largest size of 1, so that squares neither overflow nor vanish.
        unit = float(np.abs(y - middle).max())
        apart = (y[1:] - middle) / unit
        slopes = self.hat @ apart
        miss = (apart - self.x @ slopes) / self.left
        each = slopes + self.reach * miss[:, None]
        mean = np.where(self.moved, share @ each, 0.0)
        scale = self._scale((each - mean) * share[:, None], float(np.ptp(y)) / unit)
        scores = unit * mean
        intercept = middle - float(self.mean @ scores)
        local = intercept + float(self.rows.features[0] @ scores)
        posterior = Cautious(scores, scale, n - 1.0, unit**2)
        if n <= d:
            return Fit(scores, intercept, local, float("nan"), posterior=posterior)
        r2 = weighted_r2(y[1:], middle + unit * (self.x @ slopes), repeats)
        held = weighted_r2(y[1:], y[1:] - unit * miss, repeats)
        return Fit(scores, intercept, local, r2, held, posterior)

    def _scale(self, around: Array, reach: float) -> Array:
        """The scores' covariance, shape (d, d); a feature not `known` has the variance `reach`²."""
        n = len(around)
        around = np.where(self.known, around, 0.0)
        scale = around.T @ around * (n / (n - 1))
        unsure = np.flatnonzero(self.moved & ~self.known)
        scale[unsure, unsure] = reach**2
        return np.asarray(scale)


def _moments(features: Array, repeats: Array) -> tuple[Array, Array]:
    """The mean and the variance of each feature, shape (d,); 0 variance if it never changes."""
    if not len(features):
        return np.zeros(features.shape[1]), np.zeros(features.shape[1])
    mean = np.average(features, axis=0, weights=repeats)
    variance = np.average((features - mean) ** 2, axis=0, weights=repeats)
    return mean, np.where(np.ptp(features, axis=0) > 0, variance, 0.0)


def _hat(x: Array, repeats: Array, ridge: float) -> Array:
    """The matrix that turns answers into the slopes of a ridge, shape (d, n).

    (xᵀWx + λ)⁻¹xᵀW = xᵀ(xxᵀ + λW⁻¹)⁻¹ for rows planned W times: the smaller inverse is used.
    """
    n, d = x.shape
    if n <= d:
        return np.asarray(np.linalg.solve(x @ x.T + np.diag(ridge / repeats), x).T)
    scaled = (x * repeats[:, None]).T
    return np.asarray(np.linalg.solve(scaled @ x + ridge * np.eye(d), scaled))


def _moved_enough(rows: Rows) -> NDArray[np.bool_]:
    """Which features changed in enough rows, and, if they can match, stayed in enough."""
    features, repeats = rows.features, rows.repeats[1:]
    stayed = repeats @ (features[1:] == features[0])
    matches = (features[0] == 1) & np.isin(features, (0.0, 1.0)).all(axis=0)
    enough = (repeats.sum() - stayed >= MIN_ROWS_CHANGED) & (
        (stayed >= MIN_ROWS_CHANGED) | ~matches
    )
    return np.asarray(enough)


def _flat(answer: float, n: int, d: int) -> Fit:
    """The fit to equal answers, or to a single one."""
    nothing = Cautious(np.zeros(d), np.zeros((d, d)), max(n - 1.0, 1.0), 1.0)
    return Fit(np.zeros(d), answer, answer, float("nan"), posterior=nothing)
