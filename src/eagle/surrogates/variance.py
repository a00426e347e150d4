"""Parts of the variance of scores that several surrogates share.

They say how much of the variance balanced rows remove, and what rows that were not drawn may add.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array, Range

MIN_ONE_LESS_LEVERAGE: Final = 1e-6
"""The least 1 − leverage that a residual is divided by, so that one row cannot dominate."""

MIN_BLOCK_ROWS: Final = 16
"""The fewest rows of a block: shorter blocks are hardly balanced."""

MAX_BLOCK_LENGTHS: Final = 5
"""How many block lengths are used, the longest first: each is half of the one before."""

PRIOR_SHARES: Final = (0.4, 0.4)
PRIOR_WEIGHT: Final = 0.1
"""The prior of `Balance`: which shares of the residuals average out like products of two and of
three features, and how strongly these shares are believed. They were chosen on some tables;
`python -m evaluation bench honest --others` measures them on others."""

ROUNDS: Final = 3
"""Rounds of estimating the shares; after these they hardly change."""

MIN_BLOCK_VARIANCE: Final = 0.05
"""The least variance of a block, so that one block cannot dominate."""

MAX_TRIPLE_FEATURES: Final = 16
MAX_PAIRED_FEATURES: Final = 256
"""Maximum number of features in products of three, and of two; they are evenly spaced."""

SHARE_EXPONENTS: Final = (2 / 3, 1 / 3)
"""Exponents of the geometric mean of two estimates of the share of variance that balance leaves:
the one from these answers, and the usual one."""

MIN_SHARE_LEFT: Final = 0.02
"""The least share of the variance that balance is taken to leave."""

BALANCE_DF: Final = 4.0
"""The degrees of freedom of the estimate of what balance removes."""

FEW_CARRIERS: Final = 10.0
"""If this many rows or fewer carry the lack of fit, it is not known which slopes they affect."""

MIN_CARRIERS: Final = 4.0
"""If this many rows or fewer carry the lack of fit, one more such row might have been drawn."""

SERIES_TERMS: Final = 3
"""Terms of the series for the prior's shrinkage; more terms would add more noise."""


def beyond(y: Array, bounds: Range) -> float:
    """How far the farther bound is from the nearest answer, less the range of the answers."""
    if not np.isfinite(bounds).any():
        return 0.0
    low, high = float(y.min()), float(y.max())
    ends = [far for far in (low - bounds[0], bounds[1] - high) if np.isfinite(far)]
    return max(0.0, max(ends) - (high - low))


def narrowing(df: float) -> float:
    """The squared scale of a t divided by its variance, at least a third."""
    return max(1 - 2 / df, 1 / 3)


@final
@dataclass(frozen=True, eq=False)
class Balance:
    """How much more even rows are than independent ones: in blocks of consecutive rows, and in all.

    Lack of fit averages out over even rows. Additive lack of fit averages out like products of two
    features, pairwise lack of fit like products of three, and the rest as in independent rows. How
    well such products average out needs no answers: `evenness`, shape (lengths, 2), is the mean
    square of their sums over blocks of each length, divided by that of independent rows. Blocks of
    the sequence are as even as shorter plans, so residuals summed over blocks show how large each
    kind of lack of fit is. `whole`, shape (2,), is the evenness of all rows; it then says how much
    of the variance is left. For each length of blocks, `starts` has the first row of each block,
    and `sizes` the number of planned rows in it.
    """

    starts: tuple[NDArray[np.intp], ...]
    sizes: tuple[Array, ...]
    evenness: Array
    whole: Array

    @classmethod
    def of(cls, features: Array, repeats: Array) -> Balance:
        rows, starts = len(features), list[NDArray[np.intp]]()
        if not rows:
            return cls((), (), np.empty((0, 2)), np.ones(2))
        while 1.5 * (length := MIN_BLOCK_ROWS << len(starts)) <= rows:
            starts.append(np.arange(0, rows, length))
        starts = starts[-MAX_BLOCK_LENGTHS:]
        x = features[:, np.ptp(features, axis=0) > 0]
        x = x - np.average(x, axis=0, weights=repeats)
        x /= np.sqrt(np.average(x**2, axis=0, weights=repeats))
        sizes = tuple(np.add.reduceat(repeats, start) for start in starts)
        products = Products.of(x, repeats)
        evenness = [products.evenness(start) for start in starts]
        whole = products.evenness(np.zeros(1, dtype=np.intp))
        table = np.reshape(evenness, (len(starts), 2))
        return cls(tuple(starts), sizes, table, np.minimum(whole, 1.0))

    def share_left(self, pull: Array, variance: Array) -> float:
        """The share of `variance` that balance leaves: one number for all scores.

        `pull`, shape (rows, d), is what each row adds to each score. `variance`, shape (d,), is the
        scores' variance if rows were independent.
        """
        known = variance > 0
        if not known.any() or (self.whole >= 1).all():
            return 1.0
        seen = self._block_ratio(pull[:, known] / np.sqrt(variance[known]))
        trust, removed, believed = self._trust
        parts = np.array(PRIOR_SHARES)
        for _ in range(ROUNDS):
            # The standard error of a mean square is proportional to it, as estimated so far.
            sure = (trust / np.maximum(1 - removed @ parts, MIN_BLOCK_VARIANCE) ** 2)[
                :, None
            ] * removed
            square = believed + sure.T @ removed
            parts = shares(square, PRIOR_WEIGHT * np.array(PRIOR_SHARES) + sure.T @ (1 - seen))
        return float(1 - parts @ (1 - self.whole))

    def remaining(self, seen: list[float]) -> float:
        """As `left`, from mean squares of sums over blocks, by numbers: faster for many lines."""
        trust, removed = self._numbers
        a, b = PRIOR_SHARES
        for _ in range(ROUNDS):
            aa = cc = PRIOR_WEIGHT
            ab, right_a, right_b = (
                0.0,
                PRIOR_WEIGHT * PRIOR_SHARES[0],
                PRIOR_WEIGHT * PRIOR_SHARES[1],
            )
            for weight, (two, three), one in zip(trust, removed, seen, strict=True):
                sure = weight / max(1 - two * a - three * b, MIN_BLOCK_VARIANCE) ** 2
                aa, ab, cc = aa + sure * two * two, ab + sure * two * three, cc + sure * three**2
                right_a, right_b = (
                    right_a + sure * two * (1 - one),
                    right_b + sure * three * (1 - one),
                )
            a, b = best_shares((aa, ab, cc), (right_a, right_b))
        two, three = (float(one) for one in self.whole)
        return 1 - a * (1 - two) - b * (1 - three)

    @cached_property
    def _numbers(self) -> tuple[list[float], list[list[float]]]:
        """How far each length is trusted, and what it removes."""
        trust, removed, _ = self._trust
        return trust.tolist(), removed.tolist()

    @cached_property
    def _parts(self) -> tuple[Array, ...]:
        """For each length the share of all rows that each block has."""
        return tuple(size / size.sum() for size in self.sizes)

    @cached_property
    def _trust(self) -> tuple[Array, Array, Array]:
        """How far each length is trusted, what it removes, and the prior's precision."""
        longest = np.array([part.max() for part in self._parts])
        # Long blocks are most like all rows, but there are few of them.
        return longest * (1 - longest), 1 - self.evenness, PRIOR_WEIGHT * np.eye(2)

    @cached_property
    def _alone(self) -> Array:
        """The mean square of sums over the blocks of each length if rows are independent."""
        return np.array([share @ (1 - share) for share in self._parts])

    def _block_ratio(self, pull: Array) -> Array:
        """The mean square of sums over blocks, divided by that of independent rows, (lengths,).

        `pull` is in units of its standard deviation. Each block's share of the total sum is
        subtracted first.
        """
        total, every = pull.sum(axis=0), np.empty((len(self.starts), pull.shape[1]))
        for at, (start, share) in enumerate(zip(self.starts, self._parts, strict=True)):
            sums = np.add.reduceat(pull, start, axis=0)
            sums -= share[:, None] * total
            np.square(sums, out=sums).sum(axis=0, out=every[at])
        return np.asarray(every.mean(axis=1) / self._alone)


@final
@dataclass(frozen=True, eq=False)
class Products:
    """Products of standardised features `x`, shape (rows, d), of rows that count `repeats`.

    `some` are m of the features, shape (rows, m). `weighted` are the features times `repeats`, and
    `pairs` the products of two of `some`, shape (rows, pairs), times `repeats`. `others` are the
    places, in a flat table of shape (pairs, m), of the features that are not in the pair.
    """

    x: Array
    some: Array
    repeats: Array
    weighted: Array
    pairs: Array
    others: NDArray[np.intp]

    @classmethod
    def of(cls, x: Array, repeats: Array) -> Products:
        # Rows one after another in memory: a block of rows is then a slice, not a copy.
        x, some = (
            np.ascontiguousarray(_spread(x, most))
            for most in (MAX_PAIRED_FEATURES, MAX_TRIPLE_FEATURES)
        )
        m = some.shape[1]
        i, j = np.triu_indices(m, 1)
        others = (np.arange(m) != i[:, None]) & (np.arange(m) != j[:, None])
        pairs = some.take(i, axis=1) * some.take(j, axis=1) * repeats[:, None]
        return cls(x, some, repeats, x * repeats[:, None], pairs, np.flatnonzero(others))

    def evenness(self, starts: NDArray[np.intp]) -> Array:
        """The mean square of sums of products of two and of three features over blocks, shape (2,).

        It is 1 if rows are independent, and also where there are too few features to tell.
        """
        d, total = self.x.shape[1], np.zeros(2)
        for start, end in pairwise([*starts.tolist(), len(self.x)]):
            two = (self.weighted[start:end].T @ self.x[start:end]) ** 2
            three = (self.pairs[start:end].T @ self.some[start:end]).take(self.others) ** 2
            total += two.sum() - two.diagonal().sum(), three.sum()
        count = np.array([d * (d - 1), len(self.others)]) * self.repeats.sum()
        return np.where(count > 0, total / np.maximum(count, 1.0), 1.0)


def _spread(x: Array, most: int) -> Array:
    """At most `most` columns, evenly spaced."""
    d = x.shape[1]
    return x if d <= most else x[:, np.linspace(0, d - 1, most).astype(int)]


def shares(square: Array, right: Array) -> Array:
    """The two shares a ≥ 0 with a sum of at most 1 that minimise aᵀSa/2 − rᵀa, shape (2,)."""
    (a, b), (_, c) = square.tolist()
    r, s = right.tolist()
    return np.array(best_shares((a, b, c), (r, s)))


def best_shares(
    square: tuple[float, float, float], right: tuple[float, float]
) -> tuple[float, float]:
    """As `shares`, of S = [[a, b], [b, c]]."""
    (a, b, c), (r, s) = square, right
    scale = a * c - b * b
    x, y = (c * r - b * s) / scale, (a * s - b * r) / scale
    if x < 0 or y < 0 or x + y > 1:  # on one of the edges of the triangle
        first, second = _within(r / a), _within(s / c)
        third = _within((a - b - r + s) / (a - 2 * b + c))
        edges = ((first, 0.0), (0.0, second), (1 - third, third))
        x, y = min(
            edges,
            key=lambda at: (a * at[0] / 2 + b * at[1] - r) * at[0] + (c * at[1] / 2 - s) * at[1],
        )
    return x, y


def _within(value: float) -> float:
    return min(max(value, 0.0), 1.0)
