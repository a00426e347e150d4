"""Parts of the variance of scores that several surrogates share.

They say how much of the variance balanced rows remove, and what rows that were not drawn may add.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.types import Array, Range

LEAST: Final = 1e-6
"""The least 1 − leverage that a residual is divided by, so that one row cannot dominate."""

SHORTEST: Final = 16
"""The fewest rows of a block: shorter blocks are hardly balanced."""

LENGTHS: Final = 5
"""How many block lengths are used, the longest first: each is half of the one before."""

SHARES: Final = (0.4, 0.4)
BELIEF: Final = 0.1
"""The prior of `Balance`: the shares of misfit that average out like products of two and of three
features, and how strongly these shares are believed. They were chosen on some tables;
`python -m evaluation bench honest --others` measures them on others."""

ROUNDS: Final = 3
"""Rounds of estimating the shares; after these they hardly change."""

FLOOR: Final = 0.05
"""The least variance of a block, so that one block cannot dominate."""

TRIPLES: Final = 16
PAIRED: Final = 256
"""Maximum number of features in products of three, and of two; they are evenly spaced."""

CALM: Final = (2 / 3, 1 / 3)
"""Exponents of the geometric mean of two estimates of the share of variance that balance leaves:
the one from these answers, and the usual one."""

LOWEST: Final = 0.02
"""The least share of the variance that balance is taken to leave."""

KNOWN: Final = 4.0
"""The degrees of freedom of the estimate of what balance removes."""

FEW_CARRIERS: Final = 10.0
"""If this many rows or fewer carry the misfit, it is not known which slopes they affect."""

UNSEEN: Final = 4.0
"""If this many rows or fewer carry the misfit, one more such row might have been drawn."""

STEPS: Final = 3
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

    Misfit averages out over even rows. Additive misfit averages out like products of two features,
    pairwise misfit like products of three, and the rest as in independent rows. How well such
    products average out needs no answers: `evenness`, shape (lengths, 2), is the mean square of
    their sums over blocks of each length, divided by that of independent rows. Blocks of the
    sequence are as even as shorter plans, so residuals summed over blocks show how large each kind
    of misfit is. `whole`, shape (2,), is the evenness of all rows; it then says how much of the
    variance is left. For each length of blocks, `starts` has the first row of each block, and
    `sizes` the number of planned rows in it.
    """

    starts: tuple[NDArray[np.intp], ...]
    sizes: tuple[Array, ...]
    evenness: Array
    whole: Array

    @classmethod
    def of(cls, features: Array, often: Array) -> Balance:
        rows, starts = len(features), list[NDArray[np.intp]]()
        if not rows:
            return cls((), (), np.empty((0, 2)), np.ones(2))
        while 1.5 * (length := SHORTEST << len(starts)) <= rows:
            starts.append(np.arange(0, rows, length))
        starts = starts[-LENGTHS:]
        x = features[:, np.ptp(features, axis=0) > 0]
        x = x - np.average(x, axis=0, weights=often)
        x /= np.sqrt(np.average(x**2, axis=0, weights=often))
        sizes = tuple(np.add.reduceat(often, start) for start in starts)
        products = Products.of(x)
        evenness = [products.evenness(often, start) for start in starts]
        whole = products.evenness(often, np.zeros(1, dtype=np.intp))
        table = np.reshape(evenness, (len(starts), 2))
        return cls(tuple(starts), sizes, table, np.minimum(whole, 1.0))

    def left(self, pull: Array, variance: Array) -> float:
        """The share of `variance` that balance leaves: one number for all scores.

        `pull`, shape (rows, d), is what each row adds to each score. `variance`, shape (d,), is the
        scores' variance if rows were independent.
        """
        known = variance > 0
        if not known.any() or (self.whole >= 1).all():
            return 1.0
        seen = self._seen(pull[:, known] / np.sqrt(variance[known]))
        longest = np.array([part.max() for part in self._parts])
        # Long blocks are most like all rows, but there are few of them.
        trust, removed, parts = longest * (1 - longest), 1 - self.evenness, np.array(SHARES)
        for _ in range(ROUNDS):
            # The standard error of a mean square is proportional to it, as estimated so far.
            sure = (trust / np.maximum(1 - removed @ parts, FLOOR) ** 2)[:, None] * removed
            square = BELIEF * np.eye(2) + sure.T @ removed
            parts = shares(square, BELIEF * np.array(SHARES) + sure.T @ (1 - seen))
        return float(1 - parts @ (1 - self.whole))

    @cached_property
    def _parts(self) -> tuple[Array, ...]:
        """For each length the share of all rows that each block has."""
        return tuple(size / size.sum() for size in self.sizes)

    def _seen(self, pull: Array) -> Array:
        """The mean square of sums over blocks, divided by that of independent rows, (lengths,).

        `pull` is in units of its standard deviation. Each block's share of the total sum is
        subtracted first.
        """
        out, total = np.empty(len(self.starts)), pull.sum(axis=0)
        for at, (start, share) in enumerate(zip(self.starts, self._parts, strict=True)):
            sums = np.add.reduceat(pull, start, axis=0) - share[:, None] * total
            out[at] = (sums**2).sum(axis=0).mean() / (share @ (1 - share))
        return out


@final
@dataclass(frozen=True, eq=False)
class Products:
    """Products of standardised features `x`, shape (rows, d).

    `some` are m of the features, shape (rows, m), and `pairs` the products of two of these.
    `others`, shape (pairs, m), is true where a feature is not in the pair.
    """

    x: Array
    some: Array
    pairs: Array
    others: NDArray[np.bool_]

    @classmethod
    def of(cls, x: Array) -> Products:
        some = _spread(x, TRIPLES)
        m = some.shape[1]
        i, j = np.triu_indices(m, 1)
        others = (np.arange(m) != i[:, None]) & (np.arange(m) != j[:, None])
        return cls(_spread(x, PAIRED), some, some[:, i] * some[:, j], others)

    def evenness(self, often: Array, starts: NDArray[np.intp]) -> Array:
        """The mean square of sums of products of two and of three features over blocks, shape (2,).

        It is 1 if rows are independent, and also where there are too few features to tell.
        """
        d, total = self.x.shape[1], np.zeros(2)
        for block in np.split(np.arange(len(often)), starts[1:]):
            times = often[block, None]
            two = (self.x[block] * times).T @ self.x[block]
            three = (self.pairs[block] * times).T @ self.some[block]
            total[0] += (two**2).sum() - (np.diagonal(two) ** 2).sum()
            total[1] += (three[self.others] ** 2).sum()
        count = np.array([d * (d - 1), self.others.sum()]) * often.sum()
        return np.where(count > 0, total / np.maximum(count, 1.0), 1.0)


def _spread(x: Array, most: int) -> Array:
    """At most `most` columns, evenly spaced."""
    d = x.shape[1]
    return x if d <= most else x[:, np.linspace(0, d - 1, most).astype(int)]


def shares(square: Array, right: Array) -> Array:
    """The two shares a ≥ 0 with a sum of at most 1 that minimise aᵀSa/2 − rᵀa, shape (2,)."""
    (a, b), (_, c) = square.tolist()
    r, s = right.tolist()
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
    return np.array([x, y])


def _within(value: float) -> float:
    return min(max(value, 0.0), 1.0)
