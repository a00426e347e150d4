"""The multivariate Student-t distribution: what is known of the coefficients after a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from eagle.types import Array, InputError

DRAWS = 20_000


@final
@dataclass(frozen=True, eq=False)
class StudentT:
    """t_ν(mean, scale): mean of shape (d,), scale matrix of shape (d, d), ν = `df`."""

    mean: Array
    scale: Array
    df: float

    @property
    def spread(self) -> Array:
        """The scale of each coordinate, √scale_jj, shape (d,)."""
        return np.sqrt(np.maximum(np.diag(self.scale), 0.0))

    @property
    def std(self) -> Array:
        """The standard deviation of each coordinate: infinite up to two degrees of freedom."""
        factor = np.sqrt(self.df / (self.df - 2)) if self.df > 2 else np.inf
        return np.where(self.spread > 0, self.spread * factor, 0.0)

    def interval(self, level: float = 0.95, *, joint: bool = False) -> Array:
        """Central credible intervals, shape (d, 2).

        Marginal: each coordinate lies in its own with probability `level`. Joint: all lie in
        theirs at once with at least that probability (the narrower of the box around the
        credible ellipsoid and Bonferroni's).
        """
        if not 0 < level < 1:
            raise InputError(f"a level is a probability between 0 and 1, not {level!r}")
        from scipy import special

        d = len(self.mean)
        if joint and d:
            ellipsoid = np.sqrt(d * special.fdtri(d, self.df, level))
            bonferroni = special.stdtrit(self.df, 1 - (1 - level) / (2 * d))
            reach = min(ellipsoid, bonferroni)
        else:
            reach = special.stdtrit(self.df, (1 + level) / 2)
        half = reach * self.spread
        return np.stack([self.mean - half, self.mean + half], axis=1)

    def probability_sign(self) -> Array:
        """The probability that each coordinate has the sign of its mean, shape (d,)."""
        from scipy import special

        spread = self.spread
        sure = spread == 0
        ratio = np.abs(self.mean) / np.where(sure, 1.0, spread)
        known = np.where(self.mean == 0, 0.5, 1.0)
        return np.asarray(np.where(sure, known, special.stdtr(self.df, ratio)))

    def draws(self, n: int = DRAWS) -> Array:
        """n draws from the joint distribution, always the same ones, shape (n, d)."""
        rng = np.random.Generator(np.random.PCG64(0))
        values, vectors = np.linalg.eigh(self.scale)
        # The symmetric root: it does not depend on which eigenvectors a machine finds.
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        normal = rng.standard_normal((n, len(self.mean)))
        stretch = np.sqrt(self.df / rng.chisquare(self.df, n))
        return np.asarray(self.mean + (normal @ root.T) * stretch[:, None])

    def probability_top(self, k: int) -> Array:
        """The probability that each coordinate is among the k largest in size, shape (d,)."""
        d = len(self.mean)
        if not isinstance(k, int | np.integer) or k < 1:
            raise InputError(f"k must be a whole number of at least 1, not {k!r}")
        if k >= d:
            return np.ones(d)
        size = np.abs(self.draws())
        least = np.partition(size, d - k, axis=1)[:, [d - k]]
        above, at = size > least, (size == least) & (size > 0)
        # Equals share the places that are left; what is exactly 0 is never "in the top".
        left = (k - above.sum(axis=1, keepdims=True)) / np.maximum(
            (size == least).sum(axis=1, keepdims=True), 1
        )
        return np.asarray((above + at * left).mean(axis=0))
