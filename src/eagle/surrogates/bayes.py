"""Weighted Bayesian linear regression with conjugate priors, in closed form.

`Information` is what a set of points teaches about the coefficients, whatever the answers will be.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.posterior import StudentT
from eagle._values.text import finite, short_repr
from eagle.contracts import Rows
from eagle.errors import InputError
from eagle.surrogates.fit import Surrogate, check_answers, is_flat

# The Woodbury identity is used while there are this many times fewer points than coefficients.
FEW_ROWS = 8

# The product of the mean diagonals of precision and covariance must also be below this. It is 1 for
# the identity; if it is large, an update loses digits.
MAX_CONDITION = 1e3

UNDETERMINED: Final = (
    "the coefficients are not determined: with a free intercept at least one point of some weight "
    "must be added before there is a covariance"
)


def augment(features: Array) -> Array:
    """Features with the intercept's column of ones in front, shape (..., n, d + 1)."""
    out = np.empty((*features.shape[:-1], features.shape[-1] + 1))
    out[..., 0] = 1.0
    out[..., 1:] = features
    return out


@final
@dataclass(frozen=True)
class Prior:
    """φ | σ² ~ N(0, σ²Λ⁻¹) with Λ diagonal: `slopes` for each feature, and `intercept`.

    `None` means the number of features d for the slopes, as in the paper's experiments, and
    "as the slopes" for the intercept. An intercept of 0 is free: it takes up the base rate, so
    that none of it leaks into the slopes.
    """

    slopes: float | None = 1.0
    intercept: float | None = 0.0

    def __post_init__(self) -> None:
        for name, value, least in (("slopes", self.slopes, 0), ("intercept", self.intercept, -1)):
            if value is not None and not (finite(value) and value > least and value >= 0):
                bound = "positive" if least == 0 else "zero or more"
                raise InputError(
                    f"the prior precision of the {name} must be {bound}: {short_repr(value)}"
                )

    def precision(self, d: int) -> Array:
        """The diagonal of Λ, shape (d + 1,): the intercept first."""
        slopes = float(d) if self.slopes is None else self.slopes
        intercept = slopes if self.intercept is None else self.intercept
        return np.array([intercept] + [slopes] * d)

    def information(self, d: int) -> Information:
        """The precision matrix of the prior."""
        return Information(np.diag(self.precision(d)))


PAPER: Final = Prior(slopes=None, intercept=None)
"""Precision λ = d on every coefficient, also on the intercept, as the paper's numbers suggest."""


@final
@dataclass(frozen=True, eq=False)
class Information:
    """The precision matrix V⁻¹ = Λ + Σ π z zᵀ (Eq. 4), shape (D, D). It never sees an answer.

    Adding points returns a new value. A known covariance is updated by the Woodbury identity if
    the points are few (rank one for one point) and the matrix is tame; otherwise it is computed
    again when it is needed.
    """

    precision: Array
    _covariance: Array | None = field(default=None, repr=False)

    @property
    def covariance(self) -> Array:
        """V, shape (D, D)."""
        if self._covariance is None:
            # By numpy, not scipy: the threads of two BLAS libraries would wait for one another,
            # for milliseconds at a time.
            try:
                inverse = np.linalg.inv(self.precision)
            except np.linalg.LinAlgError:
                raise InputError(UNDETERMINED) from None
            object.__setattr__(self, "_covariance", inverse)
        assert self._covariance is not None
        return self._covariance

    def add(self, z: Array, weight: Array) -> Information:
        """With the points z, shape (n, D), of the given weights, shape (n,)."""
        scaled = z * weight[:, None]
        precision = self.precision + scaled.T @ z
        if self._covariance is None or FEW_ROWS * len(z) > len(precision) or not self.is_tame:
            return Information(precision)
        root = np.sqrt(weight)[:, None] * z
        reach = root @ self._covariance
        inner = np.eye(len(z)) + reach @ root.T
        covariance = self._covariance - reach.T @ np.linalg.solve(inner, reach)
        return Information(precision, covariance)

    @property
    def is_tame(self) -> bool:
        """Whether updates keep enough digits. Errors of repeated updates add up."""
        spread = self.covariance.trace() * self.precision.trace()
        return bool(spread < MAX_CONDITION * len(self.precision) ** 2)

    def variance(self, z: Array) -> Array:
        """zᵀVz for each row of z, shape (n,)."""
        return np.asarray(np.vecdot(z @ self.covariance, z))

    @property
    def logdet(self) -> float:
        """log |V⁻¹|; minus infinity while the coefficients are not determined."""
        return float(np.linalg.slogdet(self.precision)[1])

    def slopes(self) -> Information:
        """About the slopes alone, the intercept integrated out (a Schur complement)."""
        first, cross, rest = self.precision[0, 0], self.precision[0, 1:], self.precision[1:, 1:]
        if first == 0:  # a free intercept before any point: nothing to integrate out
            return Information(rest)
        return Information(rest - np.outer(cross, cross) / first)

    def gain(self, since: Information) -> float:
        """Cumulative information gain ½ log(|V₀|/|V|) in nats."""
        start = since.logdet
        if not np.isfinite(start):
            raise InputError(
                "a free intercept has no finite information to start from: compare the slopes "
                "alone, as in information.slopes().gain(since.slopes())"
            )
        return 0.5 * (self.logdet - start)


@final
@dataclass(frozen=True, eq=False)
class LineFit:
    """A fitted line.

    `joint` is φ ~ t_{n₀+N}(φ̂, σ̂²V) over the intercept (first) and the slopes; `factor` is V, and
    `variance` is σ̂². With a free intercept, a feature that never changed cannot be told from the
    intercept: its score is 0, with variance 0. `r2` is the weighted R² on the rows fitted, and
    `r2_held_out` the same when each row is predicted by a fit that has not seen it; both are NaN
    where the answers do not vary, and `r2_held_out` also where rows cannot be held out.
    """

    mean: Array
    factor: Array
    variance: float
    df: float
    information: Information
    local: float
    r2: float
    r2_held_out: float
    signed: bool = True

    @property
    def joint(self) -> StudentT:
        return StudentT(self.mean, self.factor, self.df, self.variance)

    @property
    def intercept(self) -> float:
        return float(self.mean[0])

    @property
    def scores(self) -> Array:
        return self.mean[1:]

    @property
    def posterior(self) -> StudentT:
        """Of the features' coefficients, shape (d,)."""
        return StudentT(self.mean[1:], self.factor[1:, 1:], self.df, self.variance)

    def predict(self, features: Array, weight: Array | float = 1.0) -> tuple[Array, Array]:
        """Mean and scale of the answer's t_ν distribution at new features of that weight.

        The squared scale is σ̂²(1/π + zᵀVz): a far row is noisier, as the likelihood says.
        """
        z = augment(np.atleast_2d(features))
        spread = self.variance * (1.0 / np.asarray(weight) + self.information.variance(z))
        return z @ self.mean, np.sqrt(spread)


@final
@dataclass(frozen=True, eq=False)
class Line:
    """A line on its rows: everything that does not depend on the answers.

    One line serves all answers on the same points: all classes, and all rows that share a plan.
    `z`, shape (N, d + 1), has the intercept's column first, and `prior`, shape (d + 1,), is the
    diagonal of Λ. `factor` is V. `hat`, shape (d + 1, N), turns answers into coefficients. `left`,
    shape (N,), is 1 − leverage. `unchanged`, shape (d + 1,), are the features that never change and
    cannot be told from a free intercept.
    """

    surrogate: BayesLinear
    prior: Array
    z: Array
    weight: Array
    information: Information
    factor: Array = field(repr=False)
    hat: Array = field(repr=False)
    left: Array = field(repr=False)
    unchanged: NDArray[np.bool_] = field(repr=False)

    @property
    def nbytes(self) -> int:
        """How much memory the line holds."""
        return sum(a.nbytes for a in (self.z, self.weight, self.factor, self.hat, self.left))

    @property
    def shared(self) -> tuple[Array, ...]:
        return (self.factor,)

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> LineFit:
        """Fit the answers y, shape (N,): φ̂ = V ZᵀW y and σ̂² = (n₀σ₀² + s²)/(n₀ + N)."""
        s = self.surrogate
        y = check_answers(y, self.weight)
        flat = is_flat(y)
        if flat:
            y = np.full_like(y, y[0])
        middle = float(y[0] + self.weight @ (y - y[0]) / self.weight.sum())
        # A free intercept absorbs any constant, so one is subtracted first: slopes stay exact
        # if the answers are far from zero. Answers are scaled to a largest size of 1, so that
        # squares neither overflow nor vanish.
        shift = middle if self.prior[0] == 0 else 0.0
        unit = float(np.abs(y - shift).max()) or 1.0
        mean = self.hat @ ((y - shift) / unit)
        residual = (y - shift) / unit - self.z @ mean
        loss = float(self.weight @ residual**2)
        spread = float(self.weight @ ((y - middle) / unit) ** 2)
        df = s.n0 + len(y)
        variance = s.n0 * s.sigma0**2 / df + unit**2 * (loss + float(self.prior @ mean**2)) / df
        r2 = held = float("nan")
        if not flat:
            r2 = 1.0 - loss / spread
            held = self.held_out_r2(residual, spread)
        mean *= unit
        mean[self.unchanged] = 0.0
        mean[0] += shift
        local = float(self.z[0] @ mean)
        return LineFit(mean, self.factor, variance, df, self.information, local, r2, held)

    def held_out_r2(self, residual: Array, spread: float, pull: float = 1.0) -> float:
        """R² where each row is predicted by a fit that has not seen it; NaN if nothing is left.

        `spread` is the answers' weighted sum of squares, in the residuals' units. With balanced
        rows, leaving one out changes the fit less: leverage is multiplied by `pull`.
        """
        # With too few rows, or with a row that decides a coefficient alone, it is not known.
        if len(residual) <= len(self.factor) or self.left.min() <= 1e-6:
            return float("nan")
        left = 1.0 - pull * (1.0 - self.left)
        return 1.0 - float(self.weight @ (residual / left) ** 2) / spread


@final
@dataclass(frozen=True)
class BayesLinear(Surrogate):
    """y = φ₀ + zᵀφ + ε, ε ~ N(0, σ²/π), with φ | σ² Gaussian and σ² ~ Inv-χ²(n₀, σ₀²).

    The default n₀ = 0 is the limit in which the noise level is learnt from the answers alone,
    so that explanations scale with the answers' units.
    """

    prior: Prior = field(default_factory=Prior)
    n0: float = 0.0
    sigma0: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.prior, Prior):
            raise InputError(f"the prior of a line is a Prior, not {short_repr(self.prior)}")
        if not (finite(self.n0) and self.n0 >= 0 and finite(self.sigma0)):
            raise InputError("n0 must be zero or more, and sigma0 a finite number")

    def on(self, rows: Rows) -> Line:
        """The part of the fit that needs only the rows."""
        features, weight = rows.features, rows.weight
        z = augment(features)
        if not len(z):
            raise InputError("a line needs at least one point")
        prior = self.prior.precision(features.shape[1])
        information = Information(np.diag(prior)).add(z, weight)
        reach = z @ information.covariance
        # 1 − leverage: a row's residual over its residual when it is held out.
        left = 1.0 - weight * np.vecdot(reach, z)
        factor = (information.covariance + information.covariance.T) / 2
        unchanged = (z == z[0]).all(axis=0)
        unchanged[0] = False
        unchanged &= prior[0] == 0
        factor[unchanged] = factor[:, unchanged] = 0.0
        hat = (reach * weight[:, None]).T
        return Line(self, prior, z, weight, information, factor, hat, left, unchanged)

    def fit(self, features: Array, y: Array, weight: Array) -> LineFit:
        """Fit answers y, shape (N,), at features (N, d) of the given weights (N,)."""
        return self.on(Rows.each_once(features, weight)).fit(y)
