"""Intervals that do not take the line for the truth: what its misfit does to the scores.

The target is one sentence: the line that the same method would give from infinitely many rows.
Rows differ from that line by misfit, not by noise of one size, so a score's variance is summed
from the rows' own residuals (a sandwich), with what the prior may have taken away on top. Balanced
rows err less than chance would, and how much less is read off the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from eagle.surrogate.balance import TRIPLES, Balance
from eagle.surrogate.bayes import BayesLinear, Line
from eagle.surrogate.fit import Fit, is_flat
from eagle.surrogate.posterior import StudentT
from eagle.types import NOTHING, Array, InputError, Need, Rows

FEW: Final = 16
"""Up to so many rows for each coefficient the degrees of freedom are worth their price."""

LEAST: Final = 1e-6
"""A residual is never taken for less than this share of what it would be if held out."""


@final
@dataclass(frozen=True)
class Robust:
    """A line whose intervals cover the line of infinitely many rows, also where lines do not fit.

    The scores are the `line`'s own. Their covariance is Σ (h e)(h e)ᵀ/(1 − leverage) over rows
    with residuals e and hat columns h (HC2), plus the square of the shrinkage; its t has Bell and
    McCaffrey's degrees of freedom. `balanced` rows are a `Sobol` plan in its order: the covariance
    is then lowered by what balance is seen to remove.
    """

    line: BayesLinear = field(default_factory=BayesLinear)
    balanced: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.line, BayesLinear):
            raise InputError(f"robust intervals are those of a BayesLinear, not {self.line!r}")

    def room(self, n: int, d: int) -> int:
        """Numbers held beside the line: for the degrees, and for products of features."""
        degrees = 3 * n * n if n <= FEW * (d + 1) else 0
        some = min(d, TRIPLES)
        return degrees + (n * (d + some * (some - 1)) if self.balanced else 0)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.BALANCED}) if self.balanced else NOTHING

    def on(self, rows: Rows) -> Sandwich:
        if self.balanced and not rows.balanced:
            raise InputError(
                f"Robust(balanced=True) needs {Need.BALANCED.value}: on other rows its intervals "
                "are too narrow; use Robust()"
            )
        line = self.line.on(rows)
        often = rows.often if self.balanced else np.ones(len(rows))
        balance = Balance.of(rows.features[1:], often[1:]) if self.balanced else None
        return Sandwich(line, often, _degrees(line), balance)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        """Fit answers to rows that were planned once each, in the order of a plan."""
        return self.on(Rows.each_once(features, weight, self.balanced)).fit(y)


@final
@dataclass(frozen=True, eq=False)
class Sandwich:
    """A line on its points, and what they say of its intervals before any answer."""

    line: Line
    often: Array
    df: float
    balance: Balance | None

    @property
    def nbytes(self) -> int:
        return self.line.nbytes + self.often.nbytes

    @property
    def shared(self) -> tuple[Array, ...]:
        return ()

    def fit(self, y: Array) -> Fit:
        plain = self.line.fit(y)
        scale, unit = self._scale(np.asarray(y, dtype=np.float64), plain.mean)
        kind = "robust" if self.balance is None else "robust, balanced rows"
        posterior = StudentT(plain.scores, scale, self.df, unit**2, kind)
        return Fit(
            plain.scores, plain.intercept, plain.local, plain.r2, plain.r2_held_out, posterior
        )

    def _scale(self, y: Array, mean: Array) -> tuple[Array, float]:
        """The covariance of the slopes in units of the square of a number, and that number."""
        line = self.line
        residual = np.zeros_like(y) if is_flat(y) else y - line.z @ mean
        unit = float(np.abs(residual).max()) or 1.0
        pull = line.hat.T * (residual / unit / np.sqrt(np.maximum(line.left, LEAST)))[:, None]
        pull[:, line.still] = 0.0
        pull = pull[:, 1:]
        even = pull / np.sqrt(self.often)[:, None]
        scale = even.T @ even
        if self.balance is not None:
            scale *= self.balance.left(pull[1:], np.diag(scale))
        prior = line.surrogate.prior.precision(len(mean) - 1)
        shrunk = (line.factor @ (prior * np.where(line.still, 0.0, mean)))[1:] / unit
        if is_flat(y):
            shrunk = np.zeros_like(shrunk)
        return scale + np.outer(shrunk, shrunk), unit


def _degrees(line: Line) -> float:
    """Degrees of freedom of the sandwich, the median over slopes (Bell and McCaffrey).

    As if residuals were noise of one size: then each variance is a quadratic form in them, whose
    first two moments are those of a χ².
    """
    n, d = line.z.shape
    plain = float(line.left.sum())
    moved = np.ptp(line.z, axis=0) > 0
    if n > FEW * d or not moved.any():
        return max(plain, 1.0)
    rest = np.eye(n) - line.z @ line.hat
    form = (line.hat.T**2 / np.maximum(line.left, LEAST)[:, None])[:, moved]
    mean = np.diagonal(rest) @ form
    spread = np.einsum("ij,ij->j", form, (rest * rest.T) @ form)
    return max(float(np.median(mean**2 / spread)), 1.0)
