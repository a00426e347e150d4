"""Intervals of a line that also hold where the model is not linear.

The target is the line that the same method would give from infinitely many rows. Rows differ from
that line by lack of fit, not by noise of one size. So the variance of a score is summed from the
rows' own residuals (a sandwich), and the square of the prior's shrinkage is added. Balanced rows
err less than independent rows; how much less is estimated from the rows themselves.

Rows that were not drawn also count. Where a few rows carry most of the lack of fit, or where the
answers could reach much farther than they did, the variance has a part for a row that was not
drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import UNBOUNDED, Array, Range
from eagle._values.checks import check_flags
from eagle._values.posterior import StudentT
from eagle._values.text import short_repr
from eagle.contracts import NOTHING, Need, Rows
from eagle.errors import InputError
from eagle.surrogates.bayes import BayesLinear, Line
from eagle.surrogates.fit import Fit, Fitter, is_flat
from eagle.surrogates.variance import (
    BALANCE_DF,
    FEW_CARRIERS,
    MAX_TRIPLE_FEATURES,
    MIN_CARRIERS,
    MIN_ONE_LESS_LEVERAGE,
    MIN_SHARE_LEFT,
    PRIOR_SHARES,
    SERIES_TERMS,
    SHARE_EXPONENTS,
    Balance,
    beyond,
    narrowing,
)

FEW_ROWS_PER_COEFFICIENT: Final = 16
MANY_ROWS: Final = 1000
"""Degrees of freedom are computed up to `FEW_ROWS_PER_COEFFICIENT` rows for each coefficient and
`MANY_ROWS` residual degrees in all. Beyond that a t is close enough to normal."""

RARE_ROWS: Final = 12.0
RARE_STEPS: Final = 6
"""If about `RARE_ROWS` rows or fewer decide a slope, the prior shrinks it strongly. The series for
this shrinkage has `RARE_STEPS` terms, and their noise is added."""

RARE_STEEPNESS: Final = 8
MIN_RARE_SHARE: Final = 0.05
"""Steepness of the transition at `RARE_ROWS` rows, and the cut-off below which a slope is not
rare."""

MIN_INTERACTION_RATIO: Final = 2.0
"""A pair of features surely interacts if the square of its estimated interaction is more than
(2 log(pairs) + `MIN_INTERACTION_RATIO`) times the estimate's variance."""

MIN_MOVING_FEATURES: Final = 4
"""The fewest features that move: a pair and at least two others, which are compared."""

MOST_PAIRS: Final = 32
"""The largest number of pairs whose effect on other slopes is computed, the surest first."""


@final
@dataclass(frozen=True)
class Robust:
    """A line whose intervals cover the line of infinitely many rows, even if the model is curved.

    The scores are the `line`'s own. Their covariance is Σ (h e)(h e)ᵀ/(1 − leverage) over rows
    with residuals e and hat columns h (HC2), plus the square of the shrinkage; its t has Bell and
    McCaffrey's degrees of freedom. `balanced` rows are a `Sobol` plan in its order: the covariance
    is then lowered by what balance is seen to remove.
    """

    line: BayesLinear = field(default_factory=BayesLinear)
    balanced: bool = False

    def __post_init__(self) -> None:
        check_flags(balanced=self.balanced)
        if not isinstance(self.line, BayesLinear):
            raise InputError(
                f"robust intervals are those of a BayesLinear, not {short_repr(self.line)}"
            )

    def memory(self, n: int, d: int) -> int:
        """Numbers held besides the line: for the degrees, and for products of features."""
        degrees = 3 * n * n if n <= FEW_ROWS_PER_COEFFICIENT * (d + 1) else 0
        some = min(d, MAX_TRIPLE_FEATURES)
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
        repeats = rows.repeats if self.balanced else np.ones(len(rows))
        balance = Balance.of(rows.features[1:], repeats[1:]) if self.balanced else None
        hat = line.hat.T[:, 1:] * ~line.unchanged[1:]
        pairs = FeaturePairs.of(rows.features, repeats, hat) if self.balanced else None
        even = _gram(hat, repeats)
        rare = Rare.of(line, repeats)
        return Sandwich(line, repeats, _degrees(line), balance, hat, even, rare, pairs)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        """Fit answers to rows that were planned once each, in the order of a plan."""
        return self.on(Rows.each_once(features, weight, self.balanced)).fit(y)


@final
@dataclass(frozen=True, eq=False)
class Sandwich(Fitter):
    """A line on its points, and what is known of its intervals before any answer.

    `hat`, shape (n, d), is what an answer of 1 adds to each slope. `even`, shape (d, d), is the
    slopes' covariance if rows were independent and each residual had variance 1.
    """

    line: Line
    repeats: Array
    df: float
    balance: Balance | None
    hat: Array
    even: Array
    rare: Rare
    pairs: FeaturePairs | None

    @property
    def nbytes(self) -> int:
        own = self.repeats.nbytes + self.hat.nbytes + self.even.nbytes + self.rare.reach.nbytes
        return self.line.nbytes + own + (0 if self.pairs is None else self.pairs.nbytes)

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        """Fit the answers y, shape (N,), which the model keeps within these bounds."""
        plain = self.line.fit(y)
        seen = Residuals.of(self, np.asarray(y, dtype=np.float64), plain.mean, bounds)
        kind = "robust" if self.balance is None else "robust, balanced rows"
        scores, held = plain.scores, seen.r2_held_out
        posterior = StudentT(scores, seen.scale, seen.df, seen.unit**2, kind, pooled=True)
        return Fit(scores, plain.intercept, plain.local, plain.r2, held, posterior)


@final
@dataclass(frozen=True, eq=False)
class Residuals:
    """The residuals of a fitted line, in units of `unit`, and their effect on the slopes.

    `raw`, shape (n,), are the residuals. `residual` are the same divided by √(1 − leverage), since
    each row pulls the line towards itself (HC2). `bias`, shape (d,), is how far the prior shrank
    the slopes, and `gap` how far beyond the answers seen the model could answer. Answers are `flat`
    if they differ by no more than rounding.
    """

    sandwich: Sandwich
    y: Array
    raw: Array
    residual: Array
    bias: Array
    gap: float
    unit: float
    flat: bool

    @classmethod
    def of(cls, sandwich: Sandwich, y: Array, mean: Array, bounds: Range) -> Residuals:
        line, flat = sandwich.line, is_flat(y)
        raw = np.zeros_like(y) if flat else y - line.z @ mean
        bias = np.zeros(len(mean) - 1) if flat else sandwich.rare.shrunk(line, mean)
        gap = beyond(y, bounds)
        unit = max(*(float(np.abs(a).max(initial=0.0)) for a in (raw, bias)), gap) or 1.0
        raw = raw / unit
        residual = raw / np.sqrt(np.maximum(line.left, MIN_ONE_LESS_LEVERAGE))
        return cls(sandwich, y, raw, residual, bias / unit, gap / unit, unit, flat)

    @cached_property
    def pull(self) -> Array:
        """What each row's residual adds to each slope, shape (n, d)."""
        return self.sandwich.hat * self.residual[:, None]

    @cached_property
    def plain(self) -> Array:
        """The sandwich: the slopes' covariance if rows were independent, shape (d, d)."""
        return _gram(self.pull, self.sandwich.repeats)

    @cached_property
    def share_left(self) -> float:
        """The share of the variance that balance leaves, shrunk towards the usual share."""
        balance = self.sandwich.balance
        if balance is None:
            return 1.0
        here = balance.share_left(self.pull[1:], np.diag(self.plain))
        usual = 1 - float(np.array(PRIOR_SHARES) @ (1 - balance.whole))
        return float(
            np.clip(here, MIN_SHARE_LEFT, 1) ** SHARE_EXPONENTS[0]
            * np.clip(usual, MIN_SHARE_LEFT, 1) ** SHARE_EXPONENTS[1]
        )

    @cached_property
    def square(self) -> float:
        """The mean square of residuals."""
        return float(self.residual @ self.residual) / len(self.residual)

    @property
    def carriers(self) -> float:
        """The effective number of rows that carry the lack of fit, (Σe²)²/Σe⁴: from 1 to all."""
        square = self.residual**2
        fourth = float(square @ square) / len(square)
        return len(self.residual) * (self.square**2 / fourth if fourth else 1.0)

    @property
    def scale(self) -> Array:
        """The scale of the slopes' t, shape (d, d), in squares of the unit.

        If few rows carry the lack of fit, it is not known which slopes they affect: the sandwich is
        then mixed with that of evenly spread lack of fit. A row that was not drawn may have carried
        as much as those few, or may have had the most extreme answer possible.
        """
        sandwich, carriers = self.sandwich, self.carriers
        few = min(1.0, FEW_CARRIERS / carriers)
        seen = (
            self.share_left * (1 - few) * self.plain
            + self.share_left * few * self.square * sandwich.even
        )
        rare = self.square * min(1.0, MIN_CARRIERS / carriers) / carriers
        unseen = rare + self.gap**2 / len(self.residual)
        whole = sandwich.rare.widen(seen + unseen * sandwich.even)
        whole += self.bias[:, None] * self.bias
        whole *= narrowing(self.df) / narrowing(sandwich.df)
        if sandwich.pairs is not None:
            own = np.diagonal(whole)
            np.fill_diagonal(whole, np.maximum(own, sandwich.pairs.aliasing(self.residual)))
        return whole

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of the slopes' t; estimating the balance costs some.

        It is at least 3, where a standard deviation exists, unless the rows themselves give fewer.
        """
        rows = self.sandwich.df
        return max(1 / (1 / rows + (1 - self.share_left) / BALANCE_DF), min(rows, 3.0))

    @property
    def r2_held_out(self) -> float:
        """The line's R² on rows it has not seen; with balance, leaving one out matters less."""
        line = self.sandwich.line
        if self.flat:
            return float("nan")
        middle = float(self.y[0] + line.weight @ (self.y - self.y[0]) / line.weight.sum())
        spread = float(line.weight @ ((self.y - middle) / self.unit) ** 2)
        return line.held_out_r2(self.raw, spread, self.share_left)


@final
@dataclass(frozen=True, eq=False)
class Rare:
    """Slopes that few rows decide, such as those of levels that hardly ever change.

    The prior shrinks these slopes strongly. Σₖ (VΛ)ᵏ φ̂ undoes the shrinkage; its limit is the
    slope without a prior. `reach`, shape (m, d), has the rows of Σₖ (VΛ)ᵏ for the m slopes `which`,
    for k from 1 to `RARE_STEPS`, times `share`, shape (m,), which says how rare each slope is.
    """

    which: NDArray[np.intp]
    share: Array
    reach: Array

    @classmethod
    def of(cls, line: Line, repeats: Array) -> Rare:
        square = (line.hat[1:] / np.abs(line.hat[1:]).max(axis=1, initial=1e-300)[:, None]) ** 2
        square /= repeats
        rows = square.sum(axis=1) ** 2 / np.maximum((square**2).sum(axis=1), 1e-300)
        share = np.minimum(1.0, RARE_ROWS / np.maximum(rows, 1.0)) ** RARE_STEEPNESS
        which = np.flatnonzero((share > MIN_RARE_SHARE) & ~line.unchanged[1:])
        share = share[which]
        way = line.factor[1:, 1:] * line.prior[1:]
        step, reach = np.eye(len(square))[which], np.zeros((len(which), len(square)))
        for _ in range(RARE_STEPS if len(which) else 0):
            step = step @ way
            reach += step
        return cls(which, share, share[:, None] * reach)

    def shrunk(self, line: Line, mean: Array) -> Array:
        """How far the prior shrank the slopes, shape (d,)."""
        step = start = np.where(line.unchanged, 0.0, mean)
        total = np.zeros_like(step)
        for _ in range(SERIES_TERMS):
            step = line.factor @ (line.prior * step)
            total += step
        out = total[1:]
        out[self.which] *= 1 - self.share
        out[self.which] += self.reach @ start[1:]
        return np.asarray(out)

    def widen(self, scale: Array) -> Array:
        """The covariance, plus the noise in the estimated shrinkage of rare slopes."""
        scale = scale.copy()
        scale[self.which] += self.reach @ scale
        scale[:, self.which] += scale @ self.reach.T
        return scale


@final
@dataclass(frozen=True, eq=False)
class FeaturePairs:
    """Interactions of two features that leak into the slopes of others in these rows.

    Rows that are even on average may be uneven in a few products of three features. If two of
    the three surely act together, a part of their effect goes to the third's slope. `x`, shape
    (n, d), are the standardised features, and `hat` what an answer of 1 adds to their slopes;
    `size`, shape (d,), are the features' standard deviations.
    """

    x: Array
    repeats: Array
    hat: Array
    size: Array

    @classmethod
    def of(cls, features: Array, repeats: Array, hat: Array) -> FeaturePairs | None:
        x = features - np.average(features, axis=0, weights=repeats)
        size = np.sqrt(np.average(x**2, axis=0, weights=repeats)) * (np.ptp(features, axis=0) > 0)
        if (size > 0).sum() < MIN_MOVING_FEATURES:
            return None
        x = np.divide(x, size, out=np.zeros_like(x), where=size > 0)
        return cls(x, repeats, hat * size, size)

    @property
    def nbytes(self) -> int:
        return self.x.nbytes + self.hat.nbytes + self.size.nbytes

    def aliasing(self, residual: Array) -> Array:
        """The square of what leaks into each slope from pairs of other features, shape (d,)."""
        d, total = len(self.size), float(self.repeats.sum())
        together = (self.x * (residual * self.repeats / total)[:, None]).T @ self.x
        square = self.x**2
        noise = (square * (residual**2 * self.repeats / total**2)[:, None]).T @ square
        sure = np.triu(
            together**2 - (2 * np.log(d * (d - 1) / 2) + MIN_INTERACTION_RATIO) * noise, 1
        )
        one, other = np.nonzero(sure > 0)
        if not len(one):
            return np.zeros(d)
        first = np.argsort(-sure[one, other], kind="stable")[:MOST_PAIRS]
        one, other = one[first], other[first]
        slope = self.hat.T @ (self.x[:, one] * self.x[:, other])
        at = np.arange(d)[:, None]
        third = (at != one) & (at != other) & (self.size > 0)[:, None]
        # On masks a pair adds the same to all other slopes, by the law. Only the rest is chance.
        slope -= (slope * third).sum(axis=0) / third.sum(axis=0)
        leaked = (slope * third) ** 2 @ sure[one, other]
        return np.asarray(np.divide(leaked, self.size**2, out=np.zeros(d), where=self.size > 0))


def _gram(each: Array, repeats: Array) -> Array:
    """Σ eeᵀ/repeats over the rows e of `each`, shape (d, d)."""
    each = each / np.sqrt(repeats)[:, None]
    return np.asarray(each.T @ each)


def _degrees(line: Line) -> float:
    """Degrees of freedom of the sandwich, the median over slopes (Bell and McCaffrey).

    Residuals are assumed to be noise of equal variance. Then the variance of a slope is a quadratic
    form in the residuals, and a χ² has the same first two moments.
    """
    n, d = line.z.shape
    plain = float(line.left.sum())
    moved = np.ptp(line.z, axis=0) > 0
    if n > FEW_ROWS_PER_COEFFICIENT * d or plain > MANY_ROWS or not moved.any():
        return max(plain, 1.0)
    rest = np.eye(n) - line.z @ line.hat
    form = (line.hat.T**2 / np.maximum(line.left, MIN_ONE_LESS_LEVERAGE)[:, None])[:, moved]
    mean = np.diagonal(rest) @ form
    spread = np.einsum("ij,ij->j", form, (rest * rest.T) @ form)
    return max(float(np.median(mean**2 / spread)), 1.0)
