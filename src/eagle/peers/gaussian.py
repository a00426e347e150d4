"""The Gaussian process of UnRAvEL: closed form, except for a few tuned numbers.

That of scikit-learn ends its search elsewhere: on 60 rows of 5 masks the second largest score was
.06 of the largest there and .04 here, at the larger likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from eagle._values.arrays import Array, is_flat

STARTS: Final = ((1.0, 1e-2), (0.3, 1e-2), (3.0, 1e-4), (0.3, 1e-4), (10.0, 1e-1))
"""Where tuning starts: the length in units of √d, and the noise. The length is the same for every
feature, so that no feature is favoured by its place."""

VARIANCE: Final = (1e-3, 1e3)
LENGTH: Final = (1e-2, 1e3)
BIAS: Final = (1e-6, 1e3)
NOISE: Final = (1e-6, 1e1)
"""The bounds of tuned numbers, for answers of variance 1 and features as they are."""

DIGITS: Final = 9
"""Standardised answers are rounded to this number of digits. Otherwise rounding errors, or a
constant that is added to all answers, could decide where tuning stops."""

BLOCK: Final = 1 << 18
"""OpenBLAS uses one thread up to this number of multiplications. Matrices are small here, and a
second thread costs more than it saves: on a busy machine a hundred times more."""


@final
@dataclass(frozen=True, eq=False)
class Scaled:
    """Standardised answers, and the mean and scale that undo the standardisation."""

    values: Array
    middle: float
    spread: float

    @classmethod
    def of(cls, y: Array) -> Scaled:
        """Standardise the answers y, shape (n,); equal answers are all 0."""
        if is_flat(y):
            return cls(np.zeros(len(y)), float(y[0]), 0.0)
        rise = y - y[0]
        spread = float(rise.std())
        steps = np.round(rise / spread, DIGITS)
        return cls(steps - steps.mean(), float(y[0] + spread * steps.mean()), spread)

    @property
    def flat(self) -> bool:
        return self.spread == 0

    def back(self, values: Array) -> Array:
        return np.asarray(self.middle + self.spread * values)


@final
@dataclass(frozen=True, eq=False)
class Covariance:
    """σ² exp(−½ Σ (x − x′)²/l²) + b², and noise s² on the diagonal: ARD-RBF + bias + white."""

    variance: float
    lengths: Array
    bias: float
    noise: float

    @classmethod
    def start(cls, d: int, which: int = 0) -> Covariance:
        """One of the fixed starting points for d features."""
        reach, noise = STARTS[which]
        return cls(1.0, np.full(d, reach * math.sqrt(max(d, 1))), 1.0, noise)

    @classmethod
    def of_logs(cls, logs: Array) -> Covariance:
        """The covariance with these logarithms: the inverse of `logs`."""
        real: Array = np.exp(logs)
        return cls(float(real[0]), real[1:-2], float(real[-2]), float(real[-1]))

    @property
    def logs(self) -> Array:
        """The logarithms of variance, lengths, bias and noise, shape (d + 3,)."""
        real = np.concatenate([[self.variance], self.lengths, [self.bias, self.noise]])
        return np.asarray(np.log(real))

    def bell(self, one: Array, two: Array) -> Array:
        """The RBF part between rows, shape (n, m)."""
        a, b = one / self.lengths, two / self.lengths
        apart = np.vecdot(a, a)[:, None] + np.vecdot(b, b) - 2 * (a @ b.T)
        return np.asarray(self.variance * np.exp(-0.5 * np.maximum(apart, 0.0)))


@final
@dataclass(frozen=True, eq=False)
class Regression:
    """A Gaussian process that has seen rows, shape (n, d), with answers of mean 0, shape (n,)."""

    covariance: Covariance
    features: Array
    y: Array
    bell: Array
    inverse: Array
    """The inverse of the Cholesky factor of the rows' covariance, shape (n, n)."""
    likelihood: float
    """log p(y): how well the covariance fits the answers."""

    @classmethod
    def on(cls, covariance: Covariance, features: Array, y: Array) -> Regression:
        bell = covariance.bell(features, features)
        matrix = bell + covariance.bias
        matrix.flat[:: len(y) + 1] += covariance.noise
        factor: Array = np.linalg.cholesky(matrix).astype(np.float64, copy=False)
        inverse = _inverse(factor)  # the gradient needs it anyway
        white = inverse @ y
        half = float(np.log(np.diagonal(factor)).sum())
        likelihood = -0.5 * float(white @ white) - half - 0.5 * len(y) * math.log(2 * math.pi)
        return cls(covariance, features, y, bell, inverse, likelihood)

    def gradient(self) -> Array:
        """The gradient of the likelihood by `Covariance.logs`, shape (d + 3,).

        ½ tr((αα' − K⁻¹) ∂K), where Σ M(x − x′)² of a symmetric M is 2Σ rx² − 2x'Mx with the row
        sums r of M: all lengths at the price of one matrix product.
        """
        alpha = self.inverse.T @ (self.inverse @ self.y)
        pull = np.outer(alpha, alpha) - _product(self.inverse.T, self.inverse)
        inner = pull * self.bell
        x = self.features / self.covariance.lengths
        lengths = inner.sum(axis=1) @ x**2 - (x * (inner @ x)).sum(axis=0)
        variance = 0.5 * float(inner.sum())
        bias = 0.5 * self.covariance.bias * float(pull.sum())
        noise = 0.5 * self.covariance.noise * float(np.trace(pull))
        return np.concatenate([[variance], lengths, [bias, noise]])

    def predict(self, features: Array) -> tuple[Array, Array]:
        """Mean and variance of the answers without their noise, shape (m,) each."""
        cross = self.covariance.bell(features, self.features) + self.covariance.bias
        reach = _product(cross, self.inverse.T)
        mean = reach @ (self.inverse @ self.y)
        variance = self.covariance.variance + self.covariance.bias - np.vecdot(reach, reach)
        return np.asarray(mean), np.maximum(variance, 0.0)


def _inverse(lower: Array) -> Array:
    """The inverse of a lower triangular matrix, by recursion on its halves."""
    n = len(lower)
    if n <= 64:
        return np.linalg.inv(lower).astype(np.float64, copy=False)
    half, out = n // 2, np.zeros((n, n))
    first, last = _inverse(lower[:half, :half]), _inverse(lower[half:, half:])
    out[:half, :half], out[half:, half:] = first, last
    out[half:, :half] = -_product(last, _product(lower[half:, :half], first))
    return out


def _product(a: Array, b: Array) -> Array:
    """a @ b, some rows at a time if b is small."""
    rows = BLOCK // b.size
    if rows >= len(a) or rows < 8:
        return np.asarray(a @ b)
    return np.concatenate([a[i : i + rows] @ b for i in range(0, len(a), rows)])


def tune(features: Array, y: Array, starts: int, most: int) -> Regression:
    """The process with the largest likelihood from several starts, with `most` steps from each."""
    d = features.shape[1]
    low, high = np.log([VARIANCE, *[LENGTH] * d, BIAS, NOISE]).T

    def loss(logs: Array) -> tuple[float, Array]:
        try:
            process = Regression.on(Covariance.of_logs(logs), features, y)
        except np.linalg.LinAlgError:  # not positive definite, by rounding
            return math.inf, np.zeros(d + 3)
        return -process.likelihood, -process.gradient()

    ways = [Covariance.start(d, which).logs for which in range(starts)]
    ends = [descend(loss, start, low, high, most) for start in ways]
    best, _ = min(ends, key=lambda one: one[1])
    return Regression.on(Covariance.of_logs(best), features, y)


Loss = Callable[[Array], tuple[float, Array]]
"""A function from a point, shape (d,), to its loss and gradient. The loss is infinite where the
point is excluded."""

MAX_GRADIENT: Final = 1e-5
"""The search ends where no free component of the gradient is larger than this."""

MIN_GAIN: Final = 1e-10
"""The search ends after a step with a smaller relative gain."""

TRIALS: Final = 20
"""Backtracking steps along one direction without a gain after which the search ends."""

MAX_STEP: Final = 2.0
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
        if not len(free) or np.abs(slope[free]).max() <= MAX_GRADIENT:
            break
        step = np.zeros(len(x))
        step[free] = -curve[np.ix_(free, free)] @ slope[free]
        step *= min(1.0, MAX_STEP / np.abs(step).max())
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
        if gained <= MIN_GAIN * max(abs(value), 1.0):
            break
    return x, value
