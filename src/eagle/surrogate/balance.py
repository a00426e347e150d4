"""What balanced rows take away of the error that as many independent rows would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.types import Array

SHORTEST: Final = 16
"""Blocks of fewer rows have no balance to speak of."""

LENGTHS: Final = 5
"""Blocks of a half of the rows, a quarter, and so on: shorter ones would have no weight."""

SHARES: Final = (0.4, 0.4)
BELIEF: Final = 0.1
"""The shares of misfit that go as products of two and of three features do, before the answers
speak, and how firmly they are believed beside what blocks say. Set on tables;
`benchmarks.honest --others` measures them on others."""

ROUNDS: Final = 3
"""Then the shares hardly change any more."""

LEAST: Final = 0.05
"""No block is taken for evener than this, lest it alone decides."""

TRIPLES: Final = 16
"""Products of three features are looked at for so many of them, spread over all."""


@final
@dataclass(frozen=True, eq=False)
class Balance:
    """How much more even than chance rows are: in blocks of their order, and all together.

    Even rows make misfit cancel: what is additive over features as products of two features
    cancel, what is made of pairs as products of three do, and the rest as chance would have it.
    How well such products cancel needs no answers: `evenness`, shape (blocks, 2), is their mean
    square beside that of independent rows. Blocks of a sequence are as even as shorter plans, so
    residuals summed over blocks say how large each part is; then the whole plan is as good as its
    own evenness, shape (2,).
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
        """What balance leaves of the variance, shape (d,), that independent rows would have.

        `pull` is what each row adds to each score, shape (rows, d). All scores share the answer.
        """
        known = variance > 0
        if not known.any() or (self.whole >= 1).all():
            return 1.0
        seen = self._seen(pull[:, known] / np.sqrt(variance[known]))
        longest = np.array([size.max() / size.sum() for size in self.sizes])
        # Long blocks are most like the whole, but few.
        trust, removed, found = longest * (1 - longest), 1 - self.evenness, np.array(SHARES)
        for _ in range(ROUNDS):
            # A mean square is as uncertain as it is large, by what is known of it so far.
            sure = (trust / np.maximum(1 - removed @ found, LEAST) ** 2)[:, None] * removed
            square = BELIEF * np.eye(2) + sure.T @ removed
            found = shares(square, BELIEF * np.array(SHARES) + sure.T @ (1 - seen))
        return float(1 - found @ (1 - self.whole))

    def _seen(self, pull: Array) -> Array:
        """The mean square of sums over blocks beside that of independent rows, shape (blocks,).

        `pull` is in units of its spread. Sums are those that are left beside the whole's own.
        """
        out = np.empty(len(self.starts))
        for at, (start, size) in enumerate(zip(self.starts, self.sizes, strict=True)):
            share = size / size.sum()
            sums = np.add.reduceat(pull, start, axis=0) - share[:, None] * pull.sum(axis=0)
            out[at] = (sums**2).sum(axis=0).mean() / (share @ (1 - share))
        return out


@final
@dataclass(frozen=True, eq=False)
class Products:
    """Standardised features, shape (rows, d); some of them, shape (rows, m); their pairs' products.

    `others` says which of the features are none of a pair, shape (pairs, m).
    """

    x: Array
    some: Array
    pairs: Array
    others: NDArray[np.bool_]

    @classmethod
    def of(cls, x: Array) -> Products:
        d = x.shape[1]
        some = x[:, np.linspace(0, d - 1, min(d, TRIPLES)).astype(int)]
        m = some.shape[1]
        i, j = np.triu_indices(m, 1)
        others = (np.arange(m) != i[:, None]) & (np.arange(m) != j[:, None])
        return cls(x, some, some[:, i] * some[:, j], others)

    def evenness(self, often: Array, starts: NDArray[np.intp]) -> Array:
        """The mean square of sums of products of two and of three features over blocks, shape (2,).

        1 if rows are independent; and where there are too few features, so that nothing is claimed.
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


def shares(square: Array, right: Array) -> Array:
    """The two shares a ≥ 0, of 1 at most together, at which aᵀSa/2 − rᵀa is least, shape (2,)."""
    inside = np.asarray(np.linalg.solve(square, right), dtype=np.float64)
    if inside.min() >= 0 and inside.sum() <= 1:
        return inside
    corners, found = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), []
    for start, end in ((0, 1), (0, 2), (1, 2)):
        here, way = corners[start], corners[end] - corners[start]
        far = way @ (right - square @ here) / (way @ square @ way)
        found.append(here + min(max(float(far), 0.0), 1.0) * way)
    return min(found, key=lambda a: float(a @ square @ a / 2 - right @ a))
