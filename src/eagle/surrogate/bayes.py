"""Weighted Bayesian linear regression with conjugate priors, in closed form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from eagle.surrogate.fit import checked, is_flat
from eagle.surrogate.information import Information, Prior, augment
from eagle.surrogate.posterior import StudentT
from eagle.types import NOTHING, Array, InputError, Rows, finite


@final
@dataclass(frozen=True, eq=False)
class LineFit:
    """A fitted line: all that the answers taught.

    `joint` is φ ~ t_{n₀+N}(φ̂, σ̂²V) over the intercept (first) and the slopes; `factor` is
    V, σ̂² is `variance`. A feature that never changed is one with a free intercept: it has no
    part, and stands there as 0 with no variance. `r2` is the
    weighted R² on the rows fitted, `r2_held_out` the same when each row is predicted by a fit
    that has not seen it; both are NaN where the answers do not vary or cannot be held out.
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
    """A design ready to be fitted: everything that does not depend on the answers.

    One line serves all answers on the same points: all classes, and all rows that share a plan.
    """

    surrogate: BayesLinear
    z: Array
    weight: Array
    information: Information
    factor: Array = field(repr=False)
    hat: Array = field(repr=False)
    left: Array = field(repr=False)
    still: NDArray[np.bool_] = field(repr=False)

    @property
    def nbytes(self) -> int:
        """How much memory the line holds."""
        return sum(a.nbytes for a in (self.z, self.weight, self.factor, self.hat, self.left))

    @property
    def shared(self) -> tuple[Array, ...]:
        return (self.factor,)

    def fit(self, y: Array) -> LineFit:
        """Fit the answers y, shape (N,): φ̂ = V ZᵀW y and σ̂² = (n₀σ₀² + s²)/(n₀ + N)."""
        s = self.surrogate
        y = checked(y, self.weight)
        if is_flat(y):
            y = np.full_like(y, y[0])
        prior = s.prior.precision(self.z.shape[1] - 1)
        middle = float(y[0] + self.weight @ (y - y[0]) / self.weight.sum())
        # A free intercept absorbs any constant exactly; taking it out first keeps the slopes
        # exact also where the answers sit far from zero. And in units of their own size,
        # answers of any size can be squared.
        shift = middle if prior[0] == 0 else 0.0
        unit = float(np.abs(y - shift).max()) or 1.0
        mean = self.hat @ ((y - shift) / unit)
        residual = (y - shift) / unit - self.z @ mean
        loss = float(self.weight @ residual**2)
        spread = float(self.weight @ ((y - middle) / unit) ** 2)
        df = s.n0 + len(y)
        variance = s.n0 * s.sigma0**2 / df + unit**2 * (loss + float(prior @ mean**2)) / df
        r2 = held = float("nan")
        if not is_flat(y):
            r2 = 1.0 - loss / spread
            # With no more rows than coefficients, or where a row alone decides, nothing is left.
            if len(y) > len(self.factor) and self.left.min() > 1e-6:
                held = 1.0 - float(self.weight @ (residual / self.left) ** 2) / spread
        mean *= unit
        mean[self.still] = 0.0
        mean[0] += shift
        local = float(self.z[0] @ mean)
        return LineFit(mean, self.factor, variance, df, self.information, local, r2, held)


@final
@dataclass(frozen=True)
class BayesLinear:
    """y = φ₀ + zᵀφ + ε, ε ~ N(0, σ²/π), with φ | σ² Gaussian and σ² ~ Inv-χ²(n₀, σ₀²).

    The default n₀ = 0 is the limit in which the noise level is learnt from the answers alone,
    so that explanations scale with the answers' units.
    """

    prior: Prior = field(default_factory=Prior)
    n0: float = 0.0
    sigma0: float = 1.0
    needs: ClassVar = NOTHING

    def __post_init__(self) -> None:
        if not isinstance(self.prior, Prior):
            raise InputError(f"the prior of a line is a Prior, not {self.prior!r}")
        if not (finite(self.n0) and self.n0 >= 0 and finite(self.sigma0)):
            raise InputError("n0 must be zero or more, and sigma0 a finite number")

    def room(self, n: int, d: int) -> int:
        return 0

    def on(self, rows: Rows) -> Line:
        """The part of the fit that needs only the rows."""
        features, weight = rows.features, rows.weight
        z = augment(features)
        if not len(z):
            raise InputError("a line needs at least one point")
        information = self.prior.information(features.shape[1]).add(z, weight)
        reach = z @ information.covariance
        # 1 - leverage: what is left of a row's residual once the row is held out.
        left = 1.0 - weight * np.vecdot(reach, z)
        factor = (information.covariance + information.covariance.T) / 2
        still = (z == z[0]).all(axis=0)
        still[0] = False
        still &= self.prior.precision(features.shape[1])[0] == 0
        factor[still] = factor[:, still] = 0.0
        hat = (reach * weight[:, None]).T
        return Line(self, z, weight, information, factor, hat, left, still)

    def fit(self, features: Array, y: Array, weight: Array) -> LineFit:
        """Fit answers y, shape (N,), at features (N, d) of the given weights (N,)."""
        return self.on(Rows.each_once(features, weight)).fit(y)
