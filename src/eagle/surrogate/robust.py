"""Intervals of a line that also hold where the model is not linear.

The target is the line that the same method would give from infinitely many rows. Rows differ from
that line by misfit, not by noise of one size. So the variance of a score is summed from the rows'
own residuals (a sandwich), and the square of the prior's shrinkage is added. Balanced rows err less
than independent rows; how much less is estimated from the rows themselves.

Rows that were not drawn also count. Where a few rows carry most of the misfit, or where the answers
could reach much farther than they did, the variance has a part for a row that was not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from eagle.surrogate.bayes import BayesLinear, Line
from eagle.surrogate.fit import Fit, is_flat
from eagle.surrogate.posterior import StudentT
from eagle.types import NOTHING, UNBOUNDED, Array, InputError, Need, Range, Rows

FEW: Final = 16
MANY: Final = 1000
"""Degrees of freedom are computed up to `FEW` rows for each coefficient and `MANY` residual degrees
in all. Beyond that a t is as good as normal."""

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
"""At most so many features enter products of three, and of two; they are evenly spaced."""

CALM: Final = (2 / 3, 1 / 3)
"""Exponents of two estimates of the variance left by balance: from these answers, and usual."""

LOWEST: Final = 0.02
"""The least share of the variance that balance is taken to leave."""

KNOWN: Final = 4.0
"""The degrees of freedom of the estimate of what balance removes."""

FEW_CARRIERS: Final = 10.0
"""With so few rows that carry the misfit, or fewer, it is not known which slopes they affect."""

UNSEEN: Final = 4.0
"""With so few rows that carry the misfit, or fewer, one more such row might have been drawn."""

STEPS: Final = 3
"""Terms of the series for the prior's shrinkage; more terms would add more noise."""

RARE: Final = 12.0
RARE_STEPS: Final = 6
"""The prior shrinks a slope that about `RARE` rows decide, or fewer, strongly: its series has
`RARE_STEPS` terms, and their noise is added."""

SHARP: Final = 8
SLIGHT: Final = 0.05
"""How sharply rareness begins at `RARE` rows, and the least rareness that counts."""

LOUD: Final = 2.0
"""A pair of features surely acts together if its square exceeds 2 log(pairs) + `LOUD` variances."""

FEWEST: Final = 4
"""The fewest features with which a third one can be compared with others."""

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
        if not isinstance(self.line, BayesLinear):
            raise InputError(f"robust intervals are those of a BayesLinear, not {self.line!r}")

    def room(self, n: int, d: int) -> int:
        """Numbers held besides the line: for the degrees, and for products of features."""
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
        hat = line.hat.T[:, 1:] * ~line.still[1:]
        pairs = Pairs.of(rows.features, often, hat) if self.balanced else None
        even = _squared(hat, often)
        rare = Rare.of(line, often)
        return Sandwich(line, often, _degrees(line), balance, hat, even, rare, pairs)

    def fit(self, features: Array, y: Array, weight: Array) -> Fit:
        """Fit answers to rows that were planned once each, in the order of a plan."""
        return self.on(Rows.each_once(features, weight, self.balanced)).fit(y)


@final
@dataclass(frozen=True, eq=False)
class Sandwich:
    """A line on its points, and what is known of its intervals before any answer.

    `hat`, shape (n, d), is what an answer of 1 adds to each slope. `even`, shape (d, d), is the
    slopes' covariance if rows were independent and each residual had variance 1.
    """

    line: Line
    often: Array
    df: float
    balance: Balance | None
    hat: Array
    even: Array
    rare: Rare
    pairs: Pairs | None

    @property
    def nbytes(self) -> int:
        own = self.often.nbytes + self.hat.nbytes + self.even.nbytes + self.rare.reach.nbytes
        return self.line.nbytes + own + (0 if self.pairs is None else self.pairs.nbytes)

    @property
    def shared(self) -> tuple[Array, ...]:
        return ()

    def fit(self, y: Array, bounds: Range = UNBOUNDED) -> Fit:
        """Fit the answers y, shape (N,), which the model keeps within these bounds."""
        plain = self.line.fit(y)
        seen = Residuals.of(self, np.asarray(y, dtype=np.float64), plain.mean, bounds)
        kind = "robust" if self.balance is None else "robust, balanced rows"
        posterior = StudentT(plain.scores, seen.scale, seen.df, seen.unit**2, kind, pooled=True)
        held = seen.r2_held_out
        return Fit(plain.scores, plain.intercept, plain.local, plain.r2, held, posterior)


@final
@dataclass(frozen=True, eq=False)
class Residuals:
    """The residuals of a fitted line, in units of `unit`, and their effect on the slopes.

    `raw`, shape (n,), are the residuals. `residual` are the same divided by √(1 − leverage), since
    each row pulls the line towards itself (HC2). `bias`, shape (d,), is how far the prior shrank
    the slopes, and `gap` how far beyond the answers seen the model could answer.
    """

    sandwich: Sandwich
    y: Array
    raw: Array
    residual: Array
    bias: Array
    gap: float
    unit: float

    @classmethod
    def of(cls, sandwich: Sandwich, y: Array, mean: Array, bounds: Range) -> Residuals:
        line, flat = sandwich.line, is_flat(y)
        raw = np.zeros_like(y) if flat else y - line.z @ mean
        bias = np.zeros(len(mean) - 1) if flat else sandwich.rare.shrunk(line, mean)
        gap = beyond(y, bounds)
        unit = max(*(float(np.abs(a).max(initial=0.0)) for a in (raw, bias)), gap) or 1.0
        raw = raw / unit
        residual = raw / np.sqrt(np.maximum(line.left, LEAST))
        return cls(sandwich, y, raw, residual, bias / unit, gap / unit, unit)

    @cached_property
    def pull(self) -> Array:
        """What each row's misfit adds to each slope, shape (n, d)."""
        return self.sandwich.hat * self.residual[:, None]

    @cached_property
    def plain(self) -> Array:
        """The sandwich: the slopes' covariance if rows were independent, shape (d, d)."""
        return _squared(self.pull, self.sandwich.often)

    @cached_property
    def left(self) -> float:
        """The share of the variance that balance leaves, shrunk towards the usual share."""
        balance = self.sandwich.balance
        if balance is None:
            return 1.0
        here = balance.left(self.pull[1:], np.diag(self.plain))
        usual = 1 - float(np.array(SHARES) @ (1 - balance.whole))
        return float(np.clip(here, LOWEST, 1) ** CALM[0] * np.clip(usual, LOWEST, 1) ** CALM[1])

    @cached_property
    def square(self) -> float:
        """The mean square of residuals."""
        return float(self.residual @ self.residual) / len(self.residual)

    @property
    def carriers(self) -> float:
        """The effective number of rows that carry the misfit, (Σe²)²/Σe⁴: from 1 to all."""
        square = self.residual**2
        fourth = float(square @ square) / len(square)
        return len(self.residual) * (self.square**2 / fourth if fourth else 1.0)

    @property
    def scale(self) -> Array:
        """The scale of the slopes' t, shape (d, d), in squares of the unit.

        If few rows carry the misfit, it is not known which slopes they affect: the sandwich is
        then mixed with that of evenly spread misfit. A row that was not drawn may have carried as
        much as those few, or may have had the most extreme answer possible.
        """
        sandwich, carriers = self.sandwich, self.carriers
        few = min(1.0, FEW_CARRIERS / carriers)
        seen = self.left * (1 - few) * self.plain + self.left * few * self.square * sandwich.even
        rare = self.square * min(1.0, UNSEEN / carriers) / carriers
        unseen = rare + self.gap**2 / len(self.residual)
        whole = sandwich.rare.widened(seen + unseen * sandwich.even)
        whole += self.bias[:, None] * self.bias
        whole *= narrowing(self.df) / narrowing(sandwich.df)
        if sandwich.pairs is not None:
            own = np.diagonal(whole)
            np.fill_diagonal(whole, np.maximum(own, sandwich.pairs.aliased(self.residual)))
        return whole

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of the slopes' t; estimating the balance costs some.

        It is at least 3, where a standard deviation exists, unless the rows themselves give fewer.
        """
        rows = self.sandwich.df
        return max(1 / (1 / rows + (1 - self.left) / KNOWN), min(rows, 3.0))

    @property
    def r2_held_out(self) -> float:
        """The line's R² on rows it has not seen; with balance, leaving one out matters less."""
        line = self.sandwich.line
        if is_flat(self.y):
            return float("nan")
        middle = float(self.y[0] + line.weight @ (self.y - self.y[0]) / line.weight.sum())
        spread = float(line.weight @ ((self.y - middle) / self.unit) ** 2)
        return line.held_out(self.raw, spread, self.left)


def beyond(y: Array, bounds: Range) -> float:
    """How far the farther bound is from the nearest answer, less the range of the answers."""
    if not np.isfinite(bounds).any():
        return 0.0
    low, high = float(y.min()), float(y.max())
    ends = [far for far in (low - bounds[0], bounds[1] - high) if np.isfinite(far)]
    return max(0.0, max(ends) - (high - low))


@final
@dataclass(frozen=True, eq=False)
class Rare:
    """Slopes that few rows decide, such as those of levels that hardly ever change.

    The prior shrinks them strongly. Σₖ (VΛ)ᵏ φ̂ undoes this; its limit is the slope without a
    prior. `reach`, shape (m, d), has the rows of this sum for the slopes `which`, times `share`,
    how rare each slope is.
    """

    which: NDArray[np.intp]
    share: Array
    reach: Array

    @classmethod
    def of(cls, line: Line, often: Array) -> Rare:
        square = (line.hat[1:] / np.abs(line.hat[1:]).max(axis=1, initial=1e-300)[:, None]) ** 2
        square /= often
        rows = square.sum(axis=1) ** 2 / np.maximum((square**2).sum(axis=1), 1e-300)
        share = np.minimum(1.0, RARE / np.maximum(rows, 1.0)) ** SHARP
        which = np.flatnonzero((share > SLIGHT) & ~line.still[1:])
        share = share[which]
        prior = line.surrogate.prior.precision(len(square))[1:]
        way = line.factor[1:, 1:] * prior
        step, reach = np.eye(len(square))[which], np.zeros((len(which), len(square)))
        for _ in range(RARE_STEPS if len(which) else 0):
            step = step @ way
            reach += step
        return cls(which, share, share[:, None] * reach)

    def shrunk(self, line: Line, mean: Array) -> Array:
        """How far the prior shrank the slopes, shape (d,)."""
        prior = line.surrogate.prior.precision(len(mean) - 1)
        step = np.where(line.still, 0.0, mean)
        total = np.zeros_like(step)
        for _ in range(STEPS):
            step = line.factor @ (prior * step)
            total += step
        out = total[1:]
        out[self.which] *= 1 - self.share
        out[self.which] += self.reach @ np.where(line.still, 0.0, mean)[1:]
        return np.asarray(out)

    def widened(self, scale: Array) -> Array:
        """The covariance, plus the noise in the estimated shrinkage of rare slopes."""
        scale = scale.copy()
        scale[self.which] += self.reach @ scale
        scale[:, self.which] += scale @ self.reach.T
        return scale


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """Interactions of two features that leak into the slopes of others in these rows.

    Rows that are even on average may be uneven in a few products of three features. If two of
    the three surely act together, a part of their effect goes to the third's slope. `x`, shape
    (n, d), are the standardised features, and `hat` what an answer of 1 adds to their slopes;
    `size`, shape (d,), are the features' standard deviations.
    """

    x: Array
    often: Array
    hat: Array
    size: Array

    @classmethod
    def of(cls, features: Array, often: Array, hat: Array) -> Pairs | None:
        x = features - np.average(features, axis=0, weights=often)
        size = np.sqrt(np.average(x**2, axis=0, weights=often)) * (np.ptp(features, axis=0) > 0)
        if (size > 0).sum() < FEWEST:
            return None
        x = np.divide(x, size, out=np.zeros_like(x), where=size > 0)
        return cls(x, often, hat * size, size)

    @property
    def nbytes(self) -> int:
        return self.x.nbytes + self.hat.nbytes + self.size.nbytes

    def aliased(self, residual: Array) -> Array:
        """The square of what leaks into each slope from pairs of other features, shape (d,)."""
        d, total = len(self.size), float(self.often.sum())
        together = (self.x * (residual * self.often / total)[:, None]).T @ self.x
        square = self.x**2
        noise = (square * (residual**2 * self.often / total**2)[:, None]).T @ square
        sure = np.triu(together**2 - (2 * np.log(d * (d - 1) / 2) + LOUD) * noise, 1)
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


def _squared(each: Array, often: Array) -> Array:
    """The sum over rows of outer squares, each divided by how often the row was planned."""
    each = each / np.sqrt(often)[:, None]
    return np.asarray(each.T @ each)


def narrowing(df: float) -> float:
    """The squared scale of a t divided by its variance, at least a third."""
    return max(1 - 2 / df, 1 / 3)


def _degrees(line: Line) -> float:
    """Degrees of freedom of the sandwich, the median over slopes (Bell and McCaffrey).

    They assume residuals that are noise of one size. Then each variance is a quadratic form in
    them, and a χ² has the same first two moments.
    """
    n, d = line.z.shape
    plain = float(line.left.sum())
    moved = np.ptp(line.z, axis=0) > 0
    if n > FEW * d or plain > MANY or not moved.any():
        return max(plain, 1.0)
    rest = np.eye(n) - line.z @ line.hat
    form = (line.hat.T**2 / np.maximum(line.left, LEAST)[:, None])[:, moved]
    mean = np.diagonal(rest) @ form
    spread = np.einsum("ij,ij->j", form, (rest * rest.T) @ form)
    return max(float(np.median(mean**2 / spread)), 1.0)


@final
@dataclass(frozen=True, eq=False)
class Balance:
    """How much more even rows are than independent ones: in blocks of their order, and in all.

    Misfit averages out over even rows. Additive misfit averages out like products of two features,
    pairwise misfit like products of three, and the rest as in independent rows. How well such
    products average out needs no answers: `evenness`, shape (blocks, 2), is their mean square
    divided by that of independent rows. Blocks of the sequence are as even as shorter plans, so
    residuals summed over blocks show how large each kind of misfit is. `whole`, shape (2,), is the
    evenness of all rows; it then says how much of the variance is left.
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
        """The share of the variance of independent rows, shape (d,), that balance leaves.

        `pull` is what each row adds to each score, shape (rows, d). The share is one for all.
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
        """The mean square of sums over blocks, as a share of that of independent rows, (blocks,).

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
