"""What a set of points can teach about the coefficients, whatever the answers will be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from eagle.types import Array, InputError, finite, told

# The Woodbury identity pays while there are this many times fewer points than coefficients.
FEW = 8

# And while the mean diagonals of precision and covariance multiply to less than this: for the
# identity it is 1, and far from it an update loses digits.
TAME = 1e3


def augment(features: Array) -> Array:
    """Features with the intercept's column of ones in front, shape (..., n, d + 1)."""
    out = np.empty((*features.shape[:-1], features.shape[-1] + 1))
    out[..., 0] = 1.0
    out[..., 1:] = features
    return out


@final
@dataclass(frozen=True)
class Prior:
    """φ | σ² ~ N(0, σ²Λ⁻¹) with Λ diagonal: `slopes` for each feature, `intercept` apart.

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
                    f"the prior precision of the {name} must be {bound}: {told(value)}"
                )

    def precision(self, d: int) -> Array:
        """The diagonal of Λ, shape (d + 1,): the intercept first."""
        slopes = float(d) if self.slopes is None else self.slopes
        intercept = slopes if self.intercept is None else self.intercept
        return np.array([intercept] + [slopes] * d)

    def information(self, d: int) -> Information:
        """What is known before any point."""
        return Information(np.diag(self.precision(d)))


@final
@dataclass(frozen=True, eq=False)
class Information:
    """The precision matrix V⁻¹ = Λ + Σ π z zᵀ (Eq. 4), shape (D, D). It never sees an answer.

    Adding points returns a new value. A covariance that is known is carried along by the
    Woodbury identity where the points are few (rank one for one point) and the matrix is tame,
    else found anew.
    """

    precision: Array
    _covariance: Array | None = field(default=None, repr=False)

    @property
    def covariance(self) -> Array:
        """V, shape (D, D)."""
        if self._covariance is None:
            # numpy's own: beside scipy's, the threads of two BLAS libraries would wait for one
            # another, for milliseconds at a time.
            try:
                inverse = np.linalg.inv(self.precision)
            except np.linalg.LinAlgError:
                raise InputError(
                    "the coefficients are not determined: with a free intercept at least one "
                    "point of some weight must be added before there is a covariance"
                ) from None
            object.__setattr__(self, "_covariance", inverse)
        assert self._covariance is not None
        return self._covariance

    def add(self, z: Array, weight: Array) -> Information:
        """With the points z, shape (n, D), of the given weights, shape (n,)."""
        scaled = z * weight[:, None]
        precision = self.precision + scaled.T @ z
        if self._covariance is None or FEW * len(z) > len(precision) or not self.is_tame:
            return Information(precision)
        root = np.sqrt(weight)[:, None] * z
        reach = root @ self._covariance
        inner = np.eye(len(z)) + reach @ root.T
        covariance = self._covariance - reach.T @ np.linalg.solve(inner, reach)
        return Information(precision, covariance)

    @property
    def is_tame(self) -> bool:
        """Whether updates keep enough digits: a chain of them would carry errors along."""
        spread = self.covariance.trace() * self.precision.trace()
        return bool(spread < TAME * len(self.precision) ** 2)

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

    def d_efficiency(self, since: Information) -> float:
        """(|V₀|/|V|)^(1/D): how far the ellipsoid's volume shrank per coefficient."""
        return float(np.exp(2 * self.gain(since) / len(self.precision)))

    def a_efficiency(self, since: Information) -> float:
        """tr V₀ / tr V: how far the mean variance shrank."""
        return float(np.trace(since.covariance) / np.trace(self.covariance))
